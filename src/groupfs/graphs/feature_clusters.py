"""Clusters of the features: k-means of the rows of leading eigenvectors of their graph.

Axes: d features, C groups. Eigenvectors come from :mod:`groupfs.graphs.eigenvectors`.
"""

import numpy as np
import scipy.linalg
import torch
from sklearn.cluster import kmeans_plusplus

from groupfs.utils.types import FloatArray, IntArray

#: Starts of k-means, beside the deterministic one, and steps from each at most.
N_RANDOM_STARTS, MAX_STEPS = 4, 30
#: Products up to this many multiplications are done by one thread in the usual BLAS libraries.
SMALL_PRODUCT = 2**18
#: Above this number of features centers of clusters and their number come from a sample this large.
SAMPLED_FEATURES = 100_000
#: Features whose distances to all clusters are worked out at a time, times clusters.
BLOCK_ENTRIES = 2**21


def embed(eigenvectors: FloatArray, n_groups: int) -> FloatArray:
    """Scale rows of the first ``n_groups`` eigenvectors to unit length, (d, C)."""
    U = eigenvectors[:, :n_groups]
    return U / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-12)


def cluster_features(
    eigenvectors: FloatArray,
    n_groups: int,
    rng: np.random.Generator | None = None,
    n_sampled: int = SAMPLED_FEATURES,
) -> IntArray:
    """Cluster the features by k-means of their embedding, (d,); no cluster is empty.

    It starts from the rows that pivoted QR finds most unlike each other and, with ``rng``, from
    random ones too; the tightest result is taken. Pivots are looked for among the rows before they
    are scaled to unit length: of rows of one length, rounding would choose. Of very many features
    ``n_sampled`` are clustered, the pivots among them, and the others go to the nearest center.
    """
    d = eigenvectors.shape[0]
    if n_groups >= d:
        return np.arange(d, dtype=np.int64)
    if d > n_sampled:
        labels = _cluster_by_sample(eigenvectors, n_groups, rng, n_sampled)
        return _renumber(fill_empty(labels, n_groups))
    embedding = embed(eigenvectors, n_groups)
    _, pivots = scipy.linalg.qr(eigenvectors[:, :n_groups].T, mode="r", pivoting=True)
    labels = _tightest(embedding, embedding[pivots[:n_groups]], rng)
    return _renumber(fill_empty(labels, n_groups))


def _tightest(
    embedding: FloatArray, start: FloatArray, rng: np.random.Generator | None
) -> IntArray:
    """Take the best of k-means from the given start and, with ``rng``, from random ones."""
    starts, n_groups = [start], len(start)
    if rng is not None:
        for seed in rng.integers(2**31, size=N_RANDOM_STARTS):
            centers, _ = kmeans_plusplus(embedding, n_groups, random_state=int(seed))
            starts.append(centers)
    labels, _ = min((_lloyd(embedding, start) for start in starts), key=lambda found: found[1])
    return labels


def _cluster_by_sample(
    eigenvectors: FloatArray, n_groups: int, rng: np.random.Generator | None, n_sampled: int
) -> IntArray:
    """Cluster a sample, and put all other features into the cluster of the nearest center."""
    d = len(eigenvectors)
    pivots = _pivots(eigenvectors[:, :n_groups])
    sampled = np.union1d(_sample(d, n_sampled), pivots)
    embedding = embed(eigenvectors[sampled], n_groups).astype(np.float64)
    labels = _tightest(embedding, embedding[np.searchsorted(sampled, pivots)], rng)
    counts = np.bincount(labels, minlength=n_groups)
    centers = sums_by_cluster(embedding, labels, n_groups) / np.maximum(counts, 1)[:, None]
    bias = np.where(counts > 0, 0.5 * np.square(centers).sum(1), np.inf)
    found = np.empty(d, dtype=np.int64)
    for start in range(0, d, n_sampled):
        rows = slice(start, start + n_sampled)
        found[rows] = (embed(eigenvectors[rows], n_groups) @ centers.T - bias).argmax(1)
    return found


def _sample(d: int, n_sampled: int) -> IntArray:
    """Draw features that stand for all where there are very many, always the same, ascending."""
    return np.sort(np.random.default_rng(0).choice(d, n_sampled, replace=False))


def _pivots(U: FloatArray) -> IntArray:
    """Find the rows that pivoted QR of the transpose would choose, without its copies of U."""
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


def _lloyd(points: FloatArray, centers: FloatArray) -> tuple[IntArray, float]:
    """Run k-means from given centers; return labels and inertia.

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


def _nearest(points: FloatArray, centers: FloatArray) -> IntArray:
    """Find the nearest center of every point, (d,).

    In blocks that one thread multiplies: more would get in each other's way, and telling the
    library so, which is one for the whole process, would change the sums of whoever else is at
    work in it.
    """
    half = 0.5 * np.square(centers).sum(1)
    size = max(1, SMALL_PRODUCT // centers.size)
    blocks = [points[start : start + size] for start in range(0, len(points), size)]
    return np.concatenate([(block @ centers.T - half).argmax(1) for block in blocks])


def sums_by_cluster(points: FloatArray, labels: IntArray, n_groups: int) -> FloatArray:
    """Sum the points of every cluster, (C, m)."""
    sums = torch.zeros((n_groups, points.shape[1]), dtype=torch.float64)
    sums.index_add_(0, torch.from_numpy(labels), torch.from_numpy(points).double())
    found: FloatArray = sums.numpy()
    return found


def nearest_clusters(
    eigenvectors: FloatArray,
    labels: IntArray,
    n_groups: int,
    k: int,
    block_entries: int = BLOCK_ENTRIES,
) -> IntArray:
    """Find the own cluster of every feature and the k - 1 with the nearest centers, (d, k).

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.graphs.feature_clusters import nearest_clusters
    >>> points = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.4, 1.0]])
    >>> nearest_clusters(points, np.array([0, 1, 2]), 3, 2)[2]
    array([2, 1])
    """
    d = len(labels)
    size = max(1, block_entries // n_groups)
    blocks = [slice(start, min(start + size, d)) for start in range(0, d, size)]
    centers = np.zeros((n_groups, n_groups))
    for rows in blocks:
        centers += sums_by_cluster(embed(eigenvectors[rows], n_groups), labels[rows], n_groups)
    centers /= np.maximum(np.bincount(labels, minlength=n_groups), 1)[:, None]
    found = np.empty((d, k), dtype=np.int64)
    for rows in blocks:
        nearness = embed(eigenvectors[rows], n_groups) @ centers.T
        nearness -= 0.5 * np.square(centers).sum(1)
        np.put_along_axis(nearness, labels[rows, None], np.inf, axis=1)
        best = np.argpartition(-nearness, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(nearness, best, axis=1), axis=1, kind="stable")
        found[rows] = np.take_along_axis(best, order, axis=1)
    return found


def as_groups(labels: IntArray, n_groups: int) -> list[IntArray]:
    """Turn labels into the index arrays of the groups; some may be empty."""
    return [np.flatnonzero(labels == j) for j in range(n_groups)]


def representative_rows(eigenvectors: FloatArray, n_sampled: int = SAMPLED_FEATURES) -> FloatArray:
    """Return all rows, or a sample of very many: enough to see how many groups there are."""
    d = len(eigenvectors)
    if d <= n_sampled:
        return eigenvectors
    return eigenvectors[_sample(d, n_sampled)].astype(np.float64)


def _renumber(labels: IntArray) -> IntArray:
    """Number clusters by their first feature: k-means numbers them as rounding has it."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def fill_empty(labels: IntArray, n_groups: int) -> IntArray:
    """Give each empty cluster a feature of the largest: k-means leaves some when rows coincide."""
    labels = labels.copy()
    counts = np.bincount(labels, minlength=n_groups)
    for empty in np.flatnonzero(counts == 0):
        donor = counts.argmax()
        labels[np.flatnonzero(labels == donor)[-1]] = empty
        counts[donor] -= 1
        counts[empty] += 1
    return labels
