"""What select_groups writes, where, and that it is what the estimator found."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

import groupfs.anndata
from groupfs import FeatureGroups
from groupfs.anndata import plot_levels, select_groups
from groupfs.groups import adjust_p_values
from groupfs.result import Result
from groupfs.utils.warn import SelectionWarning
from tests.support.cells import QUICK, cells, fields_equal, make, through_file
from tests.support.report_tables import nested_table


def test_fields_say_what_the_estimator_found(selected):
    selector = FeatureGroups(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    assert selected.var["groupfs_selected"].tolist() == selector.get_support().tolist()
    assert selected.var["groupfs_group"].cat.codes.tolist() == selector.group_labels_.tolist()
    table = selected.uns["groupfs"]["groups"]
    np.testing.assert_allclose(table["p_adjusted"], adjust_p_values(selector.group_pvalues_))
    np.testing.assert_allclose(table["replication"], selector.group_replication_)
    assert selected.var["groupfs_sign"].tolist() == selector.group_signs_.tolist()
    related = selected.var["groupfs_relatedness_p_adjusted"]
    np.testing.assert_allclose(related, adjust_p_values(selector.relatedness_pvalues_))
    assert table.index.tolist() == [str(rank + 1) for rank in range(selector.n_groups_)]
    assert np.argsort(selected.var["groupfs_order"]).tolist() == selector.feature_order_.tolist()
    np.testing.assert_allclose(selected.uns["groupfs"]["explained"], selector.explained_)
    np.testing.assert_allclose(selected.var["groupfs_stability"], selector.feature_stability_)
    assert selected.var["groupfs_verdict"].tolist() == Result.of(selector).verdicts


def test_genes_without_groups_give_empty_fields(tmp_path):
    adata = make(np.random.default_rng(0).random((60, 8)))
    with pytest.warns(SelectionWarning, match="shows no groups"):
        select_groups(adata)
    assert not adata.var["groupfs_selected"].any() and adata.var["groupfs_group"].isna().all()
    assert adata.obsm["groupfs_scores"].shape == (60, 0)
    assert len(adata.uns["groupfs"]["groups"]) == 0
    assert through_file(adata, tmp_path).obsm["groupfs_scores"].shape == (60, 0)


def test_copy_leaves_the_original_alone_and_subset_keeps_the_selected_genes(adata, selected):
    result = select_groups(adata, copy=True, **QUICK)
    fields_equal(result, selected)
    assert not adata.var.shape[1] and not adata.uns and not adata.obsm
    select_groups(adata, subset=True, **QUICK)
    wanted = selected.var_names[selected.var["groupfs_selected"]]
    assert adata.var_names.tolist() == wanted.tolist()


def test_key_added_begins_all_names(adata):
    select_groups(adata, key_added="mine", **QUICK)
    fields = ["selected", "group", "sign", "centrality", "relatedness_p_adjusted", "order"]
    fields += ["stability", "verdict"]
    assert set(adata.var) == {f"mine_{field}" for field in fields}
    assert set(adata.uns) == {"mine"} and set(adata.obsm) == {"mine_scores"}
    names = set(adata.obs)  # scanpy finds scores by these
    assert names == set(adata.obsm["mine_scores"])
    assert all(name.startswith("mine_group") for name in names)


def test_genes_that_do_not_vary_are_named_and_have_no_group():
    X = cells()
    X[:, [2, 20]] = 0
    adata = make(sp.csr_matrix(X))
    with pytest.warns(UserWarning, match="2 constant columns .* left out .*: gene2, gene20"):
        select_groups(adata, keep_unrelated=True, **QUICK)
    for name in ("groupfs_group", "groupfs_order"):
        assert np.flatnonzero(adata.var[name].isna()).tolist() == [2, 20]
    assert adata.var["groupfs_relatedness_p_adjusted"].isna().all()  # all genes took part
    assert np.isfinite(adata.obsm["groupfs_scores"].to_numpy()).all()


def test_settings_of_every_kind_can_be_stored(adata, tmp_path):
    settings = {"random_state": np.random.RandomState(0), "alpha": np.float64(0.02)}
    select_groups(adata, mask_var=np.ones(24, dtype=bool), **settings, **QUICK)
    params = through_file(adata, tmp_path).uns["groupfs"]["params"]
    assert params["mask_var"] == "given" and params["alpha"] == 0.02 and params["n_groups"] == 2
    assert "RandomState" in params["random_state"] and "layer" not in params


def test_every_level_has_a_column_and_those_of_an_earlier_run_go(tmp_path):
    adata = make(nested_table())
    select_groups(adata, check_values=False, level="broad")
    assert adata.var["groupfs_group"].equals(adata.var["groupfs_level_1"])
    assert adata.var["groupfs_level_2"].nunique() == 6
    read = through_file(adata, tmp_path)
    levels = read.uns["groupfs"]["levels"]
    assert levels["n_groups"].tolist() == [2, 6] and (levels["agreement"] > 0.7).all()
    inside = read.var["groupfs_level_2"].cat.codes
    parents = levels["parents"]["2"][inside]
    assert parents.tolist() == (read.var["groupfs_level_1"].cat.codes + 1).tolist()
    assert len(plot_levels(read).patches) == 8
    select_groups(adata, check_values=False, n_groups=6)
    assert not [name for name in adata.var if "level" in name]


def test_another_run_takes_the_place_of_earlier_scores(adata):
    adata.obs["group9_mine"] = 1.0
    select_groups(adata, **{**QUICK, "n_groups": 4})
    select_groups(adata, **QUICK)
    names = list(adata.obsm["groupfs_scores"].columns)
    assert len(names) == 2 and set(adata.obs.columns) == {"group9_mine", *names}


def test_names_with_a_slash_can_be_written(adata, tmp_path):
    select_groups(adata, groups={"CD4+/CD25": range(6), "others": range(6, 24)})
    assert any(name.endswith("_CD4+-CD25") for name in adata.obs)
    assert "CD4+/CD25" in through_file(adata, tmp_path).uns["groupfs"]["groups"].index


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_names_of_cells_may_repeat_and_views_may_have_earlier_scores(selected):
    adata = selected.copy()
    adata.obs_names = ["cell"] * adata.n_obs
    view = adata[:100]
    with pytest.warns(UserWarning):  # anndata says that the view becomes a copy
        select_groups(view, **QUICK)
    assert len(view.obs.columns) == 2 and len(adata.obs.columns) == 2
    np.testing.assert_array_equal(view.obs, view.obsm["groupfs_scores"])


def test_a_graph_of_the_cells_is_found_by_its_name(adata):
    graph = kneighbors_graph(cells(), 10)
    adata.obsp["connectivities"] = graph
    select_groups(adata, metric="connectivities", **QUICK)
    selector = FeatureGroups(random_state=0, metric=graph, **QUICK).fit(sp.csr_array(cells()))
    stored = groupfs.anndata.selector(adata).feature_weights_
    np.testing.assert_allclose(stored, selector.feature_weights_)
    plain = FeatureGroups(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    assert not np.allclose(stored, plain.feature_weights_)
    assert adata.uns["groupfs"]["params"]["metric"] == "connectivities"
