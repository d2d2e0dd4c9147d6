"""On real blood cells: genes are where a biologist expects them, and scanpy draws the results."""

import re
import warnings

import matplotlib
import matplotlib.pyplot as plt
import pytest

from groupfs.anndata import markers, select_groups
from tests.support.cells import blood_cells, through_file

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def blood(tmp_path_factory):
    adata = blood_cells()
    with pytest.raises(ValueError, match=r"take adata.raw \(use_raw=True\)"):
        select_groups(adata)
    select_groups(adata, use_raw=True)
    return through_file(adata, tmp_path_factory.mktemp("blood"))


@pytest.mark.parametrize(
    "genes", ["CD3D CD3E", "CD79A CD79B MS4A1", "NKG7 GNLY GZMB", "LST1 AIF1", "HLA-DRA CD74"]
)
def test_genes_that_belong_together_are_in_one_kept_group(blood, genes):
    (group,) = blood.var.loc[genes.split(), "groupfs_group"].unique()
    assert blood.uns["groupfs"]["groups"].loc[group, "kept"]


@pytest.mark.parametrize(
    ("gene", "kind"), [("CD3D", "CD[48]"), ("CD79A", "CD19. B"), ("NKG7", "NK")]
)
def test_scores_are_highest_in_the_cells_they_belong_to(blood, gene, kind):
    place = int(blood.var["groupfs_group"].cat.codes[gene])
    score = blood.obsm["groupfs_scores"].iloc[:, place]
    means = score.groupby(blood.obs["bulk_labels"], observed=True).mean()
    assert re.search(kind, means.idxmax())


def test_scanpy_draws_scores_and_markers_by_their_names(blood):
    sc = pytest.importorskip("scanpy")
    matplotlib.use("Agg")
    genes = markers(blood, n_genes=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scanpy's own, of pandas
        axes = sc.pl.umap(blood, color=list(genes), show=False)
        dots = sc.pl.dotplot(blood, genes, groupby="bulk_labels", show=False)
    assert [ax.get_title() for ax in axes] == list(genes)
    labels = [label.get_text() for label in dots["mainplot_ax"].get_xticklabels()]
    assert labels == sum(genes.values(), [])
    plt.close("all")
