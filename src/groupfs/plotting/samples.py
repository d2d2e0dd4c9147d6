"""The samples in two dimensions, on all features or on those that are selected."""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.validation import check_is_fitted

from groupfs.data.open_table import read_matrix
from groupfs.plotting import style
from groupfs.plotting.inputs import check_labels
from groupfs.scoring.sample_scores import score_weights
from groupfs.utils.fitted_selector import FittedSelector, feature_names
from groupfs.utils.text import shorten
from groupfs.utils.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With these every class up to 24 has a colour and a marker of its own.
MARKERS = ("o", "^", "s")


def plot_embedding(
    selector: FittedSelector,
    X: Any,
    *,
    labels: ArrayLike | None = None,
    group: int = 1,
    features: str = "selected",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the samples on their first two principal components, before or after selection.

    Draw it twice, with ``features="all"`` and ``features="selected"``, to see what selection does:
    a sample has the same colour in both, and components point the same way.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table it was fitted on, or new samples.
    labels : array-like of shape (n_samples,) or None, default=None
        Colours: classes, or numbers with a fraction. None colours by the score of a group.
    group : int, default=1
        Rank of the group whose score samples are coloured by, where there are no labels: how much
        of the group a sample has, in standard deviations of a feature.
    features : {"selected", "all"}, default="selected"
        The features that samples are placed by.
    ax : Axes or None, default=None
        Where to draw; a new figure of column width if None.

    Examples
    --------
    >>> from groupfs import GroupFS
    >>> from groupfs.datasets import load_two_moons
    >>> from groupfs.plotting import plot_embedding
    >>> moons = load_two_moons(200, random_state=0)
    >>> selector = GroupFS(random_state=0).fit(moons.data)
    >>> plot_embedding(selector, moons.data, labels=moons.target).get_title()
    '10 selected features'
    """
    check_is_fitted(selector)
    if features not in ("selected", "all"):
        raise ValueError(f'features={features!r}; choose "selected" or "all".')
    matrix = read_matrix(selector, X)
    selected = np.flatnonzero(selector.get_support())
    if not len(selected):
        if features == "selected":
            return style.note("Nothing is selected", ax)
        selected = np.arange(matrix.shape[1])
    points, shares = _principal_components(matrix[:, selected], 2)
    title = f"{len(selected)} selected feature{'' if len(selected) == 1 else 's'}"
    if features == "all":
        after = points
        points, shares = _principal_components(matrix, 2)
        points *= np.where((points * after).sum(axis=0) < 0, -1, 1)
        title = f"All {matrix.shape[1]} features"
    with style.drawing(ax, height=2.6) as ax:
        if labels is not None:
            _scatter_labels(ax, points, check_labels(labels, matrix.shape[0]))
        else:
            _scatter_scores(ax, points, selector, matrix, group)
        ax.set_xlabel(f"PC 1 ({shares[0]:.0%} of variance)")
        ax.set_ylabel(f"PC 2 ({shares[1]:.0%})")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(title)
        ax.spines[["top", "right"]].set_visible(False)
    return ax


def _principal_components(
    columns: FloatArray | sp.csr_array, most: int
) -> tuple[FloatArray, FloatArray]:
    """Return scores of the standardised samples and shares of variance, zeros beyond the rank."""
    scaled = StandardScaler(with_mean=not sp.issparse(columns)).fit_transform(columns)
    n_components = min(most, max(min(scaled.shape) - 1, 1))
    if sp.issparse(scaled) and n_components < min(scaled.shape):
        pca = PCA(n_components, svd_solver="arpack", random_state=0)
    else:
        scaled = scaled.toarray() if sp.issparse(scaled) else scaled
        pca = PCA(min(most, *scaled.shape), random_state=0)
    points = pca.fit_transform(scaled)
    beyond = (0, most - points.shape[1])
    shares = np.nan_to_num(pca.explained_variance_ratio_)
    return np.pad(points, ((0, 0), beyond)), np.pad(shares, beyond)


def _scatter_labels(ax: "Axes", points: FloatArray, values: NDArray[Any]) -> None:
    """Colour samples by class, or by number where labels have a fraction."""
    if values.dtype.kind != "f":
        classes = values if values.dtype.kind in "iu" else values.astype(str)
        _scatter_classes(ax, points, classes)
    elif np.isfinite(values).all() and (values == values // 1).all():
        _scatter_classes(ax, points, values.astype(np.int64))
    else:
        _scatter_numbers(ax, points, values, "label", cmap="cividis")


def _scatter_scores(
    ax: "Axes",
    points: FloatArray,
    selector: FittedSelector,
    matrix: FloatArray | sp.csr_array,
    group: int,
) -> None:
    """Colour samples by how much of a group they have; in grey without groups."""
    if not selector.n_groups_:
        x, y = points.T
        ax.scatter(x, y, color=style.DROPPED, s=_dot_size(points), linewidths=0)
        return
    if not 1 <= group <= selector.n_groups_:
        raise ValueError(
            f"group={group} but the selector found {selector.n_groups_} groups; give a rank from 1 "
            f"to {selector.n_groups_}."
        )
    members = selector.groups_[group - 1]
    columns: Any = matrix[:, members]
    Z = scale(columns.toarray() if sp.issparse(columns) else columns)
    own = selector.centrality_[members], selector.group_signs_[members]
    scores = (Z @ score_weights([np.arange(len(members))], *own)).ravel()
    low, high = np.quantile(scores, [0.01, 0.99])  # a few samples would pale the rest
    name = shorten(feature_names(selector)[selector.representatives_[group - 1]], 12)
    ends: style.Keywords = {"cmap": "cividis", "vmin": low, "vmax": high}
    _scatter_numbers(ax, points, scores, f"score of group {group} ({name})", **ends)


def _scatter_classes(ax: "Axes", points: FloatArray, classes: NDArray[Any]) -> None:
    """Draw every class in its colour and marker, the most frequent first; the rest in grey."""
    names, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    looks = [(color, marker) for marker in MARKERS for color in style.CYCLE]
    n_named = len(names) if len(names) <= len(looks) else len(looks) - 1
    frequent = np.sort(np.argsort(-counts, kind="stable")[:n_named])
    size = _dot_size(points)
    look: style.Keywords = {"s": size, "linewidths": 0.25, "edgecolors": "white"}
    others = points[~np.isin(codes, frequent)]
    if len(others):
        ax.scatter(*others.T, color=style.DROPPED, label="other", **look)
    for (color, marker), j in zip(looks, frequent, strict=False):
        ax.scatter(*points[codes == j].T, color=color, marker=marker, label=str(names[j]), **look)
    ax.legend(
        title="class",
        title_fontsize="small",
        fontsize="small",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.02),
        ncols=1 if len(names) <= 12 else 2,
        frameon=False,
        handletextpad=0.1,
        columnspacing=0.5,
        borderpad=0.2,
        markerscale=max(1.0, (14 / size) ** 0.5),
    )


def _scatter_numbers(
    ax: "Axes", points: FloatArray, values: FloatArray, label: str, **colours: Any
) -> None:
    known = np.isfinite(values)
    look: style.Keywords = {"s": _dot_size(points), "linewidths": 0}
    if not known.all():
        ax.scatter(*points[~known].T, color=style.DROPPED, **look)
    x, y = points[known].T
    drawn = ax.scatter(x, y, c=values[known], **colours, **look)
    ax.figure.colorbar(drawn, ax=ax, label=label, fraction=0.046, pad=0.03)


def _dot_size(points: FloatArray) -> float:
    return float(np.clip(3000 / len(points), 1.5, 16))
