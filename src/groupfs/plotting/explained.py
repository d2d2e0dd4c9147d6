"""What features explain: the share of the table that the first 1, 2, ... of them stand for."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.plotting import style
from groupfs.selection.explained_sentence import (
    ENOUGH,
    count_first,
    enough_features,
    write_share,
)
from groupfs.utils.fitted_selector import FittedSelector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Tables with more features are drawn on a log scale: what matters happens among the first.
MOST_LINEAR = 100


def plot_explained(selector: FittedSelector, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how much of what the related features say the first features explain, by their number.

    Features come in the order in which a budget takes them (``feature_order_``). The dashed line
    marks 90 %, the circle the selected features where these are the first. Dots are the first
    features of kept groups, in the groups' colours, where these are few.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_explained
    >>> selector = GroupFS(random_state=0).fit(load_two_moons(200, random_state=0).data)
    >>> plot_explained(selector).get_xlabel()
    'number of features'
    """
    check_is_fitted(selector)
    explained, n_features = selector.explained_, len(selector.explained_)
    n_selected, n_enough = count_first(selector), enough_features(selector)
    is_long = n_features > MOST_LINEAR
    with style.drawing(ax) as ax:
        start = [] if is_long else [0]
        ax.plot([*start, *range(1, n_features + 1)], [*start, *explained], color=style.KEPT)
        look: style.Keywords = {"color": style.DROPPED, "linewidth": 0.9, "linestyle": "--"}
        reach = [1 - len(start), n_enough, n_enough], [ENOUGH, ENOUGH, 0]
        ax.plot(*reach, label=f"{write_share(ENOUGH)}: {n_enough:,}", zorder=1.9, **look)
        _mark_groups(ax, selector)
        if n_selected is not None:
            look = {"facecolors": "none", "edgecolors": "black", "zorder": 4, "clip_on": False}
            at = n_selected, explained[n_selected - 1]
            ax.scatter(*at, s=40, label=f"selected: {n_selected:,}", **look)
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
        n_told = n_selected or n_enough
        explain = "explains" if n_told == 1 else "explain"
        share = write_share(float(explained[n_told - 1]))
        ax.set_title(f"{n_told:,} of {selector.n_features_in_:,} features {explain} {share}")
        ax.spines[["top", "right"]].set_visible(False)
        style.legend_below(ax)
    return ax


def _mark_groups(ax: "Axes", selector: FittedSelector) -> None:
    """Draw a dot where the first feature of every kept group comes, if colours tell them apart."""
    kept = np.flatnonzero(selector.group_selected_)
    if not 0 < len(kept) <= len(style.CYCLE):
        return
    in_order = selector.group_labels_[selector.feature_order_]
    first = np.array([np.flatnonzero(in_order == group)[0] for group in kept])
    look: style.Keywords = {"c": style.rank_colors(len(kept)), "zorder": 3, "clip_on": False}
    ax.scatter(first + 1, selector.explained_[first], s=14, label="first of a group", **look)
