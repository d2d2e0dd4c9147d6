r"""Cluster the features: k-means of the rows of leading eigenvectors of their graph.

Axes: h embeddings, d features, V eigenvectors, C groups. Eigenvectors are those of the smallest
eigenvalues of the Laplacian, that is of the largest of :math:`D^{-1/2} W D^{-1/2}`. k-means starts
from several centers at once: tables are small, and calls would take longer than what they compute.
"""

import warnings

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
import torch

from groupfs.discovery.members import dense_eigenvectors, lanczos
from groupfs.joint.graph import Walk
from groupfs.utils.types import FloatArray, IntArray

#: Starts of k-means, beside the deterministic one, and steps from each at most.
N_RANDOM_STARTS, MAX_STEPS = 4, 30
#: Products up to this many multiplications are done by one thread in the usual BLAS libraries.
SMALL_PRODUCT = 2**18
#: Features up to which all eigenvectors are found where Lanczos fails (512 MB); steps beyond that.
DIRECT_FEATURES, LOBPCG_STEPS = 8192, 200
#: Features above which few eigenvectors of a dense walk are found faster one by one.
DENSE_FEATURES = 1024


def leading_eigenvectors(walk: Walk, n_vectors: int, tolerance: float = 0.0) -> FloatArray:
    """Find the ``n_vectors`` smoothest directions on the graph, smoothest first, (d, n_vectors).

    Those of a sparse walk, and of a dense one of many features, are found one by one, to a relative
    ``tolerance`` of the eigenvalues (0: to rounding).
    """
    d = walk.shape[0]
    is_large = sp.issparse(walk) or d > DENSE_FEATURES
    if is_large and n_vectors < d - 1:
        values, vectors = _one_by_one(walk, n_vectors, tolerance=tolerance)
    else:
        values, vectors = dense_eigenvectors(_dense(walk), n_vectors)
    order = np.argsort(-values, kind="stable")
    return vectors[:, order]


def smoothness_of(walk: Walk, eigenvectors: FloatArray) -> FloatArray:
    """Compute the eigenvalues that belong to eigenvectors of the walk, (n_vectors,)."""
    return np.einsum("ij,ij->j", eigenvectors, walk @ eigenvectors)


def _one_by_one(
    walk: Walk, n_vectors: int, direct_features: int = DIRECT_FEATURES, tolerance: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Use Lanczos, or a slower way where eigenvalues are too close for it to converge."""
    d = walk.shape[0]
    try:
        return lanczos(walk, n_vectors, tol=tolerance)
    except scipy.sparse.linalg.ArpackError:
        if d <= direct_features:
            return dense_eigenvectors(_dense(walk), n_vectors)
    with warnings.catch_warnings():
        # what has not converged is smooth all the same
        warnings.simplefilter("ignore", UserWarning)
        start = np.random.default_rng(0).standard_normal((d, n_vectors))
        return scipy.sparse.linalg.lobpcg(walk, start, maxiter=LOBPCG_STEPS)


def _dense(walk: Walk) -> FloatArray:
    return walk if isinstance(walk, np.ndarray) else np.asarray(walk.toarray())


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
    (pivots,) = _pivots(eigenvectors[None, :, :n_groups])
    embedding = embed(eigenvectors, n_groups)
    labels = _tightest(embedding, embedding[pivots], rng)
    return _renumber(fill_empty(labels, n_groups))


def embed(eigenvectors: FloatArray, n_groups: int) -> FloatArray:
    """Scale rows of the first ``n_groups`` eigenvectors to unit length, (..., d, C)."""
    U = eigenvectors[..., :n_groups]
    return U / np.maximum(np.linalg.norm(U, axis=-1, keepdims=True), 1e-12)


def as_groups(labels: IntArray, n_groups: int) -> list[IntArray]:
    """Turn labels into the index arrays of the groups; some may be empty."""
    return [np.flatnonzero(labels == j) for j in range(n_groups)]


def _pivots(U: FloatArray) -> IntArray:
    """Find the rows that pivoted QR of each transpose would choose, (h, d, C) to (h, C).

    They are looked for among rows before these are scaled to unit length: of rows of one length,
    rounding would choose.
    """
    h, _, C = U.shape
    every, left, basis = np.arange(h), np.einsum("hdc,hdc->hd", U, U), np.zeros((h, C, C))
    chosen = np.empty((h, C), dtype=np.int64)
    for k in range(C):
        chosen[:, k] = pick = left.argmax(1)
        direction, before = U[every, pick][..., None], basis[:, :k]
        for _ in range(2 if k else 0):  # once more: rounding leaves something of the others
            direction = direction - before.transpose(0, 2, 1) @ (before @ direction)
        direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-300)
        basis[:, k] = direction[..., 0]
        left -= np.square(U @ direction)[..., 0]
        left[every, pick] = -np.inf
    return chosen


def _tightest(
    embedding: FloatArray, start: FloatArray, rng: np.random.Generator | None
) -> IntArray:
    """Take the best of k-means from the given start and, with ``rng``, from random ones."""
    starts, n_groups = [start], len(start)
    if rng is not None:
        from sklearn.cluster import kmeans_plusplus

        for seed in rng.integers(2**31, size=N_RANDOM_STARTS):
            centers, _ = kmeans_plusplus(embedding, n_groups, random_state=int(seed))
            starts.append(centers)
    stack = np.broadcast_to(embedding, (len(starts), *embedding.shape))
    found = _lloyd(stack, np.stack(starts))
    return min(found, key=lambda labels: _inertia(embedding, labels, n_groups))


def _inertia(points: FloatArray, labels: IntArray, n_groups: int) -> float:
    counts = np.bincount(labels, minlength=n_groups)[:, None]
    centers = _sums_by_cluster(points, labels, n_groups) / np.maximum(counts, 1)
    return float(np.square(points - centers[labels]).sum())


def _lloyd(points: FloatArray, centers: FloatArray) -> IntArray:
    """Run k-means of every embedding from given centers, each until it stands still, (h, d).

    A few matrix products for each step; scikit-learn's takes ten times as long for tables this
    small, and dozens are needed to choose the number of groups.
    """
    h, d, C = points.shape
    labels, moving = np.full((h, d), -1), np.arange(h)
    for _ in range(MAX_STEPS):
        nearest = _nearest(points, centers)
        moved = (nearest != labels[moving]).any(1)
        labels[moving] = nearest
        if not moved.any():
            break
        moving, points, centers = moving[moved], points[moved], centers[moved]
        nearest = nearest[moved]
        n = len(moving)
        places = (nearest + C * np.arange(n)[:, None]).ravel()
        sums = _sums_by_cluster(points.reshape(n * d, C), places, n * C).reshape(n, C, C)
        sizes = np.bincount(places, minlength=n * C).reshape(n, C, 1)
        centers = np.where(sizes > 0, sums / np.maximum(sizes, 1), centers)
    return labels


def _nearest(points: FloatArray, centers: FloatArray) -> IntArray:
    """Find the nearest center of every point, (h, d, C) and (h, C, C) to (h, d).

    In blocks that one thread multiplies: more would get in each other's way, and telling the
    library so, which is one for the whole process, would change the sums of whoever else is at
    work in it.
    """
    half, turned = 0.5 * np.square(centers).sum(2)[:, None, :], centers.transpose(0, 2, 1)
    size = max(1, SMALL_PRODUCT // centers[0].size)
    blocks = [points[:, start : start + size] for start in range(0, points.shape[1], size)]
    return np.concatenate([(block @ turned - half).argmax(2) for block in blocks], axis=1)


def _sums_by_cluster(points: FloatArray, labels: IntArray, n_groups: int) -> FloatArray:
    sums = torch.zeros((n_groups, points.shape[1]), dtype=torch.float64)
    sums.index_add_(0, torch.from_numpy(labels), torch.from_numpy(points))
    return sums.numpy()


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
