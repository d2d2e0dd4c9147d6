"""Draw what was found: groups as bars, by level or in an image; what the first features explain."""

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from groupfs.groups import Level
from groupfs.plotting import style
from groupfs.result import ENOUGH, Result
from groupfs.utils.text import count, shorten, write_p, write_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Tables with more features are drawn on a log scale: what matters happens among the first.
MOST_LINEAR = 100
#: Opacity of selected pixels, and of the others of their groups.
SELECTED, IN_GROUP = 0.7, 0.3
#: Share of a group's colour in the boxes of the level that is shown, and of the others.
SHOWN, OTHERS = 0.6, 0.25
#: Height of a line and mean width of a letter, in sizes of the letters; longest name of a feature.
LINE, LETTER, LONGEST_NAME, LONGEST_WORDING = 1.2, 0.62, 16, 40
#: Inches of a figure for each of the narrowest groups, at least and at most for all of them.
EACH, LEAST, MOST = 0.17, 1.6, 8.0


@style.documented
def plot_groups(
    selector: Any,
    *,
    most: int = 20,
    wording: Mapping[str, str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw Cronbach's alpha of the groups with its interval, sizes, p-values and replication.

    Kept groups are blue. A group is called after its most central feature, or as it was given.

    Parameters
    ----------
    <selector>
    most : int, default=20
        Groups to show.
    wording : mapping or None, default=None
        What features say, by name, to call groups after that.
    <ax>

    <examples>
    >>> plot_groups(selector).get_xlabel()
    'alpha'
    """
    result = Result.of(selector, wording=wording)
    groups, n_groups, n_kept = result.groups, len(result.groups), int(result.kept.sum())
    if not n_groups:
        return style.note("The table shows no groups", ax)
    n = min(most, n_groups)
    with style.drawing(ax, height=0.9 + 0.15 * n) as ax:
        colors = np.where(result.kept[:n], style.KEPT, style.DROPPED)
        alpha, ends = result.scales.alpha[:n], result.scales.alpha_interval[:n]
        away = np.nan_to_num(np.abs(ends - alpha[:, None]).T)
        ax.barh(range(n), np.nan_to_num(alpha), color=colors, height=0.75)
        ax.errorbar(np.nan_to_num(alpha), range(n), xerr=away, fmt="none", ecolor="black", lw=0.6)
        said = result.wording or result.names
        names = groups.names or [said[i] or result.names[i] for i in groups.representatives]
        longest = LONGEST_NAME if result.wording is None else LONGEST_WORDING
        ax.set_yticks(range(n), [f"{j + 1}  {shorten(names[j], longest)}" for j in range(n)])
        ax.tick_params(axis="y", length=0)
        ax.axvline(0, color="black", linewidth=0.6)
        ax.set(xlabel="alpha", ylim=(n - 0.4, -0.6), xlim=(min(0, ends.min()), 1))
        _write_column(ax, 1.6, "size", [str(size) for size in groups.sizes[:n]])
        if groups.p_adjusted is not None:
            _write_column(ax, 5.5, "adj. p", [write_p(p) for p in groups.p_adjusted[:n]])
        if groups.replication is not None:
            again = [f"{share:.2f}" for share in groups.replication[:n]]
            _write_column(ax, 10.5, "replication", again)
        which = f"First {n} of {n_groups} groups" if n < n_groups else count(n_groups, "group")
        title = f"{which}, largest first ({n_kept} kept, in blue)"
        ax.set_title(title, pad=2 * style.em())  # above the headings of the columns
        ax.spines["left"].set_visible(False)
    return ax


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
    levels = result.levels or [Level(groups.labels, n_groups, None, groups.sizes, unknown)]
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

    <examples>
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
        if is_long:
            ax.set_xscale("log")
        else:
            ax.locator_params(axis="x", integer=True)
        ax.set(xlabel="number of features", xlim=(1 - len(start), n_features))
        ax.set(ylabel="share explained", ylim=(0, 1.03))
        ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        n_told = n_first or n_enough
        explain = "explains" if n_told == 1 else "explain"
        share = write_share(float(explained[n_told - 1]))
        ax.set_title(f"{n_told:,} of {count(len(result.names), 'feature')} {explain} {share}")
        style.legend_below(ax)
    return ax


@style.documented
def plot_image_groups(
    selector: Any,
    image_shape: tuple[int, int],
    *,
    order: Literal["F", "C"] = "F",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the mean image, with the pixels of kept groups coloured by the rank of their group.

    Colours go from dark to light where groups are many. Pixels of a kept group that are not
    selected themselves, as with a budget, are paler.

    Parameters
    ----------
    <selector>
    image_shape : tuple of int
        Height and width.
    order : {"F", "C"}, default="F"
        How a row was made of an image: column after column, as in the tables of ``fetch_dataset``,
        or row after row.
    <ax>

    <examples>
    >>> ax = plot_image_groups(selector, (4, 5), order="C")
    >>> ax.images[0].get_array().shape
    (4, 5)
    """
    result, n_features = Result.of(selector), selector.n_features_in_
    if len(image_shape) != 2 or image_shape[0] * image_shape[1] != n_features:
        raise ValueError(
            f"image_shape={tuple(image_shape)} does not fit {n_features} features; give the height "
            "and width of the images, whose product is that number."
        )
    mean, kept = selector._learned_columns["mean"], np.flatnonzero(result.kept)
    with style.drawing(ax, height=2.8) as ax:
        from matplotlib.colors import to_rgba
        from matplotlib.patches import Patch

        colors, overlay = style.rank_colors(len(kept)), np.zeros((len(mean), 4))
        for j, color in zip(kept, colors, strict=True):
            pixels = result.groups.members[j]
            overlay[pixels] = to_rgba(color)
            overlay[pixels, 3] = np.where(result.support[pixels], SELECTED, IN_GROUP)
        ax.imshow(mean.reshape(image_shape, order=order), cmap="gray")
        ax.imshow(overlay.reshape((*image_shape, 4), order=order))
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_title(f"{result.support.sum()} of {len(mean)} pixels selected, by group")
        if 0 < len(kept) <= len(style.CYCLE):
            patches = [Patch(color=color, alpha=SELECTED) for color in colors]
            place: style.Keywords = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02)}
            look: style.Keywords = {"frameon": False, "handlelength": 1.0, "handleheight": 1.0}
            numbers = [str(j + 1) for j in kept]
            ax.legend(patches, numbers, title="group", title_fontsize="small", **place, **look)
    return ax


def _write_column(ax: "Axes", right: float, heading: str, entries: list[str]) -> None:
    """Write text beside the bars; ``right`` is its right edge in ems from the Axes."""
    em = style.em()
    look: style.Keywords = {"textcoords": "offset points", "ha": "right", "fontsize": "small"}
    look["annotation_clip"] = False
    # not at a place in the data: where bars are thick, that would be far up in the title
    above: style.Keywords = {"xytext": (right * em, 0.3 * em), "xycoords": "axes fraction"}
    ax.annotate(heading, (1, 1), va="bottom", style="italic", **above, **look)
    beside: style.Keywords = {"xytext": (right * em, 0), "xycoords": ax.get_yaxis_transform()}
    for row, entry in enumerate(entries):
        ax.annotate(entry, (1, row), va="center", **beside, **look)


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


def _mark_groups(ax: "Axes", result: Result) -> None:
    """Draw a dot where the first feature of every kept group comes, if colours tell them apart."""
    kept = np.flatnonzero(result.kept)
    if not 0 < len(kept) <= len(style.CYCLE):
        return
    first = [int(result.positions[result.groups.members[j]].min()) for j in kept]
    look: style.Keywords = {"c": style.rank_colors(len(kept)), "zorder": 3, "clip_on": False}
    ax.scatter(first, result.explained[np.array(first) - 1], s=14, label="first of a group", **look)
