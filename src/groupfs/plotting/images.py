"""Draw where the groups lie in an image, for tables whose features are pixels."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from groupfs.plotting import style
from groupfs.result import Result

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
    mean = selector._learned_columns["mean"]
    kept = np.flatnonzero(result.kept)
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
