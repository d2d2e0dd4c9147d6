"""Gene sets as known groups: they may overlap, leave genes out, name genes that are not there."""

import numpy as np
import pytest

from groupfs.anndata import select_groups
from groupfs.anndata.gene_sets import assign_genes, read_gene_sets
from groupfs.utils.warn import SelectionWarning
from tests.support.cells import cells

GENES = [f"gene{i}" for i in range(24)]


def assigned(sets, signed=False, X=None):
    X = cells() if X is None else X
    found, absent = read_gene_sets(sets, GENES)
    every = np.arange(24)
    inside, names, remarks = assign_genes(found, X, every, np.ones(24, dtype=bool), signed)
    return dict(zip(inside.tolist(), names.tolist(), strict=True)), absent + remarks


def test_a_gene_in_two_sets_goes_to_the_one_it_correlates_with():
    # 0-5 go together, and so do 6-11; each set also lists one gene of the other
    of, remarks = assigned({"a": [*range(6), 6], "b": [*range(5, 12)], "c": [12, 13]})
    assert of[5] == "a" and of[6] == "b"
    assert any("2 genes" in remark and "correlates" in remark for remark in remarks)


def test_signed_looks_at_the_sign_too():
    X = cells()
    X[:, 0] = X[:, 0].max() - X[:, 0]
    sets = {"a": [0, 1, 2, 3], "noise": [0, 20, 21, 22]}
    assert assigned(sets, X=X)[0][0] == "a"
    assert assigned(sets, signed=True, X=X)[0][0] == "noise"


def test_genes_in_no_set_and_small_sets_are_left_out(adata, tmp_path):
    sets = {"first": [*GENES[:6], "CD3D"], "second": GENES[6:12], "lone": [GENES[20], "CD8A"]}
    with pytest.warns(SelectionWarning, match="lone.*12 genes") as caught:
        select_groups(adata, groups=sets)
    assert sum(issubclass(w.category, SelectionWarning) for w in caught) == 1
    assert adata.var["groupfs_group"].isna().tolist() == [False] * 12 + [True] * 12
    assert adata.var["groupfs_order"].notna().sum() == 12
    assert sorted(adata.uns["groupfs"]["groups"].index) == ["first", "second"]
    assert len(adata.uns["groupfs"]["notes"]) == 3
    adata.write_h5ad(tmp_path / "cells.h5ad")


def test_labels_and_lists_of_sets_do_as_well(adata):
    labels = np.repeat([0, 1, -1], [6, 6, 12])
    for groups in (labels, [GENES[:6], GENES[6:12]], [list(range(6)), list(range(6, 12))]):
        with pytest.warns(SelectionWarning, match="In none of the gene sets, and left out: 12"):
            select_groups(adata, groups=groups)
        assert adata.var["groupfs_group"].dropna().tolist() in (["0"] * 6 + ["1"] * 6,)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": ["ENSG1", "ENSG2"]}, "not one gene .* ENSG1, ENSG2, and adata has gene0"),
        ({"a": GENES[:6], "b": [GENES[7]]}, "1 of 2 gene sets have two genes"),
        ({"a": "gene1"}, "the set 'a' is 'gene1'; give a list"),
        ({"a": [99], "b": [0, 1]}, "lists feature 99"),
    ],
)
def test_sets_that_cannot_be_used_are_refused(adata, groups, message):
    with pytest.raises(ValueError, match=message):
        select_groups(adata, groups=groups)
