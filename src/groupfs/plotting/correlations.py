"""The map of the correlations between features, ordered by group."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupfs.plotting import style
from groupfs.plotting.feature_correlations import FeatureCorrelations, correlate_features
from groupfs.plotting.inputs import read_some_rows
from groupfs.utils.fitted_selector import FittedSelector, feature_names, marked_names
from groupfs.utils.text import shorten
from groupfs.utils.types import BoolArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Features are named beside the map if there are no more than this.
NAMED_FEATURES = 25


def plot_correlations(
    selector: FittedSelector, X: Any, *, most: int = 200, ax: "Axes | None" = None
) -> "Axes":
    """Draw the correlations between features, ordered by group; kept groups are framed.

    A feature whose name has a minus runs against the most central one of its group and is turned
    round, unless the fit was ``signed``. Colours end at what nearly all pairs within groups do not
    exceed; a feature's correlation with itself is left blank. Features in no group are left out. It
    is the map of the report.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table it was fitted on.
    most : int, default=200
        Features to show; of larger tables a like share of every group, spread evenly from its most
        to its least central feature.
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_correlations
    >>> X = load_two_moons(200, random_state=0).data
    >>> ax = plot_correlations(GroupFS(random_state=0).fit(X), X)
    >>> ax.images[0].get_array().shape
    (10, 10)
    """
    check_is_fitted(selector)
    Z = read_some_rows(selector, X)[0]
    found = correlate_features(selector, Z, most)
    n_shown = len(found.features)
    if n_shown < 2:
        return style.note("The table shows no groups", ax)
    with style.drawing(ax, height=2.9) as ax:
        others = np.ma.masked_array(found.values, np.eye(n_shown, dtype=bool))
        ends: style.Keywords = {"vmin": -found.limit, "vmax": found.limit}
        image = ax.imshow(others, cmap=style.signed_colours(), interpolation="nearest", **ends)
        extend = "both" if found.limit < 1 else "neither"
        look: style.Keywords = {"extend": extend, "fraction": 0.046, "pad": 0.03}
        ax.figure.colorbar(image, ax=ax, label="correlation", **look)
        _frame_kept(ax, found.sizes, selector.group_selected_)
        if n_shown <= NAMED_FEATURES:
            names = marked_names(selector) if found.turned else feature_names(selector)
            short = [shorten(names[i], 12) for i in found.features]
            ax.set_yticks(range(n_shown), short, fontsize="x-small")
        else:
            _number_groups(ax, found.sizes)
        ax.set_xticks([])
        ax.set_title(_title(selector, found))
    return ax


def _title(selector: FittedSelector, found: FeatureCorrelations) -> str:
    n_shown, n_grouped = len(found.features), sum(map(len, selector.groups_))
    part = "" if n_shown == n_grouped else f"{n_shown} of {n_grouped:,} "
    return f"Correlations of {part}features, by group\n(kept groups framed)"


def _frame_kept(ax: "Axes", sizes: IntArray, kept: BoolArray) -> None:
    from matplotlib.patches import Rectangle

    look: style.Keywords = {"fill": False, "edgecolor": "black", "linewidth": 0.8}
    starts = np.cumsum([0, *sizes]) - 0.5
    for j in np.flatnonzero(kept[: len(sizes)]):
        ax.add_patch(Rectangle((starts[j], starts[j]), sizes[j], sizes[j], **look))


def _number_groups(ax: "Axes", sizes: IntArray) -> None:
    middles = np.cumsum(sizes) - sizes / 2 - 0.5
    numbered = [0]
    for j, middle in enumerate(middles):
        if middle - middles[numbered[-1]] >= 0.05 * sizes.sum():  # or numbers would overlap
            numbered.append(j)
    ax.set_yticks(middles[numbered], [str(j + 1) for j in numbered])
    ax.set_ylabel("group")
