"""Group discovery on AnnData objects; results go into var, varm, obs, obsm and uns."""

from groupfs.anndata.compare_conditions import compare_conditions
from groupfs.anndata.figures import plot_correlations, plot_embedding, plot_explained, plot_groups
from groupfs.anndata.markers import markers
from groupfs.anndata.page import report
from groupfs.anndata.select_groups import select_groups
from groupfs.anndata.stored import selector

__all__ = [
    "compare_conditions",
    "markers",
    "plot_correlations",
    "plot_embedding",
    "plot_explained",
    "plot_groups",
    "report",
    "select_groups",
    "selector",
]
