r"""Columns that the similarity of two features is worked out from, whatever their kinds.

Axes: N samples, d features, q columns of the basis.

A number is one column, a category one for each level. What more a feature has depends on the
similarity: ranks in place of values, bins of them, or the eigenfunctions of distances of ranks,
:math:`\sqrt 2 \cos(\pi k u) / k` for ranks u between 0 and 1. Gaps are zero, and ``present`` tells.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Similarities (d, d) of the columns (N, d) of a table; gaps are NaN.
SimilarityFunction = Callable[[FloatArray], FloatArray]
#: Eigenfunctions of distances of ranks: the next one adds less than a hundredth.
N_COSINES = 4
#: Bins of a number at most, and rows that a cell of two features' bins has on average, at least.
MOST_BINS, ROWS_PER_CELL = 6, 10


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

    def has_value(self, feature: int) -> BoolArray:
        """Tell which rows a feature has a value in, (N,)."""
        if self.present is None:
            return np.ones(len(self.E), dtype=bool)
        found: BoolArray = self.present[:, feature] > 0
        return found

    def rows(self, index: IntArray) -> "FeatureBasis":
        """Return some of the rows."""
        present = None if self.present is None else self.present[index]
        return replace(self, E=self.E[index], present=present)

    def restricted(self, features: IntArray) -> "FeatureBasis":
        """Return some of the features, ascending."""
        columns, owner = columns_of(self.owner, features)
        return replace(
            self,
            E=np.ascontiguousarray(self.E[:, columns]),
            owner=owner,
            present=None if self.present is None else self.present[:, features],
            centered=self.centered[columns],
            dims=self.dims[features],
        )

    def permuted(self, order: IntArray) -> "FeatureBasis":
        """Put the rows of every feature in another order, (N, d)."""
        present = self.present
        return replace(
            self,
            E=np.take_along_axis(self.E, order[:, self.owner], axis=0),
            present=None if present is None else np.take_along_axis(present, order, axis=0),
        )


def columns_of(owner: IntArray, features: IntArray) -> tuple[IntArray, IntArray]:
    """Find the columns of some features, ascending, and their features counted anew."""
    place = np.full(int(owner[-1]) + 1, -1)
    place[features] = np.arange(len(features))
    columns = np.flatnonzero(place[owner] >= 0)
    return columns, place[owner[columns]]


def make_basis(
    values: Sequence[FloatArray], kinds: Sequence[str], similarity: str | SimilarityFunction
) -> FeatureBasis:
    """Make the columns of features, each (N, a) with NaN for gaps.

    ``kinds`` are "number", "category" (indicators of all levels) or "date" (parts of it).
    """
    parts: list[FloatArray] = []
    centered: list[bool] = []
    dims: list[int] = []
    for x, kind in zip(values, kinds, strict=True):
        columns, are_indicators = _columns(x, kind, similarity)
        parts.append(columns)
        centered += [not are_indicators and columns.shape[1] == 1] * columns.shape[1]
        dims.append(columns.shape[1] - are_indicators)
    present = np.column_stack([~np.isnan(part[:, 0]) for part in parts])
    # counts and squares of many columns are as good in single precision, in half the time
    many = similarity in ("distance", "mutual_information")
    return FeatureBasis(
        E=np.nan_to_num(np.hstack(parts), nan=0.0).astype(np.float32 if many else np.float64),
        owner=np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts]),
        present=None if present.all() else present.astype(np.float64),
        centered=np.array(centered),
        dims=np.array(dims),
        similarity=similarity,
    )


def _columns(
    x: FloatArray, kind: str, similarity: str | SimilarityFunction
) -> tuple[FloatArray, bool]:
    """Turn one feature into columns, and say whether they are indicators of its levels."""
    if kind == "category":
        return x, True
    if similarity == "mutual_information":
        return _bins(x[:, 0]), True
    if similarity == "distance":
        return _cosines(x[:, 0]), False
    if similarity == "rank":
        x = rankdata(x, axis=0, nan_policy="omit")
    return (_unit(x) if x.shape[1] == 1 else _orthonormal(x)), False


def _unit(x: FloatArray) -> FloatArray:
    """Centre columns and scale them to variance one, by the values that are there."""
    x = x - np.nanmean(x, axis=0)
    spread: FloatArray = np.sqrt(np.nanmean(np.square(x), axis=0))
    return x / np.maximum(spread, 1e-300)


def _orthonormal(x: FloatArray) -> FloatArray:
    """Turn columns that are missing together into uncorrelated ones of variance one."""
    there = ~np.isnan(x[:, 0])
    U, lengths, _ = np.linalg.svd(_unit(x[there]), full_matrices=False)
    U = U[:, lengths > 1e-6 * lengths[0]]
    found = np.full((len(x), U.shape[1]), np.nan)
    found[there] = U * np.sqrt(there.sum())
    return found


def _cosines(x: FloatArray) -> FloatArray:
    n = np.count_nonzero(~np.isnan(x))
    u = (rankdata(x, nan_policy="omit") - 0.5) / n
    k = np.arange(1, N_COSINES + 1)
    found: FloatArray = np.sqrt(2) * np.cos(np.pi * u[:, None] * k) / k
    return found - np.nanmean(found, axis=0)


def _bins(x: FloatArray) -> FloatArray:
    """Divide values into bins of about as many, an indicator each; equal ones stay together.

    By the mean rank of equal values, so that a value many rows have is a bin of its own.
    """
    there = ~np.isnan(x)
    ranks = rankdata(x[there])
    n = len(ranks)
    n_bins = int(np.clip(np.sqrt(n / ROWS_PER_CELL), 2, MOST_BINS))
    place = (ranks - 0.5) / n * n_bins
    # an edge belongs to the bin further out, so that x and -x have the same bins
    codes = np.where(place < n_bins / 2, np.ceil(place) - 1, np.floor(place))
    _, codes = np.unique(np.clip(codes, 0, n_bins - 1), return_inverse=True)
    found = np.full((len(x), int(codes.max()) + 1), np.nan)
    found[there] = np.eye(found.shape[1])[codes]
    return found
