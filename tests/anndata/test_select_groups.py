import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from groupfs import GroupFS
from groupfs.anndata import select_groups
from groupfs.utils.warn import SelectionWarning
from tests.support.sliced import streaming

anndata = pytest.importorskip("anndata")

QUICK = {"n_groups": 2, "max_epochs": 5, "n_init": 1}


def cells(n_cells=150, n_genes=24, seed=0):
    """Log-normalised counts: genes 0-5 are high in the first half of cells, 6-11 in every third."""
    rng = np.random.default_rng(seed)
    mean = np.full((n_cells, n_genes), 0.3)
    mean[: n_cells // 2, :6] = 4
    mean[::3, 6:12] = 4
    return np.log1p(rng.poisson(mean)).astype(np.float32)


def make(X, **others):
    genes = pd.DataFrame(index=[f"gene{i}" for i in range(X.shape[1])])
    return anndata.AnnData(X, var=genes, **others)


@pytest.fixture
def adata():
    return make(sp.csr_matrix(cells()))


@pytest.fixture(scope="module")
def selected():
    adata = make(sp.csr_matrix(cells()))
    select_groups(adata, **QUICK)
    return adata


@pytest.fixture(scope="module")
def dense():
    adata = make(cells())
    select_groups(adata, **QUICK)
    return adata


def fields_equal(one, other):
    pd.testing.assert_frame_equal(one.var, other.var)
    np.testing.assert_allclose(
        one.varm["groupfs_membership"], other.varm["groupfs_membership"], atol=1e-12
    )
    np.testing.assert_allclose(one.obsm["groupfs_scores"], other.obsm["groupfs_scores"], atol=1e-9)
    pd.testing.assert_frame_equal(
        one.uns["groupfs"]["groups"], other.uns["groupfs"]["groups"], check_dtype=False
    )
    np.testing.assert_allclose(one.uns["groupfs"]["explained"], other.uns["groupfs"]["explained"])
    assert one.uns["groupfs"]["params"] == other.uns["groupfs"]["params"]


def test_fields_say_what_the_estimator_found(selected):
    selector = GroupFS(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    assert selected.var["groupfs_selected"].tolist() == selector.get_support().tolist()
    assert selected.var["groupfs_group"].cat.codes.tolist() == selector.group_labels_.tolist()
    np.testing.assert_allclose(selected.var["groupfs_score"], selector.feature_scores_)
    np.testing.assert_allclose(selected.varm["groupfs_membership"], selector.membership_)
    table = selected.uns["groupfs"]["groups"]
    np.testing.assert_allclose(table["p_value"], selector.group_pvalues_)
    np.testing.assert_allclose(table["reliability"], selector.group_reliability_)
    assert selected.var["groupfs_sign"].tolist() == selector.group_signs_.tolist()
    related = selected.var["groupfs_relatedness_p_value"]
    np.testing.assert_allclose(related, selector.relatedness_pvalues_)
    assert table.index.tolist() == [str(rank + 1) for rank in range(selector.n_groups_)]
    assert np.argsort(selected.var["groupfs_order"]).tolist() == selector.feature_order_.tolist()
    np.testing.assert_allclose(selected.uns["groupfs"]["explained"], selector.explained_)


def test_cell_scores_are_weighted_means_of_z_scores(selected):
    X = cells().astype(float)
    Z = (X - X.mean(0)) / X.std(0)
    selector = GroupFS(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    for rank, group in enumerate(selector.groups_):
        weights = selector.centrality_[group]
        expected = Z[:, group] @ (selector.group_signs_[group] * weights) / weights.sum()
        np.testing.assert_allclose(selected.obsm["groupfs_scores"][:, rank], expected, atol=1e-9)


def test_genes_that_cancel_out_weigh_the_same():
    rng = np.random.default_rng(0)
    a, others = rng.normal(size=100), rng.normal(size=(4, 100))
    adata = anndata.AnnData(np.column_stack([a, -a, *others]))
    known = [[0, 1], [2, 3], [4, 5]]
    settings = {"check_values": False, "groups": known, "max_epochs": 5, "random_state": 0}
    select_groups(adata, signed=True, **settings)
    scores = adata.obsm["groupfs_scores"]
    assert np.isfinite(scores).all()
    place = list(adata.uns["groupfs"]["groups"].index).index("0")
    np.testing.assert_allclose(scores[:, place], 0, atol=1e-9)


def test_genes_that_run_against_their_group_count_with_a_minus():
    X = cells().astype(float)
    X[:, 1] = X[:, 1].max() - X[:, 1]
    adata = make(X)
    select_groups(adata, **QUICK)
    signs = adata.var["groupfs_sign"]
    assert signs["gene1"] == -signs["gene0"] != 0
    place = int(adata.var["groupfs_group"].cat.codes["gene0"])
    scores = adata.obsm["groupfs_scores"][:, place] * signs["gene0"]
    for gene in range(6):
        assert abs(np.corrcoef(scores, X[:, gene])[0, 1]) > 0.7
    assert np.corrcoef(scores, X[:, 0])[0, 1] > 0.7 > -0.7 > np.corrcoef(scores, X[:, 1])[0, 1]


def test_genes_without_groups_give_empty_fields(tmp_path):
    adata = make(np.random.default_rng(0).random((60, 8)))
    with pytest.warns(SelectionWarning, match="shows no groups"):
        select_groups(adata)
    assert not adata.var["groupfs_selected"].any() and adata.var["groupfs_group"].isna().all()
    assert adata.obsm["groupfs_scores"].shape == (60, 0)
    assert len(adata.uns["groupfs"]["groups"]) == 0
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert read.obsm["groupfs_scores"].shape == (60, 0)


def test_planted_genes_are_found_and_score_high_where_they_are_high(selected):
    group = selected.var["groupfs_group"]
    assert group.iloc[:6].nunique() == 1 and group.iloc[6:12].nunique() == 1
    assert selected.var["groupfs_selected"].iloc[:6].all()
    scores = selected.obsm["groupfs_scores"][:, int(group.cat.codes.iloc[0])]
    assert scores[:75].min() > scores[75:].max()


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_all_kinds_of_sparse_matrices_give_the_same_and_stay_as_they_are(convert, selected):
    adata = make(convert(cells()))
    before = adata.X.copy()
    select_groups(adata, **QUICK)
    fields_equal(adata, selected)
    assert adata.X.format == before.format and adata.X.dtype == np.float32
    np.testing.assert_array_equal(adata.X.data, before.data)
    np.testing.assert_array_equal(adata.X.indices, before.indices)


def test_dense_matrices_give_the_same_groups(dense, selected):
    chance = "groupfs_relatedness_p_value"  # other shuffles are drawn of sparse columns
    pd.testing.assert_frame_equal(dense.var.drop(columns=chance), selected.var.drop(columns=chance))
    np.testing.assert_allclose(
        dense.obsm["groupfs_scores"], selected.obsm["groupfs_scores"], atol=1e-6
    )


@pytest.mark.parametrize("suffix", ["h5ad", "zarr"])
def test_round_trip_through_a_file(selected, tmp_path, suffix):
    if suffix == "zarr":
        pytest.importorskip("zarr")
        selected.write_zarr(tmp_path / "cells.zarr")
        read = anndata.read_zarr(tmp_path / "cells.zarr")
    else:
        selected.write_h5ad(tmp_path / "cells.h5ad")
        read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    fields_equal(read, selected)


@pytest.mark.slow
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_backed_file_gives_the_same_as_memory(convert, selected, dense, tmp_path):
    expected = dense if convert is np.asarray else selected
    path = tmp_path / "cells.h5ad"
    make(convert(cells())).write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r+")
    select_groups(backed, **QUICK)
    assert backed.isbacked
    fields_equal(backed, expected)
    backed.write()
    backed.file.close()
    fields_equal(anndata.read_h5ad(path), expected)


@pytest.mark.slow
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_backed_file_is_read_for_the_masked_genes_only(convert, tmp_path):
    path, mask = tmp_path / "cells.h5ad", np.arange(24) % 5 > 0
    make(convert(cells())).write_h5ad(path)
    backed, memory = anndata.read_h5ad(path, backed="r"), make(convert(cells()))
    for adata in (backed, memory):
        select_groups(adata, mask_var=mask, **QUICK)
    fields_equal(backed, memory)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_backed_file_that_is_too_large_is_streamed(convert, selected, tmp_path):
    make(convert(cells())).write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with streaming():
        select_groups(backed, **QUICK)
    np.testing.assert_allclose(
        backed.obsm["groupfs_scores"][:, 0], selected.obsm["groupfs_scores"][:, 0], atol=1e-3
    )


@pytest.mark.parametrize("asked", ["subset", "copy"])
def test_backed_file_is_neither_cut_nor_copied(adata, tmp_path, asked):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for part, wish in ((backed, {asked: True}), (backed[:50], {})):
        with pytest.raises(ValueError, match="need adata in memory, but it is backed by"):
            select_groups(part, **wish)


def test_layer_is_used_in_place_of_the_matrix(selected):
    adata = make(sp.csr_matrix(cells(seed=1)), layers={"log": sp.csr_matrix(cells())})
    select_groups(adata, layer="log", **QUICK)
    np.testing.assert_array_equal(adata.var["groupfs_score"], selected.var["groupfs_score"])
    assert adata.uns["groupfs"]["params"]["layer"] == "log"


def test_what_is_not_there_is_refused_with_what_there_is():
    adata = make(cells(), layers={"counts": cells()})
    with pytest.raises(ValueError, match=r"layer='log' is not in adata.layers; it has counts"):
        select_groups(adata, layer="log")
    with pytest.raises(ValueError, match=r"adata.X is None; name the layer"):
        select_groups(anndata.AnnData(obs=pd.DataFrame(index=list("abc"))))
    with pytest.raises(TypeError, match=r"adata is a ndarray, not an AnnData"):
        select_groups(cells())


def test_subset_keeps_the_selected_genes(adata, selected):
    select_groups(adata, subset=True, **QUICK)
    wanted = selected.var_names[selected.var["groupfs_selected"]]
    assert adata.var_names.tolist() == wanted.tolist()
    assert adata.varm["groupfs_membership"].shape[0] == adata.n_vars < selected.n_vars


def test_copy_leaves_the_original_alone(adata, selected):
    result = select_groups(adata, copy=True, **QUICK)
    fields_equal(result, selected)
    assert not adata.var.shape[1] and not adata.uns and not adata.obsm and not adata.varm


def test_key_added_begins_all_names(adata):
    select_groups(adata, key_added="mine", **QUICK)
    fields = ("selected", "group", "score", "sign", "centrality", "relatedness_p_value", "order")
    assert set(adata.var) == {f"mine_{field}" for field in fields}
    assert set(adata.varm) == {"mine_membership"} and set(adata.obsm) == {"mine_scores"}
    assert set(adata.uns) == {"mine"}


NEGATIVE = r"X holds negative values in 1 gene\(s\): gene3; give normalised"


@pytest.mark.parametrize(
    ("convert", "value", "message"),
    [
        (sp.csr_matrix, np.nan, r"X contains NaN in 1 column \(gene3\); impute"),
        (np.asarray, np.inf, r"X contains infinity \(inf\) in 1 column \(gene3\)"),
        (sp.csr_matrix, -1.0, NEGATIVE),
        (np.asarray, -1.0, NEGATIVE),
    ],
)
def test_bad_values_are_refused_by_name(convert, value, message):
    X = cells()
    X[5, 3] = value
    with pytest.raises(ValueError, match=message):
        select_groups(make(convert(X)), **QUICK)


def test_negative_values_are_taken_if_so_wished(selected):
    adata = make(cells() - 1)
    select_groups(adata, check_values=False, **QUICK)
    assert adata.var["groupfs_selected"].equals(selected.var["groupfs_selected"])


def test_counts_are_met_with_a_warning():
    adata = make(sp.csr_matrix(np.expm1(cells()).round()))
    with pytest.warns(UserWarning, match="whole numbers up to .* as counts do"):
        select_groups(adata, **QUICK)


def test_genes_that_do_not_vary_are_named_and_have_no_group():
    X = cells()
    X[:, [2, 20]] = 0
    adata = make(sp.csr_matrix(X))
    with pytest.warns(UserWarning, match="2 constant columns .* left out .*: gene2, gene20"):
        select_groups(adata, keep_unrelated=True, **QUICK)
    assert adata.var["groupfs_group"].isna().to_numpy().nonzero()[0].tolist() == [2, 20]
    assert adata.var["groupfs_relatedness_p_value"].isna().all()  # all genes took part
    assert adata.var["groupfs_order"].isna().to_numpy().nonzero()[0].tolist() == [2, 20]
    assert adata.var["groupfs_score"].notna().all()
    assert np.isfinite(adata.obsm["groupfs_scores"]).all()


def test_masked_genes_are_not_looked_at(adata):
    adata.var["highly_variable"] = np.arange(24) < 12
    select_groups(adata, mask_var="highly_variable", **QUICK)
    assert adata.var["groupfs_group"].notna().tolist() == (np.arange(24) < 12).tolist()
    assert not adata.var["groupfs_selected"].iloc[12:].any()
    assert not adata.varm["groupfs_membership"][12:].any()
    assert sorted(adata.var["groupfs_order"].iloc[:12]) == list(range(1, 13))
    assert adata.var["groupfs_order"].iloc[12:].isna().all()


@pytest.mark.parametrize(
    ("mask", "message"),
    [("hvg", "is not a column of adata.var"), ([True, False], r"has shape \(2,\)")],
)
def test_mask_that_does_not_fit_is_refused(adata, mask, message):
    with pytest.raises(ValueError, match=message):
        select_groups(adata, mask_var=mask)


def test_known_groups_are_given_by_names_of_genes(adata):
    known = {
        "first": [f"gene{i}" for i in range(6)],
        "second": [f"gene{i}" for i in range(6, 12)],
        "others": [f"gene{i}" for i in range(12, 24)],
    }
    select_groups(adata, groups=known, max_epochs=5, n_init=1)
    assert adata.var["groupfs_group"].iloc[[0, 6, 12]].tolist() == ["first", "second", "others"]
    assert sorted(adata.uns["groupfs"]["groups"].index) == ["first", "others", "second"]
    del known["others"]
    with pytest.raises(ValueError, match=r"12 gene\(s\) are in none .* gene12, .* with mask_var"):
        select_groups(adata, groups=known)


def test_view_gets_results_of_its_own(adata):
    view = adata[:100]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata says that the view becomes a copy
        select_groups(view, **QUICK)
    assert view.obsm["groupfs_scores"].shape[0] == 100 and "groupfs_group" in view.var
    assert not adata.var.shape[1]


def test_settings_of_every_kind_can_be_stored(adata, tmp_path):
    settings = {"random_state": np.random.RandomState(0), "alpha": np.float64(0.02)}
    select_groups(adata, mask_var=np.ones(24, dtype=bool), **settings, **QUICK)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    params = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["groupfs"]["params"]
    assert params["mask_var"] == "given" and params["alpha"] == 0.02 and params["n_groups"] == 2
    assert "RandomState" in params["random_state"] and "layer" not in params


def test_missing_anndata_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r'pip install "groupfs\[anndata\]"'):
        select_groups(cells())


def test_a_graph_of_the_cells_is_found_by_its_name(adata):
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(cells(), 10)
    adata.obsp["connectivities"] = graph
    select_groups(adata, metric="connectivities", **QUICK)
    selector = GroupFS(random_state=0, metric=graph, **QUICK).fit(sp.csr_array(cells()))
    np.testing.assert_allclose(adata.var["groupfs_score"], selector.feature_scores_)
    plain = GroupFS(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    assert not np.allclose(selector.feature_scores_, plain.feature_scores_)
    assert adata.uns["groupfs"]["params"]["metric"] == "connectivities"


def test_names_that_are_no_graph_are_refused_in_words(adata):
    with pytest.raises(ValueError, match="metric='connectivities' is neither .* which has none"):
        select_groups(adata, metric="connectivities")
    adata.obsp["distances"] = sp.csr_array((150, 150))
    with pytest.raises(ValueError, match="holds distances"):
        select_groups(adata, metric="distances")


def test_gaps_of_a_dense_matrix_stay_gaps():
    X = cells(n_cells=300)
    whole = make(X.copy())
    select_groups(whole, random_state=0)
    gaps = np.random.default_rng(0).random(X.shape) < 0.2
    X[gaps] = np.nan
    adata = make(X.copy())
    select_groups(adata, random_state=0)
    np.testing.assert_array_equal(adata.X, X)
    found = adata.var["groupfs_group"].isna()
    assert not found[:12].any() and found[12:].mean() > 0.8
    scores, before = adata.obsm["groupfs_scores"], whole.obsm["groupfs_scores"]
    assert np.isfinite(scores).all()
    assert np.abs(np.corrcoef(scores[:, 0], before[:, 0])[0, 1]) > 0.9
    X[0, 0] = -1
    with pytest.raises(ValueError, match="negative values in 1 gene"):
        select_groups(make(X))
