"""Which values select_groups takes: of any kind of matrix, a layer, raw, some genes, a file."""

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import groupfs.anndata
from groupfs.anndata import compare_conditions, select_groups
from tests import reference
from tests.support.cells import QUICK, cells, fields_equal, make, through_file
from tests.support.sliced import streaming


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_all_kinds_of_sparse_matrices_give_the_same_and_stay_as_they_are(convert, selected):
    adata = make(convert(cells()))
    before = adata.X.copy()
    select_groups(adata, **QUICK)
    fields_equal(adata, selected)
    assert adata.X.format == before.format and adata.X.dtype == np.float32
    np.testing.assert_array_equal(adata.X.data, before.data)
    np.testing.assert_array_equal(adata.X.indices, before.indices)


@pytest.mark.slow
@pytest.mark.parametrize("mask", [None, np.arange(24) % 5 > 0])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_backed_file_gives_the_same_as_memory(convert, mask, tmp_path):
    memory = make(convert(cells()))
    backed = through_file(memory, tmp_path, backed="r+")
    for adata in (backed, memory):
        select_groups(adata, mask_var=mask, **QUICK)
    assert backed.isbacked
    fields_equal(backed, memory)
    backed.write()
    backed.file.close()
    fields_equal(anndata.read_h5ad(tmp_path / "cells.h5ad"), memory)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_backed_file_that_is_too_large_is_streamed(convert, selected, tmp_path):
    backed = through_file(make(convert(cells())), tmp_path, backed="r")
    with streaming():
        select_groups(backed, **QUICK)
    first, wanted = (a.obsm["groupfs_scores"].iloc[:, 0] for a in (backed, selected))
    np.testing.assert_allclose(first, wanted, atol=1e-3)


def test_backed_file_is_neither_cut_nor_copied(adata, tmp_path):
    backed = through_file(adata, tmp_path, backed="r")
    for part, wish in ((backed, {"subset": True}), (backed, {"copy": True}), (backed[:50], {})):
        with pytest.raises(ValueError, match="need adata in memory, but it is backed by"):
            select_groups(part, **wish)


def test_layer_is_used_in_place_of_the_matrix(selected):
    adata = make(sp.csr_matrix(cells(seed=1)), layers={"log": sp.csr_matrix(cells())})
    select_groups(adata, layer="log", **QUICK)
    pd.testing.assert_frame_equal(adata.var, selected.var)
    assert adata.uns["groupfs"]["params"]["layer"] == "log"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": "log"}, r"layer='log' is not in adata.layers; it has counts"),
        ({"use_raw": True}, "adata.raw is None"),
        ({"use_raw": True, "layer": "counts"}, "are both given"),
        ({"mask_var": "hvg"}, "is not a column of adata.var"),
        ({"mask_var": [True, False]}, r"has shape \(2,\)"),
        ({"metric": "connectivities"}, "metric='connectivities' is neither .* has distances"),
        ({"metric": "distances"}, "holds distances"),
        ({"batch_key": "donor"}, "batch_key='donor' is not a column of adata.obs; it has cell"),
        ({"batch_key": "some"}, "is missing for 1 of 150 rows"),
        ({"batch_key": "cell"}, "has 150 values, none with 20 rows or more"),
    ],
)
def test_what_is_not_there_is_refused_with_what_there_is(settings, message):
    adata = make(cells(), layers={"counts": cells()})
    adata.obs["cell"], adata.obs["some"] = adata.obs_names, [None] + ["a"] * 149
    adata.obsp["distances"] = sp.csr_array((150, 150))
    with pytest.raises(ValueError, match=message):
        select_groups(adata, **settings)


def test_what_is_no_table_of_cells_is_refused():
    with pytest.raises(ValueError, match=r"adata.X is None; name the layer"):
        select_groups(anndata.AnnData(obs=pd.DataFrame(index=list("abc"))))
    with pytest.raises(TypeError, match=r"adata is a ndarray, not an AnnData"):
        select_groups(cells())


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


def test_counts_are_met_with_a_warning():
    adata = make(sp.csr_matrix(np.expm1(cells()).round()))
    with pytest.warns(UserWarning, match="whole numbers up to .* as counts do"):
        select_groups(adata, **QUICK)


def test_masked_genes_are_not_looked_at(adata):
    adata.var["highly_variable"] = np.arange(24) < 12
    select_groups(adata, mask_var="highly_variable", **QUICK)
    assert adata.var["groupfs_group"].notna().tolist() == (np.arange(24) < 12).tolist()
    assert not adata.var["groupfs_selected"].iloc[12:].any()
    assert sorted(adata.var["groupfs_order"].iloc[:12]) == list(range(1, 13))
    assert adata.var["groupfs_order"].iloc[12:].isna().all()


@pytest.mark.parametrize("share", [0, 0.2])
def test_gaps_stay_gaps_and_scores_are_those_of_the_genes_there(share):
    X = cells()
    X[np.random.default_rng(0).random(X.shape) < share] = np.nan
    adata = make(X.copy())
    select_groups(adata, **QUICK)
    np.testing.assert_array_equal(adata.X, X)
    Z = X.astype(float)
    Z = (Z - np.nanmean(Z, axis=0)) / np.nanstd(Z, axis=0)
    fitted = groupfs.anndata.selector(adata)
    own = fitted.groups_, fitted.centrality_, fitted.group_signs_
    literal = reference.row_scores(Z, *own, 0.5)
    np.testing.assert_allclose(adata.obsm["groupfs_scores"], literal, atol=1e-9)
    assert np.isnan(literal).mean() < 0.1 and np.isnan(literal).any() == (share > 0)


def with_raw(n_genes=24):
    """Raw has 24 genes, X the first of them, scaled."""
    adata = make(sp.csr_matrix(cells()))
    adata.raw = adata.copy()
    adata = adata[:, :n_genes].copy()
    values = adata.X.toarray()
    adata.X = (values - values.mean(0)) / values.std(0)
    return adata


def test_scaled_values_are_refused_with_raw_as_the_way_out(selected):
    adata = with_raw()
    with pytest.raises(ValueError, match=r"negative values in 24 .* take adata.raw \(use_raw"):
        select_groups(adata, **QUICK)
    select_groups(adata, use_raw=True, **QUICK)
    pd.testing.assert_frame_equal(adata.var, selected.var)
    assert adata.uns["groupfs"]["params"]["use_raw"]


def test_genes_of_raw_that_var_has_not_are_known_to_the_selector(selected):
    adata = with_raw(n_genes=9)
    select_groups(adata, use_raw=True, **QUICK)
    pd.testing.assert_frame_equal(adata.var, selected.var.iloc[:9])
    assert len(groupfs.anndata.selector(adata).to_frame()) == 24
    adata.obs["half"] = np.where(np.arange(150) < 75, "first", "second")
    compare_conditions(adata, "half", n_permutations=99, n_bootstrap=5)
    assert adata.uns["groupfs"]["conditions"]["changes"]["mean_changes"].any()


def test_a_mask_of_var_means_the_same_genes_of_raw(adata):
    some = with_raw(n_genes=12)
    some.var["mine"] = np.arange(12) != 3
    select_groups(some, use_raw=True, mask_var="mine", **QUICK)
    adata.var["mine"] = (np.arange(24) < 12) & (np.arange(24) != 3)
    select_groups(adata, mask_var="mine", **QUICK)
    pd.testing.assert_series_equal(
        some.var["groupfs_centrality"], adata.var["groupfs_centrality"][:12]
    )
