"""The samples in two dimensions, on all features or on those that are selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from groupfs.data.open_table import read_matrix
from groupfs.plotting import style as _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With these every class up to 24 has a colour and a marker of its own.
MARKERS = ("o", "^", "s")
#: Numbers of clusters tried where there are no labels, and rows that judge them.
CLUSTERS, JUDGED_ROWS = range(2, 9), 1000
#: Clusters are looked for in this many principal components.
COMPONENTS = 10


def plot_embedding(
    selector: Any,
    X: Any,
    *,
    labels: ArrayLike | None = None,
    features: str = "selected",
    ax: Axes | None = None,
) -> Axes:
    """The samples on their first two principal components, before or after selection.

    Draw it twice, with ``features="all"`` and ``features="selected"``, to see what selection does:
    a sample has the same colour in both, and components point the same way.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table it was fitted on, or new samples.
    labels : array-like of shape (n_samples,) or None, default=None
        Colours: classes, or numbers with a fraction. None colours by k-means clusters of the
        selected features, as many as have the best silhouette.
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
    points, shares = _principal_components(matrix[:, selected], 2)
    columns = selected
    if features == "all":
        columns, after = np.arange(matrix.shape[1]), points
        points, shares = _principal_components(matrix, 2)
        points *= np.where((points * after).sum(axis=0) < 0, -1, 1)
    values, kind = _colours_of(labels, matrix, selected)
    with _style.drawing(ax, height=2.6) as ax:
        if values.dtype.kind == "f":
            _scatter_numbers(ax, points, values)
        else:
            _scatter_classes(ax, points, values, kind)
        ax.set_xlabel(f"PC 1 ({shares[0]:.0%} of variance)")
        ax.set_ylabel(f"PC 2 ({shares[1]:.0%})")
        ax.set_xticks([])
        ax.set_yticks([])
        plural = "" if len(columns) == 1 else "s"
        ax.set_title(
            f"{len(columns)} selected feature{plural}"
            if features == "selected"
            else f"All {len(columns)} features"
        )
        _style.without_frame(ax)
    return ax


def _principal_components(
    columns: Any, most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of the standardised samples and shares of variance; zeros where there are no more."""
    scaled = StandardScaler(with_mean=not sp.issparse(columns)).fit_transform(columns)
    n_components = min(most, min(scaled.shape) - 1 if min(scaled.shape) > 1 else 1)
    if sp.issparse(scaled) and n_components < min(scaled.shape):
        pca = PCA(n_components, svd_solver="arpack", random_state=0)
    else:
        scaled = scaled.toarray() if sp.issparse(scaled) else scaled
        pca = PCA(min(most, *scaled.shape), random_state=0)
    points = np.zeros((scaled.shape[0], most))
    shares = np.zeros(most)
    found = pca.fit_transform(scaled)
    points[:, : found.shape[1]] = found
    shares[: found.shape[1]] = np.nan_to_num(pca.explained_variance_ratio_)
    return points, shares


def _colours_of(
    labels: ArrayLike | None, matrix: Any, selected: NDArray[np.int64]
) -> tuple[NDArray[Any], str]:
    """What samples are coloured by, numbers as floats, and what that is."""
    if labels is None:
        return _clusters(_principal_components(matrix[:, selected], COMPONENTS)[0]), "cluster"
    values = np.asarray(labels)
    if values.shape != (matrix.shape[0],):
        raise ValueError(
            f"labels has shape {values.shape} but X has {matrix.shape[0]} samples; give one label "
            "per sample."
        )
    if values.dtype.kind == "f" and np.isfinite(values).all() and (values == values // 1).all():
        return values.astype(np.int64), "class"
    if values.dtype.kind == "f":
        return values, "value"
    return values.astype(str) if values.dtype.kind not in "iu" else values, "class"


def _clusters(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """K-means clusters numbered by size, as many as have the best silhouette."""
    rows = np.random.default_rng(0).permutation(len(points))[:JUDGED_ROWS]
    best, clusters = -np.inf, np.zeros(len(points), dtype=np.int64)
    for n_clusters in CLUSTERS:
        if n_clusters >= min(len(rows), len(np.unique(points[rows], axis=0))):
            break
        means = KMeans(n_clusters, n_init=4, random_state=0).fit(points)
        if len(np.unique(means.labels_[rows])) < 2:
            continue
        silhouette = silhouette_score(points[rows], means.labels_[rows])
        if silhouette > best:
            best, clusters = silhouette, means.labels_
    by_size = np.argsort(-np.bincount(clusters), kind="stable")
    return np.asarray(np.argsort(by_size)[clusters] + 1)


def _scatter_classes(
    ax: Axes, points: NDArray[np.float64], classes: NDArray[Any], kind: str
) -> None:
    """A colour and a marker for every class, the most frequent first; the rest in grey."""
    names, places, counts = np.unique(classes, return_inverse=True, return_counts=True)
    looks = [(color, marker) for marker in MARKERS for color in _style.CYCLE]
    if len(names) > len(looks):
        frequent = np.sort(np.argsort(-counts, kind="stable")[: len(looks) - 1])
    else:
        frequent = np.arange(len(names))
    size = _marker_size(len(points))
    style: dict[str, Any] = {"s": size, "linewidths": 0.25, "edgecolors": "white"}
    others = ~np.isin(places, frequent)
    if others.any():
        ax.scatter(
            points[others, 0], points[others, 1], color=_style.DROPPED, label="other", **style
        )
    for (color, marker), j in zip(looks, frequent, strict=False):
        here = points[places == j]
        ax.scatter(here[:, 0], here[:, 1], color=color, marker=marker, label=str(names[j]), **style)
    ax.legend(
        title=kind,
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


def _scatter_numbers(ax: Axes, points: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    known = np.isfinite(values)
    style: dict[str, Any] = {"s": _marker_size(len(points)), "linewidths": 0}
    x, y = points.T
    ax.scatter(x[~known], y[~known], color=_style.DROPPED, **style)
    shown = ax.scatter(x[known], y[known], c=values[known], cmap="cividis", **style)
    ax.figure.colorbar(shown, ax=ax, label="label", fraction=0.046, pad=0.03)


def _marker_size(n_points: int) -> float:
    return float(np.clip(3000 / n_points, 1.5, 16))
