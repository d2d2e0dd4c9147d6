"""Draw the share of the variance that the first 1, 2, ... features explain."""

from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.plotting import style
from groupfs.result import ENOUGH, Result
from groupfs.utils.text import count, write_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Tables with more features are drawn on a log scale: what matters happens among the first.
MOST_LINEAR = 100


@style.documented
def plot_explained(selector: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how much of the variance of the related features the first features explain.

    Features come in the order in which a budget takes them (``feature_order_``). The dashed line
    marks 90 %, the circle the selected features where these are the first. Dots are the first
    features of kept groups, in the groups' colours, where these are few.

    Parameters
    ----------
    <selector>
    <ax>

    Examples
    --------
    <fitted>
    >>> from groupfs.plotting import plot_explained
    >>> plot_explained(selector).get_xlabel()
    'number of features'
    """
    result = Result.of(selector)
    explained, n_features = result.explained, len(result.explained)
    n_first, n_enough = result.n_first, result.n_enough
    is_long = n_features > MOST_LINEAR
    with style.drawing(ax) as ax:
        start = [] if is_long else [0]
        ax.plot([*start, *range(1, n_features + 1)], [*start, *explained], color=style.KEPT)
        look: style.Keywords = {"color": style.DROPPED, "linewidth": 0.9, "linestyle": "--"}
        reach = [1 - len(start), n_enough, n_enough], [ENOUGH, ENOUGH, 0]
        ax.plot(*reach, label=f"{write_share(ENOUGH)}: {n_enough:,}", zorder=1.9, **look)
        _mark_groups(ax, result)
        if n_first is not None:
            look = {"facecolors": "none", "edgecolors": "black", "zorder": 4, "clip_on": False}
            at = n_first, explained[n_first - 1]
            ax.scatter(*at, s=40, label=f"selected: {n_first:,}", **look)
        ax.set_xlabel("number of features")
        ax.set_ylabel("share explained")
        ax.set_ylim(0, 1.03)
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        if is_long:
            ax.set_xscale("log")
        else:
            ax.locator_params(axis="x", integer=True)
        ax.set_xlim(1 - len(start), n_features)
        ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
        n_told = n_first or n_enough
        explain = "explains" if n_told == 1 else "explain"
        share = write_share(float(explained[n_told - 1]))
        ax.set_title(f"{n_told:,} of {count(len(result.names), 'feature')} {explain} {share}")
        style.legend_below(ax)
    return ax


def _mark_groups(ax: "Axes", result: Result) -> None:
    """Draw a dot where the first feature of every kept group comes, if colours tell them apart."""
    kept = np.flatnonzero(result.kept)
    if not 0 < len(kept) <= len(style.CYCLE):
        return
    first = [int(result.positions[result.groups.members[j]].min()) for j in kept]
    look: style.Keywords = {"c": style.rank_colors(len(kept)), "zorder": 3, "clip_on": False}
    heights = [result.explained[k - 1] for k in first]
    ax.scatter(first, heights, s=14, label="first of a group", **look)
