"""Draw what became of groups in other rows."""

from typing import TYPE_CHECKING

import numpy as np

from groupfs.plotting import style
from groupfs.preservation import Preservation, State
from groupfs.utils.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Inches of a feature and of a heading; features up to which they are named.
EACH, HEADING, MOST_NAMED = 0.12, 0.2, 80


@style.documented
def plot_check(checked: Preservation, *, most: int = 12, ax: "Axes | None" = None) -> "Axes":
    """Draw loadings in the rows of the fit (open) and in other rows (full), group by group.

    A line joins both of a feature; features that are lost or reversed are orange.

    Parameters
    ----------
    checked : Preservation
        What ``selector.check`` gives.
    most : int, default=12
        Groups to show, of the level that is shown.
    <ax>

    <examples>
    >>> plot_check(selector.check(X)).get_xlabel()
    'loading'
    """
    groups = [of for of in checked.shown if of.now is not None][:most]
    if not groups:
        return style.note("No group has features in these rows", ax)
    n_lines = sum(len(of.features) + 2 for of in groups)
    with style.drawing(ax, height=0.6 + EACH * n_lines) as ax:
        y, ticks, names = 0.0, [], []
        for of in groups:
            assert of.now is not None
            called = of.representative if isinstance(of.group, int) else of.group
            title = f"{of.group}  {shorten(called, 24)}: {of.verdict}"
            color = "black" if of.verdict is State.PRESERVED else style.ACCENT
            ax.text(0, y, title, transform=ax.get_yaxis_transform(), va="center", color=color)
            places = y + 1 + np.arange(len(of.features))
            is_off = np.array([state is not State.HOLDS for state in of.now.states])
            before, now = of.now.loadings_before, of.now.loadings
            for which, color in ((~is_off, style.KEPT), (is_off, style.ACCENT)):
                ax.hlines(places[which], before[which], now[which], color=color, linewidth=0.8)
                ax.scatter(before[which], places[which], 9, "white", edgecolors=color, zorder=3)
                ax.scatter(now[which], places[which], 9, color, zorder=3)
            ticks += places.tolist()
            names += of.features
            y = places[-1] + 2
        is_few = len(names) <= MOST_NAMED
        ax.set_yticks(ticks if is_few else [], [shorten(n, 16) for n in names] if is_few else [])
        ax.tick_params(axis="y", length=0)
        ax.axvline(0, color="black", linewidth=0.6)
        ax.set(xlabel="loading", ylim=(y - 1, -0.8), xlim=(min(-0.1, ax.get_xlim()[0]), 1))
        ax.spines["left"].set_visible(False)
    return ax
