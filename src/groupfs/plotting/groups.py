"""Draw the groups as bars: their smoothness, and what else is known of them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.plotting import style
from groupfs.result import Result
from groupfs.utils.text import count, shorten, write_p

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.documented
def plot_groups(selector: Any, *, most: int = 20, ax: "Axes | None" = None) -> "Axes":
    """Draw the smoothness of the groups in rank order, with sizes, p-values and replication.

    Kept groups are blue. A group is called after its most central feature, or as in ``groups``
    where they were given.

    Parameters
    ----------
    <selector>
    most : int, default=20
        Groups to show.
    <ax>

    Examples
    --------
    <fitted>
    >>> from groupfs.plotting import plot_groups
    >>> plot_groups(selector).get_xlabel()
    'smoothness'
    """
    result = Result.of(selector)
    groups = result.groups
    if not len(groups):
        return style.note("The table shows no groups", ax)
    n = min(most, len(groups))
    with style.drawing(ax, height=0.9 + 0.15 * n) as ax:
        colors = np.where(result.kept[:n], style.KEPT, style.DROPPED)
        ax.barh(range(n), np.asarray(groups.smoothness[:n], float), color=colors, height=0.75)
        ax.set_ylim(n - 0.4, -0.6)
        names = groups.names or [result.names[i] for i in groups.representatives]
        ax.set_yticks(range(n), [f"{j + 1}  {shorten(names[j], 16)}" for j in range(n)])
        ax.tick_params(axis="y", length=0)
        ax.axvline(0, color="black", linewidth=0.6)
        ax.set_xlabel("smoothness")
        _write_column(ax, 1.6, "size", [str(size) for size in groups.sizes[:n]])
        if groups.p_adjusted is not None:
            _write_column(ax, 5.5, "adj. p", [write_p(p) for p in groups.p_adjusted[:n]])
        if groups.replication is not None:
            again = [f"{share:.2f}" for share in groups.replication[:n]]
            _write_column(ax, 10.5, "replication", again)
        ax.set_title(_title(result, n), pad=2 * _em())  # above the headings of the columns
        ax.spines["left"].set_visible(False)
    return ax


def _title(result: Result, n: int) -> str:
    n_groups, n_kept = len(result.groups), int(result.kept.sum())
    which = f"First {n} of {n_groups} groups" if n < n_groups else count(n_groups, "group")
    return f"{which}, best first ({n_kept} kept, in blue)"


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
