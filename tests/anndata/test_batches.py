"""Batches: what differs between them makes no group, and groups hold in most of them."""

import numpy as np
import pandas as pd
import pytest

from groupfs.anndata import plot_correlations, select_groups
from groupfs.data.blocks import centered_within
from groupfs.utils.warn import SelectionWarning
from tests.support.cells import make

ALL_OF_KEPT = {"n_groups_to_select": "significant"}


def batched(n_cells=400, only_one=False, seed=0):
    """Genes 0-7 are a programme in both batches, 8-15 are higher in the second batch as a whole.

    With ``only_one`` 16-23 are a programme of the first batch alone. The rest is noise.
    """
    rng = np.random.default_rng(seed)
    batch = np.repeat([0, 1], n_cells // 2)
    mean = np.full((n_cells, 40), 1.0)
    mean[rng.random(n_cells) < 0.4, :8] = 4
    mean[batch == 1, 8:16] = 4
    if only_one:
        mean[(rng.random(n_cells) < 0.4) & (batch == 0), 16:24] = 4
    adata = make(np.log1p(rng.poisson(mean)).astype(np.float32))
    adata.obs["batch"] = pd.Categorical.from_codes(batch, ["first", "second"])
    return adata


@pytest.fixture(scope="module")
def selected():
    adata = batched()
    select_groups(adata, batch_key="batch", **ALL_OF_KEPT)
    return adata


def genes_of(adata):
    return {int(name.removeprefix("gene")) for name in adata.var_names[adata.var.groupfs_selected]}


def test_a_batch_effect_makes_no_group(selected):
    ignoring = batched()
    select_groups(ignoring, **ALL_OF_KEPT)
    assert genes_of(ignoring) == set(range(16))  # the effect looks like a group
    assert genes_of(selected) == set(range(8))
    assert selected.var["groupfs_group"].iloc[8:16].isna().all()
    correlations = plot_correlations(selected).images[0].get_array()  # those within batches
    assert correlations.shape == (8, 8)


def test_a_group_of_one_batch_alone_is_found_but_not_kept():
    adata = batched(only_one=True)
    with pytest.warns(
        SelectionWarning, match=r"holds in 1 of 2 blocks \(first\) only, and is not kept"
    ):
        select_groups(adata, batch_key="batch", **ALL_OF_KEPT)
    assert genes_of(adata) == set(range(8))
    groups = adata.uns["groupfs"]["groups"]
    other = adata.var["groupfs_group"]["gene16"]
    assert not groups["kept"][other] and groups["p_adjusted"][other] < 0.01
    held = adata.uns["groupfs"]["batches"].loc[other]
    assert held["n_batches"] == 1 and held["first"] > 0.3 > 0.1 > held["second"]


def test_centering_leaves_gaps_and_takes_batches_of_one():
    X = np.array([[1.0, 2.0], [3.0, np.nan], [10.0, 4.0]])
    centered = centered_within(X, np.array([0, 0, 1]))
    np.testing.assert_array_equal(centered, [[-1, 0], [1, np.nan], [0, 0]])
    X = np.repeat([[0.1], [0.7]], 30, axis=0) * np.ones(3)  # what differs between batches alone
    assert not centered_within(X, np.repeat([0, 1], 30)).any()
