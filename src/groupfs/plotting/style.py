"""What the figures share: colours, sizes, names of groups, columns of the table. No figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colour-blind-safe (Okabe and Ito): kept groups in blue, others in grey, emphasis in vermilion.
KEPT, DROPPED, ACCENT = "#0072B2", "#B0B0B0", "#D55E00"
CYCLE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
#: Dark to light, for more groups than CYCLE has colours; its light end is too faint on white.
MANY, LIGHTEST = "viridis", 0.92

COLUMN_WIDTH = 3.3  #: inches
#: Of figures made here. Sizes of text within them are relative to these.
COLUMN_STYLE: dict[Any, Any] = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "figure.dpi": 150.0,
    "savefig.dpi": 300.0,
}


@contextmanager
def drawing(ax: Axes | None, height: float = 2.4) -> Iterator[Axes]:
    """The Axes given, or one in a new figure of column width."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as reason:
        raise ImportError(
            'Figures need matplotlib; install it with pip install "groupfs[plot]".'
        ) from reason

    if ax is not None:
        yield ax
        return
    with plt.rc_context(COLUMN_STYLE):
        yield plt.subplots(figsize=(COLUMN_WIDTH, height), layout="constrained")[1]


def font_size() -> float:
    """Of the figure being drawn, in points."""
    import matplotlib

    return float(matplotlib.rcParams["font.size"])


def rank_colors(n_groups: int) -> list[Any]:
    """One colour per kept group, best first: distinct if few, from dark to light if many."""
    if n_groups <= len(CYCLE):
        return list(CYCLE[:n_groups])
    import matplotlib

    return list(matplotlib.colormaps[MANY](np.linspace(0, LIGHTEST, n_groups)))


def group_title(selector: Any, group: int, longest: int = 16) -> str:
    """Rank of a group and what it is called: as the user did, or after its representative."""
    given = getattr(selector, "group_names_", None)
    name = feature_names(selector)[selector.representatives_[group]] if not given else given[group]
    return f"{group + 1}  {shortened(str(name), longest)}"


def shortened(name: str, longest: int) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def feature_names(selector: Any) -> Sequence[str]:
    given = getattr(selector, "feature_names_in_", None)
    if given is None:
        return [f"x{i}" for i in range(selector.n_features_in_)]
    return [str(name) for name in given]


def without_frame(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
