r"""Connect features that go together, in the whole table and in halves of its rows.

Axes: d features, E edges, S pairs of halves, b features of a block.

Two features are tied by :math:`\max(0, r^2 - 1/n)`: what n rows show beyond chance. Tables of a few
hundred features have all pairs for edges, wider ones the nearest neighbours of every feature, those
of the whole table and those of each half, so that no half is judged by what the whole found.
"""

import random
from dataclasses import dataclass
from functools import cached_property

import igraph
import numpy as np
from scipy.special import ndtri

from groupfs.data.memory import block_rows
from groupfs.data.similarity import Similarity
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Features up to which every pair is an edge; pairs of halves that small tables have.
ALL_PAIRS, MANY_HALVES = 150, 62
#: Pairs of halves up to that many features, and beyond: there one pair says as much.
HALVES, WIDE, FEW_HALVES = 31, 1500, 8
#: Neighbours of each feature that are edges, and above WIDE features, where only ties beyond what
#: the strongest of all pairs of a feature would be by chance (at this level) count.
NEIGHBORS, WIDE_NEIGHBORS, CHANCE_LEVEL = 20, 30, 0.05
#: Rows that are too few to be halved.
FEWEST_HALVED = 20
#: Numbers in the rows that are halved, in blocks of similarities, and how many rows at least;
#: similarities in all halves that are worked on at a time, in such blocks.
HALVED_BLOCKS, FEWEST_ROWS, BLOCKS_AT_ONCE = 4, 500, 4


@dataclass(frozen=True)
class FeatureGraph:
    """Ties of features, in the whole table first and then in both halves of every pair."""

    n_features: int
    edges: IntArray  #: the lower feature first, (E, 2)
    weights: FloatArray  #: (1 + 2 S, E)
    n_rows: FloatArray  #: that the whole and each half have, (1 + 2 S,)

    @property
    def has_halves(self) -> bool:
        """Whether there were rows enough to be halved."""
        return len(self.n_rows) > 1

    def restricted(self, features: IntArray) -> "FeatureGraph":
        """Return the ties among some features, ascending."""
        place = np.full(self.n_features, -1)
        place[features] = np.arange(len(features))
        edges = place[self.edges]
        inside = (edges >= 0).all(1)
        return FeatureGraph(len(features), edges[inside], self.weights[:, inside], self.n_rows)

    def communities(
        self, resolution: float, which: slice = slice(None), tries: int = 1
    ) -> list[IntArray]:
        """Divide the whole, or halves, into communities by modularity, (m,) each.

        Of several tries the best is taken. Leiden's algorithm draws from a generator of its own
        with a fixed seed.
        """
        found = []
        igraph.set_random_number_generator(random.Random(0))
        try:
            for weights in self.weights[which]:
                options = {"resolution": resolution, "weights": weights, "n_iterations": 3}
                best = max(
                    (self._graph.community_leiden("modularity", **options) for _ in range(tries)),
                    key=lambda parts: parts.quality,
                )
                found.append(np.array(best.membership, dtype=np.int64))
        finally:
            igraph.set_random_number_generator(random)
        return found

    @cached_property
    def _graph(self) -> igraph.Graph:
        return igraph.Graph(self.n_features, self.edges)


def connect_features(
    similarity: Similarity, signed: bool, n_pairs: int | None = None
) -> FeatureGraph:
    """Connect the features of a table; with ``signed`` only those that go the same way."""
    held = similarity.in_memory()
    d, rng = similarity.shape[1], np.random.default_rng(0)
    if n_pairs is None and similarity.shape[0] < FEWEST_HALVED:
        n_pairs = 0
    elif n_pairs is None:
        n_pairs = MANY_HALVES if d <= ALL_PAIRS else HALVES if d <= WIDE else FEW_HALVES
    entries = HALVED_BLOCKS * held.measured.block_entries
    n, halves = 0, None
    if n_pairs:
        n, halves = held.halved_blocks(max(FEWEST_ROWS, entries // d), n_pairs, rng)
    n_rows = np.r_[similarity.shape[0], np.full(2 * n_pairs, n / 2)]
    least = np.zeros(len(n_rows))
    if d > WIDE:
        least = np.minimum(-ndtri(CHANCE_LEVEL / (2 * d)) / np.sqrt(n_rows), 0.95)
    keys, weights = [], []
    size = block_rows(d * len(n_rows), BLOCKS_AT_ONCE * held.measured.block_entries)
    for start in range(0, d, size):
        stop = min(d, start + size)
        whole = similarity.block(start, stop)
        r = whole[None]
        if halves is not None:
            r = np.concatenate([r, halves.correlations(start, stop)])
        r[:, whole == 0] = 0  # indicators that exclude each other
        W = _ties(r, n_rows, least, signed)
        own = np.arange(stop - start)
        W[:, own, own + start] = 0
        source, target = np.nonzero(_edges(W, d))
        weights.append(W[:, source, target])
        lower, higher = np.minimum(source + start, target), np.maximum(source + start, target)
        keys.append(lower * d + higher)
    key, first = np.unique(np.concatenate(keys), return_index=True)
    edges = np.stack([key // d, key % d], 1)
    ties: FloatArray = np.concatenate(weights, 1)[:, first]
    return FeatureGraph(d, edges, ties, n_rows)


def _ties(r: FloatArray, n_rows: FloatArray, least: FloatArray, signed: bool) -> FloatArray:
    """Turn correlations into ties, (1 + 2 S, b, d), in place."""
    for own, n, line in zip(r, n_rows, least, strict=True):
        strong = own > line if signed else np.abs(own) > line
        np.square(own, out=own)
        own -= 1 / n
        own[~strong] = 0
    return np.maximum(r, 0, out=r)


def _edges(W: FloatArray, n_features: int) -> BoolArray:
    """Mark pairs that are edges: all, or the strongest ties of each feature anywhere, (b, d)."""
    marked: BoolArray = np.zeros(W.shape[1:], dtype=bool)
    k = NEIGHBORS if n_features <= WIDE else WIDE_NEIGHBORS
    k = n_features if n_features <= ALL_PAIRS else k
    for own in W:
        tied = own > 0
        many = np.flatnonzero(np.count_nonzero(tied, axis=1) > k)
        tied[many] = False
        if len(many):
            best = np.argpartition(own[many], n_features - k, axis=1)[:, -k:]
            tied[many[:, None], best] = True
        marked |= tied
    return marked
