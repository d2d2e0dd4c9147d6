"""Conditions of cells: tables in uns, the same as from the selector, and files hold them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from groupfs import FeatureGroups
from groupfs.anndata import compare_conditions, select_groups
from groupfs.conditions import compare
from tests.support.cells import QUICK, cells, make, through_file

FAST = {"n_permutations": 99, "n_bootstrap": 20}


@pytest.fixture(scope="module")
def selected():
    adata = make(sp.csr_matrix(cells()))
    adata.obs["half"] = pd.Categorical(np.where(np.arange(150) < 75, "first", "second"))
    adata.obs["donor"] = [f"d{i % 5}" for i in range(150)]
    adata.obs["time"] = np.linspace(0, 1, 150)
    select_groups(adata, **QUICK)
    return adata


def test_tables_are_those_of_the_selector(selected):
    compare_conditions(selected, "half", **FAST)
    found = selected.uns["groupfs"]["conditions"]
    selector = FeatureGroups(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    expected = compare(selector, cells(), selected.obs["half"], **FAST)
    assert found["by"] == "half"
    numbers = ["n_samples", "cohesion", "mean", "mean_low"]
    table = found["table"][numbers].reset_index(drop=True)
    pd.testing.assert_frame_equal(table, expected.to_frame()[numbers], rtol=1e-5, atol=1e-6)
    changes = expected.changes_frame()["mean_changes"].tolist()
    assert found["changes"]["mean_changes"].tolist() == changes and any(changes)
    genes = [f"gene{i}" for i in selector.representatives_]
    assert found["changes"]["representative"].tolist() == genes


def test_numbers_are_followed_and_blocks_are_taken_from_obs(selected):
    other = compare_conditions(selected, "time", blocks="donor", copy=True, **FAST)
    table = other.uns["groupfs"]["conditions"]["table"]
    assert table["value"].nunique() == 25 and len(table) == 50
    before = selected.uns["groupfs"].get("conditions", {"by": "half"})
    assert before["by"] == "half"  # the copy was written to


def test_round_trip_through_a_file(selected, tmp_path):
    compare_conditions(selected, "half", **FAST)
    again = through_file(selected, tmp_path)
    for name in ("table", "changes"):
        both = (a.uns["groupfs"]["conditions"][name] for a in (again, selected))
        pd.testing.assert_frame_equal(*both, check_dtype=False, check_index_type=False)
    compare_conditions(again, "donor", **FAST)  # what was read will do
    assert again.uns["groupfs"]["conditions"]["table"]["condition"].nunique() == 5


def test_what_is_missing_is_said(selected):
    with pytest.raises(ValueError, match="by='type' is not a column of adata.obs; it has half"):
        compare_conditions(selected, "type")
    with pytest.raises(ValueError, match="blocks='who' is not a column of adata.obs"):
        compare_conditions(selected, "half", blocks="who")
    with pytest.raises(ValueError, match="adata has no groups under 'other'; run"):
        compare_conditions(selected, "half", key="other")
