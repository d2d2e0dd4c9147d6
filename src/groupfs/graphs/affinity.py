r"""Graphs of samples (dense, one per model) and of features (dense or sparse).

Axes: R models side by side, B samples of a batch, N samples, d features, C groups.

The affinity of two points is :math:`W_{ij} = \exp(-\|x_i - x_j\|^2 / (g_i g_j))`, where
:math:`g_i` is the distance from i to its K-th nearest neighbour, itself not counted.
:math:`W_{ii} = 1` is kept. Graphs of samples may also have one bandwidth for all points.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.graphs.feature_neighbors import column_distances, nearest_columns, told_apart
from groupfs.utils.types import FloatArray

#: Squared bandwidths are at least this share of the mean squared distance. Points with more than K
#: exact copies would otherwise have none, and rounding errors of single precision would decide
#: their affinities.
BANDWIDTH_FLOOR = 1e-5
#: Keeps 0 / 0 away when all gates are closed and all points coincide.
TINY = 1e-20
#: Below it exp gives subnormal numbers, five times as slow and equal to nothing beside the one of
#: the diagonal.
LEAST_EXPONENT = -80.0
#: Features up to which the feature graph is dense on CUDA (256 MB).
DENSE_ON_CUDA = 8192


@dataclass
class SelfTuningGraph:
    """A graph with what its gradient needs; every array has the leading axes of the distances."""

    affinity: Tensor  #: W, (..., B, B)
    exponent: Tensor  #: squared distance over the product of bandwidths, (..., B, B)
    bandwidth: Tensor  #: g, (..., B)
    neighbor: Tensor  #: index of the K-th nearest neighbour, (..., B)
    floored: Tensor  #: where the bandwidth is the floor and not a distance, (..., B)

    def distances_pullback(self, pull: Tensor, through_bandwidth: bool) -> Tensor:
        """Gradient with respect to the squared distances; overwrites ``pull``.

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


@dataclass
class MedianGraph:
    """A graph with one bandwidth: a multiple of the median squared distance to a neighbour."""

    affinity: Tensor  #: W, (..., B, B)
    exponent: Tensor  #: squared distance over the bandwidth, (..., B, B)
    bandwidth: Tensor  #: (..., 1, 1)
    middle: Tensor  #: the one or two entries of the distances whose mean is the median, (..., 2)
    floored: Tensor  #: where the bandwidth is the floor and not a distance, (..., 1, 1)
    factor: float

    def distances_pullback(self, pull: Tensor, through_bandwidth: bool) -> Tensor:
        """Gradient with respect to the squared distances; overwrites ``pull``."""
        grad = pull / self.bandwidth.neg()
        if through_bandwidth:
            tension = pull.mul_(self.exponent).sum((-2, -1), keepdim=True)
            per_median = (self.factor * tension / self.bandwidth).masked_fill(self.floored, 0)
            halves = (per_median / 2).flatten(-2).expand_as(self.middle)
            grad.flatten(-2).scatter_add_(-1, self.middle, halves)
        return grad


def squared_distances(gram: Tensor) -> Tensor:
    """Squared Euclidean distances from inner products, (..., B, B) to (..., B, B)."""
    norms = gram.diagonal(dim1=-2, dim2=-1)
    distances = torch.add(norms.unsqueeze(-1) + norms.unsqueeze(-2), gram, alpha=-2).clamp_(min=0)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    return distances


def self_tuning_graph(
    distances: Tensor, n_neighbors: int, floor: float | None = None
) -> SelfTuningGraph:
    """Affinities from squared distances, (..., B, B); at most B - 1 neighbours.

    ``floor`` is another than ``BANDWIDTH_FLOOR``, for distances that are more precise.
    """
    kth, neighbor = _kth_smallest(distances, n_neighbors)
    bandwidth, at_floor = _bandwidth(distances, kth, floor)
    exponent = distances / (bandwidth.unsqueeze(-1) * bandwidth.unsqueeze(-2))
    return SelfTuningGraph(torch.exp(-exponent), exponent, bandwidth, neighbor, at_floor)


def plain_affinity(gram: Tensor, n_neighbors: int) -> Tensor:
    """Self-tuning affinities alone, written over the inner products, (..., B, B) to (..., B, B).

    The same numbers as :func:`self_tuning_graph`'s in half the time: what its gradient needs is
    not kept.
    """
    norms = gram.diagonal(dim1=-2, dim2=-1).clone()
    distances = gram.mul_(-2).add_(norms.unsqueeze(-1)).add_(norms.unsqueeze(-2)).clamp_(min=0)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    inverse = 1 / _bandwidth(distances, _kth_value(distances, n_neighbors))[0]
    exponent = distances.mul_(-inverse.unsqueeze(-1)).mul_(inverse.unsqueeze(-2))
    return exponent.clamp_(min=LEAST_EXPONENT).exp_()


def median_graph(distances: Tensor, n_neighbors: int, factor: float) -> MedianGraph:
    """Affinities from squared distances, (..., B, B); the bandwidth is ``factor`` times the median.

    The median is that of the squared distances to the ``n_neighbors``-th nearest neighbour.
    """
    B = distances.shape[-1]
    kth, neighbor = _kth_smallest(distances, n_neighbors)
    middle = _two_middle(kth)
    median = kth.gather(-1, middle).mean(-1)[..., None, None]
    floor = BANDWIDTH_FLOOR * distances.mean((-2, -1), keepdim=True) + TINY
    bandwidth = factor * torch.maximum(median, floor)
    exponent = distances / bandwidth
    entries = middle * B + neighbor.gather(-1, middle)
    return MedianGraph(torch.exp(-exponent), exponent, bandwidth, entries, median < floor, factor)


def _bandwidth(distances: Tensor, kth: Tensor, share: float | None = None) -> tuple[Tensor, Tensor]:
    """g of every sample, (..., B), and whether it is the least that is allowed."""
    share = BANDWIDTH_FLOOR if share is None else share
    floor = share * distances.mean((-2, -1)).unsqueeze(-1) + TINY
    return torch.maximum(kth, floor).sqrt_(), kth < floor


def _kth_value(values: Tensor, k: int) -> Tensor:
    """The (k + 1)-th smallest entry of each row, (..., B, B) to (..., B)."""
    if values.device.type == "cpu":  # twice as fast as torch's
        return torch.from_numpy(np.partition(values.numpy(), k, axis=-1)[..., k].copy())
    return torch.topk(values, k + 1, largest=False).values[..., -1]


def _kth_smallest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The (k + 1)-th smallest entry of each row and where it stands, (..., B, B) to (..., B)."""
    if values.device.type == "cpu":
        kth = _kth_value(values, k)
        return kth, torch.from_numpy((values.numpy() == kth.numpy()[..., None]).argmax(-1))
    nearest, places = torch.topk(values, k + 1, largest=False)
    return nearest[..., -1], places[..., -1]


def _two_middle(values: Tensor) -> Tensor:
    """Where the two middle values of each row stand (twice the same if it is one), (..., 2)."""
    B = values.shape[-1]
    places = [(B - 1) // 2, B // 2]
    if values.device.type == "cpu":  # four times as fast as torch's
        return torch.from_numpy(np.argsort(values.numpy(), axis=-1, kind="stable")[..., places])
    order = values.argsort(dim=-1, stable=True)
    return torch.stack([order[..., place] for place in places], -1)


def random_walk(affinity: Tensor) -> tuple[Tensor, Tensor]:
    """Transition probabilities :math:`P = D^{-1} W`, and the degrees D (..., B, 1)."""
    degree = affinity.sum(-1, keepdim=True)
    return affinity / degree, degree


class FeatureGraph:
    r"""The graph over the columns of a table, built once.

    Parameters
    ----------
    rows : Rows
        Standardised table.
    n_neighbors : int
        K, for the bandwidths.
    n_kept : int or None
        Affinities kept per feature (its nearest neighbours; an edge stays if either end keeps it).
        None keeps all.

    Attributes
    ----------
    affinity : (d, d) array or CSR array
        W.
    walk : (d, d) array or CSR array
        :math:`D^{-1/2} W D^{-1/2}`; the Laplacian is the identity minus this.
    """

    def __init__(self, rows: Rows, n_neighbors: int, n_kept: int | None) -> None:
        d = rows.shape[1]
        rows = told_apart(rows)
        if n_kept is None or n_kept >= d - 1:
            self.affinity = dense_feature_affinity(rows, n_neighbors)
        else:
            self.affinity = sparse_feature_affinity(rows, n_neighbors, n_kept)
        self.walk = symmetric_walk(self.affinity)


def dense_feature_affinity(rows: Rows, n_neighbors: int) -> FloatArray:
    """Self-tuning affinities between all columns, (d, d)."""
    d = rows.shape[1]
    graph = self_tuning_graph(column_distances(rows, 0, d), n_neighbors)
    affinity: FloatArray = graph.affinity.cpu().numpy()
    return affinity


def sparse_feature_affinity(rows: Rows, n_neighbors: int, n_kept: int) -> sp.csr_array:
    """The same restricted to the ``n_kept`` nearest neighbours of either end, in bounded memory."""
    n_kept = max(n_kept, n_neighbors)
    distances, nearest, mean = nearest_columns(rows, n_kept)
    return affinity_of_neighbors(distances, nearest, n_neighbors, mean)


def affinity_of_neighbors(
    distances: FloatArray, nearest: NDArray[np.int64], n_neighbors: int, mean: float
) -> sp.csr_array:
    """Self-tuning affinities from squared distances to the nearest columns, (d, n_kept + 1).

    ``mean`` is the mean squared distance of all columns.
    """
    d, n_kept = len(nearest), nearest.shape[1] - 1
    bandwidth = np.sqrt(np.maximum(distances[:, n_neighbors], BANDWIDTH_FLOOR * mean + TINY))
    source = np.repeat(np.arange(d), n_kept + 1)
    target = nearest.ravel()
    affinity = np.exp(-distances.ravel() / (bandwidth[source] * bandwidth[target]))
    # An explicit diagonal: copies of a feature may have crowded it out of its own neighbours.
    off = source != target
    kept = sp.csr_array((affinity[off], (source[off], target[off])), shape=(d, d))
    return sp.csr_array(kept.maximum(kept.T) + sp.eye_array(d))


def symmetric_walk(
    affinity: FloatArray | sp.csr_array,
) -> FloatArray | sp.csr_array:
    r""":math:`D^{-1/2} W D^{-1/2}`, dense or sparse as W is."""
    scale = 1 / np.sqrt(np.asarray(affinity.sum(axis=1)).ravel())
    if sp.issparse(affinity):
        return sp.csr_array(sp.diags_array(scale) @ affinity @ sp.diags_array(scale))
    walk: FloatArray = affinity * scale[:, None] * scale[None, :]
    return walk


def walk_tensor(
    walk: FloatArray | sp.csr_array, device: torch.device, dtype: torch.dtype
) -> Tensor:
    """A dense or CSR walk matrix as a tensor of the same layout.

    On CUDA sparse matrices of moderate size become dense: their products with sparse ones are not
    reproducible to the last bit, and dense products cost little there.
    """
    if not isinstance(walk, np.ndarray) and device.type == "cuda":
        walk = walk.toarray() if walk.shape[0] <= DENSE_ON_CUDA else walk
    if isinstance(walk, np.ndarray):
        return torch.as_tensor(walk, dtype=dtype, device=device)
    return _csr_tensor(walk, device, dtype)


def _csr_tensor(matrix: sp.csr_array, device: torch.device, dtype: torch.dtype) -> Tensor:
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data),
        size=matrix.shape,
        dtype=dtype,
        device=device,
        check_invariants=False,
    )


# torch says once in a process that these tensors are new. It is silenced here and not where they
# are made: there other threads may be at work, and warnings are silenced for all of them.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    _csr_tensor(sp.csr_array(np.eye(2)), torch.device("cpu"), torch.float32)


def apply_laplacian(walk: Tensor, F: Tensor) -> Tensor:
    """:math:`F - S F` for each model, (d, d) dense or CSR and (R, d, C)."""
    R, d, C = F.shape
    if R == 1 and walk.layout == torch.strided:
        return F - walk @ F
    columns = F.transpose(0, 1).reshape(d, R * C)
    return (columns - walk @ columns).view(d, R, C).transpose(0, 1)
