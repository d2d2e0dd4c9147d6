"""Scores of the cells: weighted means of z-scores, under names that scanpy's figures take."""

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs import GroupFS
from groupfs.anndata import select_groups
from tests.support.cells import QUICK, cells, make

anndata = pytest.importorskip("anndata")


def test_cell_scores_are_weighted_means_of_z_scores(selected):
    X = cells().astype(float)
    Z = (X - X.mean(0)) / X.std(0)
    selector = GroupFS(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    for rank, group in enumerate(selector.groups_):
        weights = selector.centrality_[group]
        expected = Z[:, group] @ (selector.group_signs_[group] * weights) / weights.sum()
        np.testing.assert_allclose(
            selected.obsm["groupfs_scores"].iloc[:, rank], expected, atol=1e-9
        )


def test_genes_that_cancel_out_weigh_the_same():
    rng = np.random.default_rng(0)
    a, others = rng.normal(size=100), rng.normal(size=(4, 100))
    adata = anndata.AnnData(np.column_stack([a, -a, *others]))
    known = [[0, 1], [2, 3], [4, 5]]
    settings = {"check_values": False, "groups": known, "max_epochs": 5, "random_state": 0}
    select_groups(adata, signed=True, **settings)
    scores = adata.obsm["groupfs_scores"]
    assert np.isfinite(scores.to_numpy()).all()
    place = list(adata.uns["groupfs"]["groups"].index).index("0")
    np.testing.assert_allclose(scores.iloc[:, place], 0, atol=1e-9)


def test_genes_that_run_against_their_group_count_with_a_minus():
    X = cells().astype(float)
    X[:, 1] = X[:, 1].max() - X[:, 1]
    adata = make(X)
    select_groups(adata, **QUICK)
    signs = adata.var["groupfs_sign"]
    assert signs["gene1"] == -signs["gene0"] != 0
    place = int(adata.var["groupfs_group"].cat.codes["gene0"])
    scores = adata.obsm["groupfs_scores"].iloc[:, place] * signs["gene0"]
    for gene in range(6):
        assert abs(np.corrcoef(scores, X[:, gene])[0, 1]) > 0.7
    assert np.corrcoef(scores, X[:, 0])[0, 1] > 0.7 > -0.7 > np.corrcoef(scores, X[:, 1])[0, 1]


def test_scores_are_called_by_group_and_representative(selected):
    genes = selected.uns["groupfs"]["groups"]["representative"]
    names = [f"group{rank + 1}_{gene}" for rank, gene in enumerate(genes)]
    scores = selected.obsm["groupfs_scores"]
    assert list(scores.columns) == names == list(selected.obs.columns)
    np.testing.assert_array_equal(selected.obs[names], scores)


def test_another_run_takes_the_place_of_earlier_scores(adata):
    adata.obs["group9_mine"] = 1.0
    select_groups(adata, **{**QUICK, "n_groups": 4})
    select_groups(adata, **QUICK)
    names = list(adata.obsm["groupfs_scores"].columns)
    assert len(names) == 2 and set(adata.obs.columns) == {"group9_mine", *names}
    select_groups(adata, key_added="mine", **QUICK)
    assert set(adata.obs.columns) == {"group9_mine", *names, *(f"mine_{name}" for name in names)}


def test_names_with_a_slash_can_be_written(adata, tmp_path):
    sets = {
        "CD4+/CD25": [f"gene{i}" for i in range(6)],
        "others": [f"gene{i}" for i in range(6, 24)],
    }
    select_groups(adata, groups=sets, max_epochs=5, n_init=1)
    assert any(name.endswith("_CD4+-CD25") for name in adata.obs)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    assert "CD4+/CD25" in anndata.read_h5ad(tmp_path / "cells.h5ad").uns["groupfs"]["groups"].index


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_names_of_cells_may_repeat_and_views_may_have_earlier_scores(selected):
    adata = selected.copy()
    adata.obs_names = ["cell"] * adata.n_obs
    view = adata[:100]
    with pytest.warns(UserWarning):  # anndata says that the view becomes a copy
        select_groups(view, **QUICK)
    assert len(view.obs.columns) == 2 and len(adata.obs.columns) == 2
    np.testing.assert_array_equal(view.obs, view.obsm["groupfs_scores"])
