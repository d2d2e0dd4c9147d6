r"""Turn distances of points into affinities and walks: of samples, and of features.

Axes: B samples, d features.

The affinity of two points is :math:`W_{ij} = \exp(-\|x_i - x_j\|^2 / (g_i g_j))`, where
:math:`g_i` is the distance from i to its K-th nearest neighbour, itself not counted.
:math:`W_{ii} = 1` is kept. Graphs of many features keep nearest neighbours only.
"""

import numpy as np
import scipy.sparse as sp

from groupfs.data.similarity import Similarity
from groupfs.utils.types import FloatArray, IntArray

#: Squared bandwidths are at least this share of the mean squared distance. Points with more than K
#: exact copies would otherwise have none, and rounding errors of single precision would decide
#: their affinities.
BANDWIDTH_FLOOR = 1e-5
#: Keeps 0 / 0 away when all gates are closed and all points coincide.
TINY = 1e-20
#: Below it exp gives subnormal numbers, five times as slow and equal to nothing beside the one of
#: the diagonal.
LEAST_EXPONENT = -80.0


def self_tuning_affinity(
    distances: FloatArray, n_neighbors: int, floor: float = BANDWIDTH_FLOOR
) -> FloatArray:
    """Write affinities over squared distances, (..., B, B); at most B - 1 neighbours."""
    kth = np.partition(distances, n_neighbors, axis=-1)[..., n_neighbors]
    least = floor * distances.mean((-2, -1), keepdims=True)[..., 0] + TINY
    inverse = 1 / np.sqrt(np.maximum(kth, least))
    distances *= -inverse[..., None]
    distances *= inverse[..., None, :]
    np.maximum(distances, LEAST_EXPONENT, out=distances)
    return np.exp(distances, out=distances)


def feature_walk(
    similarity: Similarity, n_neighbors: int, n_kept: int | None = None, signed: bool = True
) -> FloatArray | sp.csr_array:
    """Build the walk of the features, (d, d); parameters as in :func:`feature_affinity`."""
    return symmetric_walk(feature_affinity(similarity, n_neighbors, n_kept, signed))


def feature_affinity(
    similarity: Similarity, n_neighbors: int, n_kept: int | None = None, signed: bool = True
) -> FloatArray | sp.csr_array:
    """Compute self-tuning affinities between the features of a table, (d, d).

    Parameters
    ----------
    n_neighbors
        K, for the bandwidths; d - 1 where there are fewer.
    n_kept
        Affinities kept per feature (its nearest neighbours; an edge stays if either end keeps it).
        None keeps all.
    signed
        Whether a feature and its negative are far apart, or the same.
    """
    d = similarity.shape[1]
    K = min(n_neighbors, d - 1)
    if n_kept is None or n_kept >= d - 1:
        return self_tuning_affinity(similarity.distances(0, d, signed), K)
    return affinity_of_neighbors(*similarity.neighbors(max(n_kept, K), signed), K)


def symmetric_walk(affinity: FloatArray | sp.csr_array) -> FloatArray | sp.csr_array:
    r"""Normalise affinities to :math:`D^{-1/2} W D^{-1/2}`, dense or sparse as W is.

    The Laplacian is the identity minus this.
    """
    scale = 1 / np.sqrt(np.asarray(affinity.sum(axis=1)).ravel())
    if sp.issparse(affinity):
        return sp.csr_array(sp.diags_array(scale) @ affinity @ sp.diags_array(scale))
    walk: FloatArray = affinity * scale[:, None] * scale[None, :]
    return walk


def affinity_of_neighbors(
    distances: FloatArray, nearest: IntArray, mean: float, n_neighbors: int
) -> sp.csr_array:
    """Turn squared distances to the nearest columns, (d, n_kept + 1), into affinities.

    ``mean`` is the mean squared distance of all columns.
    """
    d, n_kept = len(nearest), nearest.shape[1] - 1
    bandwidth = np.sqrt(np.maximum(distances[:, n_neighbors], BANDWIDTH_FLOOR * mean + TINY))
    source = np.repeat(np.arange(d), n_kept + 1)
    target = nearest.ravel()
    affinity = np.exp(-distances.ravel() / (bandwidth[source] * bandwidth[target]))
    # An explicit diagonal: duplicates of a feature may have crowded it out of its own neighbours.
    off = source != target
    kept = sp.csr_array((affinity[off], (source[off], target[off])), shape=(d, d))
    return sp.csr_array(kept.maximum(kept.T) + sp.eye_array(d))
