"""Add up over the rows that two features have in common, for similarities of any kinds.

Axes: N samples, d features, q columns of their basis; b features of a block.
"""

from collections.abc import Callable
from copy import copy

import numpy as np

from groupfs.data.basis import FeatureBasis
from groupfs.utils.types import BoolArray, FloatArray

#: Rows in common below which nothing is said of a pair.
FEWEST_PAIRS = 10


class PairSums:
    """Sums over the rows that two features have in common: features start..stop with all.

    Those of several sets of rows can be added (:meth:`of_blocks`).
    """

    def __init__(self, basis: FeatureBasis, start: int, stop: int) -> None:
        edges = np.append(basis.starts, len(basis.owner))
        columns = slice(edges[start], edges[stop])
        E, A = basis.E, basis.E[:, columns]
        self.basis, self.n_rows, self.counts = basis, len(E), basis.counts
        self.features, self.columns = slice(start, stop), columns
        self.a, self.b = basis.owner[columns] - start, basis.owner  #: owners
        self.products = (A.T @ E).astype(np.float64, copy=False)
        if basis.present is None:
            N = float(len(E))
            self.n_pairs = np.full((1, 1), N)
            total = E.sum(0, dtype=np.float64)[:, None]
            square = np.square(E).sum(0, dtype=np.float64)[:, None]
            self.sums = (total[columns], total)
            self.squares = (square[columns], square)
        else:
            M = basis.present
            Ma = M[:, start:stop]
            self.n_pairs = np.maximum(Ma.T @ M, 1e-9)
            self.sums = (A.T @ M, E.T @ Ma)
            self.squares = (np.square(A).T @ M, np.square(E).T @ Ma)

    @classmethod
    def of_blocks(cls, blocks: "list[PairSums]") -> "Callable[[BoolArray], PairSums]":
        """Return what adds up the sums of some of the blocks of rows, marked in (32,)."""
        sums = {
            name: np.stack([getattr(block, name) for block in blocks])
            for name in ("products", "n_pairs", "n_rows", "counts")
        }
        pairs = {
            name: [np.stack([getattr(block, name)[side] for block in blocks]) for side in (0, 1)]
            for name in ("sums", "squares")
        }

        def add(marked: BoolArray) -> PairSums:
            found = copy(blocks[0])
            for name, parts in sums.items():
                setattr(found, name, parts[marked].sum(0))
            for name, sides in pairs.items():
                setattr(found, name, tuple(side[marked].sum(0) for side in sides))
            return found

        return add

    def centered(self) -> FloatArray:
        """Compute products of columns about their means, (qa, q)."""
        left, right = self.sums
        if left.shape[1] == 1:
            return self.products - left * right.T / self.n_pairs
        both = left[:, self.b] * right[:, self.a].T
        return self.products - both / self.n_pairs[self.a][:, self.b]

    def by_features(self, values: FloatArray) -> FloatArray:
        """Add up over the columns of both features, (qa, q) to (b, d)."""
        starts = self.basis.starts
        across = np.add.reduceat(values, starts, axis=1)
        own = starts[self.features] - self.columns.start
        return np.add.reduceat(across, own, axis=0)

    def certain(self, found: FloatArray) -> FloatArray:
        """Lower similarities of pairs that have fewer rows in common than by chance."""
        if self.basis.present is None:
            return found
        expected = self.counts[self.features, None] * self.counts / self.n_rows
        lowered = found * np.minimum(1, np.sqrt(self.n_pairs / np.maximum(expected, 1e-9)))
        return np.where(self.too_few(), 0, lowered)

    def too_few(self) -> BoolArray:
        """Tell which pairs have too few rows in common, (b, d) or (1, 1)."""
        return self.n_pairs < min(FEWEST_PAIRS, self.n_rows / 2)


def exclusive_pairs(basis: FeatureBasis, start: int, stop: int) -> BoolArray:
    """Find pairs of columns with two values whose higher ones never meet, (b, d)."""
    single = np.flatnonzero(np.bincount(basis.owner) == 1)
    E = basis.E[:, basis.starts[single]]
    low, high = E.min(0), E.max(0)
    if basis.present is not None:  # a gap is 0, between the two
        there = basis.present[:, single] > 0
        low = np.where(there, E, np.inf).min(0)
        high = np.where(there, E, -np.inf).max(0)
    two = (low < high) & ((low == E) | (high == E) | (E == 0)).all(0)
    features, is_high = single[two], (E[:, two] == high[two]).astype(np.float32)
    own = (features >= start) & (features < stop)
    found = np.zeros((stop - start, basis.shape[1]), dtype=bool)
    found[np.ix_(features[own] - start, features)] = is_high[:, own].T @ is_high < 0.5
    return found


def pair_weights(basis: FeatureBasis, start: int = 0, stop: int | None = None) -> FloatArray:
    """Find the root of the share of the rows that pairs have in common, (b, d) or (1, 1)."""
    if basis.present is None:
        return np.ones((1, 1))
    shared = basis.present[:, start:stop].T @ basis.present
    return np.sqrt(shared / len(basis.E))
