"""The selector stays in the object, also through a file; figures and the report come from there."""

import matplotlib
import numpy as np
import pytest
import torch

import groupfs.anndata
from groupfs import FeatureGroups
from groupfs.anndata import markers, plot_correlations, plot_groups, report, select_groups
from groupfs.anndata.stored_results import fitted_table
from tests.support.cells import QUICK, cells, fields_equal, make, through_file

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def read(selected, tmp_path_factory):
    """The results after a file."""
    return through_file(selected, tmp_path_factory.mktemp("stored"))


def test_fields_and_the_selector_come_back_as_they_were(read, selected):
    fields_equal(read, selected)
    selector = groupfs.anndata.selector(read)
    expected = FeatureGroups(random_state=0, **QUICK).fit(read.X)
    assert [group.tolist() for group in selector.groups_] == [g.tolist() for g in expected.groups_]
    assert selector.get_support().tolist() == expected.get_support().tolist()
    assert selector.get_feature_names_out()[0] == f"gene{expected.get_support(indices=True)[0]}"
    chosen, wanted = (s.select(n_features_to_select=3).features for s in (selector, expected))
    assert chosen.tolist() == wanted.tolist()


def test_every_figure_can_be_drawn_after_a_file(read):
    assert plot_groups(read).get_xlabel() == "alpha"
    names = {label.get_text() for label in plot_correlations(read).get_yticklabels()}
    assert names == set(read.var_names[read.var["groupfs_group"].notna()])


def test_the_report_names_genes_and_says_what_was_remarked(adata, tmp_path):
    sets = {"first": adata.var_names[:6], "second": adata.var_names[6:12]}
    with pytest.warns(UserWarning, match="In none of the gene sets"):
        select_groups(adata, groups=sets)
    adata.obs["half"] = np.where(np.arange(150) < 75, "first", "second")
    report(adata, tmp_path / "report.html", label="half")
    page = (tmp_path / "report.html").read_text()
    assert "gene11" in page and "In none of the gene sets" in page and "half" in page
    with pytest.raises(ValueError, match="label='type' is not a column of adata.obs; it has"):
        report(adata, tmp_path / "report.html", label="type")


def test_markers_are_the_most_central_genes_that_rise_together():
    X = cells()
    X[:, 1] = X[:, 1].max() - X[:, 1]
    adata = make(X)
    select_groups(adata, **QUICK)
    found = markers(adata, n_genes=3)
    assert list(found) == list(adata.obs.columns)
    assert all(len(genes) == 3 for genes in found.values())
    assert "gene1" not in sum(markers(adata, n_genes=9).values(), [])
    for name, genes in found.items():
        assert name.endswith(f"_{genes[0]}")
        assert adata.var.loc[genes, "groupfs_centrality"].is_monotonic_decreasing


def test_markers_are_genes_that_scanpy_will_find(selected):
    adata = selected.copy()
    adata.raw = adata[:, :9].copy()
    in_raw, in_var = (sum(markers(adata, use_raw=raw).values(), []) for raw in (None, False))
    assert set(in_raw) <= set(adata.var_names[:9]) and not set(in_var) <= set(adata.var_names[:9])
    with pytest.raises(ValueError, match="adata.raw is None"):
        markers(selected, use_raw=True)


def test_genes_in_another_order_are_found_by_name(read):
    selector = groupfs.anndata.selector(read)
    turned = read[:, ::-1].copy()
    values = [fitted_table(a, selector, "groupfs").toarray() for a in (read, turned)]
    np.testing.assert_array_equal(*values)


def test_genes_and_cells_that_are_gone_are_named(read):
    fewer = read[:, 2:].copy()
    assert plot_groups(fewer)  # needs no values
    with pytest.raises(ValueError, match=r"2 of the 24 genes .* no longer in X: gene0, gene1"):
        plot_correlations(fewer)
    with pytest.raises(ValueError, match="found in 150 cells, and adata has 40 now"):
        plot_correlations(read[:40].copy())


def test_what_has_no_results_is_told_so(adata):
    with pytest.raises(ValueError, match="no groups under 'groupfs'; run .*select_groups first"):
        plot_groups(adata)
    with pytest.raises(TypeError, match="adata is a FeatureGroups, not .*groupfs.plotting"):
        plot_groups(FeatureGroups())


def test_a_selector_that_no_file_can_hold_leaves_the_results(adata, tmp_path):
    select_groups(adata, device=torch.device("cpu"), **QUICK)
    with pytest.raises(ValueError, match="holds no selector: a function or another object"):
        groupfs.anndata.selector(adata)
    adata.write_h5ad(tmp_path / "cells.h5ad")
