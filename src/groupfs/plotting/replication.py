"""How many groups there are: what halves of the rows agree on, for every number of groups."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.plotting import style
from groupfs.utils.fitted_selector import FittedSelector
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_replication(selector: FittedSelector, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how far groups found in two halves of the rows agree, by the number of groups.

    Agreement is 1 where both halves find the same groups, 0 where they agree as by chance. The
    number is chosen where the information that is found again is highest (dashed, its highest as
    1); the dotted line marks it, circles mark other numbers with nearly as much.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
        One that looked for the number of groups by replication, as by default.
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_replication
    >>> selector = GroupFS(random_state=0).fit(load_two_moons(200, random_state=0).data)
    >>> plot_replication(selector).get_xlabel()
    'number of groups'
    """
    check_is_fitted(selector)
    found = selector.replication_
    if found is None:
        raise ValueError(
            "the selector has no replication to draw: its number of groups was given or found "
            'otherwise, or its table is too small or shows no groups; n_groups="auto" looks at it.'
        )
    with style.drawing(ax) as ax:
        marker = "o" if len(found.n_groups) == 1 else None
        ax.plot(found.n_groups, found.agreement, color=style.KEPT, label="agreement", marker=marker)
        if found.best is not None:
            share = found.information / found.information.max()
            look: style.Keywords = {"color": style.DROPPED, "linewidth": 1.2, "linestyle": "--"}
            ax.plot(found.n_groups, share, label="information", zorder=1.9, **look)
            ax.axvline(found.best, color="black", linewidth=0.8, linestyle=":", label="chosen")
            _mark_others(ax, found.n_groups, found.agreement, found.others)
        ax.set_xlabel("number of groups")
        ax.set_ylabel("agreement")
        ax.set_ylim(0, 1.03)
        ax.locator_params(axis="x", integer=True)
        what = "no number of groups" if found.best is None else f"{found.best} groups"
        ax.set_title(f"Halves of the rows agree on {what}")
        ax.spines[["top", "right"]].set_visible(False)
        style.legend_below(ax)
    return ax


def _mark_others(ax: "Axes", numbers: IntArray, agreement: FloatArray, others: list[int]) -> None:
    if not others:
        return
    at = np.isin(numbers, others)
    look: style.Keywords = {"facecolors": "white", "edgecolors": style.KEPT, "zorder": 3}
    ax.scatter(numbers[at], agreement[at], s=22, label="as well", **look)
