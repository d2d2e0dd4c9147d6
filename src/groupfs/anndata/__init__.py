"""Group discovery on AnnData objects; results go into var, obs, obsm and uns."""

from groupfs.anndata.after_fit import (
    compare_conditions,
    markers,
    plot_correlations,
    plot_groups,
    plot_levels,
    report,
)
from groupfs.anndata.select_groups import select_groups
from groupfs.anndata.stored_results import selector

__all__ = ["compare_conditions", "markers", "plot_correlations", "plot_groups", "plot_levels"]
__all__ += ["report", "select_groups", "selector"]
