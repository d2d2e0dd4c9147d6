r"""Connect features that go together, in the whole table and in halves of its rows.

Axes: d features, E edges, S pairs of halves, b features of a block.

Two features are tied by :math:`\max(0, r^2 - 1/n)`: what n rows show beyond chance. Tables of a few
hundred features have all pairs for edges, wider ones the nearest neighbours of every feature, those
of the whole table and those of each half, so that no half is judged by what the whole found.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from groupfs.data.blocks import spread_blocks
from groupfs.data.halves import (
    ALL_PAIRS,
    N_ROW_BLOCKS,
    WIDE,
    BlockSums,
    chance_line,
    deal_rows,
    pairs_of_halves,
)
from groupfs.data.nearest import UnitColumns, largest
from groupfs.data.similarity import HalvedBlocks, Similarity
from groupfs.discovery.leiden import communities
from groupfs.groups import FEWEST_HALVED
from groupfs.utils.device import as_array
from groupfs.utils.progress import doing
from groupfs.utils.threads import in_threads, n_threads, spans
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Dealings of tables in which all pairs are edges, over the features.
DEALT_FEATURES, MOST_DEALINGS = 600, 8
#: Neighbours of each feature that are edges.
NEIGHBORS = 20
NO_EDGES = np.zeros(0, dtype=np.int64)
#: Numbers in the rows that are halved, of all dealings and in blocks of similarities, and rows of
#: each at least; parts of such a block that products of all blocks of rows and similarities in all
#: halves take.
HALVED_BLOCKS, FEWEST_ROWS, SMALL_BLOCKS = 4, 500, 4
#: Tries of graphs of so few features, which often miss the best otherwise; and edges from which on
#: threads divide the halves.
SMALL_GRAPH, FEWEST_TRIES, MANY_EDGES = 50, 3, 2**16
#: Features at most, of the half that goes with others most, whose values say how rows are dealt;
#: unrelated columns beside do not reach there.
DEALING_FEATURES = 32


@dataclass(frozen=True)
class FeatureGraph:
    """Ties of features, in the whole table first and then in both halves of every pair."""

    n_features: int
    edges: IntArray  #: the lower feature first, (E, 2)
    weights: FloatArray  #: (1 + 2 S, E)
    n_rows: FloatArray  #: that the whole and each half have, (1 + 2 S,)
    dealt: IntArray | None = None  #: rows in memory as they were dealt first

    @property
    def has_halves(self) -> bool:
        """Whether there were rows enough to be halved."""
        return len(self.n_rows) > 1

    @property
    def n_pairs(self) -> int:
        """Pairs of halves."""
        return len(self.n_rows) // 2

    def with_pairs(self, n_pairs: int) -> "FeatureGraph":
        """Return the ties in the whole table and the first pairs of halves, so many at most."""
        if n_pairs >= self.n_pairs:
            return self
        some = slice(1 + 2 * n_pairs)
        return FeatureGraph(self.n_features, self.edges, self.weights[some], self.n_rows[some])

    def restricted(self, features: IntArray) -> "FeatureGraph":
        """Return the ties among some features, ascending."""
        place = np.full(self.n_features, -1)
        place[features] = np.arange(len(features))
        edges = place[self.edges]
        inside = np.flatnonzero((edges >= 0).all(1))
        return FeatureGraph(len(features), edges[inside], self.weights[:, inside], self.n_rows)

    def divided(self, labels: IntArray) -> list["FeatureGraph"]:
        """Return the ties within each part of the features, (m,)."""
        order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
        place = np.empty_like(order)
        place[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        part = labels[self.edges]
        inside = np.flatnonzero(part[:, 0] == part[:, 1])
        inside = inside[np.argsort(part[inside, 0], kind="stable")]
        ends = np.cumsum(np.bincount(part[inside, 0], minlength=len(sizes)))[:-1]
        edges, weights = np.split(place[self.edges[inside]], ends), self.weights[:, inside]
        return [
            FeatureGraph(*own, self.n_rows)
            for own in zip(sizes.tolist(), edges, np.split(weights, ends, axis=1), strict=True)
        ]

    def communities(self, resolution: float, which: slice, tries: int = 1) -> IntArray:
        """Divide the whole, or halves, into communities by modularity, (k, m).

        Of several tries the best is taken; small graphs are tried a few times at least.
        """
        starts, neighbors, edges, rank = self._neighbors
        ties = np.ascontiguousarray(self.weights[which], dtype=np.float32)
        tries = tries if self.n_features > SMALL_GRAPH else max(tries, FEWEST_TRIES)
        tasks = [
            (starts, neighbors, edges, part, resolution, tries)
            for part in np.array_split(ties, n_threads() if len(self.edges) >= MANY_EDGES else 1)
        ]
        return np.concatenate(list(in_threads(communities, tasks))).astype(np.int64)[:, rank]

    @cached_property
    def _neighbors(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """List the neighbours of features in order of their ties, and the rank of each feature.

        Where those of each begin, (m + 1,), they, the edges to them, (2 E,), and ranks, (m,): an
        order that is that of no table.
        """
        m = self.n_features
        total = np.bincount(self.edges.ravel(), np.repeat(self.weights[0], 2), m)
        rank = np.empty(m, dtype=np.int64)
        rank[np.argsort(-total, kind="stable")] = np.arange(m)
        source, target = rank[np.concatenate([self.edges, self.edges[:, ::-1]])].T
        order = np.argsort(source * m + target)
        starts = np.append(0, np.cumsum(np.bincount(source, minlength=m)))
        edges = np.tile(np.arange(len(self.edges)), 2)[order]
        as_int = partial(np.asarray, dtype=np.int32)
        return as_int(starts), as_int(target[order]), as_int(edges), rank


def connect_features(
    similarity: Similarity,
    signed: bool,
    strength: FloatArray | None = None,
    halved: bool = True,
    rows: IntArray | None = None,
    blocks: IntArray | None = None,
) -> FeatureGraph:
    """Connect the features of a table; with ``signed`` only those that go the same way.

    ``strength`` says how far each feature goes with others, (d,). Without ``halved``, or with too
    few rows, there are no halves. With ``rows``, in the order of a dealing, halves are theirs;
    of ``blocks`` of rows (n,) that are known each half has its share.
    """
    N, d = similarity.shape
    compared = similarity.compared if halved and d > WIDE and rows is None else None
    if compared is not None:
        least = chance_line(d, compared.n_rows)
        all_ties = _ties(compared.r.copy(), compared.n_rows, least, signed)
        order = np.random.default_rng(0).permutation(N)
        return FeatureGraph(d, compared.edges, all_ties, compared.n_rows, order)
    halves: list[HalvedBlocks] = []
    n_rows, dealt = np.array([float(N)]), None
    if halved and N >= FEWEST_HALVED:
        dealt, halves = _halves(similarity, strength, rows, blocks)
        n_halves = 2 * pairs_of_halves(d) * len(halves)
        n_rows = np.append(n_rows, np.full(n_halves, len(dealt) / 2))
    least = chance_line(d, n_rows) if d > WIDE else np.zeros(len(n_rows))
    if d > WIDE and all(isinstance(half, BlockSums) for half in halves):
        edges, r = _connect_wide(similarity, halves, least, signed)
        return FeatureGraph(d, edges, _ties(r, n_rows, least, signed), n_rows, dealt)
    keys, weights, line = [], [], np.maximum(least, 1 / np.sqrt(n_rows))
    size = max(
        1, similarity.measured.block_entries // (SMALL_BLOCKS * d * (len(n_rows) + N_ROW_BLOCKS))
    )
    for start in range(0, d, size):
        stop = min(d, start + size)
        doing()
        whole = similarity.block(start, stop)
        of_halves = _in_turn([h.correlations(start, stop) for h in halves])
        dtype = of_halves[0].dtype if halves else whole.dtype
        r = np.concatenate([whole[None], *of_halves], dtype=dtype, casting="same_kind")
        if (none := whole == 0).any():  # indicators that exclude each other
            r[:, none] = 0
        own = np.arange(stop - start)
        r[:, own, own + start] = 0
        source, target = np.nonzero(_edges(r, line, signed))
        weights.append(_ties(r[:, source, target], n_rows, least, signed))
        keys.append(_keys(source + start, target, d))
    key, first = np.unique(np.concatenate(keys), return_index=True)
    ties: FloatArray = np.concatenate(weights, 1)[:, first]
    return FeatureGraph(d, _pairs(key, d), ties, n_rows, dealt)


def _connect_wide(
    similarity: Similarity, halves: list[Any], least: FloatArray, signed: bool
) -> tuple[IntArray, FloatArray]:
    """Find edges, (E, 2), and correlations along them, (1 + 2 S, E), never of all pairs at once.

    Neighbours in halves are found first, so that one look at the whole table gives all of its own.
    """
    device, found = similarity.measured.device, [np.zeros(0, dtype=np.int64)]
    for of_dealing in halves:
        for which in range(len(of_dealing.halves)):
            columns = UnitColumns(of_dealing.half(which), device)
            found += [key for key, _ in _nearest(similarity, columns.block, least[1], signed)]
    proposed = np.unique(np.concatenate(found))
    keys, values = [], []
    for key, r in _nearest(similarity, similarity.quick_block, least[0], signed, proposed):
        keys.append(key)
        values.append(r)
    key, first = np.unique(np.concatenate(keys), return_index=True)
    edges, whole = _pairs(key, similarity.shape[1]), np.concatenate(values)[first]
    r = np.concatenate([whole[None], *(of_dealing.along(edges) for of_dealing in halves)])
    r[:, whole == 0] = 0  # indicators that exclude each other
    return edges, r


def _nearest(
    similarity: Similarity, block: Any, least: float, signed: bool, proposed: IntArray = NO_EDGES
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Find the nearest neighbours of features a block at a time: keys of edges, and correlations.

    Edges that are ``proposed`` come with them.
    """
    d = similarity.shape[1]

    def nearest(start: int, stop: int) -> tuple[IntArray, FloatArray]:
        r, own = block(start, stop), np.arange(stop - start)
        r[own, own + start] = 0
        size_of, target = largest(r, min(NEIGHBORS, d - 1), least, signed)
        source, place = np.nonzero(size_of > least)
        target = target[source, place]
        known = proposed[slice(*np.searchsorted(proposed, [start * d, stop * d]))]
        source, target = np.append(source, known // d - start), np.append(target, known % d)
        return _keys(source + start, target, d), as_array(r[source, target])

    return in_threads(nearest, spans(d, similarity.measured.columns_at_once))


def _keys(source: IntArray, target: IntArray, d: int) -> IntArray:
    """Number pairs of features, (E,)."""
    return np.minimum(source, target) * d + np.maximum(source, target)


def _pairs(keys: IntArray, d: int) -> IntArray:
    """List the features of numbered pairs, the lower one first, (E, 2)."""
    return np.stack([keys // d, keys % d], 1)


def _halves(
    similarity: Similarity,
    strength: FloatArray | None,
    rows_given: IntArray | None,
    blocks: IntArray | None,
) -> tuple[IntArray, list[HalvedBlocks]]:
    """Deal the rows, at most so many as are affordable, and make halves of every dealing."""
    held = similarity.in_memory()
    N, d = held.shape
    if rows_given is not None:
        return rows_given, [held.halved_blocks(rows_given, pairs_of_halves(d))]
    strength = held.strength() if strength is None else strength
    rank = np.argsort(np.argsort(-strength, kind="stable"))
    some = np.flatnonzero(rank < 2 * DEALING_FEATURES)
    rows = held.rows.restricted(some)
    Z, of = np.nan_to_num(rows.take(np.arange(N)), nan=1e6), rank[some][rows.feature_of_column]
    tied = Z @ np.random.default_rng(0).standard_normal(2 * DEALING_FEATURES)[of]
    Z = Z[:, of < min(-(-d // 2), DEALING_FEATURES)]
    n_dealings = min(DEALT_FEATURES // d, MOST_DEALINGS) if d <= ALL_PAIRS else 1
    n_rows = max(FEWEST_ROWS, HALVED_BLOCKS * held.measured.block_entries // (n_dealings * d))
    dealt = deal_rows(Z, tied, n_dealings, n_rows)
    if blocks is not None:
        dealt = [spread_blocks(rows, blocks) for rows in dealt]
    return dealt[0], [held.halved_blocks(rows, pairs_of_halves(d)) for rows in dealt]


def _in_turn(dealings: list[FloatArray]) -> list[FloatArray]:
    """Put pairs of halves of every dealing, (2 S, b, d) each, one after another."""
    if len(dealings) < 2:
        return dealings
    n = len(dealings[0])
    return [r[i : i + 2] for i in range(0, n, 2) for r in dealings]


def _ties(r: FloatArray, n_rows: FloatArray, least: FloatArray, signed: bool) -> FloatArray:
    """Turn correlations into ties, (1 + 2 S, b, d), in place."""
    for own, n, line in zip(r, n_rows, least, strict=True):
        strong = own > line if signed else np.abs(own) > line
        np.square(own, out=own)
        own -= 1 / n
        own *= strong
    return np.maximum(r, 0, out=r)


def _edges(r: FloatArray, line: FloatArray, signed: bool) -> BoolArray:
    """Mark pairs that are edges: all, or the strongest ties of each feature anywhere, (b, d).

    Ties are correlations, (1 + 2 S, b, d), beyond a line, (1 + 2 S,).
    """
    d = r.shape[2]
    if d <= ALL_PAIRS:
        return np.any((r if signed else np.abs(r)) > line[:, None, None], axis=0)
    marked: BoolArray = np.zeros(r.shape[1:], dtype=bool)
    for own, least in zip(r, line, strict=True):
        size_of, column = largest(own, min(NEIGHBORS, d - 1), 0.0, signed)
        row, place = np.nonzero(size_of > least)
        marked[row, column[row, place]] = True
    return marked
