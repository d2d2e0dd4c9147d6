"""Hold the standardised rows of a dense table."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from groupfs.data.memory import BLOCK_ENTRIES
from groupfs.data.nearest import UnitColumns
from groupfs.data.standardize import at_least_rounding, mean_and_deviation
from groupfs.data.table import RowsInMemory
from groupfs.utils.device import as_array, on_device
from groupfs.utils.threads import in_threads, spans
from groupfs.utils.types import FloatArray, IntArray

#: Numbers of rows that are multiplied in parts, and parts at most.
LARGE, MOST_PARTS = 2**22, 64


@final
class DenseRows(RowsInMemory):
    """Rows of a dense table, in double precision or, as the sample of a large one, in single."""

    def __init__(self, Z: NDArray[np.floating[Any]], block_entries: int = BLOCK_ENTRIES) -> None:
        self.Z, self.block_entries, self.shape = Z, block_entries, (Z.shape[0], Z.shape[1])
        self.column_norms = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
        self.feature_of_column = np.arange(Z.shape[1])
        self._factor: Any = None  #: the rows on the device

    def take(self, index: IntArray) -> FloatArray:
        return np.asarray(self.Z[index])

    def columns(self, start: int, stop: int) -> FloatArray:
        return np.asarray(self.Z[:, start:stop], dtype=np.float64)

    def project(self, vectors: FloatArray) -> FloatArray:
        if self.device is None:
            return _multiplied_in_parts(self.Z.T, vectors)
        return self._multiplied(lambda Z: Z.T.double() @ on_device(vectors, self.device))

    def combine(self, weights: FloatArray) -> FloatArray:
        return _multiplied_in_parts(self.Z, weights)

    @cached_property
    def unit(self) -> UnitColumns:
        norms = self.column_norms  # 0 of columns that are constant in a sample
        inverse = np.where(norms > 0, 1 / np.sqrt(np.maximum(norms, 1e-300)), 0)
        return UnitColumns(self.Z * inverse.astype(self.Z.dtype), self.device)

    def products_of(self, columns: IntArray | slice) -> FloatArray:
        return self._multiplied(lambda Z: Z[:, columns].T @ Z)

    def all_products(self) -> FloatArray:
        N, d = self.shape
        if self.device is not None or N * d <= LARGE:
            return super().all_products()
        found, step = np.zeros((d, d)), max(d, -(-N // MOST_PARTS))
        for part in in_threads(lambda a, b: self.Z[a:b].T @ self.Z[a:b], spans(N, step)):
            found += part
        return found

    def row_products(self, start: int, stop: int) -> FloatArray:
        return self._multiplied(lambda Z: Z[start:stop] @ Z.T)

    def _multiplied(self, multiply: Callable[[Any], Any]) -> FloatArray:
        if self.device is None:
            return np.asarray(multiply(self.Z), dtype=np.float64)
        if self._factor is None:
            self._factor = on_device(self.Z, self.device)
        return as_array(multiply(self._factor))

    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        return self._ends

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        return self.Z.min(axis=0).astype(float), self.Z.max(axis=0).astype(float)

    def restricted(self, columns: IntArray) -> "DenseRows":
        if self.Z.flags.c_contiguous:
            rows = self._like(np.take(self.Z, columns, axis=1))
        else:  # of which take copies all
            rows = self._like(np.ascontiguousarray(self.Z[:, columns]))
        if "_ends" in vars(self):
            rows._ends = (self._ends[0][columns], self._ends[1][columns])
        return rows

    def shuffled(self, rng: np.random.Generator) -> "DenseRows":
        values, rank = self._sorted
        rows = self._like(rng.permuted(values, axis=1)[rank].T)
        rows._ends = self._ends
        return rows

    @cached_property
    def _sorted(self) -> tuple[FloatArray, IntArray]:
        """Sorted columns in order of their shape, (d, N), and the place of each among them, (d,).

        Shuffled from there they are the same whatever the order of the rows.
        """
        order = np.argsort(np.einsum("ij,ij,ij->j", self.Z, self.Z, self.Z), kind="stable")
        return np.sort(self.Z.T[order], axis=1), np.argsort(order)

    def without_common_column(self, share: float) -> "DenseRows":
        shared, norm = self.Z.mean(axis=1, keepdims=True), self.column_norms.mean()
        is_alike = norm - np.square(shared).sum() < share * norm
        return self._like(self.Z - shared) if is_alike else self

    def resampled(self, index: IntArray) -> "DenseRows":
        mean, deviation = mean_and_deviation(self.Z[index])
        Z = (self.Z[index] - mean) / at_least_rounding(deviation, 1.0)
        return self._like(Z.astype(self.Z.dtype, copy=False))

    def _like(self, Z: NDArray[np.floating[Any]]) -> "DenseRows":
        rows = DenseRows(Z, self.block_entries)
        rows.device = self.device
        return rows


def _multiplied_in_parts(A: NDArray[Any], B: FloatArray) -> FloatArray:
    """Multiply two matrices, rows of a large first one in threads, (n, m) and (m, C) to (n, C)."""
    if A.size <= LARGE:
        return A @ B
    parts = spans(len(A), max(1, LARGE // A.shape[1]))
    return np.concatenate(list(in_threads(lambda a, b: A[a:b] @ B, parts)))
