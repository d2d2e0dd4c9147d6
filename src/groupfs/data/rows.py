"""The standardised table as the other rooms see it: rows on demand, products of columns on demand.

A dense table is standardised once. A sparse one stays sparse: its rows are standardised as they are
taken, its columns multiplied without being filled in.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.memory_plan import BLOCK_ENTRIES, CUDA_ENTRIES, Plan, block_rows
from groupfs.utils.types import FloatArray, IntArray


class Rows(Protocol):
    """N standardised rows of d features."""

    shape: tuple[int, int]
    device: torch.device  #: where indices of rows are wanted
    column_norms: FloatArray  #: squared norm of every column, (d,)

    @property
    def owner(self) -> IntArray | None:
        """Feature of every column, where features own several, (p,)."""

    @property
    def plan(self) -> Plan | None:
        """How many rows may be held at a time; None for rows that are all in memory."""

    @property
    def is_exact(self) -> bool:
        """Whether all products of columns are affordable."""

    @property
    def columns_at_once(self) -> int:
        """Columns to ask the products of at a time."""

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        """Fix where batches go."""

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        """Return rows by index, (B, d); into ``out`` if given."""

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        """Return random rows, or all where there are no more, (n_rows, d)."""

    def batches(self, n_steps: int, rng: np.random.Generator, out: Tensor) -> Iterator[None]:
        """Fill ``out`` (B, d) with other random rows for every step of an epoch."""

    def column_products(self, start: int, stop: int, single: bool = False) -> Tensor:
        """Multiply columns start..stop with all, (stop - start, d), double precision.

        With ``single`` in single precision where that is faster.
        """

    def products_of(self, columns: IntArray) -> Tensor:
        """Multiply some columns with all, (p, d), double precision."""

    def group_products(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        """Multiply every column with the sum of its group, (d,); norms of the sums, (C,)."""

    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        """Find the lowest and the highest value of every column, (d,) each."""

    def columns_of(self, features: IntArray) -> IntArray:
        """Find the columns of rows that features own: one each, unless they are of other kinds."""

    def restricted(self, columns: IntArray) -> "Rows":
        """Return some of the columns."""

    def shuffled(self, rng: np.random.Generator) -> "Rows":
        """Return the columns, each shuffled on its own."""

    def resampled(self, index: IntArray, standardize: bool) -> "Rows":
        """Return some of the rows, centred and, if so wanted, standardised anew."""


class RowsInMemory(Rows, ABC):
    """Rows that can also be asked for whole columns and for products of all rows."""

    plan: Plan | None = None
    is_exact: bool = True
    owner: IntArray | None = None
    block_entries: int = BLOCK_ENTRIES

    @abstractmethod
    def restricted(self, columns: IntArray) -> "RowsInMemory":
        """Return some of the columns."""

    @abstractmethod
    def columns(self, start: int, stop: int) -> FloatArray:
        """Return columns start..stop, (N, stop - start)."""

    @abstractmethod
    def project(self, vectors: FloatArray) -> FloatArray:
        """Multiply the columns with vectors over the samples, (N, m) to (d, m)."""

    @abstractmethod
    def combine(self, weights: FloatArray) -> FloatArray:
        """Add up the columns with weights, (d, m) to (N, m)."""

    @abstractmethod
    def row_products(self, start: int, stop: int) -> Tensor:
        """Multiply rows start..stop with all, (stop - start, N), double precision."""

    @property
    def columns_at_once(self) -> int:
        entries = max(self.block_entries, CUDA_ENTRIES if self.device.type == "cuda" else 0)
        return block_rows(self.shape[1], entries)

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        return self.take(torch.from_numpy(rng.permutation(self.shape[0])[:n_rows]))

    def columns_of(self, features: IntArray) -> IntArray:
        return features

    def group_products(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        sums = self.combine(np.eye(n_groups)[labels])
        products = self.project(sums)[np.arange(len(labels)), labels]
        return products, np.linalg.norm(sums, axis=0)

    def batches(self, n_steps: int, rng: np.random.Generator, out: Tensor) -> Iterator[None]:
        # the first rows fill up a last batch
        order = np.resize(rng.permutation(self.shape[0]), n_steps * len(out))
        for batch in torch.from_numpy(order).to(self.device).split(len(out)):
            self.take(batch, out=out)
            yield


class DenseRows(RowsInMemory):
    """Rows of a dense table, in double precision or, as the sample of a large one, in single."""

    def __init__(self, Z: NDArray[np.floating[Any]], block_entries: int = BLOCK_ENTRIES) -> None:
        self.Z = Z
        self.block_entries = block_entries
        self.shape = (Z.shape[0], Z.shape[1])
        self.column_norms = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
        self.device = torch.device("cpu")
        self._dtype = torch.float32
        self._tensor: Tensor | None = None
        self._double: Tensor | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Send the table to other processes once, without its copies as tensors."""
        return {**self.__dict__, "_tensor": None, "_double": None}

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

    def _like(self, Z: NDArray[np.floating[Any]]) -> "DenseRows":
        """Make rows that go where these go; their tensor is made when it is asked for."""
        rows = DenseRows(Z, self.block_entries)
        rows.device, rows._dtype = self.device, self._dtype
        return rows

    def resampled(self, index: IntArray, standardize: bool) -> "DenseRows":
        Z = self.Z[index]
        Z -= Z.mean(0)
        return self._like(Z / at_least_rounding(Z.std(0), 1.0) if standardize else Z)


class SparseRows(RowsInMemory):
    """Rows of a sparse table, standardised as (x - mean) / scale when they are taken."""

    def __init__(
        self, X: sp.csr_array, mean: FloatArray, scale: FloatArray, column_norms: FloatArray
    ) -> None:
        self.X = X
        self.mean = mean
        self.scale = scale
        self.shape = (X.shape[0], X.shape[1])
        self.column_norms = column_norms
        self.device = self._target = torch.device("cpu")
        self._dtype = torch.float32
        self._by_column: sp.csc_array | None = None

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        self._target, self._dtype = device, dtype

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        rows = (self.X[index.cpu().numpy()].toarray() - self.mean) / self.scale
        batch = torch.as_tensor(rows, dtype=self._dtype, device=self._target)
        return batch if out is None else out.copy_(batch)

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

    def column_products(self, start: int, stop: int, single: bool = False) -> Tensor:
        return self.products_of(np.arange(start, stop))

    def products_of(self, columns: IntArray) -> Tensor:
        raw = (self.X[:, columns].T @ self.X).toarray()
        raw -= self.shape[0] * np.outer(self.mean[columns], self.mean)
        return torch.from_numpy(raw / np.outer(self.scale[columns], self.scale))

    def row_products(self, start: int, stop: int) -> Tensor:
        scaled = self.X.multiply(1 / self.scale).tocsr()
        center = self.mean / self.scale
        offsets = scaled @ center
        raw = (scaled[start:stop] @ scaled.T).toarray()
        raw -= offsets[start:stop, None] + offsets - center @ center
        return torch.from_numpy(raw)

    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        lowest, highest = self.X.min(axis=0).toarray(), self.X.max(axis=0).toarray()
        return (lowest - self.mean) / self.scale, (highest - self.mean) / self.scale

    def restricted(self, columns: IntArray) -> "SparseRows":
        own = (self.mean[columns], self.scale[columns], self.column_norms[columns])
        part = SparseRows(sp.csr_array(self.X[:, columns]), *own)
        part.to(self._target, self._dtype)
        return part

    def shuffled(self, rng: np.random.Generator) -> "SparseRows":
        columns = sp.csc_array(self.X)
        indices = np.concatenate(
            [rng.choice(self.shape[0], size, replace=False) for size in np.diff(columns.indptr)]
        )
        moved = sp.csc_array((columns.data, indices, columns.indptr), shape=self.shape)
        return SparseRows(sp.csr_array(moved), self.mean, self.scale, self.column_norms)

    def resampled(self, index: IntArray, standardize: bool) -> "SparseRows":
        X = self.X[index]
        mean = np.asarray(X.sum(axis=0)).ravel() / len(index)
        square = np.asarray(X.multiply(X).sum(axis=0)).ravel() / len(index)
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        scale = at_least_rounding(deviation, self.scale) if standardize else self.scale
        return SparseRows(X, mean, scale, len(index) * (deviation / scale) ** 2)


def at_least_rounding(spread: FloatArray, unit: FloatArray | float) -> FloatArray:
    """Put a unit in place of deviations that are zero: some rows of a column may be equal."""
    return np.where(spread > 1e-12 * unit, spread, unit)
