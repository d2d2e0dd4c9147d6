"""Draw what halves of the rows agree on, for every number of groups."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.plotting import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.documented
def plot_replication(selector: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how far groups found in two halves of the rows agree, by the number of groups.

    Agreement is 1 where both halves find the same groups, 0 where they agree as by chance. The
    number is chosen where the information that is found again is highest (dashed, its highest as
    1); the dotted line marks it, circles mark other numbers with nearly as much.

    Parameters
    ----------
    <selector>
        One that looked for the number of groups by replication, as by default.
    <ax>

    Examples
    --------
    <fitted>
    >>> from groupfs.plotting import plot_replication
    >>> plot_replication(selector).get_xlabel()
    'number of groups'
    """
    check_is_fitted(selector)
    halves = getattr(selector, "replication_", None)
    if halves is None:
        raise ValueError(
            "the selector has no replication to draw: its number of groups was given or found "
            'otherwise, or its table is too small or shows no groups; n_groups="auto" looks at it.'
        )
    numbers, agreement = halves.n_groups, halves.agreement
    with style.drawing(ax) as ax:
        marker = "o" if len(numbers) == 1 else None
        ax.plot(numbers, agreement, color=style.KEPT, label="agreement", marker=marker)
        if halves.best is not None:
            share = halves.information / halves.information.max()
            look: style.Keywords = {"color": style.DROPPED, "linewidth": 1.2, "linestyle": "--"}
            ax.plot(numbers, share, label="information", zorder=1.9, **look)
            ax.axvline(halves.best, color="black", linewidth=0.8, linestyle=":", label="chosen")
            others = np.isin(numbers, halves.others)
            if others.any():
                look = {"facecolors": "white", "edgecolors": style.KEPT, "zorder": 3}
                ax.scatter(numbers[others], agreement[others], s=22, label="as well", **look)
        ax.set_xlabel("number of groups")
        ax.set_ylabel("agreement")
        ax.set_ylim(0, 1.03)
        ax.locator_params(axis="x", integer=True)
        what = "no number of groups" if halves.best is None else f"{halves.best} groups"
        ax.set_title(f"Halves of the rows agree on {what}")
        style.legend_below(ax)
    return ax
