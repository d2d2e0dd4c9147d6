r"""Turn distances of points into affinities and walks: of samples, and of features.

Axes: R models side by side, B samples of a batch, d features.

The affinity of two points is :math:`W_{ij} = \exp(-\|x_i - x_j\|^2 / (g_i g_j))`, where
:math:`g_i` is the distance from i to its K-th nearest neighbour, itself not counted.
:math:`W_{ii} = 1` is kept. Graphs of samples come with the gradients that training needs. Graphs of
many features keep nearest neighbours only.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

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


@dataclass
class SelfTuningGraph:
    """A graph with what its gradient needs; every array has the leading axes of the distances."""

    affinity: Tensor  #: W, (..., B, B)
    exponent: Tensor  #: squared distance over the product of bandwidths, (..., B, B)
    bandwidth: Tensor  #: g, (..., B)
    neighbor: Tensor  #: index of the K-th nearest neighbour, (..., B)
    floored: Tensor  #: where the bandwidth is the floor and not a distance, (..., B)

    def distances_pullback(self, pull: Tensor, through_bandwidth: bool) -> Tensor:
        """Compute the gradient with respect to the squared distances; overwrite ``pull``.

        ``pull`` is minus the gradient with respect to the exponent.
        """
        g = self.bandwidth
        grad = pull / (g.unsqueeze(-1) * g.unsqueeze(-2)).neg_()
        if through_bandwidth:
            tension = pull.mul_(self.exponent)
            per_bandwidth = (tension.sum(-1) + tension.sum(-2)) / (2 * g.square())
            per_bandwidth = per_bandwidth.masked_fill(self.floored, 0)
            grad.scatter_add_(-1, self.neighbor.unsqueeze(-1), per_bandwidth.unsqueeze(-1))
        return grad


def gram(X: Tensor) -> Tensor:
    """Multiply rows with each other, (..., B, m) to (..., B, B); gaps are NaN.

    A gap is the mean of its column, and adds the column's variance to the row's own square alone:
    as far as it goes the row is as far from all others as rows are on average.
    """
    products = X @ X.mT
    if bool(products.diagonal(dim1=-2, dim2=-1).isnan().any()):
        known = fill_gaps(X)
        missing = X.isnan()
        n_known = (X.shape[-2] - missing.sum(-2, keepdim=True)).clamp_(min=1)
        variance = known.square().sum(-2, keepdim=True) / n_known
        products = known @ known.mT
        products.diagonal(dim1=-2, dim2=-1).add_((missing * variance).sum(-1))
    return products


def fill_gaps(X: Tensor) -> Tensor:
    """Put the mean, zero, in place of gaps."""
    return X.nan_to_num(nan=0.0)


def squared_distances(gram: Tensor) -> Tensor:
    """Turn inner products into squared distances, (..., B, B) to (..., B, B)."""
    norms = gram.diagonal(dim1=-2, dim2=-1)
    distances = torch.add(norms.unsqueeze(-1) + norms.unsqueeze(-2), gram, alpha=-2).clamp_(min=0)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    return distances


def self_tuning_graph(
    distances: Tensor, n_neighbors: int, floor: float | None = None
) -> SelfTuningGraph:
    """Build the self-tuning graph of squared distances, (..., B, B); at most B - 1 neighbours.

    ``floor`` is another than ``BANDWIDTH_FLOOR``, for distances that are more precise.
    """
    kth, neighbor = _kth_smallest(distances, n_neighbors)
    bandwidth, at_floor = _bandwidth(distances, kth, floor)
    exponent = distances / (bandwidth.unsqueeze(-1) * bandwidth.unsqueeze(-2))
    return SelfTuningGraph(torch.exp(-exponent), exponent, bandwidth, neighbor, at_floor)


def plain_affinity(gram: Tensor, n_neighbors: int) -> Tensor:
    """Write self-tuning affinities over the inner products, (..., B, B) to (..., B, B).

    The same numbers as :func:`self_tuning_graph`'s in half the time: what its gradient needs is
    not kept.
    """
    norms = gram.diagonal(dim1=-2, dim2=-1).clone()
    distances = gram.mul_(-2).add_(norms.unsqueeze(-1)).add_(norms.unsqueeze(-2)).clamp_(min=0)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    inverse = 1 / _bandwidth(distances, _kth_value(distances, n_neighbors))[0]
    exponent = distances.mul_(-inverse.unsqueeze(-1)).mul_(inverse.unsqueeze(-2))
    return exponent.clamp_(min=LEAST_EXPONENT).exp_()


def _bandwidth(distances: Tensor, kth: Tensor, share: float | None = None) -> tuple[Tensor, Tensor]:
    """Find g of every sample, (..., B), and whether it is the least that is allowed."""
    share = BANDWIDTH_FLOOR if share is None else share
    floor = share * distances.mean((-2, -1)).unsqueeze(-1) + TINY
    return torch.maximum(kth, floor).sqrt_(), kth < floor


def _kth_value(values: Tensor, k: int) -> Tensor:
    """Find the (k + 1)-th smallest entry of each row, (..., B, B) to (..., B)."""
    if values.device.type == "cpu":  # twice as fast as torch's
        return torch.from_numpy(np.partition(values.numpy(), k, axis=-1)[..., k].copy())
    return torch.topk(values, k + 1, largest=False).values[..., -1]


def _kth_smallest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Find the (k + 1)-th smallest entry of each row and its index, (..., B, B) to (..., B)."""
    if values.device.type == "cpu":
        kth = _kth_value(values, k)
        return kth, torch.from_numpy((values.numpy() == kth.numpy()[..., None]).argmax(-1))
    nearest, indices = torch.topk(values, k + 1, largest=False)
    return nearest[..., -1], indices[..., -1]


def random_walk(affinity: Tensor) -> tuple[Tensor, Tensor]:
    """Compute transition probabilities :math:`P = D^{-1} W` and degrees D (..., B, 1)."""
    degree = affinity.sum(-1, keepdim=True)
    return affinity / degree, degree


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
        graph = self_tuning_graph(similarity.distances(0, d, signed), K)
        affinity: FloatArray = graph.affinity.cpu().numpy()
        return affinity
    return _affinity_of_neighbors(*similarity.neighbors(max(n_kept, K), signed), K)


def symmetric_walk(affinity: FloatArray | sp.csr_array) -> FloatArray | sp.csr_array:
    r"""Normalise affinities to :math:`D^{-1/2} W D^{-1/2}`, dense or sparse as W is.

    The Laplacian is the identity minus this.
    """
    scale = 1 / np.sqrt(np.asarray(affinity.sum(axis=1)).ravel())
    if sp.issparse(affinity):
        return sp.csr_array(sp.diags_array(scale) @ affinity @ sp.diags_array(scale))
    walk: FloatArray = affinity * scale[:, None] * scale[None, :]
    return walk


def _affinity_of_neighbors(
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
