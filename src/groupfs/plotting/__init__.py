"""Draw figures of a fitted selector. Every function draws on one Axes and returns it.

Without an Axes a new figure as wide as a journal column (3.3 in) is made; on an Axes of yours sizes
follow your own matplotlib settings. Colours are those of Okabe and Ito, or go from dark to light.
"""

from groupfs.plotting.conditions import plot_conditions, plot_curves
from groupfs.plotting.correlations import plot_correlations
from groupfs.plotting.groups import plot_explained, plot_groups, plot_image_groups, plot_levels
from groupfs.plotting.joint import plot_history, plot_path
from groupfs.plotting.preservation import plot_check
from groupfs.plotting.style import ACCENT, CYCLE, DROPPED, KEPT

__all__ = [
    "ACCENT",
    "CYCLE",
    "DROPPED",
    "KEPT",
    "plot_check",
    "plot_conditions",
    "plot_correlations",
]
__all__ += ["plot_curves", "plot_explained", "plot_groups", "plot_history", "plot_image_groups"]
__all__ += ["plot_levels", "plot_path"]
