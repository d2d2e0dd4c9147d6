"""Clusters of the features by many embeddings at once, as halves of the rows give.

Axes: h embeddings, m features, V eigenvectors, C groups. The same k-means as that of
:mod:`groupfs.graphs.feature_clusters`, one product for all embeddings: they are small, and calls
would take longer than what they compute.
"""

import numpy as np

from groupfs.graphs.feature_clusters import MAX_STEPS, fill_empty, sums_by_cluster
from groupfs.utils.types import FloatArray, IntArray


def cluster_stack(eigenvectors: FloatArray, n_groups: int) -> IntArray:
    """Cluster the features by each of the embeddings, (h, m, V) to (h, m); no cluster is empty."""
    h, m, _ = eigenvectors.shape
    if n_groups >= m:
        return np.tile(np.arange(m), (h, 1))
    U = np.ascontiguousarray(eigenvectors[:, :, :n_groups])
    lengths = np.sqrt(np.einsum("hmc,hmc->hm", U, U))
    points = U / np.maximum(lengths, 1e-12)[..., None]
    start = np.take_along_axis(points, _pivots(U, lengths**2)[..., None], axis=1)
    labels = _lloyd(points, start)
    sizes = _sizes(labels, n_groups)
    for i in np.flatnonzero((sizes == 0).any(1)):
        labels[i] = fill_empty(labels[i], n_groups)
    return labels


def _pivots(U: FloatArray, left: FloatArray) -> IntArray:
    """Find the rows that pivoted QR of each transpose would choose, (h, C).

    ``left`` (h, m) are the squared lengths of the rows; it is overwritten.
    """
    h, _, C = U.shape
    every = np.arange(h)
    basis = np.zeros((h, C, C))
    chosen = np.empty((h, C), dtype=np.int64)
    for k in range(C):
        chosen[:, k] = pick = left.argmax(1)
        direction = U[every, pick][..., None]
        before = basis[:, :k]
        for _ in range(2 if k else 0):  # once more: rounding leaves something of the others
            direction = direction - before.transpose(0, 2, 1) @ (before @ direction)
        direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-300)
        basis[:, k] = direction[..., 0]
        left -= np.square(U @ direction)[..., 0]
        left[every, pick] = -np.inf
    return chosen


def _lloyd(points: FloatArray, centers: FloatArray) -> IntArray:
    """Run k-means of every embedding from given centers, each until it stands still, (h, m)."""
    h, m, C = points.shape
    labels = np.full((h, m), -1)
    moving = np.arange(h)
    for _ in range(MAX_STEPS):
        half = 0.5 * np.square(centers).sum(2)[:, None, :]
        nearest = (points @ centers.transpose(0, 2, 1) - half).argmax(2)
        moved = (nearest != labels[moving]).any(1)
        labels[moving] = nearest
        if not moved.any():
            break
        moving, points, centers = moving[moved], points[moved], centers[moved]
        nearest = nearest[moved]
        n = len(moving)
        places = (nearest + C * np.arange(n)[:, None]).ravel()
        sums = sums_by_cluster(points.reshape(n * m, C), places, n * C).reshape(n, C, C)
        sizes = _sizes(nearest, C)[..., None]
        centers = np.where(sizes > 0, sums / np.maximum(sizes, 1), centers)
    return labels


def _sizes(labels: IntArray, n_groups: int) -> IntArray:
    """Count the features of every cluster, (h, m) to (h, C)."""
    h = len(labels)
    places = (labels + n_groups * np.arange(h)[:, None]).ravel()
    return np.bincount(places, minlength=h * n_groups).reshape(h, n_groups)
