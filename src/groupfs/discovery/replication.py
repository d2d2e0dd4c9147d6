"""Find groups again in halves of the rows, and tell groups that a few rows make from others.

Axes: S splits, n rows, m features, C groups.
"""

import numpy as np

from groupfs.data.halves import N_BLOCKS, deal_rows
from groupfs.data.table import Rows
from groupfs.discovery.clusters import cluster_stack, dense_eigenvectors
from groupfs.discovery.graph import self_tuning_affinity
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Rows and features that are looked at where the number of groups is given, at most.
HALVED_ROWS, HALVED_FEATURES = 5000, 640
#: Splits where features are few, and where they are many: then one split says as much.
MOST_SPLITS, FEWEST_SPLITS, SPLIT_FEATURES = 60, 5, 3000
#: Rows and features that are too few to be split.
FEWEST_HALVED_ROWS, FEWEST_HALVED_FEATURES = 20, 4
#: Features up to which all eigenvectors of a walk are found about as fast as the first ones.
SMALL_WALK = 64
#: Replication of a group beyond that of chance sets, relative to the most it could be, at least.
LEAST_REPLICATION = 0.2
#: Share of a group that both halves find, at least, where groups come from a tree.
LEAST_FOUND = 0.2
#: Standard errors over blocks of rows that the cohesion of a group is above zero, at least; and
#: numbers in the rows that are looked at, at most.
BLOCK_ERRORS, SCORED_ENTRIES = 3.0, 2**22


class Halves:
    """Embeddings of the features by each half of the rows, several splits.

    Parameters
    ----------
    similarities : list of (2, m, m) arrays
        Of the features, in both halves of every split.
    n_neighbors : int
        K, for the bandwidths of the feature graphs.
    n_vectors : int
        Most groups that will be asked for.
    signed : bool
        Whether a feature and its negative are different.
    """

    def __init__(
        self,
        similarities: list[FloatArray],
        n_neighbors: int,
        n_vectors: int,
        signed: bool,
        seed: int,
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


def n_splits(n_features: int, most: int = MOST_SPLITS) -> int:
    """Count the splits that so many features need, at most so many."""
    return min(max(SPLIT_FEATURES // n_features, FEWEST_SPLITS), most)


def replicates(group_replication: FloatArray, chance: FloatArray) -> BoolArray:
    """Decide which groups are found again more often than chance sets, by a fifth at least."""
    beyond = (group_replication - chance) / np.maximum(1 - chance, 1e-12)
    return beyond >= LEAST_REPLICATION


def _best_match(labels: IntArray, others: IntArray, n_groups: int) -> FloatArray:
    """Find the largest Jaccard index of every group with a group of another partition, (C,)."""
    width = int(others.max()) + 1
    both = np.bincount(labels * width + others, minlength=n_groups * width)
    both = both.reshape(n_groups, width).astype(float)
    either = both.sum(1, keepdims=True) + both.sum(0) - both
    index: FloatArray = (both / np.maximum(either, 1)).max(1)
    return index


def walks_of(correlations: FloatArray, n_neighbors: int, signed: bool) -> FloatArray:
    """Build the walk of features from their correlations, (..., m, m) to (..., m, m)."""
    r = correlations if signed else np.abs(correlations)
    every = np.arange(r.shape[-1])
    distances = np.maximum(2 - 2 * r, 0)
    distances[..., every, every] = 0
    affinity = self_tuning_affinity(distances, n_neighbors)
    scale = 1 / np.sqrt(affinity.sum(-1))
    walks: FloatArray = affinity * scale[..., None] * scale[..., None, :]
    return walks


def leading_of(walks: FloatArray, n_vectors: int) -> list[FloatArray]:
    """Find the smoothest directions of every walk, smoothest first, (m, n_vectors) each."""
    if walks.shape[-1] <= SMALL_WALK:
        return list(np.linalg.eigh(walks).eigenvectors[..., : -n_vectors - 1 : -1])
    return [dense_eigenvectors(walk, n_vectors)[1][:, ::-1] for walk in walks]


def holds_in_blocks(rows: Rows, labels: IntArray, signs: IntArray, n_groups: int) -> BoolArray:
    """Tell which groups cohere in blocks of rows throughout, so that no few rows make them, (C,).

    The mean correlation of a group's features, turned to agree, is the mean over rows of
    :math:`((\\sum_j z_j)^2 - \\sum_j z_j^2) / (m (m - 1))`; its mean over the blocks is to be three
    standard errors above zero.
    """
    rows = rows.in_memory()
    n, N = max(FEWEST_HALVED_ROWS, SCORED_ENTRIES // len(labels)), rows.shape[0]
    index = np.arange(N) if n >= N else np.sort(np.random.default_rng(0).permutation(N)[:n])
    if len(index) < FEWEST_HALVED_ROWS:
        return np.ones(n_groups, dtype=bool)
    Z = np.nan_to_num(rows.feature_values(index, labels, signs)) * signs
    member = np.eye(n_groups)[labels]
    sizes = np.maximum(member.sum(0), 2)
    common = np.square(Z @ member) - np.square(Z) @ member
    blocks = deal_rows(len(index))
    counts = np.bincount(blocks, minlength=N_BLOCKS)[:, None]
    sums = np.array([common[blocks == k].sum(0) for k in range(N_BLOCKS)])
    means = (sums / np.maximum(counts, 1))[counts[:, 0] > 0] / (sizes * (sizes - 1))
    error = means.std(0, ddof=1) / np.sqrt(len(means))
    held: BoolArray = means.mean(0) >= BLOCK_ERRORS * error
    return held
