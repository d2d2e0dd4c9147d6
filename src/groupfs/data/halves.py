"""Deal the rows into blocks, of which every half of the rows is made: one pass gives all halves.

Axes: S pairs of halves, 32 blocks of rows, n rows, m columns, b of them.

Which block a row goes to hangs on its values alone, not on its place in the table or on anybody's
seed, and is otherwise random. Halves are rows of a Hadamard matrix: 16 blocks and the other 16, any
two pairs of halves as different as can be.
"""

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.special import ndtri

from groupfs.utils.threads import in_threads, spans
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Blocks of rows.
N_ROW_BLOCKS = 32
#: Pairs of halves that one dealing of the rows gives, all different.
MOST_PAIRS = N_ROW_BLOCKS - 1
#: Features above which tables are wide: neighbours alone are compared in halves of the rows.
WIDE = 1500
#: Pairs of halves of wide tables, where one pair says as much as many of a narrow one; and features
#: up to which all pairs of them are edges.
WIDE_PAIRS, ALL_PAIRS = 8, 150
#: Neighbours count in wide tables if they are beyond what the strongest of all pairs of a feature
#: would be by chance, at this level.
CHANCE_LEVEL = 0.05
#: Steps of a deviation in which values of a row are told apart: so few that a gap elsewhere in the
#: table, which moves means and deviations a little, leaves nearly all rows where they are.
STEPS = 4
#: Numbers in the rows of pairs of columns that are multiplied at a time.
PAIRED_ENTRIES = 2**22
#: Share of a column's variance below which it counts as constant in a half.
LEAST_VARIANCE = 1e-3


def deal_rows(
    Z: FloatArray, tied: FloatArray, n_dealings: int = 1, n_rows: int | None = None
) -> list[IntArray]:
    """Put standardised rows in orders as if at random that only their values decide, (n,) each.

    Neighbours in an order make a block. Values in some columns (n, k) count in steps, whatever the
    order of the columns; rows that are equal so are counted, in the order of ``tied`` (n,), and
    spread. Of every dealing the first ``n_rows`` are given.
    """
    key, place = np.zeros(len(Z), dtype=np.uint64), np.arange(len(Z))
    for z in Z.T:  # the sum is the same whatever the order of the columns
        key += _scrambled(np.floor(STEPS * z).astype(np.int64))
    order = np.lexsort((tied, key))
    first = np.append(True, key[order][1:] != key[order][:-1])
    key[order] += (place - np.maximum.accumulate(np.where(first, place, 0))).astype(np.uint64)
    dealings = (_scrambled(key + np.uint64(dealing << 32)) for dealing in range(n_dealings))
    return [np.argsort(dealt, kind="stable")[:n_rows] for dealt in dealings]


def _scrambled(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Turn integers into 64 bits as if at random (the finaliser of SplitMix64)."""
    x = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def row_blocks(n_rows: int) -> IntArray:
    """Number the blocks of rows that were dealt, (n,); their sizes differ by one row at most."""
    return np.arange(n_rows) * N_ROW_BLOCKS // max(n_rows, 1)


def first_halves(n_pairs: int) -> BoolArray:
    """Say which blocks make the first half of every pair, (S, 32); the others make the second."""
    return scipy.linalg.hadamard(N_ROW_BLOCKS)[1 : n_pairs + 1] > 0


def pairs_of_halves(n_features: int) -> int:
    """Return how many pairs of halves a dealing gives."""
    return WIDE_PAIRS if n_features > WIDE else MOST_PAIRS


def chance_line(n_features: int, n_rows: FloatArray) -> FloatArray:
    """Return the abs(r) that a neighbour is beyond in halves of so many rows of a wide table."""
    line: FloatArray = -ndtri(CHANCE_LEVEL / (2 * n_features)) / np.sqrt(n_rows)
    return np.minimum(line, 0.95)


class BlockSums:
    """Rows of numbers that are multiplied block by block, for so many pairs of halves.

    All columns are multiplied in every block of rows; in wide tables, where these are too many
    numbers, columns of one half at a time, and pairs of interest block by block.

    X (n, m) are rows as they were dealt, columns about centred.
    """

    def __init__(self, X: FloatArray, n_pairs: int) -> None:
        self.X, self.edges = X, np.searchsorted(row_blocks(len(X)), np.arange(N_ROW_BLOCKS + 1))
        first = first_halves(n_pairs)
        self.first = first.astype(X.dtype)
        # the second half of every pair follows its first
        self.halves = np.stack([first, ~first], 1).reshape(-1, N_ROW_BLOCKS).astype(X.dtype)
        self.counts = np.maximum(self.halves @ np.diff(self.edges), 1)
        sums = np.array([part.sum(0, dtype=np.float64) for part in self._parts()])
        squares = np.array([np.square(part).sum(0, dtype=np.float64) for part in self._parts()])
        means = (self.halves @ sums) / self.counts[:, None]
        variance = (self.halves @ squares) / self.counts[:, None] - np.square(means)
        least = LEAST_VARIANCE * squares.sum(0) / max(len(X), 1)
        inverse = np.where(variance > least, 1 / np.sqrt(np.maximum(variance, 1e-300)), 0)
        self.inverse, self.means = inverse.astype(X.dtype), (means * inverse).astype(X.dtype)

    def _parts(self) -> list[FloatArray]:
        return [self.X[a:b] for a, b in zip(self.edges, self.edges[1:], strict=False)]

    def correlations(self, start: int, stop: int) -> FloatArray:
        """Correlate columns start..stop with all in every half, (2 S, b, m)."""
        m, S, b = self.X.shape[1], len(self.first), stop - start
        products = np.empty((N_ROW_BLOCKS, b, m), dtype=self.X.dtype)

        def multiply(part: FloatArray, out: FloatArray) -> None:
            np.matmul(part[:, start:stop].T, part, out=out)

        list(in_threads(multiply, zip(self._parts(), products, strict=True)))
        r: FloatArray = np.empty((2 * S, b, m), dtype=self.X.dtype)
        r[::2] = (self.first @ products.reshape(N_ROW_BLOCKS, -1)).reshape(S, b, m)
        np.subtract(products.sum(0), r[::2], out=r[1::2])
        for h, own in enumerate(r):
            own *= self.inverse[h, start:stop, None] / self.counts[h]
            own *= self.inverse[h]
            own -= self.means[h, start:stop, None] * self.means[h]
        return np.clip(r, -1, 1, out=r)

    def half(self, which: int) -> FloatArray:
        """Return the rows of a half, columns centred and of length one there, (n / 2, m)."""
        own = np.repeat(self.halves[which] > 0, np.diff(self.edges))
        Z = self.X[own] * self.inverse[which] - self.means[which]
        return Z / np.sqrt(self.counts[which])

    def along(self, pairs: IntArray) -> FloatArray:
        """Correlate pairs of columns in every half, (E, 2) to (2 S, E)."""
        columns, sizes = np.ascontiguousarray(self.X.T), np.diff(self.edges)
        first = np.repeat(self.first, sizes, axis=1).T  # (n, S)
        r: FloatArray = np.empty((len(self.halves), len(pairs)), dtype=self.X.dtype)

        def correlate(start: int, stop: int) -> None:
            (i, j), part = pairs[start:stop].T, slice(start, stop)
            products = columns[i] * columns[j]
            r[::2, part] = (products @ first).T
            r[1::2, part] = products.sum(1) - r[::2, part]
            for h, own in enumerate(r[:, part]):
                own *= self.inverse[h, i] * self.inverse[h, j] / self.counts[h]
                own -= self.means[h, i] * self.means[h, j]

        list(in_threads(correlate, spans(len(pairs), max(1, PAIRED_ENTRIES // len(self.X)))))
        return np.clip(r, -1, 1, out=r)
