"""Draw where the groups lie in an image, for tables whose features are pixels."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from groupfs.plotting import style
from groupfs.plotting.inputs import mean_image
from groupfs.result import Result
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Opacity of selected pixels, and of the others of their groups.
SELECTED, IN_GROUP = 0.7, 0.3


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

    Examples
    --------
    <fitted>
    >>> from groupfs.plotting import plot_image_groups
    >>> ax = plot_image_groups(selector, (4, 5), order="C")
    >>> ax.images[0].get_array().shape
    (4, 5)
    """
    result = Result.of(selector)
    mean = mean_image(selector, image_shape)
    kept = np.flatnonzero(result.kept)
    with style.drawing(ax, height=2.8) as ax:
        ax.imshow(mean.reshape(image_shape, order=order), cmap="gray")
        ax.imshow(_overlay(result, kept).reshape((*image_shape, 4), order=order))
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        ax.set_title(f"{result.support.sum()} of {len(mean)} pixels selected, by group")
        if 0 < len(kept) <= len(style.CYCLE):
            _legend(ax, kept)
    return ax


def _overlay(result: Result, kept: IntArray) -> FloatArray:
    """Return colour and opacity of every pixel, (d, 4)."""
    from matplotlib.colors import to_rgb

    overlay = np.zeros((len(result.names), 4))
    for j, color in zip(kept, style.rank_colors(len(kept)), strict=True):
        pixels = result.groups.members[j]
        overlay[pixels, :3] = to_rgb(color)
        overlay[pixels, 3] = np.where(result.support[pixels], SELECTED, IN_GROUP)
    return overlay


def _legend(ax: "Axes", kept: IntArray) -> None:
    from matplotlib.patches import Patch

    colors, numbers = style.rank_colors(len(kept)), [str(j + 1) for j in kept]
    square: style.Keywords = {"handlelength": 1.0, "handleheight": 1.0}
    patches = [Patch(color=color, alpha=SELECTED) for color in colors]
    style.legend_beside(ax, "group", handles=patches, labels=numbers, **square)
