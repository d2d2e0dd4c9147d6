"""Hold the rows of a sparse table, which stay sparse."""

from functools import cached_property
from typing import final

import numpy as np
import scipy.sparse as sp

from groupfs.data.nearest import UnitColumns
from groupfs.data.standardize import at_least_rounding, mean_and_deviation
from groupfs.data.table import RowsInMemory
from groupfs.utils.types import FloatArray, IntArray

#: Numbers of a table that may be filled in, in single precision (1 GB), to be compared quickly.
MOST_FILLED = 2**28


@final
class SparseRows(RowsInMemory):
    """Rows of a sparse table, standardised as (x - mean) / scale when they are taken.

    Columns are multiplied without being filled in.
    """

    def __init__(
        self, X: sp.csr_array, mean: FloatArray, scale: FloatArray, column_norms: FloatArray
    ) -> None:
        self.X, self.mean, self.scale, self.column_norms = X, mean, scale, column_norms
        self.shape, self.feature_of_column = (X.shape[0], X.shape[1]), np.arange(X.shape[1])
        self._by_column: sp.csc_array | None = None

    @cached_property
    def unit(self) -> UnitColumns | None:
        if self.shape[0] * self.shape[1] > MOST_FILLED:
            return None
        norms = self.scale * np.sqrt(
            self.column_norms
        )  # 0 of columns that are constant in a sample
        inverse = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        Z = self.X.astype(np.float32).toarray()
        Z -= self.mean.astype(np.float32)
        Z *= inverse.astype(np.float32)
        return UnitColumns(Z, self.device)

    def take(self, index: IntArray) -> FloatArray:
        return np.asarray((self.X[index].toarray() - self.mean) / self.scale)

    def columns(self, start: int, stop: int) -> FloatArray:
        if self._by_column is None:
            self._by_column = sp.csc_array(self.X)
        raw = self._by_column[:, start:stop].toarray()
        return np.asarray((raw - self.mean[start:stop]) / self.scale[start:stop])

    def project(self, vectors: FloatArray) -> FloatArray:
        raw = self.X.T @ vectors - np.outer(self.mean, vectors.sum(0))
        return np.asarray(raw / self.scale[:, None])

    def combine(self, weights: FloatArray) -> FloatArray:
        scaled = weights / self.scale[:, None]
        return np.asarray(self.X @ scaled - self.mean @ scaled)

    def products_of(self, columns: IntArray | slice) -> FloatArray:
        raw = (self.X[:, columns].T @ self.X).toarray()
        raw -= self.shape[0] * np.outer(self.mean[columns], self.mean)
        return np.asarray(raw / np.outer(self.scale[columns], self.scale))

    def row_products(self, start: int, stop: int) -> FloatArray:
        scaled, center = self.X.multiply(1 / self.scale).tocsr(), self.mean / self.scale
        offsets = scaled @ center
        raw = (scaled[start:stop] @ scaled.T).toarray()
        raw -= offsets[start:stop, None] + offsets - center @ center
        return np.asarray(raw)

    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        lowest, highest = self.X.min(axis=0).toarray(), self.X.max(axis=0).toarray()
        return (lowest - self.mean) / self.scale, (highest - self.mean) / self.scale

    def restricted(self, columns: IntArray) -> "SparseRows":
        own = (self.mean[columns], self.scale[columns], self.column_norms[columns])
        return SparseRows(sp.csr_array(self.X[:, columns]), *own)

    def shuffled(self, rng: np.random.Generator) -> "SparseRows":
        columns = sp.csc_array(self.X)
        indices = np.concatenate(
            [rng.choice(self.shape[0], size, replace=False) for size in np.diff(columns.indptr)]
        )
        moved = sp.csc_array((columns.data, indices, columns.indptr), shape=self.shape)
        return SparseRows(sp.csr_array(moved), self.mean, self.scale, self.column_norms)

    def resampled(self, index: IntArray) -> "SparseRows":
        X = self.X[index]
        mean, deviation = mean_and_deviation(X)
        scale = at_least_rounding(deviation, self.scale)
        return SparseRows(X, mean, scale, len(index) * (deviation / scale) ** 2)
