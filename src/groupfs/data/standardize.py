"""Measure mean and deviation of columns, and order them by content.

There is one ``ColumnMoments`` for tables in memory, which are one block, and for those read in
many; a sparse block stays sparse. Gaps (NaN) count in no mean: ``mean_and_deviation``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.data.checks import refuse_overflow
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from groupfs.data.sources import Block

#: Squares of deviations below this lose digits or vanish: such columns count as constant.
SMALLEST_SPREAD = 1e-140
#: Columns whose products with random vectors differ by less are equal but for unit and zero.
SAME_KEY = 1e-9
#: Random vectors over the rows that columns are multiplied with, to be told apart.
N_KEYS = 3


class ColumnMoments:
    """Means and squared deviations of columns, merged from blocks as they come.

    Every block is measured about its own mean, so that nothing is lost where columns are far from
    zero.
    """

    def __init__(self, n_features: int) -> None:
        self.n_rows = 0
        self.mean: FloatArray = np.zeros(n_features)
        self.squares: FloatArray = np.zeros(n_features)  #: sums of squared deviations from the mean

    @property
    def spread(self) -> FloatArray:
        """Standard deviations."""
        return np.sqrt(self.squares / self.n_rows)

    def add(self, block: "Block", correct_mean: bool = False) -> "Block":
        """Merge the rows of a block; return it, less its mean if it is dense.

        ``correct_mean`` takes off the rounding of a mean that was added up row by row.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            measure = _measure_dense if isinstance(block, np.ndarray) else _measure_sparse
            mean, squares, centered = measure(block, correct_mean)
            self.merge(block.shape[0], mean, squares)
        return centered

    def merged(self, other: "ColumnMoments") -> "ColumnMoments":
        """Return the moments of these rows and others together."""
        both = ColumnMoments(len(self.mean))
        both.merge(self.n_rows, self.mean, self.squares)
        with np.errstate(over="ignore", invalid="ignore"):
            both.merge(other.n_rows, other.mean, other.squares)
        return both

    def merge(self, n: int, mean: FloatArray, squares: FloatArray) -> None:
        """Add rows of which means and squared deviations are known."""
        before = self.n_rows
        self.n_rows += n
        if before == 0:
            self.mean, self.squares = mean, squares
        elif n:
            away = mean - self.mean
            self.mean = self.mean + away * (n / self.n_rows)
            self.squares = self.squares + (squares + away**2 * (before * n / self.n_rows))


def mean_and_deviation(X: "Block") -> tuple[FloatArray, FloatArray]:
    """Find means and deviations of columns, dense or sparse, by the values that are there, (d,)."""
    if not isinstance(X, np.ndarray):
        mean, squares, _ = _measure_sparse(X, False)
        return mean, np.sqrt(squares / X.shape[0])
    n = np.maximum(np.count_nonzero(~np.isnan(X), axis=0), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.nansum(X, axis=0, dtype=np.float64) / n
        return mean, np.sqrt(np.nansum(np.square(X - mean), axis=0) / n)


def unit_columns(X: FloatArray) -> FloatArray:
    """Centre columns and scale them to variance one, by the values that are there."""
    mean, deviation = mean_and_deviation(X)
    return (X - mean) / np.maximum(deviation, 1e-300)


def without_rounding(
    mean: FloatArray, spread: FloatArray, n_rows: Any, names: Sequence[str]
) -> FloatArray:
    """Put 0 in place of deviations that are only rounding; refuse those that overflow."""
    refuse_overflow(spread, names)
    rounding = 10 * np.finfo(np.float64).eps * np.sqrt(n_rows) * np.abs(mean)
    return np.where(spread <= np.maximum(rounding, SMALLEST_SPREAD), 0.0, spread)


def at_least_rounding(spread: FloatArray, unit: FloatArray | float) -> FloatArray:
    """Put a unit in place of deviations that are zero: some rows of a column may be equal."""
    return np.where(spread > 1e-12 * unit, spread, unit)


def _measure_dense(block: "Block", correct_mean: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    mean: FloatArray = block.sum(axis=0, dtype=np.float64) / block.shape[0]
    centered = block - mean
    if correct_mean:
        rest = centered.mean(axis=0)
        centered -= rest
        mean += rest
    return mean, np.einsum("ij,ij->j", centered, centered), centered


def _measure_sparse(block: "Block", correct_mean: bool) -> tuple[FloatArray, FloatArray, "Block"]:
    n, d = block.shape
    values, column = block.data.astype(np.float64), block.indices
    mean = np.bincount(column, values, minlength=d).astype(np.float64) / n
    n_zeros = n - np.bincount(column, minlength=d)
    if correct_mean:
        rest = np.bincount(column, values - mean[column], minlength=d)
        mean += (rest - n_zeros * mean) / n
    squares = np.bincount(column, (values - mean[column]) ** 2, minlength=d)
    return mean, squares + n_zeros * np.where(n_zeros > 0, mean, 0) ** 2, block


def order_by_keys(keys: FloatArray, same: float = SAME_KEY) -> tuple[IntArray, IntArray]:
    """Order columns by their first key; number those alike that have the same keys, (d, 3)."""
    order = np.argsort(keys[:, 0], kind="stable")
    steps = np.abs(np.diff(keys[order], axis=0)).max(axis=1)
    twins = np.concatenate([[0], np.cumsum(steps > same)])[: len(order)]
    return order, twins


def column_scale(deviation: FloatArray, standardize: bool) -> FloatArray:
    """Return the unit of each column, or one of all: results do not depend on the table's unit."""
    if standardize:
        return deviation
    _, exponent = np.frexp(deviation.max())  # or squares might overflow
    common = np.sqrt(np.mean(np.ldexp(deviation, -exponent) ** 2))
    return np.full(len(deviation), np.ldexp(common, exponent))
