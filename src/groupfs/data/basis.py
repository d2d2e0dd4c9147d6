r"""Make the columns that the similarity of two features is worked out from, and add them up.

Axes: N samples, d features, q columns of the basis; b features of a block.

A number is one column, a category one for each level. What more a feature has depends on the
similarity: ranks in place of values, or the eigenfunctions of distances of ranks,
:math:`\sqrt 2 \cos(\pi k u) / k` for ranks u between 0 and 1. Gaps are zero, and ``present`` tells.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.stats import rankdata

from groupfs.data.standardize import unit_columns
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Similarities (d, d) of the columns (N, d) of a table; gaps are NaN.
SimilarityFunction = Callable[[FloatArray], FloatArray]
#: Eigenfunctions of distances of ranks: the next one adds less than a hundredth.
N_COSINES = 4
#: Rows in common below which nothing is said of a pair.
FEWEST_PAIRS = 10


@dataclass(frozen=True)
class FeatureBasis:
    """Columns of a table's features, those of a feature side by side."""

    E: NDArray[np.floating[Any]]  #: (N, q), 0 in gaps
    owner: IntArray  #: feature of every column, ascending, (q,)
    present: FloatArray | None  #: 1 where a feature has a value, (N, d); None without gaps
    centered: BoolArray  #: whether a column's variance is about its mean; not of indicators, (q,)
    dims: IntArray  #: dimensions of every feature, (d,)
    similarity: str | SimilarityFunction

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.E), len(self.dims)

    @property
    def starts(self) -> IntArray:
        """First column of every feature, (d,)."""
        return np.searchsorted(self.owner, np.arange(len(self.dims)))

    @property
    def is_single(self) -> bool:
        """Whether every feature is one column."""
        return len(self.owner) == len(self.dims)

    @property
    def counts(self) -> FloatArray:
        """How many rows every feature has a value in, (d,)."""
        N, d = self.shape
        return np.full(d, float(N)) if self.present is None else self.present.sum(0)

    def rows(self, index: IntArray) -> "FeatureBasis":
        """Return some of the rows."""
        present = None if self.present is None else self.present[index]
        return replace(self, E=self.E[index], present=present)

    def restricted(self, features: IntArray) -> "FeatureBasis":
        """Return some of the features, in any order."""
        columns, owner = columns_of(self.owner, features)
        present = None if self.present is None else self.present[:, features]
        E, own = np.ascontiguousarray(self.E[:, columns]), self.centered[columns]
        return FeatureBasis(E, owner, present, own, self.dims[features], self.similarity)

    def permuted(self, order: IntArray) -> "FeatureBasis":
        """Put the rows of every feature in another order, (N, d)."""
        E, present = np.take_along_axis(self.E, order[:, self.owner], axis=0), self.present
        present = None if present is None else np.take_along_axis(present, order, axis=0)
        return replace(self, E=E, present=present)


def columns_of(owner: IntArray, features: IntArray) -> tuple[IntArray, IntArray]:
    """Find the columns of some features, in their order, and their features counted anew."""
    place = np.full(int(owner[-1]) + 1, -1)
    place[features] = np.arange(len(features))
    anew = place[owner]
    columns = np.argsort(anew, kind="stable")[np.count_nonzero(anew < 0) :]
    return columns, anew[columns]


def make_basis(values: Sequence[FloatArray], similarity: str | SimilarityFunction) -> FeatureBasis:
    """Make the columns of features, each a number or indicators, (N, a) with NaN for gaps."""
    is_number = np.array([x.shape[1] == 1 for x in values])
    parts = [_columns(x[:, 0], similarity) if x.shape[1] == 1 else x for x in values]
    sizes = np.array([part.shape[1] for part in parts])
    present = np.column_stack([~np.isnan(part[:, 0]) for part in parts])
    # squares of many columns are as good in single precision, in half the time
    dtype = np.float32 if similarity == "distance" else np.float64
    return FeatureBasis(
        E=np.nan_to_num(np.hstack(parts), nan=0.0).astype(dtype),
        owner=np.repeat(np.arange(len(parts)), sizes),
        present=None if present.all() else present.astype(np.float64),
        centered=np.repeat(is_number, sizes),
        dims=np.where(is_number, sizes, sizes - 1),
        similarity=similarity,
    )


def _columns(x: FloatArray, similarity: str | SimilarityFunction) -> FloatArray:
    """Turn a number into columns, (N,) to (N, a)."""
    if similarity in ("rank", "distance"):
        x = rankdata(x, nan_policy="omit")
    if similarity != "distance":
        return unit_columns(x[:, None])
    u, k = (x - 0.5) / np.count_nonzero(~np.isnan(x)), np.arange(1, N_COSINES + 1)
    found: FloatArray = np.sqrt(2) * np.cos(np.pi * u[:, None] * k) / k
    return found - np.nanmean(found, axis=0)


def basis_coordinates(basis: FeatureBasis) -> tuple[FloatArray, IntArray]:
    """Find coordinates of features of several columns, (m, p), orthonormal within each; sizes."""
    present = np.ones(basis.shape) if basis.present is None else basis.present
    parts, blocks = np.split(basis.E, basis.starts[1:], axis=1), []
    for E, has_value in zip(parts, present.T > 0, strict=True):
        off = np.where(has_value[:, None], E - E[has_value].mean(0), 0)  # gaps at the mean
        U, lengths, _ = np.linalg.svd(off, full_matrices=False)
        blocks.append(U[:, lengths > 1e-6 * max(lengths[0], 1e-300)])
    columns: FloatArray = np.hstack(blocks)
    columns = scipy.linalg.qr(columns, mode="r")[0][: columns.shape[1]]
    return columns, np.array([block.shape[1] for block in blocks])


class PairSums:
    """Sums over the rows that two features have in common: features start..stop with all."""

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
            self.sums, self.squares = (total[columns], total), (square[columns], square)
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
        low, high = np.where(there, E, np.inf).min(0), np.where(there, E, -np.inf).max(0)
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
