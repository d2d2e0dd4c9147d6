r"""Groups that are found again: how far two halves of the rows agree, for every number of groups.

Axes: S splits, n rows, m features, C groups.

The rows are split in two at random, several times, and C groups of the features are found in each
half on its own. Their mutual information :math:`I`, the entropy :math:`H` of a partition and the
mutual information :math:`E` of partitions of such sizes by chance give

.. math:: \text{agreement} = \frac{I - E}{H - E}, \qquad
    \text{information} = \text{agreement} \times (I - E).

The second is what is found again (I - E) times the share of what was there to be found again.
Few groups that replicate say little, many that do not say nothing; in between it has its peak.

One number of groups suits the large ones: small groups beside them are merged before it is reached.
So every group is looked at on its own. It is divided if its parts are found again in halves of the
rows, and if features of different parts correlate much less than those of the same part,

.. math:: \frac{\bar r_{ab}}{\sqrt{\bar r_{aa} \bar r_{bb}}} < 0.4.

For features that measure one thing each this is the correlation of the two things.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import xlogy
from torch import Tensor

from groupfs.data.similarity import HalvedRows
from groupfs.discovery.clusters import (
    as_groups,
    cluster_features,
    cluster_stack,
    dense_eigenvectors,
    first_component,
)
from groupfs.discovery.graph import self_tuning_graph
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Most groups that are looked for, and rows and features that are looked at, at most.
MOST_HALVED_GROUPS, HALVED_ROWS, HALVED_FEATURES = 45, 5000, 640
#: Splits where features are few, and where they are many: then one split says as much.
MOST_SPLITS, FEWEST_SPLITS, SPLIT_FEATURES = 60, 5, 3000
#: Rows and features that are too few to be split.
FEWEST_HALVED_ROWS, FEWEST_HALVED_FEATURES = 20, 4
#: Features up to which all eigenvectors of a walk are found about as fast as the first ones, and
#: those above which a GPU finds them faster than a processor.
SMALL_WALK, LARGE_WALK = 64, 256
#: Agreement below which no number of groups replicates.
CLEAR = 0.3
#: Replication of a group beyond that of chance sets, relative to the most it could be, at least.
LEAST_REPLICATION = 0.2
#: Share of the highest information from which another peak is worth mentioning.
AS_WELL = 0.9
#: Agreement of halves on the parts of a group, at least, and what two parts may have in common, at
#: most.
PARTS_AGREE, LITTLE_IN_COMMON = 0.5, 0.4
#: Parts that a group is divided into at a time, and splits of the rows.
MOST_PARTS, FEW_SPLITS = 10, 10


@dataclass(frozen=True)
class Replication:
    """How far the groups of two halves of the rows agree, for K numbers of groups."""

    __module__ = "groupfs"

    n_groups: IntArray  #: C, (K,)
    agreement: FloatArray  #: adjusted mutual information of two halves, (K,)
    information: FloatArray  #: that is found again, times the share that is, (K,)

    @property
    def best(self) -> int | None:
        """The number of groups with the most information; None if halves agree on none."""
        if not len(self.n_groups):
            return None
        at = int(self.information.argmax())
        return int(self.n_groups[at]) if self.agreement[at] >= CLEAR else None

    @property
    def others(self) -> list[int]:
        """Other numbers of groups at a peak nearly as high, best first."""
        if self.best is None:
            return []
        inner = np.concatenate([[-np.inf], self.information, [-np.inf]])
        peak = (inner[1:-1] >= inner[:-2]) & (inner[1:-1] >= inner[2:])
        high = self.information >= AS_WELL * self.information.max()
        found = np.flatnonzero(peak & high & (self.n_groups != self.best))
        order = found[np.argsort(-self.information[found], kind="stable")]
        return [int(C) for C in self.n_groups[order]]


class Halves:
    """Embeddings of the features by each half of the rows, several splits.

    Parameters
    ----------
    similarities : list of (2, m, m) tensors
        Of the features, in both halves of every split.
    n_neighbors : int
        K, for the bandwidths of the feature graphs.
    n_vectors : int
        Most groups that will be asked for.
    signed : bool
        Whether a feature and its negative are different.
    """

    def __init__(
        self, similarities: list[Tensor], n_neighbors: int, n_vectors: int, signed: bool, seed: int
    ) -> None:
        self.seed = seed
        self.n_features = m = similarities[0].shape[-1]
        embeddings: list[FloatArray] = []
        for r in similarities:
            walks = walks_of(r, min(n_neighbors, m - 1), signed)
            embeddings += leading_of(walks, min(n_vectors, m))
        self.embeddings = np.stack(embeddings)  # (2 S, m, n_vectors)
        self._found: dict[int, IntArray] = {}

    def clusters(self, n_groups: int) -> IntArray:
        """Find the groups of every half, (2 S, m); the two halves of a split are neighbours."""
        if n_groups not in self._found:
            self._found[n_groups] = cluster_stack(self.embeddings, n_groups)
        return self._found[n_groups]

    def replication(self, most_groups: int = MOST_HALVED_GROUPS) -> Replication:
        """Measure the agreement of halves for 2, 3, ... groups of two features or more."""
        most = min(most_groups, self.n_features // 2)
        numbers = np.arange(2, most + 1)
        measured = np.array([self._information(int(C)) for C in numbers]).reshape(-1, 3)
        shared, by_chance, entropy = measured.T
        beyond = np.maximum(shared - by_chance, 0)
        agreement = beyond / np.maximum(entropy - by_chance, 1e-12)
        return Replication(numbers, agreement, agreement * beyond)

    def group_replication(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        """Measure how well every group is found again in the halves, and chance sets, (C,) each.

        The Jaccard index with the most alike group of a half, mean over halves. ``labels`` (m,) are
        -1 for features in no group.
        """
        inside = labels >= 0
        rng = np.random.default_rng([self.seed, n_groups])
        found, chance = [], []
        for half in self.clusters(min(n_groups, self.n_features)):
            found.append(_best_match(labels[inside], half[inside], n_groups))
            mixed = rng.permutation(half[inside])
            chance.append(_best_match(labels[inside], mixed, n_groups))
        return np.mean(found, axis=0), np.mean(chance, axis=0)

    def _information(self, n_groups: int) -> list[float]:
        """Average over splits: mutual information, that by chance, and entropy."""
        halves = self.clusters(n_groups)
        a, b = halves[::2], halves[1::2]
        rng = np.random.default_rng([self.seed, n_groups])
        mixed = np.stack([rng.permutation(half) for half in b])
        found = (
            mutual_information(a, b),
            mutual_information(a, mixed),
            (entropy(a) + entropy(b)) / 2,
        )
        return [float(value.mean()) for value in found]


def n_splits(n_features: int, most: int = MOST_SPLITS) -> int:
    """Count the splits that so many features need, at most so many."""
    return min(max(SPLIT_FEATURES // n_features, FEWEST_SPLITS), most)


def replicates(group_replication: FloatArray, chance: FloatArray) -> BoolArray:
    """Decide which groups are found again more often than chance sets, by a fifth at least."""
    beyond = (group_replication - chance) / np.maximum(1 - chance, 1e-12)
    return beyond >= LEAST_REPLICATION


def entropy(labels: IntArray) -> FloatArray:
    """Compute the entropies of partitions, in nats, (S, m) to (S,)."""
    S, m = labels.shape
    width = int(labels.max()) + 1
    counts = np.bincount((labels + width * np.arange(S)[:, None]).ravel(), minlength=S * width)
    found: FloatArray = np.log(m) - xlogy(counts, counts).reshape(S, width).sum(1) / m
    return found


def mutual_information(a: IntArray, b: IntArray) -> FloatArray:
    """Compute the mutual information of partitions with others, in nats, (S, m) each to (S,)."""
    width = int(b.max()) + 1
    return entropy(a) + entropy(b) - entropy(a * width + b)


def _best_match(labels: IntArray, others: IntArray, n_groups: int) -> FloatArray:
    """Find the largest Jaccard index of every group with a group of another partition, (C,)."""
    width = int(others.max()) + 1
    both = np.bincount(labels * width + others, minlength=n_groups * width)
    both = both.reshape(n_groups, width).astype(float)
    either = both.sum(1, keepdims=True) + both.sum(0) - both
    index: FloatArray = (both / np.maximum(either, 1)).max(1)
    return index


def walks_of(correlations: Tensor, n_neighbors: int, signed: bool) -> Tensor:
    """Build the walk of features from their correlations, (..., m, m) to (..., m, m)."""
    r = correlations if signed else correlations.abs()
    distances = (2 - 2 * r).clamp_(min=0)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    affinity = self_tuning_graph(distances, n_neighbors).affinity
    scale = affinity.sum(-1).rsqrt()
    return affinity * scale.unsqueeze(-1) * scale.unsqueeze(-2)


def leading_of(walks: Tensor, n_vectors: int) -> list[FloatArray]:
    """Find the smoothest directions of every walk, smoothest first, (m, n_vectors) each."""
    if walks.device.type == "cuda" and walks.shape[-1] > LARGE_WALK:
        vectors = torch.linalg.eigh(walks).eigenvectors[..., -n_vectors:].flip(-1)
        return list(vectors.cpu().numpy())
    walks = walks.cpu()
    if walks.shape[-1] <= SMALL_WALK:
        return list(np.linalg.eigh(walks.numpy()).eigenvectors[..., : -n_vectors - 1 : -1])
    return [dense_eigenvectors(walk, n_vectors)[1][:, ::-1] for walk in walks.numpy()]


def divide_groups(
    rows: HalvedRows,
    correlations: Tensor,
    labels: IntArray,
    n_neighbors: int,
    signed: bool,
    seed: int,
) -> IntArray:
    """Divide groups whose parts have little to do with each other, again and again, (m,).

    ``rows`` are some of the table's, ``correlations`` (m, m) those of all.
    """
    divided = np.full(len(labels), -1)
    left = as_groups(labels, int(labels.max()) + 1)
    n_groups = 0
    while left:
        group = left.pop(0)
        r = correlations[group][:, group]
        parts = _parts(rows, group, r, n_neighbors, signed, seed)
        if parts is None:
            divided[group] = n_groups
            n_groups += len(group) > 0
        else:
            left += [group[part] for part in as_groups(parts, int(parts.max()) + 1)]
    return divided


def _parts(
    rows: HalvedRows,
    group: IntArray,
    correlations: Tensor,
    n_neighbors: int,
    signed: bool,
    seed: int,
) -> IntArray | None:
    """Find the parts of one group, (m,); None if it is one thing."""
    m = len(group)
    if m < FEWEST_HALVED_FEATURES:
        return None
    most, K = min(MOST_PARTS, m // 2), min(n_neighbors, m - 1)
    (embedding,) = leading_of(walks_of(correlations[None], K, signed), most)
    r = correlations.cpu().numpy()
    parts = {C: cluster_features(embedding, C) for C in range(2, most + 1)}
    apart = [C for C in parts if in_common(r, parts[C], signed) < LITTLE_IN_COMMON]
    if not apart:  # most groups; halves take longer
        return None
    halved = rows.similarities(n_splits(m, FEW_SPLITS), seed, group)
    found = Halves(halved, K, most, signed, seed).replication(most)
    at = int(found.information.argmax())
    n_parts = int(found.n_groups[at])
    if found.agreement[at] < PARTS_AGREE or n_parts not in apart:
        return None
    return parts[n_parts]


def in_common(correlations: FloatArray, labels: IntArray, signed: bool) -> float:
    """Measure the most that two groups have in common: between over within; 1 for lone features."""
    n_groups = int(labels.max()) + 1
    sizes = np.bincount(labels)
    if n_groups < 2 or sizes.min() < 2:
        return 1.0
    signs = np.ones(len(labels))
    if not signed:
        for group in as_groups(labels, n_groups):
            vector = first_component(correlations[np.ix_(group, group)])[1]
            signs[group] = np.where(vector < 0, -1, 1)
    member = np.eye(n_groups)[labels] * signs[:, None]
    total = member.T @ correlations @ member
    within = (np.diag(total) - sizes) / (sizes * (sizes - 1))
    between = np.abs(total) / np.outer(sizes, sizes)
    np.fill_diagonal(between, 0)
    within = np.maximum(within, 1e-12)
    return float((between / np.sqrt(np.outer(within, within))).max())
