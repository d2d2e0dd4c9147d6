"""Hold the standardised rows of a dense table."""

from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.memory import BLOCK_ENTRIES
from groupfs.data.standardize import at_least_rounding, mean_and_deviation
from groupfs.data.table import RowsInMemory
from groupfs.utils.types import FloatArray, IntArray


@final
class DenseRows(RowsInMemory):
    """Rows of a dense table, in double precision or, as the sample of a large one, in single."""

    def __init__(self, Z: NDArray[np.floating[Any]], block_entries: int = BLOCK_ENTRIES) -> None:
        self.Z = Z
        self.block_entries = block_entries
        self.shape = (Z.shape[0], Z.shape[1])
        self.column_norms = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
        self.feature_of_column = np.arange(Z.shape[1])
        self.device = torch.device("cpu")
        self._dtype = torch.float32
        self._tensor: Tensor | None = None
        self._double: Tensor | None = None

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        self.device, self._dtype = device, dtype
        self._double = None
        self._tensor = torch.tensor(self.Z, dtype=dtype, device=device)

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        if self._tensor is None:
            self.to(self.device, self._dtype)
        assert self._tensor is not None
        return torch.index_select(self._tensor, 0, index.to(self.device), out=out)

    def columns(self, start: int, stop: int) -> FloatArray:
        return np.asarray(self.Z[:, start:stop], dtype=np.float64)

    def feature_values(self, index: IntArray, labels: IntArray, signs: IntArray) -> FloatArray:
        return np.asarray(self.Z[index], dtype=np.float64)

    def project(self, vectors: FloatArray) -> FloatArray:
        return self.Z.T @ vectors

    def combine(self, weights: FloatArray) -> FloatArray:
        return self.Z @ weights

    def column_products(self, start: int, stop: int, single: bool = False) -> Tensor:
        if single and self.device.type == "cpu":
            Z = self.take(torch.arange(self.shape[0])) if self._tensor is None else self._tensor
            return Z[:, start:stop].T @ Z
        Z = self._on_device()
        return (Z[:, start:stop].T @ Z).double()

    def products_of(self, columns: IntArray) -> Tensor:
        Z = self._on_device()
        return (Z[:, torch.as_tensor(columns, device=Z.device)].T @ Z).double()

    def row_products(self, start: int, stop: int) -> Tensor:
        if self.device.type == "cpu":  # the threads of numpy are awake already
            return torch.from_numpy(self.Z[start:stop] @ self.Z.T)
        Z = self._on_device()
        return Z[start:stop] @ Z.T

    def _on_device(self) -> Tensor:
        if self._double is None:
            self._double = torch.as_tensor(self.Z, device=self.device)
        return self._double

    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        return self.Z.min(axis=0).astype(float), self.Z.max(axis=0).astype(float)

    def restricted(self, columns: IntArray) -> "DenseRows":
        return self._like(np.ascontiguousarray(self.Z[:, columns]))

    def shuffled(self, rng: np.random.Generator) -> "DenseRows":
        return self._like(rng.permuted(self.Z, axis=0))

    def without_common_column(self, share: float) -> "DenseRows":
        shared, norm = self.Z.mean(axis=1, keepdims=True), self.column_norms.mean()
        is_alike = norm - np.square(shared).sum() < share * norm
        return self._like(self.Z - shared) if is_alike else self

    def resampled(self, index: IntArray, standardize: bool) -> "DenseRows":
        mean, deviation = mean_and_deviation(self.Z[index])
        scale = at_least_rounding(deviation, 1.0) if standardize else 1.0
        return self._like(((self.Z[index] - mean) / scale).astype(self.Z.dtype, copy=False))

    def _like(self, Z: NDArray[np.floating[Any]]) -> "DenseRows":
        """Make rows that go where these go; their tensor is made when it is asked for."""
        rows = DenseRows(Z, self.block_entries)
        rows.device, rows._dtype = self.device, self._dtype
        return rows
