"""Mean and deviation of the columns, an order of their own, and rows in units of them.

There is one ``ColumnMoments`` for tables in memory, which are one block, and for those read in
many; a sparse block stays sparse.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import preprocessing

from groupfs.data.blocks import Block
from groupfs.data.checks import refuse_overflow
from groupfs.data.rows import DenseRows, RowsInMemory, SparseRows
from groupfs.utils.types import FloatArray, IntArray

#: Sparse tables whose columns' means exceed their deviations by more than this are filled in:
#: products of columns would lose their digits otherwise, and such tables hold few zeros.
LARGEST_OFFSET = 1e3
#: Above so many rows the error of a mean, added up row by row, is more than rounding; the mean of
#: what is left after centring corrects it.
MANY_ROWS = 1000
#: Squares of deviations below this lose digits or vanish: such columns count as constant.
SMALLEST_SPREAD = 1e-140
#: Columns whose products with random vectors differ by less are equal but for unit and zero.
SAME_KEY = 1e-9


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

    def add(self, block: Block, correct_mean: bool = False) -> Block:
        """Merge the rows of a block; return it, less its mean if it is dense."""
        with np.errstate(over="ignore", invalid="ignore"):
            measure = _measure_dense if isinstance(block, np.ndarray) else _measure_sparse
            mean, squares, centered = measure(block, correct_mean)
            self._merge(block.shape[0], mean, squares)
        return centered

    def merged(self, other: "ColumnMoments") -> "ColumnMoments":
        """Return the moments of these rows and others together."""
        both = ColumnMoments(len(self.mean))
        both._merge(self.n_rows, self.mean, self.squares)
        with np.errstate(over="ignore", invalid="ignore"):
            both._merge(other.n_rows, other.mean, other.squares)
        return both

    def _merge(self, n: int, mean: FloatArray, squares: FloatArray) -> None:
        before = self.n_rows
        self.n_rows += n
        if before == 0:
            self.mean, self.squares = mean, squares
        elif n:
            away = mean - self.mean
            self.mean = self.mean + away * (n / self.n_rows)
            self.squares = self.squares + (squares + away**2 * (before * n / self.n_rows))


def checked_spread(moments: ColumnMoments, names: Sequence[str]) -> FloatArray:
    """Return the deviations, 0 where they are only rounding; refuse those that overflow."""
    spread = moments.spread
    refuse_overflow(spread, names)
    rounding = 10 * np.finfo(np.float64).eps * np.sqrt(moments.n_rows) * np.abs(moments.mean)
    return np.where(spread <= np.maximum(rounding, SMALLEST_SPREAD), 0.0, spread)


def _measure_dense(block: Block, correct_mean: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    mean: FloatArray = block.sum(axis=0, dtype=np.float64) / block.shape[0]
    centered = block - mean
    if correct_mean:
        rest = centered.mean(axis=0)
        centered -= rest
        mean += rest
    return mean, np.einsum("ij,ij->j", centered, centered), centered


def _measure_sparse(block: Block, correct_mean: bool) -> tuple[FloatArray, FloatArray, Block]:
    n, d = block.shape
    values, column = block.data.astype(np.float64), block.indices
    mean = np.bincount(column, values, minlength=d).astype(np.float64) / n
    n_zeros = n - np.bincount(column, minlength=d)
    if correct_mean:
        rest = np.bincount(column, values - mean[column], minlength=d)
        mean += (rest - n_zeros * mean) / n
    squares = np.bincount(column, (values - mean[column]) ** 2, minlength=d)
    return mean, squares + n_zeros * np.where(n_zeros > 0, mean, 0) ** 2, block


def order_columns(
    X: FloatArray | sp.csr_array, center: FloatArray, spread: FloatArray, columns: IntArray
) -> tuple[IntArray, IntArray]:
    """Order columns of a centred dense or a sparse X by content, and find twins among them."""
    vectors = np.random.default_rng(0).standard_normal((X.shape[0], 3))
    if isinstance(X, np.ndarray):
        keys = (X.T @ vectors)[columns] / spread[columns, None]
    else:
        keys = standardized_rows(X, columns, center, spread, True).project(vectors)
    return order_by_keys(keys / np.sqrt(X.shape[0]))


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


def standardized_rows(
    X: FloatArray | sp.csr_array,
    columns: IntArray,
    center: FloatArray,
    spread: FloatArray,
    standardize: bool,
) -> RowsInMemory:
    """Build rows of some columns of a centred dense or a sparse X."""
    mean, deviation = center[columns], spread[columns]
    scale = column_scale(deviation, standardize)
    if isinstance(X, np.ndarray):
        Z = np.take(X, columns, axis=1)
        Z /= scale
        return DenseRows(Z)
    table = sp.csr_array(sp.csc_array(X)[:, columns])
    if (np.abs(mean) <= LARGEST_OFFSET * deviation).all():
        return SparseRows(table, mean, scale, X.shape[0] * (deviation / scale) ** 2)
    return DenseRows((table.toarray() - mean) / scale)


def standardized_columns(matrix: Any, columns: IntArray) -> FloatArray:
    """Return some columns, dense, centred and of variance one; constant ones are zero."""
    chosen = matrix[:, columns]
    return np.asarray(preprocessing.scale(chosen.toarray() if sp.issparse(chosen) else chosen))
