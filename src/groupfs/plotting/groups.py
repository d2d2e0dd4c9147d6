"""The groups as bars: their scores, and what else is known of them."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.plotting import style
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.fitted_selector import FittedSelector, feature_names, group_names
from groupfs.utils.text import shorten, write_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_groups(selector: FittedSelector, *, most: int = 20, ax: "Axes | None" = None) -> "Axes":
    """Draw the scores of the groups in rank order, with sizes, p-values and how far found again.

    Kept groups are blue. A group is called after its most central feature, or as in ``groups``
    where they were given. The column "reliability" is ``group_reliability_``.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    most : int, default=20
        Groups to show.
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_groups
    >>> selector = GroupFS(random_state=0).fit(load_two_moons(200, random_state=0).data)
    >>> plot_groups(selector).get_xlabel()
    'score'
    """
    check_is_fitted(selector)
    if not selector.n_groups_:
        return style.note("The table shows no groups", ax)
    n = min(most, selector.n_groups_)
    scores = np.asarray(selector.group_scores_[:n], dtype=float)
    colors = np.where(selector.group_selected_[:n], style.KEPT, style.DROPPED)
    with style.drawing(ax, height=0.9 + 0.15 * n) as ax:
        ax.barh(range(n), scores, color=colors, height=0.75)
        ax.set_ylim(n - 0.4, -0.6)
        columns = feature_names(selector)
        names = group_names(selector) or [columns[i] for i in selector.representatives_]
        ax.set_yticks(range(n), [f"{j + 1}  {shorten(names[j], 16)}" for j in range(n)])
        ax.tick_params(axis="y", length=0)
        ax.axvline(0, color="black", linewidth=0.6)
        ax.set_xlabel("score")
        _write_column(ax, 1.6, "size", [str(len(group)) for group in selector.groups_[:n]])
        if selector.group_pvalues_ is not None:
            adjusted = adjust_p_values(selector.group_pvalues_)
            _write_column(ax, 4.9, "adj. p", [_format_p(p) for p in adjusted[:n]])
        if selector.group_reliability_ is not None:
            shares = [write_share(share) for share in selector.group_reliability_[:n]]
            _write_column(ax, 9.9, "reliability", shares)
        ax.set_title(_title(selector, n), pad=2 * _em())  # above the headings of the columns
        ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def _title(selector: FittedSelector, n: int) -> str:
    n_groups, n_kept = selector.n_groups_, int(selector.group_selected_.sum())
    if n_groups == 1:
        return f"1 group ({'kept, in blue' if n_kept else 'not kept'})"
    which = f"First {n} of {n_groups}" if n < n_groups else f"{n}"
    return f"{which} groups, best first ({n_kept} kept, in blue)"


def _write_column(ax: "Axes", right: float, heading: str, entries: list[str]) -> None:
    """Write text beside the bars; ``right`` is its right edge in ems from the Axes."""
    em = _em()
    look: style.Keywords = {"textcoords": "offset points", "ha": "right", "fontsize": "small"}
    look["annotation_clip"] = False
    # not at a place in the data: where bars are thick, that would be far up in the title
    above: style.Keywords = {"xytext": (right * em, 0.3 * em), "xycoords": "axes fraction"}
    ax.annotate(heading, (1, 1), va="bottom", style="italic", **above, **look)
    beside: style.Keywords = {"xytext": (right * em, 0), "xycoords": ax.get_yaxis_transform()}
    for row, entry in enumerate(entries):
        ax.annotate(entry, (1, row), va="center", **beside, **look)


def _em() -> float:
    """Return the size of text in the figure being drawn, in points."""
    import matplotlib

    return float(matplotlib.rcParams["font.size"])


def _format_p(p_value: float) -> str:
    """Write a p-value in few letters: 1, 0.04, 2e-8."""
    if p_value >= 0.001:
        return f"{p_value:.1g}"
    return f"{p_value:.0e}".replace("e-0", "e-")
