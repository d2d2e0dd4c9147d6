"""What select_groups writes, where, and that it is what the estimator found."""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs import GroupFS
from groupfs.anndata import select_groups
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.warn import SelectionWarning
from tests.support.cells import QUICK, cells, fields_equal, make

anndata = pytest.importorskip("anndata")


def test_fields_say_what_the_estimator_found(selected):
    selector = GroupFS(random_state=0, **QUICK).fit(sp.csr_array(cells()))
    assert selected.var["groupfs_selected"].tolist() == selector.get_support().tolist()
    assert selected.var["groupfs_group"].cat.codes.tolist() == selector.group_labels_.tolist()
    np.testing.assert_allclose(selected.var["groupfs_score"], selector.feature_scores_)
    np.testing.assert_allclose(selected.varm["groupfs_membership"], selector.membership_)
    table = selected.uns["groupfs"]["groups"]
    np.testing.assert_allclose(table["p_adjusted"], adjust_p_values(selector.group_pvalues_))
    np.testing.assert_allclose(table["reliability"], selector.group_reliability_)
    assert selected.var["groupfs_sign"].tolist() == selector.group_signs_.tolist()
    related = selected.var["groupfs_relatedness_p_adjusted"]
    np.testing.assert_allclose(related, adjust_p_values(selector.relatedness_pvalues_))
    assert table.index.tolist() == [str(rank + 1) for rank in range(selector.n_groups_)]
    assert np.argsort(selected.var["groupfs_order"]).tolist() == selector.feature_order_.tolist()
    np.testing.assert_allclose(selected.uns["groupfs"]["explained"], selector.explained_)


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
    scores = selected.obsm["groupfs_scores"].iloc[:, int(group.cat.codes.iloc[0])]
    assert scores[:75].min() > scores[75:].max()


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
    fields = ("selected", "group", "score", "sign", "centrality", "relatedness_p_adjusted", "order")
    assert set(adata.var) == {f"mine_{field}" for field in fields}
    assert set(adata.varm) == {"mine_membership"} and set(adata.obsm) == {"mine_scores"}
    assert set(adata.uns) == {"mine"} and all(name.startswith("mine_group") for name in adata.obs)
    assert set(adata.obsm["mine_scores"]) <= set(adata.obs)  # scanpy finds them by these names


def test_genes_that_do_not_vary_are_named_and_have_no_group():
    X = cells()
    X[:, [2, 20]] = 0
    adata = make(sp.csr_matrix(X))
    with pytest.warns(UserWarning, match="2 constant columns .* left out .*: gene2, gene20"):
        select_groups(adata, keep_unrelated=True, **QUICK)
    assert adata.var["groupfs_group"].isna().to_numpy().nonzero()[0].tolist() == [2, 20]
    assert adata.var["groupfs_relatedness_p_adjusted"].isna().all()  # all genes took part
    assert adata.var["groupfs_order"].isna().to_numpy().nonzero()[0].tolist() == [2, 20]
    assert adata.var["groupfs_score"].notna().all()
    assert np.isfinite(adata.obsm["groupfs_scores"].to_numpy()).all()


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
