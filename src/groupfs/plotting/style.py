"""Hold what the figures share: colours, sizes, Axes, legends, parts of docstrings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from groupfs.utils.packages import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Figure = TypeVar("Figure", bound=Callable[..., Any])
#: What matplotlib's functions are given by name.
Keywords = dict[str, Any]

#: Colour-blind-safe (Okabe and Ito): kept groups in blue, others in grey, emphasis in vermilion.
KEPT, DROPPED, ACCENT = "#0072B2", "#B0B0B0", "#D55E00"
CYCLE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")

COLUMN_WIDTH = 3.3  #: inches
#: Of figures made here. Sizes of text within them are relative to these.
COLUMN_STYLE: dict[Any, float] = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 8.0),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 7.0),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 2.5),
    **{"figure.dpi": 150.0, "savefig.dpi": 300.0},
}
NEEDS_MATPLOTLIB = 'Figures need matplotlib; install it with pip install "groupfs[plot]".'

#: What the docstrings of all figures say, by the word that stands for it.
SHARED = {
    "<selector>": "selector : fitted FeatureGroups, GroupFS or GroupFSPath",
    "<table>": "X : array, sparse matrix or DataFrame of shape (n_samples, n_features)\n"
    "        The table it was fitted on.",
    "<what>": 'what : {"mean", "cohesion"}, default="mean"\n'
    "        The mean score of samples, or how far a group coheres, as a correlation.",
    "<ax>": "ax : Axes or None, default=None\n"
    "        Where to draw; a new figure of column width if None.",
    "<examples>": "Examples\n    --------\n"
    "    >>> from groupfs import FeatureGroups\n"
    "    >>> from groupfs.datasets import load_two_moons\n"
    "    >>> from groupfs.plotting import <name>\n"
    "    >>> X = load_two_moons(200, random_state=0).data\n"
    "    >>> selector = FeatureGroups(random_state=0).fit(X)",
}


def documented(figure: Figure) -> Figure:
    """Fill in what the docstrings of all figures say."""
    for word, text in {**SHARED, "<name>": figure.__name__}.items():
        figure.__doc__ = (figure.__doc__ or "").replace(word, text)
    return figure


@contextmanager
def drawing(ax: "Axes | None", height: float = 2.4) -> "Iterator[Axes]":
    """Give the Axes to draw on: the user's, or one in a new figure of column width."""
    plt = import_optional("matplotlib.pyplot", NEEDS_MATPLOTLIB)
    with nullcontext() if ax is not None else plt.rc_context(COLUMN_STYLE):
        if ax is None:
            ax = plt.subplots(figsize=(COLUMN_WIDTH, height), layout="constrained")[1]
        ax.spines[["top", "right"]].set_visible(False)
        yield ax


def em() -> float:
    """Return the size of letters, in points."""
    import matplotlib

    return float(matplotlib.rcParams["font.size"])


def rank_colors(n_groups: int) -> list[Any]:
    """Choose a colour per kept group, best first: distinct if few, from dark to light if many."""
    if n_groups <= len(CYCLE):
        return list(CYCLE[:n_groups])
    import matplotlib

    # the light end of viridis is too faint on white
    return list(matplotlib.colormaps["viridis"](np.linspace(0, 0.92, n_groups)))


def signed_colours() -> Any:
    """Return colours from vermilion over white to blue, for numbers on both sides of zero."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("groupfs_signed", [ACCENT, "#FFFFFF", KEPT])
    return colours.with_extremes(bad="#E4E4E4")


def note(text: str, ax: "Axes | None") -> "Axes":
    """Write a sentence where there is nothing to draw."""
    with drawing(ax, height=1.2) as ax:
        ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes)
        ax.set_axis_off()
    return ax


def legend_below(ax: "Axes", *others: "Line2D") -> None:
    """Write the legend below the Axes, where it covers no line."""
    handles = [*ax.get_legend_handles_labels()[0], *others]
    n_rows = -(-len(handles) // 4)
    # the pad is in letters: the labels of the axis lie between
    look: Keywords = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": 4.0}
    look |= {"frameon": False, "handlelength": 1.4, "columnspacing": 1.0}
    ax.legend(handles=handles, ncols=-(-len(handles) // n_rows), **look)
