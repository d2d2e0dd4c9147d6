r"""Spectral view of the feature graph: embedding, feature clusters, and how many groups there are.

Axes: d features, C groups. Eigenvectors come from :mod:`groupfs.graphs.eigenvectors`.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus

from groupfs.utils.types import FloatArray

#: Starts of k-means, beside the deterministic one, and steps from each at most.
N_RANDOM_STARTS, MAX_STEPS = 4, 30
#: Products up to this many multiplications are done by one thread in the usual BLAS libraries.
SMALL_PRODUCT = 2**18
#: Groups that wide tables are divided into where the graph itself does not say.
USUAL_GROUPS = 20
#: Distortion per feature that counts as none, and that counts.
NOTHING, SOMETHING = 0.002, 0.02
#: A fall of the eigenvalues from one to the next that says how many groups there are.
CLEAR_GAP = 0.3
#: Above this number of features centers of clusters and their number come from a sample this large.
SAMPLED_FEATURES = 100_000
#: Distortion per feature that rounding may leave of none.
ROUNDING = 1e-9


def embed(eigenvectors: FloatArray, n_groups: int) -> FloatArray:
    """Rows of the first ``n_groups`` eigenvectors, scaled to unit length, (d, C)."""
    U = eigenvectors[:, :n_groups]
    return U / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-12)


def cluster_features(
    eigenvectors: FloatArray, n_groups: int, rng: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """Cluster of every feature, (d,), by k-means of its embedding; no cluster is empty.

    It starts from the rows that pivoted QR finds most unlike each other and, with ``rng``, from
    random ones too; the tightest result is taken. Pivots are looked for among the rows before they
    are scaled to unit length: of rows of one length, rounding would choose. Of very many features
    a sample is clustered, the pivots among it, and the others go to the nearest center.
    """
    d = eigenvectors.shape[0]
    if n_groups >= d:
        return np.arange(d, dtype=np.int64)
    if d > SAMPLED_FEATURES:
        return _renumber(_fill_empty(_cluster_by_sample(eigenvectors, n_groups, rng), n_groups))
    embedding = embed(eigenvectors, n_groups)
    _, pivots = scipy.linalg.qr(eigenvectors[:, :n_groups].T, mode="r", pivoting=True)
    labels = _tightest(embedding, embedding[pivots[:n_groups]], rng)
    return _renumber(_fill_empty(labels, n_groups))


def _tightest(
    embedding: FloatArray, start: FloatArray, rng: np.random.Generator | None
) -> NDArray[np.int64]:
    """The best of k-means from the given start and, with ``rng``, from random ones."""
    starts, n_groups = [start], len(start)
    if rng is not None:
        for seed in rng.integers(2**31, size=N_RANDOM_STARTS):
            centers, _ = kmeans_plusplus(embedding, n_groups, random_state=int(seed))
            starts.append(centers)
    labels, _ = min((_lloyd(embedding, start) for start in starts), key=lambda found: found[1])
    return labels


def _cluster_by_sample(
    eigenvectors: FloatArray, n_groups: int, rng: np.random.Generator | None
) -> NDArray[np.int64]:
    """Clusters of a sample, and of all other features those of the nearest center."""
    d = len(eigenvectors)
    pivots = _pivots(eigenvectors[:, :n_groups])
    some = np.union1d(_sample(d), pivots)
    embedding = embed(eigenvectors[some], n_groups).astype(np.float64)
    labels = _tightest(embedding, embedding[np.searchsorted(some, pivots)], rng)
    counts = np.bincount(labels, minlength=n_groups)
    centers = sums_by_cluster(embedding, labels, n_groups) / np.maximum(counts, 1)[:, None]
    bias = np.where(counts > 0, 0.5 * np.square(centers).sum(1), np.inf)
    found = np.empty(d, dtype=np.int64)
    for start in range(0, d, SAMPLED_FEATURES):
        rows = slice(start, start + SAMPLED_FEATURES)
        found[rows] = (embed(eigenvectors[rows], n_groups) @ centers.T - bias).argmax(1)
    return found


def _sample(d: int) -> NDArray[np.int64]:
    """Features that stand for all where there are very many, always the same, ascending."""
    return np.sort(np.random.default_rng(0).choice(d, SAMPLED_FEATURES, replace=False))


def _pivots(U: FloatArray) -> NDArray[np.int64]:
    """The rows that pivoted QR of the transpose would choose, without its copies of U."""
    left = np.einsum("ij,ij->i", U, U, dtype=np.float64)
    basis = np.zeros((0, U.shape[1]))
    chosen = []
    for _ in range(U.shape[1]):
        chosen.append(int(left.argmax()))
        direction = U[chosen[-1]].astype(np.float64)
        for _ in range(2):  # once more: rounding leaves something of the others
            direction -= basis.T @ (basis @ direction)
        direction /= max(float(np.linalg.norm(direction)), 1e-300)
        basis = np.vstack([basis, direction])
        left -= np.square(U @ direction.astype(U.dtype))
        left[chosen[-1]] = -np.inf
    return np.array(chosen)


def _lloyd(points: FloatArray, centers: FloatArray) -> tuple[NDArray[np.int64], float]:
    """k-means from given centers: labels and inertia.

    A few matrix products for each step; scikit-learn's takes ten times as long for tables this
    small, and dozens are needed to choose the number of groups.
    """
    labels = np.full(len(points), -1)
    for _ in range(MAX_STEPS):
        nearest = _nearest(points, centers)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        counts = np.bincount(labels, minlength=len(centers))[:, None]
        means = sums_by_cluster(points, labels, len(centers)) / np.maximum(counts, 1)
        centers = np.where(counts > 0, means, centers)
    return labels, float(np.square(points - centers[labels]).sum())


def _nearest(points: FloatArray, centers: FloatArray) -> NDArray[np.int64]:
    """The nearest center of every point, (d,).

    In blocks that one thread multiplies: more would get in each other's way, and telling the
    library so, which is one for the whole process, would change the sums of whoever else is at
    work in it.
    """
    half = 0.5 * np.square(centers).sum(1)
    size = max(1, SMALL_PRODUCT // centers.size)
    blocks = [points[start : start + size] for start in range(0, len(points), size)]
    return np.concatenate([(block @ centers.T - half).argmax(1) for block in blocks])


def sums_by_cluster(points: FloatArray, labels: NDArray[np.int64], n_groups: int) -> FloatArray:
    """Sums of the points of every cluster, (C, m)."""
    n = len(points)
    indicator = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_groups))
    sums: FloatArray = indicator.T @ points
    return sums


def distortion(embedding: FloatArray, labels: NDArray[np.int64]) -> float:
    r"""How far the embedding is from indicators of the clusters, after the best rotation.

    .. math:: E(C) = \min_R \|U R - Y\|_F^2
    """
    indicator = np.eye(embedding.shape[1])[labels]
    A, _, Bt = np.linalg.svd(embedding.T @ indicator)
    return float(np.square(embedding @ (A @ Bt) - indicator).sum())


def representative_rows(eigenvectors: FloatArray) -> FloatArray:
    """All rows, or a sample of very many: enough to see how many groups there are."""
    d = len(eigenvectors)
    return eigenvectors if d <= SAMPLED_FEATURES else eigenvectors[_sample(d)].astype(np.float64)


def clusters_by_number(eigenvectors: FloatArray) -> dict[int, NDArray[np.int64]]:
    """Clusters of the features for C = 2, 3, ... up to the number of eigenvectors."""
    most = eigenvectors.shape[1]
    return {C: cluster_features(eigenvectors, C) for C in range(2, most + 1)}


def distortion_curve(
    eigenvectors: FloatArray, clusters: dict[int, NDArray[np.int64]]
) -> dict[int, float]:
    """E(C) for every number of clusters."""
    return {C: distortion(embed(eigenvectors, C), labels) for C, labels in clusters.items()}


def lone_features(clusters: dict[int, NDArray[np.int64]]) -> dict[int, int]:
    """How many features are alone in their cluster, for every number of clusters."""
    return {C: int((np.bincount(labels) == 1).sum()) for C, labels in clusters.items()}


def choose_n_groups(
    curve: dict[int, float],
    n_features: int,
    lone: dict[int, int] | None = None,
    eigenvalues: FloatArray | None = None,
) -> int:
    r"""The number of groups that the eigenvalues or the distortion curve speak for.

    In large tables, where each feature has many neighbours of its own group, eigenvalues stay near
    one up to the number of groups C and then fall at once; that settles it. C + 1 is taken if its
    distortion is lower: the features that belong nowhere are a group too.

    Otherwise it is the first clear dip: either E(C) is at most half of E(C - 1) and of E(C + 1), or
    it is next to nothing and E(C + 1) is not, as when the graph falls apart into C pieces. The
    smallest value itself says little: E(2) is small whatever the data, and E(d) is zero; so two
    groups that are told apart perfectly give way to a dip behind them. Without a clear dip the
    curve is mostly noise: then the deepest dip within half of :math:`\sqrt{2d}` (at most 20) on
    either side of it, or that number itself.

    Beyond the true number the features of a tight group fall apart, one by one, before a loose
    group does. So numbers at which features stand alone (``lone``, how many by C) do not count: of
    clear dips those with two or more; otherwise those with any, unless there is no other.
    """
    at_gap = _gap(curve, eigenvalues)
    if at_gap is not None:
        return at_gap
    lone = lone or dict.fromkeys(curve, 0)
    usual = min(USUAL_GROUPS, max(2, round(math.sqrt(2 * n_features))), max(curve))
    nothing, something = NOTHING * n_features, SOMETHING * n_features
    curve = _without_ties(curve, ROUNDING * n_features)
    before, after = _rises(curve)
    dips = {C: min(before[C], after[C]) for C in curve}
    dips = {C: depth for C, depth in dips.items() if depth > 0}
    clear = {C for C, depth in dips.items() if depth >= curve[C]}
    clear |= {C for C in curve if curve[C] <= nothing and after[C] >= something}
    clear = {C for C in clear if lone[C] <= 1}
    if any(C > 2 and depth >= curve[C] / 2 and not lone[C] for C, depth in dips.items()):
        clear.discard(2)
    if clear:
        return min(clear)
    whole = {C: depth for C, depth in dips.items() if not lone[C]}
    near = {C: depth for C, depth in whole.items() if usual / 2 <= C <= 1.5 * usual}
    if not near and lone[usual]:
        near = whole or {C: float(C) for C in range(2, usual + 1) if not lone[C]}
    return max(near, key=lambda C: near[C]) if near else usual


def _gap(curve: dict[int, float], eigenvalues: FloatArray | None) -> int | None:
    """The number of eigenvalues before they fall for good, from three on, or one more."""
    if eigenvalues is None or len(eigenvalues) < 4:
        return None
    falls = -np.diff(eigenvalues)
    C = 3 + int(np.argmax(falls[2:]))
    if falls[C - 1] < CLEAR_GAP:
        return None
    return min((C, C + 1), key=lambda number: curve.get(number, np.inf))


def _without_ties(curve: dict[int, float], rounding: float) -> dict[int, float]:
    """Of numbers in a row at which the distortion is zero but for rounding, only the last.

    A graph in m pieces has m eigenvectors of eigenvalue one, of which the solver returns any
    mixture: whether the first few of them are without distortion, too, is a matter of rounding.
    """
    return {C: E for C, E in curve.items() if max(E, curve.get(C + 1, math.inf)) > rounding}


def _rises(curve: dict[int, float]) -> tuple[dict[int, float], dict[int, float]]:
    """How much higher the curve is one number before and one after; beyond its ends it is zero."""
    heights = [0.0, *curve.values(), 0.0]
    before = {C: left - E for (C, E), left in zip(curve.items(), heights, strict=False)}
    after = {C: right - E for (C, E), right in zip(curve.items(), heights[2:], strict=True)}
    return before, after


def _renumber(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number clusters by their first feature: k-means numbers them as rounding has it."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _fill_empty(labels: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    """Give each empty cluster a feature of the largest: k-means leaves some when rows coincide."""
    labels = labels.copy()
    counts = np.bincount(labels, minlength=n_groups)
    for empty in np.flatnonzero(counts == 0):
        donor = counts.argmax()
        labels[np.flatnonzero(labels == donor)[-1]] = empty
        counts[donor] -= 1
        counts[empty] += 1
    return labels
