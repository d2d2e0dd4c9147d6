"""The samples in two dimensions, on all features or on those that are selected."""

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
from groupfs.plotting import style
from groupfs.plotting.inputs import check_labels
from groupfs.utils.fitted_selector import FittedSelector
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With these every class up to 24 has a colour and a marker of its own.
MARKERS = ("o", "^", "s")


def plot_embedding(
    selector: FittedSelector,
    X: Any,
    *,
    labels: ArrayLike | None = None,
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
    values, kind = _colours_of(labels, matrix, selected)
    with style.drawing(ax, height=2.6) as ax:
        if values.dtype.kind == "f":
            _scatter_numbers(ax, points, values)
        else:
            _scatter_classes(ax, points, values, kind)
        ax.set_xlabel(f"PC 1 ({shares[0]:.0%} of variance)")
        ax.set_ylabel(f"PC 2 ({shares[1]:.0%})")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(title)
        ax.spines[["top", "right"]].set_visible(False)
    return ax


def cluster_samples(points: FloatArray, numbers: range, judged: IntArray | None = None) -> IntArray:
    """Find k-means clusters, as many of ``numbers`` as have the best silhouette; largest first.

    ``judged`` are the rows that silhouettes are measured on, all if None.
    """
    sample = points if judged is None else points[judged]
    distinct = len(np.unique(sample, axis=0))
    best, clusters = -np.inf, np.zeros(len(points), dtype=np.int64)
    for n_clusters in numbers:
        if n_clusters >= distinct:
            break
        found = KMeans(n_clusters, n_init=4, random_state=0).fit_predict(points)
        in_sample = found if judged is None else found[judged]
        if len(np.unique(in_sample)) < 2:
            continue
        silhouette = silhouette_score(sample, in_sample)
        if silhouette > best:
            best, clusters = silhouette, found
    by_size = np.argsort(-np.bincount(clusters), kind="stable")
    return np.argsort(by_size)[clusters]


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


def _colours_of(
    labels: ArrayLike | None, matrix: FloatArray | sp.csr_array, selected: IntArray
) -> tuple[NDArray[Any], str]:
    """Return what samples are coloured by, numbers as floats, and what to call it."""
    if labels is None:
        points = _principal_components(matrix[:, selected], 10)[0]
        judged = np.random.default_rng(0).permutation(len(points))[:1000]
        return cluster_samples(points, range(2, 9), judged) + 1, "cluster"
    values = check_labels(labels, matrix.shape[0])
    if values.dtype.kind != "f":
        return values if values.dtype.kind in "iu" else values.astype(str), "class"
    if np.isfinite(values).all() and (values == values // 1).all():
        return values.astype(np.int64), "class"
    return values, "value"


def _scatter_classes(ax: "Axes", points: FloatArray, classes: NDArray[Any], kind: str) -> None:
    """Draw every class in its colour and marker, the most frequent first; the rest in grey."""
    names, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    looks = [(color, marker) for marker in MARKERS for color in style.CYCLE]
    n_named = len(names) if len(names) <= len(looks) else len(looks) - 1
    frequent = np.sort(np.argsort(-counts, kind="stable")[:n_named])
    size = np.clip(3000 / len(points), 1.5, 16)
    look: style.Keywords = {"s": size, "linewidths": 0.25, "edgecolors": "white"}
    others = points[~np.isin(codes, frequent)]
    if len(others):
        ax.scatter(*others.T, color=style.DROPPED, label="other", **look)
    for (color, marker), j in zip(looks, frequent, strict=False):
        ax.scatter(*points[codes == j].T, color=color, marker=marker, label=str(names[j]), **look)
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


def _scatter_numbers(ax: "Axes", points: FloatArray, values: FloatArray) -> None:
    known = np.isfinite(values)
    look: style.Keywords = {"s": np.clip(3000 / len(points), 1.5, 16), "linewidths": 0}
    ax.scatter(*points[~known].T, color=style.DROPPED, **look)
    x, y = points[known].T
    drawn = ax.scatter(x, y, c=values[known], cmap="cividis", **look)
    ax.figure.colorbar(drawn, ax=ax, label="label", fraction=0.046, pad=0.03)
