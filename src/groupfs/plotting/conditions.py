"""Draw where groups matter: a map of groups by condition, and curves along a number."""

from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.conditions.compare import Comparison, Curves
from groupfs.conditions.estimates import Change, Estimate
from groupfs.plotting import style
from groupfs.utils.text import count, shorten
from groupfs.utils.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What can be drawn, and what it is called.
QUANTITIES = {"mean": "mean score", "cohesion": "correlation within the group"}
#: Means diverge from zero, and correlations rise from it. Colours end at fixed values: half a
#: deviation is much between groups of samples, and a small difference is to be pale.
COLORS: dict[str, style.Keywords] = {
    "mean": {"cmap": "RdBu", "vmin": -0.5, "vmax": 0.5},
    "cohesion": {"cmap": "cividis", "vmin": 0, "vmax": 1},
}
#: Cells up to which numbers are written into them.
MOST_NUMBERS = 72
#: Letters of condition names beside which they are turned, all of them together.
WIDEST_NAMES = 28


@style.documented
def plot_conditions(
    comparison: Comparison, *, what: str = "mean", most: int = 40, ax: "Axes | None" = None
) -> "Axes":
    """Draw groups by condition; a dot marks the groups that change.

    Parameters
    ----------
    comparison : Comparison
        What :func:`groupfs.conditions.compare` gives.
    <what>
    most : int, default=40
        Groups to show.
    <ax>

    <examples>
    >>> from groupfs.conditions import compare
    >>> ax = plot_conditions(compare(selector, X, X[:, 0] > 0, n_permutations=99))
    >>> ax.images[0].get_array().shape  # groups, conditions
    (2, 2)
    """
    estimate, change = _drawn(comparison, what)
    n = min(most, len(comparison.groups))
    values = estimate.value[:n]
    with style.drawing(ax, height=1.0 + 0.17 * n) as ax:
        image = ax.imshow(values, aspect="auto", interpolation="nearest", **COLORS[what])
        beyond = bool((np.abs(values) > image.norm.vmax).any())
        look: style.Keywords = {"fraction": 0.06, "pad": 0.1, "aspect": 30}
        look["extend"] = ("both" if what == "mean" else "max") if beyond else "neither"
        ax.figure.colorbar(image, ax=ax, label=QUANTITIES[what], **look)
        ax.set_yticks(range(n), [shorten(title, 18) for title in comparison.titles[:n]])
        names = [shorten(str(name), 20) for name in comparison.conditions]
        turned = sum(map(len, names)) > WIDEST_NAMES
        look = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if turned else {}
        ax.set_xticks(range(len(names)), names, **look)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        if values.size <= MOST_NUMBERS:
            _write_values(ax, values, image)
        rows = np.flatnonzero(change.found(comparison.alpha)[:n])
        look = {"color": style.ACCENT, "clip_on": False, "zorder": 3}
        ax.scatter(np.full(len(rows), 1.03), rows, 10, transform=ax.get_yaxis_transform(), **look)
        ax.set_title(_title(comparison, change, what, n))
    return ax


@style.documented
def plot_curves(
    curves: Curves, *, what: str = "mean", most: int = 6, ax: "Axes | None" = None
) -> "Axes":
    """Draw groups along a number, with bands; groups that change are in colour.

    Parameters
    ----------
    curves : Curves
        What :func:`groupfs.conditions.curves` gives.
    <what>
    most : int, default=6
        Groups to draw in colour, those that change most surely; all others are grey.
    <ax>

    <examples>
    >>> from groupfs.conditions import curves
    >>> plot_curves(curves(selector, X, X[:, 0], n_permutations=99)).get_ylabel()
    'mean score'
    """
    estimate, change = _drawn(curves, what)
    changing = np.flatnonzero(change.found(curves.alpha))
    # the surest first: of equal p-values the one that is furthest from chance
    furthest = np.square(change.z).mean(1)[changing]
    colored = changing[np.lexsort((-furthest, change.p_values[changing]))][:most]
    titles = curves.titles
    with style.drawing(ax, height=2.6) as ax:
        for j in np.setdiff1d(np.arange(len(titles)), colored):
            grey: style.Keywords = {"color": style.DROPPED, "linewidth": 0.7, "zorder": 1.5}
            ax.plot(curves.places, estimate.value[j], **grey)
        for color, j in zip(style.rank_colors(len(colored)), np.sort(colored), strict=True):
            ax.plot(curves.places, estimate.value[j], color=color, label=shorten(titles[j], 18))
            band = estimate.low[j], estimate.high[j]
            ax.fill_between(curves.places, *band, color=color, alpha=0.15, linewidth=0)
        ax.set(xlabel=curves.name, ylabel=QUANTITIES[what])
        ax.margins(x=0)
        if what == "cohesion":
            ax.set_ylim(min(0, float(np.nanmin(estimate.low))), None)
        ax.set_title(_title(curves, change, what, len(titles)))
        if len(colored):
            style.legend_below(ax)
    return ax


def _drawn(result: Any, what: str) -> tuple[Estimate, Change]:
    if what not in QUANTITIES:
        raise ValueError(f'what={what!r} cannot be drawn; choose "mean" or "cohesion".')
    if what == "mean":
        return result.mean, result.mean_change
    return result.cohesion, result.cohesion_change


def _write_values(ax: "Axes", values: FloatArray, image: Any) -> None:
    look: style.Keywords = {"ha": "center", "va": "center", "fontsize": "small"}
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        red, green, blue, _ = image.cmap(image.norm(value))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text = f"{value:.2f}".replace("-", "−")
        ax.text(column, row, text, color="white" if dark else "black", **look)


def _title(result: Any, change: Change, what: str, n: int) -> str:
    n_groups, n_changing = len(result.groups), int(change.found(result.alpha).sum())
    of = f"{n_changing} of {count(n_groups, 'group')}"
    verb = "changes" if n_changing == 1 else "change"
    dots = " (dots)" if n_changing and isinstance(result, Comparison) else ""
    first = f"\nthe first {n} shown" if n < n_groups else ""
    return f"{of} {verb} in {what} by {shorten(result.name, 16)}{dots}{first}"
