"""The graph of gated samples with the gradients that training needs, and that of the features.

Axes: R models side by side, B samples of a batch, d features; S tables side by side, p features of
a group. Affinities are those of :mod:`groupfs.discovery.smoothness`, in torch, and so is the
smoothness of groups beyond chance, by which gates start and groups are ranked.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from groupfs.data.correlations import Correlations
from groupfs.discovery.smoothness import BANDWIDTH_FLOOR, LEAST_EXPONENT, SCORED_ROWS, TINY
from groupfs.joint.batches import Batches
from groupfs.joint.relaxations import CounterNoise
from groupfs.joint.settings import Settings
from groupfs.utils.types import FloatArray, IntArray

Walk: TypeAlias = FloatArray | sp.csr_array
#: Columns whose mean squared distance is below this share of their norms count as nearly one.
ALIKE = 1e-6
#: Numbers that are worked on at a time: what a processor's cache holds, what a GPU is busy with.
ENTRIES_AT_ONCE = {"cpu": 2**20, "cuda": 2**25}


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


def squared_distances(gram: Tensor) -> Tensor:
    """Turn inner products into squared distances, (..., B, B) to (..., B, B)."""
    norms = gram.diagonal(dim1=-2, dim2=-1)
    distances = torch.add(norms.unsqueeze(-1) + norms.unsqueeze(-2), gram, alpha=-2).clamp_(min=0)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    return distances


def self_tuning_graph(distances: Tensor, n_neighbors: int) -> SelfTuningGraph:
    """Build the self-tuning graph of squared distances, (..., B, B); at most B - 1 neighbours."""
    kth, neighbor = _kth_smallest(distances, n_neighbors)
    bandwidth, at_floor = _bandwidth(distances, kth)
    exponent = distances / (bandwidth.unsqueeze(-1) * bandwidth.unsqueeze(-2))
    return SelfTuningGraph(torch.exp(-exponent), exponent, bandwidth, neighbor, at_floor)


def plain_affinity(gram: Tensor, n_neighbors: int) -> Tensor:
    """Write self-tuning affinities over inner products, in half the time: for no gradient."""
    norms = gram.diagonal(dim1=-2, dim2=-1).clone()
    distances = gram.mul_(-2).add_(norms.unsqueeze(-1)).add_(norms.unsqueeze(-2)).clamp_(min=0)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    inverse = 1 / _bandwidth(distances, _kth_value(distances, n_neighbors))[0]
    exponent = distances.mul_(-inverse.unsqueeze(-1)).mul_(inverse.unsqueeze(-2))
    return exponent.clamp_(min=LEAST_EXPONENT).exp_()


def _bandwidth(distances: Tensor, kth: Tensor) -> tuple[Tensor, Tensor]:
    """Find g of every sample, (..., B), and whether it is the least that is allowed."""
    floor = BANDWIDTH_FLOOR * distances.mean((-2, -1)).unsqueeze(-1) + TINY
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


def feature_walk(similarity: Correlations, n_neighbors: int, n_kept: int | None) -> Walk:
    """Build the walk of the features, (d, d), whose signs count.

    Kept are the affinities of so many neighbours of each feature, or all where ``n_kept`` is None.
    """
    d, at_once = similarity.shape[1], similarity.measured.columns_at_once
    K = min(n_neighbors, d - 1)
    apart = similarity.held.without_common_column(ALIKE)
    if apart is not similarity.held:
        similarity = Correlations(apart)
    if n_kept is None or n_kept >= d - 1:
        graph = self_tuning_graph(torch.from_numpy(_distances(similarity, 0, d)), K)
        return symmetric_walk(graph.affinity.numpy())
    near, nearest, total = [], [], 0.0
    for start in range(0, d, at_once):
        block = torch.from_numpy(_distances(similarity, start, min(d, start + at_once)))
        total += float(block.sum())
        best = torch.topk(block, max(n_kept, K) + 1, largest=False)
        near.append(best.values.numpy())
        nearest.append(best.indices.numpy())
    distances, target = np.concatenate(near), np.concatenate(nearest).ravel()
    bandwidth = np.sqrt(np.maximum(distances[:, K], BANDWIDTH_FLOOR * (total / d**2) + TINY))
    source = np.repeat(np.arange(d), distances.shape[1])
    affinity = np.exp(-distances.ravel() / (bandwidth[source] * bandwidth[target]))
    # An explicit diagonal: duplicates of a feature may have crowded it out of its own neighbours.
    off = source != target
    kept = sp.csr_array((affinity[off], (source[off], target[off])), shape=(d, d))
    return symmetric_walk(sp.csr_array(kept.maximum(kept.T) + sp.eye_array(d)))


def _distances(similarity: Correlations, start: int, stop: int) -> FloatArray:
    """Measure squared distances of columns start..stop to all, (stop - start, d)."""
    norms, own = similarity.held.column_norms, np.arange(stop - start)
    distances = norms[start:stop, None] + norms - 2 * similarity.products(start, stop)
    # equal columns must be at distance zero exactly, whatever the rounding of the product
    distances[distances < 1e-12 * norms.max()] = 0
    distances[own, own + start] = 0
    return distances


def symmetric_walk(affinity: Walk) -> Walk:
    r"""Normalise affinities to :math:`D^{-1/2} W D^{-1/2} = I - L`, dense or sparse as W is."""
    scale = 1 / np.sqrt(np.asarray(affinity.sum(axis=1)).ravel())
    if sp.issparse(affinity):
        return sp.csr_array(sp.diags_array(scale) @ affinity @ sp.diags_array(scale))
    return affinity * scale[:, None] * scale[None, :]


def group_smoothness(
    rows: Batches, groups: list[IntArray], settings: Settings, seed: int, n_shuffles: int
) -> FloatArray:
    """Measure the smoothness of every group beyond chance on random rows, (C,)."""
    X = rows.random(SCORED_ROWS, np.random.default_rng(seed))
    K, t = settings.n_neighbors, settings.diffusion_steps
    noise, found = CounterNoise([seed], X.device), np.zeros(len(groups))
    for j, group in enumerate(groups):
        if len(group) < 2:  # a single feature shuffled is the same feature: it has none
            continue
        columns = X[:, torch.as_tensor(np.sort(group), device=X.device)]
        entries, chance = len(columns) * max(columns.shape), []
        at_once = max(1, ENTRIES_AT_ONCE.get(X.device.type, 2**22) // entries)
        for start in range(0, n_shuffles, at_once):
            n = min(at_once, n_shuffles - start)
            keys = noise.uniform(n * columns.numel(), torch.float32).view(n, *columns.shape)
            order = keys.argsort(dim=-2, stable=True)  # another one for each column
            shuffled = columns.expand_as(keys).gather(-2, order)
            chance.append(own_graph_smoothness(shuffled, K, t).double())
        smoothness = own_graph_smoothness(columns[None], K, t).item()
        found[j] = smoothness - torch.cat(chance).cpu().numpy().mean()
    return found


def own_graph_smoothness(X: Tensor, n_neighbors: int, steps: int) -> Tensor:
    """Compute s for each of a stack of tables, (S, B, p) to (S,)."""
    affinity = plain_affinity(X @ X.mT, n_neighbors)
    degree, smoothed = affinity.sum(-1, keepdim=True), X
    for _ in range(steps):
        smoothed = (affinity @ smoothed) / degree
    return (smoothed * X).mean((-2, -1))
