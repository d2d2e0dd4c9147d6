r"""Cluster the features: k-means of the rows of leading eigenvectors of their graph.

Axes: d features, V eigenvectors, C groups. Eigenvectors are those of the smallest eigenvalues of
the Laplacian, that is of the largest of :math:`D^{-1/2} W D^{-1/2}`.
"""

import warnings
from functools import partial

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
import torch

from groupfs.discovery.members import dense_eigenvectors, lanczos
from groupfs.joint.graph import Walk
from groupfs.utils.types import FloatArray, IntArray

#: Starts of k-means, beside the deterministic one, and steps from each at most.
N_RANDOM_STARTS, MAX_STEPS = 4, 30
#: Features up to which all eigenvectors are found where Lanczos fails (512 MB); steps beyond that.
DIRECT_FEATURES, LOBPCG_STEPS = 8192, 200
#: Features above which few eigenvectors of a dense walk are found faster one by one.
DENSE_FEATURES = 1024


def leading_eigenvectors(walk: Walk, n_vectors: int) -> FloatArray:
    """Find the ``n_vectors`` smoothest directions on the graph, smoothest first, (d, n_vectors).

    Those of a sparse walk, and of a dense one of many features, are found one by one.
    """
    d = walk.shape[0]
    is_large = (sp.issparse(walk) or d > DENSE_FEATURES) and n_vectors < d - 1
    find = _one_by_one if is_large else _all_at_once
    values, vectors = find(walk, n_vectors)
    return vectors[:, np.argsort(-values, kind="stable")]


def _one_by_one(
    walk: Walk, n_vectors: int, direct_features: int = DIRECT_FEATURES
) -> tuple[FloatArray, FloatArray]:
    """Use Lanczos, or a slower way where eigenvalues are too close for it to converge."""
    d = walk.shape[0]
    try:
        return lanczos(walk, n_vectors)
    except scipy.sparse.linalg.ArpackError:
        if d <= direct_features:
            return _all_at_once(walk, n_vectors)
    with warnings.catch_warnings():
        # what has not converged is smooth all the same
        warnings.simplefilter("ignore", UserWarning)
        start = np.random.default_rng(0).standard_normal((d, n_vectors))
        return scipy.sparse.linalg.lobpcg(walk, start, maxiter=LOBPCG_STEPS)


def _all_at_once(walk: Walk, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    dense = walk if isinstance(walk, np.ndarray) else walk.toarray()
    return dense_eigenvectors(dense, n_vectors)


def cluster_features(
    eigenvectors: FloatArray, n_groups: int, rng: np.random.Generator | None = None
) -> IntArray:
    """Cluster the features by k-means of their embedding, (d,); no cluster is empty.

    It starts from the rows that pivoted QR finds most unlike each other and, with ``rng``, from
    random ones too; the tightest result is taken. Clusters are numbered by their first features.
    """
    d = len(eigenvectors)
    if n_groups >= d:
        return np.arange(d, dtype=np.int64)
    # before rows are scaled to unit length: of rows of one length, rounding would choose
    _, pivots = scipy.linalg.qr(eigenvectors[:, :n_groups].T, mode="r", pivoting=True)
    embedding = embed(eigenvectors, n_groups)
    starts = [embedding[pivots[:n_groups]]]
    if rng is not None:
        from sklearn.cluster import kmeans_plusplus

        seeds = rng.integers(2**31, size=N_RANDOM_STARTS).tolist()
        starts += [kmeans_plusplus(embedding, n_groups, random_state=seed)[0] for seed in seeds]
    found = [_lloyd(embedding, centers) for centers in starts]
    labels = _fill_empty(min(found, key=partial(_inertia, embedding, n_groups)), n_groups)
    # k-means numbers them as rounding has it
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def embed(eigenvectors: FloatArray, n_groups: int) -> FloatArray:
    """Scale rows of the first ``n_groups`` eigenvectors to unit length, (..., d, C)."""
    U = eigenvectors[..., :n_groups]
    return U / np.maximum(np.linalg.norm(U, axis=-1, keepdims=True), 1e-12)


def as_groups(labels: IntArray, n_groups: int) -> list[IntArray]:
    """Turn labels into the index arrays of the groups; some may be empty."""
    return [np.flatnonzero(labels == j) for j in range(n_groups)]


def _inertia(points: FloatArray, n_groups: int, labels: IntArray) -> float:
    centers = _means_by_cluster(points, labels, np.zeros((n_groups, points.shape[1])))
    return float(np.square(points - centers[labels]).sum())


def _lloyd(points: FloatArray, centers: FloatArray) -> IntArray:
    """Run k-means from given centers until it stands still, (d,).

    A few matrix products for each step; scikit-learn's takes ten times as long for tables this
    small, and dozens are needed to choose the number of groups.
    """
    labels = np.full(len(points), -1)
    for _ in range(MAX_STEPS):
        before, labels = labels, _nearest(points, centers)
        if (labels == before).all():
            break
        centers = _means_by_cluster(points, labels, centers)
    return labels


def _nearest(points: FloatArray, centers: FloatArray) -> IntArray:
    """Find the nearest center of every point, (d, C) and (C, C) to (d,)."""
    return (points @ centers.T - 0.5 * np.square(centers).sum(1)).argmax(1)


def _means_by_cluster(points: FloatArray, labels: IntArray, otherwise: FloatArray) -> FloatArray:
    """Average the points of every cluster, (C, C); ``otherwise`` is for clusters without any."""
    sums = torch.zeros(otherwise.shape, dtype=torch.float64)
    sums.index_add_(0, torch.from_numpy(labels), torch.from_numpy(points))
    sizes = np.bincount(labels, minlength=len(otherwise))[:, None]
    return np.where(sizes > 0, sums.numpy() / np.maximum(sizes, 1), otherwise)


def _fill_empty(labels: IntArray, n_groups: int) -> IntArray:
    """Give each empty cluster a feature of the largest: k-means leaves some when rows coincide."""
    labels = labels.copy()
    counts = np.bincount(labels, minlength=n_groups)
    for empty in np.flatnonzero(counts == 0):
        donor = counts.argmax()
        labels[np.flatnonzero(labels == donor)[-1]] = empty
        counts[donor] -= 1
        counts[empty] += 1
    return labels
