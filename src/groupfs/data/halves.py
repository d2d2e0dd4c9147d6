"""Deal the rows into blocks, of which every half of the rows is made: one pass gives all halves.

Axes: S pairs of halves, 32 blocks of rows, n rows, m columns, b of them.

Halves are rows of a Hadamard matrix: 16 blocks and the other 16, any two pairs of halves as
different as can be. The dealing has a seed of its own, so halves do not hang on anybody's.
"""

import numpy as np
import scipy.linalg

from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Blocks of rows.
N_BLOCKS = 32
#: Share of a column's variance below which it counts as constant in a half.
LEAST_VARIANCE = 1e-3


def deal_rows(n_rows: int) -> IntArray:
    """Give every row its block, (n,); blocks are of equal size, or differ by one row."""
    return np.random.default_rng(N_BLOCKS).permutation(n_rows) % N_BLOCKS


def first_halves(n_pairs: int) -> BoolArray:
    """Say which blocks make the first half of every pair, (S, 32); the others make the second."""
    signs = scipy.linalg.hadamard(N_BLOCKS)[1:]
    rng, found = np.random.default_rng(N_BLOCKS), [signs]
    while sum(map(len, found)) < n_pairs:
        found.append(signs[:, rng.permutation(N_BLOCKS)])
    halves: BoolArray = np.concatenate(found)[:n_pairs] > 0
    return halves


class BlockSums:
    """Rows of numbers that are multiplied block by block.

    Parameters
    ----------
    X : (n, m)
        Rows, columns about centred.
    n_pairs : int
        Pairs of halves that will be asked for.
    """

    def __init__(self, X: FloatArray, n_pairs: int) -> None:
        blocks = deal_rows(len(X))
        order = np.argsort(blocks, kind="stable")
        self.X = X[order]
        self.edges = np.searchsorted(blocks[order], np.arange(N_BLOCKS + 1))
        first = first_halves(n_pairs)
        self.first = first.astype(X.dtype)
        # the second half of every pair follows its first
        self.halves = np.stack([first, ~first], 1).reshape(-1, N_BLOCKS).astype(X.dtype)
        self.counts = np.maximum(self.halves @ np.diff(self.edges), 1)
        sums = np.array([part.sum(0, dtype=np.float64) for part in self._parts()])
        squares = np.array([np.square(part).sum(0, dtype=np.float64) for part in self._parts()])
        self.means = (self.halves @ sums) / self.counts[:, None]
        variance = (self.halves @ squares) / self.counts[:, None] - np.square(self.means)
        least = LEAST_VARIANCE * squares.sum(0) / max(len(X), 1)
        self.inverse = np.where(variance > least, 1 / np.sqrt(np.maximum(variance, 1e-300)), 0)

    def _parts(self) -> list[FloatArray]:
        return [self.X[a:b] for a, b in zip(self.edges, self.edges[1:], strict=False)]

    def correlations(self, start: int, stop: int) -> FloatArray:
        """Correlate columns start..stop with all in every half, (2 S, b, m)."""
        m, S = self.X.shape[1], len(self.first)
        products = np.stack([part[:, start:stop].T @ part for part in self._parts()])
        products = products.reshape(N_BLOCKS, -1)
        found = np.empty((S, 2, stop - start, m), dtype=self.X.dtype)
        found[:, 0] = (self.first @ products).reshape(S, stop - start, m)
        found[:, 1] = products.sum(0).reshape(1, stop - start, m) - found[:, 0]
        r: FloatArray = found.reshape(2 * S, stop - start, m)
        means, inverse = self.means.astype(r.dtype), self.inverse.astype(r.dtype)
        for h, count in enumerate(self.counts):
            r[h] /= count
            r[h] -= means[h, start:stop, None] * means[h]
            r[h] *= inverse[h, start:stop, None]
            r[h] *= inverse[h]
        return np.clip(r, -1, 1, out=r)
