"""Where the groups lie in an image, for tables whose features are pixels."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.data.open_table import read_matrix
from groupfs.plotting import style
from groupfs.plotting.inputs import check_image
from groupfs.utils.fitted_selector import FittedSelector
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Opacity of selected pixels, and of the others of their groups.
SELECTED, IN_GROUP = 0.7, 0.3


def plot_image_groups(
    selector: FittedSelector,
    X: Any,
    image_shape: tuple[int, int],
    *,
    order: Literal["F", "C"] = "F",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the mean image, with the pixels of kept groups coloured by the rank of their group.

    Pixels of a kept group that are not selected themselves, as with a budget, are paler.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    X : array or DataFrame of shape (n_samples, n_features)
        The images, one per row.
    image_shape : tuple of int
        Height and width.
    order : {"F", "C"}, default="F"
        How a row was made of an image: column after column, as in the tables of ``fetch_dataset``,
        or row after row.
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs import GroupFS
    >>> from groupfs.plotting import plot_image_groups
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.standard_normal((2, 100, 1))
    >>> X = rng.standard_normal((100, 4, 6))
    >>> X[:, :, :3] += 2 * left[:, :, None]
    >>> X[:, :, 3:] += 2 * right[:, :, None]
    >>> X = X.reshape(100, 24)
    >>> selector = GroupFS(n_groups=2, max_epochs=20, random_state=0).fit(X)
    >>> ax = plot_image_groups(selector, X, (4, 6), order="C")
    >>> ax.images[0].get_array().shape
    (4, 6)
    """
    check_is_fitted(selector)
    matrix = read_matrix(selector, X)
    check_image(image_shape, matrix.shape[1])
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    kept = np.flatnonzero(selector.group_selected_)
    with style.drawing(ax, height=2.8) as ax:
        ax.imshow(mean.reshape(image_shape, order=order), cmap="gray")
        ax.imshow(_overlay(selector, kept).reshape((*image_shape, 4), order=order))
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        n_selected = int(selector.get_support().sum())
        ax.set_title(f"{n_selected} of {matrix.shape[1]} pixels selected, by group")
        if 0 < len(kept) <= len(style.CYCLE):
            _legend(ax, kept)
        elif len(kept):
            _colorbar(ax, kept)
    return ax


def _overlay(selector: FittedSelector, kept: IntArray) -> FloatArray:
    """Return colour and opacity of every pixel, (d, 4)."""
    from matplotlib.colors import to_rgb

    support = selector.get_support()
    overlay = np.zeros((selector.n_features_in_, 4))
    for j, color in zip(kept, style.rank_colors(len(kept)), strict=True):
        pixels = selector.groups_[j]
        overlay[pixels, :3] = to_rgb(color)
        overlay[pixels, 3] = np.where(support[pixels], SELECTED, IN_GROUP)
    return overlay


def _legend(ax: "Axes", kept: IntArray) -> None:
    from matplotlib.patches import Patch

    colors = style.rank_colors(len(kept))
    ax.legend(
        [Patch(color=color, alpha=SELECTED) for color in colors],
        [str(j + 1) for j in kept],
        title="group",
        title_fontsize="small",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        handlelength=1.0,
        handleheight=1.0,
    )


def _colorbar(ax: "Axes", kept: IntArray) -> None:
    """Draw one step of colour per kept group, best at the top."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    n = len(kept)
    colors = ListedColormap(style.rank_colors(n))
    steps = ScalarMappable(BoundaryNorm(np.arange(n + 1) - 0.5, n), colors)
    bar = ax.figure.colorbar(steps, ax=ax, fraction=0.046, pad=0.03, label="group")
    ticks = np.unique(np.linspace(0, n - 1, min(n, 6)).round().astype(int))
    bar.set_ticks(ticks.tolist(), labels=[str(j + 1) for j in kept[ticks]])
    bar.minorticks_off()
    bar.ax.invert_yaxis()
