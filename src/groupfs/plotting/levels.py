"""Draw the levels of groups side by side: broad groups on the left, those within them beside."""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.groups import Level
from groupfs.plotting import style
from groupfs.result import Result
from groupfs.utils.text import count, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Share of a group's colour in the boxes of the level that is shown, and of the others.
SHOWN, OTHERS = 0.6, 0.25
#: Height of a line and mean width of a letter, in sizes of the letters; longest name of a feature.
LINE, LETTER, LONGEST_NAME = 1.2, 0.62, 16
#: Inches of a figure for each of the narrowest groups, at least and at most for all of them.
EACH, LEAST, MOST = 0.17, 1.6, 8.0


@style.documented
def plot_levels(selector: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the levels of groups as columns, broad to narrow, every group beside its parts.

    Heights are numbers of features, which are named where there is room, most central first; groups
    have the numbers of their level. Above it stands how far halves of the rows agree on it (1 at
    most, 0 by chance). The level that is shown elsewhere has stronger colours.

    Parameters
    ----------
    <selector>
    <ax>

    <examples>
    >>> plot_levels(selector).get_title()
    '10 of 20 features in groups'
    """
    result = Result.of(selector)
    groups, n_groups = result.groups, len(result.groups)
    if not n_groups:
        return style.note("The table shows no groups", ax)
    unknown = np.full(n_groups, np.nan)
    levels = result.levels or [Level(groups.labels, n_groups, np.nan, groups.sizes, unknown)]
    order = np.lexsort([one.labels for one in levels[::-1]])
    order = order[levels[0].labels[order] >= 0]
    n_narrow, inside = max(one.n_groups for one in levels), int((groups.labels >= 0).sum())
    colors, shown = style.rank_colors(levels[0].n_groups), result.level or 0
    names = [shorten(name, LONGEST_NAME) for name in result.marked_names]
    with style.drawing(ax, height=0.7 + min(max(EACH * n_narrow, LEAST), MOST)) as ax:
        ax.set(xlim=(0, len(levels)), ylim=(len(order), 0), yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_xticks(np.arange(len(levels)) + 0.5, [_head(one) for one in levels])
        ax.tick_params(length=0, bottom=False, labelbottom=False, labeltop=True)
        ax.get_xticklabels()[shown].set_fontweight("bold")
        where = f"groups at {len(levels)} levels" if len(levels) > 1 else "groups"
        ax.set_title(f"{inside:,} of {count(len(result.names), 'feature')} in {where}")
        ax.figure.canvas.draw()  # lays out, so that it is known how much room there is
        for k, one in enumerate(levels):
            for j in range(one.n_groups):
                at = np.flatnonzero(one.labels[order] == j)
                members = order[at]
                color = colors[levels[0].labels[members[0]]], SHOWN if k == shown else OTHERS
                central = members[np.argsort(-groups.centrality[members], kind="stable")]
                called = groups.label(j) if k == shown else j + 1
                text = f"{called}  {', '.join(names[i] for i in central)}"
                _draw_box(ax, (k, float(at[0])), len(at), color, text)
    return ax


def _head(level: Level) -> str:
    number = count(level.n_groups, "group")
    agreed = level.agreement
    return number if agreed is None else f"{number}\nagreement {agreed:.2f}"


def _draw_box(ax: "Axes", at: tuple[float, float], height: int, color: Any, text: str) -> None:
    """Draw a group from its upper left corner on, with as much of the text as fits."""
    from matplotlib.patches import Rectangle

    box = Rectangle(at, 1, height, facecolor=color, edgecolor="white", linewidth=1.2)
    room, size = ax.add_patch(box).get_window_extent(), 0.8 * style.em()
    letters = 72 / ax.figure.dpi / size
    n_letters = int((room.width * letters - 1) / LETTER)
    n_lines = int((room.height * letters - 0.2) / LINE)
    if n_lines < 1 or n_letters < 2:
        return
    wrap: style.Keywords = {"placeholder": " …", "break_on_hyphens": False}
    lines = textwrap.wrap(text, n_letters, max_lines=n_lines, **wrap)
    look: style.Keywords = {"va": "center", "linespacing": 1.1, "fontsize": size}
    look |= {"xytext": (0.6 * size, 0), "textcoords": "offset points", "clip_on": True}
    ax.annotate("\n".join(lines), (at[0], at[1] + height / 2), **look)
