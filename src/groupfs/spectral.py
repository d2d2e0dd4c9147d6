r"""Spectral view of the feature graph: embedding, feature clusters, and how many groups there are.

Axes: d features, C groups. Eigenvectors are those of the smallest eigenvalues of the Laplacian, that
is of the largest of :math:`D^{-1/2} W D^{-1/2}`.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray
from sklearn.cluster import KMeans

FloatArray = NDArray[np.float64]
#: Starts of k-means, beside the deterministic one.
N_RANDOM_STARTS = 4


def leading_eigenvectors(walk: FloatArray | sp.csr_array, n_vectors: int) -> FloatArray:
    """The ``n_vectors`` smoothest directions on the graph, smoothest first, (d, n_vectors)."""
    d = walk.shape[0]
    if sp.issparse(walk) and n_vectors < d - 1:
        start = np.random.default_rng(0).standard_normal(d)
        values, vectors = scipy.sparse.linalg.eigsh(walk, n_vectors, which="LA", v0=start)
    else:
        dense = walk.toarray() if sp.issparse(walk) else walk
        values, vectors = scipy.linalg.eigh(dense, subset_by_index=(d - n_vectors, d - 1))
    order = np.argsort(-values, kind="stable")
    result: FloatArray = vectors[:, order]
    return result


def embed(eigenvectors: FloatArray, n_groups: int) -> FloatArray:
    """Rows of the first ``n_groups`` eigenvectors, scaled to unit length, (d, C)."""
    U = eigenvectors[:, :n_groups]
    return U / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-12)


def cluster_features(
    embedding: FloatArray, n_groups: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Cluster of every feature, (d,): the tightest k-means of several starts, none of them empty.

    One start is deterministic: the rows that pivoted QR finds most unlike each other.
    """
    d = embedding.shape[0]
    if n_groups >= d:
        return np.arange(d, dtype=np.int64)
    _, pivots = scipy.linalg.qr(embedding.T, mode="r", pivoting=True)
    seed = int(rng.integers(2**31))
    starts = [
        KMeans(n_groups, init=embedding[pivots[:n_groups]], n_init=1),
        KMeans(n_groups, n_init=N_RANDOM_STARTS, random_state=seed),
    ]
    best = min((start.fit(embedding) for start in starts), key=lambda k: k.inertia_)
    return _fill_empty(best.labels_.astype(np.int64), n_groups)


def distortion(embedding: FloatArray, labels: NDArray[np.int64]) -> float:
    r"""How far the embedding is from indicators of the clusters, after the best rotation.

    .. math:: E(C) = \min_R \|U R - Y\|_F^2
    """
    indicator = np.eye(embedding.shape[1])[labels]
    A, _, Bt = np.linalg.svd(embedding.T @ indicator)
    return float(np.square(embedding @ (A @ Bt) - indicator).sum())


def distortion_curve(eigenvectors: FloatArray, rng: np.random.Generator) -> dict[int, float]:
    """E(C) for C = 2, 3, ... up to the number of eigenvectors."""
    curve = {}
    for n_groups in range(2, eigenvectors.shape[1] + 1):
        U = embed(eigenvectors, n_groups)
        curve[n_groups] = distortion(U, cluster_features(U, n_groups, rng))
    return curve


def choose_n_groups(curve: dict[int, float], n_features: int) -> int:
    """The C of the deepest dip of E(C), below both its neighbours; about sqrt(d) if there is none.

    The smallest value itself says little: E(2) is small whatever the data, and E(d) is zero.
    """
    depth = {
        C: min(curve[C - 1], curve[C + 1]) - curve[C]
        for C in curve
        if C - 1 in curve and C + 1 in curve
    }
    if depth and max(depth.values()) > 0:
        return max(depth, key=lambda C: depth[C])
    return min(max(curve), max(2, math.ceil(math.sqrt(n_features))))


def _fill_empty(labels: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    """Give each empty cluster one feature of the largest: k-means leaves some when rows coincide."""
    labels = labels.copy()
    counts = np.bincount(labels, minlength=n_groups)
    for empty in np.flatnonzero(counts == 0):
        donor = counts.argmax()
        labels[np.flatnonzero(labels == donor)[-1]] = empty
        counts[donor] -= 1
        counts[empty] += 1
    return labels
