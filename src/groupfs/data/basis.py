r"""Make the columns that the similarity of two features is worked out from, whatever their kinds.

Axes: N samples, d features, q columns of the basis.

A number is one column, a category one for each level. What more a feature has depends on the
similarity: ranks in place of values, or the eigenfunctions of distances of ranks,
:math:`\sqrt 2 \cos(\pi k u) / k` for ranks u between 0 and 1. Gaps are zero, and ``present`` tells.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.stats import rankdata

from groupfs.data.standardize import standard_ranks, unit_columns
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Similarities (d, d) of the columns (N, d) of a table; gaps are NaN.
SimilarityFunction = Callable[[FloatArray], FloatArray]
#: Eigenfunctions of distances of ranks: the next one adds less than a hundredth.
N_COSINES = 4


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

    def has_value(self, feature: int) -> BoolArray:
        """Tell which rows a feature has a value in, (N,)."""
        if self.present is None:
            return np.ones(len(self.E), dtype=bool)
        return self.present[:, feature] > 0

    def rows(self, index: IntArray) -> "FeatureBasis":
        """Return some of the rows."""
        present = None if self.present is None else self.present[index]
        return replace(self, E=self.E[index], present=present)

    def restricted(self, features: IntArray) -> "FeatureBasis":
        """Return some of the features, in any order."""
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
    """Find the columns of some features, in their order, and their features counted anew."""
    place = np.full(int(owner[-1]) + 1, -1)
    place[features] = np.arange(len(features))
    anew = place[owner]
    columns = np.argsort(anew, kind="stable")[np.count_nonzero(anew < 0) :]
    return columns, anew[columns]


def make_basis(values: Sequence[FloatArray], similarity: str | SimilarityFunction) -> FeatureBasis:
    """Make the columns of features, each (N, a) with NaN for gaps.

    A number is one column, a category the indicators of all its levels.
    """
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
    if similarity != "distance":
        return (standard_ranks if similarity == "rank" else unit_columns)(x[:, None])
    n = np.count_nonzero(~np.isnan(x))
    u = (rankdata(x, nan_policy="omit") - 0.5) / n
    k = np.arange(1, N_COSINES + 1)
    found: FloatArray = np.sqrt(2) * np.cos(np.pi * u[:, None] * k) / k
    return found - np.nanmean(found, axis=0)


def basis_coordinates(basis: FeatureBasis) -> tuple[FloatArray, IntArray]:
    """Find coordinates of features of several columns, (m, p), orthonormal within each; sizes."""
    parts = np.split(basis.E, basis.starts[1:], axis=1)
    blocks = [_directions(E, basis.has_value(j)) for j, E in enumerate(parts)]
    columns: FloatArray = np.hstack(blocks)
    if len(columns) > columns.shape[1]:
        columns = scipy.linalg.qr(columns, mode="r")[0][: columns.shape[1]]
    return columns, np.array([block.shape[1] for block in blocks])


def _directions(E: FloatArray, has_value: BoolArray) -> FloatArray:
    """Find orthonormal directions of a feature's columns, gaps at the mean, (N, a)."""
    off = np.where(has_value[:, None], E - E[has_value].mean(0), 0)
    U, lengths, _ = np.linalg.svd(off, full_matrices=False)
    return U[:, lengths > 1e-6 * max(lengths[0], 1e-300)]
