"""Tables that are read in pieces: files, dask arrays, whatever has a shape and rows to slice."""

from __future__ import annotations

import contextlib
import math
import mmap
from collections.abc import Iterator
from numbers import Integral
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupfs.data.memory_plan import FEWEST_DRAWN, MOST_DRAWN, block_rows
from groupfs.utils.types import IntArray

#: A few rows as they came: a dense array or a scipy CSR array.
Block: TypeAlias = Any


class Source(Protocol):
    """N rows of d columns, read from start to stop."""

    shape: tuple[int, int]
    n_entries: int | None  #: stored entries of a sparse table, as far as known; None if dense
    width: int  #: numbers that are read with each row
    drawn_rows: int  #: neighbouring rows that are best read together; 1 if any can be had at once

    def read(self, start: int, stop: int) -> Block:
        """Read rows start..stop, to be looked at, not to be changed."""

    def gather(self, rows: IntArray) -> Block:
        """Read rows by number, in any order."""


def is_lazy(X: Any) -> bool:
    """Tell whether X is not yet in memory, but has a shape and gives rows when sliced."""
    if isinstance(X, PartSource):
        return True
    if isinstance(X, np.ndarray) or sp.issparse(X) or hasattr(X, "columns") or hasattr(X, "detach"):
        return isinstance(X, np.memmap)
    shape = getattr(X, "shape", None)
    return isinstance(shape, tuple) and len(shape) == 2 and hasattr(X, "__getitem__")


def as_source(X: Any) -> Source | None:
    """Wrap X to be read in pieces; None if it is no table of numbers of a known kind."""
    if isinstance(X, PartSource):
        return X
    if hasattr(X, "columns") and hasattr(X, "compute"):
        raise ValueError(
            "X is a DataFrame of dask; give X.to_dask_array(lengths=True), which has a known shape."
        )
    shape: Any = getattr(X, "shape", None)
    known = isinstance(X, np.ndarray | np.generic) or hasattr(X, "detach")
    if isinstance(shape, tuple) and len(shape) != 2 and not known:
        raise ValueError(f"X has shape {shape}; a table has two dimensions, rows and columns.")
    if not isinstance(shape, tuple) or len(shape) != 2 or hasattr(X, "detach"):
        return None
    if isinstance(X, np.ndarray):
        return ArraySource(X) if X.dtype.kind in "fiub" else None
    if sp.issparse(X):
        return SparseSource(X) if X.dtype.kind in "fiub" and X.dtype != np.float16 else None
    if hasattr(X, "iloc"):
        complex_columns = any(np.dtype(t).kind == "c" for t in X.dtypes if isinstance(t, np.dtype))
        return None if complex_columns else FrameSource(X)
    if hasattr(X, "columns") or not hasattr(X, "__getitem__"):
        return None
    if getattr(X, "format", None) == "csc":  # rows of such a file are all over it
        return SparseSource(X.to_memory() if hasattr(X, "to_memory") else X[:])
    return SlicedSource(X)


def read_blocks(source: Source, size: int | None = None) -> Iterator[Block]:
    """Yield all rows in order, so many at a time."""
    size = size or block_rows(source.width)
    for start in range(0, source.shape[0], size):
        yield source.read(start, min(start + size, source.shape[0]))


def read_whole(source: Source) -> Block:
    """Read all rows."""
    blocks = list(read_blocks(source))
    return stack_blocks(blocks) if blocks else np.zeros(source.shape)


def read_columns(source: Source, columns: IntArray) -> Block:
    """Read all rows of some columns."""
    return read_whole(PartSource(source, columns=columns))


def stack_blocks(blocks: list[Block]) -> Block:
    """Put blocks one below the other."""
    if len(blocks) == 1:
        return blocks[0]
    if sp.issparse(blocks[0]):
        return sp.csr_array(sp.vstack(blocks, format="csr"))
    return np.concatenate(blocks)


class _WholeTable:
    """A table that is one object of a known shape."""

    n_entries: int | None = None
    drawn_rows: int = 1

    def __init__(self, X: Any) -> None:
        self.X = X
        n_rows, self.width = X.shape
        if not isinstance(n_rows, Integral) or not isinstance(self.width, Integral):
            raise ValueError(
                f"X has shape {X.shape}, but the numbers of its rows and columns must be known; of "
                "a dask array compute_chunk_sizes() finds them."
            )
        self.shape = (int(n_rows), int(self.width))


class ArraySource(_WholeTable):
    """An array in memory or mapped into it; pages of a file are dropped once they are read."""

    def __init__(self, X: NDArray[Any]) -> None:
        super().__init__(X)
        self.drawn_rows = FEWEST_DRAWN if isinstance(X, np.memmap) else 1
        mapped = getattr(X, "_mmap", None)
        # changes to a private copy ("c") are in the pages themselves
        self.pages = mapped if getattr(X, "mode", None) in ("r", "r+") else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Other processes open the file themselves where X is one, as a whole."""
        X: Any = self.X
        whole = isinstance(X, np.memmap) and isinstance(X.base, mmap.mmap)
        if not whole or X.filename is None or self.pages is None:
            return ArraySource, (np.asarray(X),)
        order = "C" if X.flags.c_contiguous else "F"
        return _map_file, (str(X.filename), X.dtype, X.offset, X.shape, order)

    def read(self, start: int, stop: int) -> Block:
        block = np.array(self.X[start:stop], order="C", subok=False)
        self.drop_pages()
        return block

    def drop_pages(self) -> None:
        """Drop pages of the file from memory, where they would count as ours."""
        if isinstance(self.pages, mmap.mmap) and hasattr(self.pages, "madvise"):
            with contextlib.suppress(OSError, ValueError):
                self.pages.madvise(mmap.MADV_DONTNEED)

    def gather(self, rows: IntArray) -> Block:
        return np.asarray(self.X[rows])


class SparseSource(_WholeTable):
    """A scipy matrix in memory, by rows."""

    def __init__(self, X: Any) -> None:
        super().__init__(sp.csr_array(X))
        self.n_entries = int(self.X.nnz)
        self.is_canonical = bool(self.X.has_canonical_format)

    def read(self, start: int, stop: int) -> Block:
        first, last = self.X.indptr[start], self.X.indptr[stop]
        parts = (self.X.data[first:last], self.X.indices[first:last])
        block = sp.csr_array(
            (*parts, self.X.indptr[start : stop + 1] - first),
            shape=(stop - start, self.shape[1]),
            copy=not self.is_canonical,  # summing duplicates must not reach the table itself
        )
        return self._canonical(block)

    def gather(self, rows: IntArray) -> Block:
        return self._canonical(self.X[rows])

    def _canonical(self, block: sp.csr_array) -> Block:
        if not self.is_canonical:
            return _sum_duplicates(block)
        block.has_sorted_indices = block.has_canonical_format = True  # need not be looked at again
        return block


class FrameSource(_WholeTable):
    """A DataFrame whose columns are numbers."""

    def read(self, start: int, stop: int) -> Block:
        return self.X.iloc[start:stop].to_numpy(dtype=np.float64, na_value=np.nan)

    def gather(self, rows: IntArray) -> Block:
        return self.X.iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)


class SlicedSource(_WholeTable):
    """Anything else that gives rows when sliced: h5py, zarr, dask, AnnData's backed matrices."""

    def __init__(self, X: Any) -> None:
        super().__init__(X)
        if getattr(X, "format", None) in ("csr", "csc"):  # AnnData's sparse matrices in files
            self.n_entries = _stored_entries(X)
        self.drawn_rows = min(max(_rows_of_chunk(X), FEWEST_DRAWN), MOST_DRAWN)

    def read(self, start: int, stop: int) -> Block:
        block = self.X[start:stop]
        if hasattr(block, "compute"):  # dask
            block = block.compute()
        if sp.issparse(block):
            return _sum_duplicates(sp.csr_array(block))
        block = np.asarray(block)
        if block.dtype.kind not in "fiub":
            raise ValueError(
                f"X[{start}:{stop}] of a {type(self.X).__name__} holds {block.dtype}, not numbers; "
                "give a table of numbers."
            )
        if block.shape != (stop - start, self.shape[1]):
            raise ValueError(
                f"X[{start}:{stop}] of a {type(self.X).__name__} has shape {block.shape}, not "
                f"{stop - start} rows of {self.shape[1]} numbers; give a table whose slices are "
                "its rows."
            )
        return block

    def gather(self, rows: IntArray) -> Block:
        ascending, back = np.unique(rows, return_inverse=True)
        return _read_in_runs(self, ascending)[back]


class PartSource:
    """Some rows (ascending, may repeat) or some columns of another source."""

    def __init__(
        self, source: Source, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> None:
        self.source, self.rows, self.columns = source, rows, columns
        n_rows = source.shape[0] if rows is None else len(rows)
        self.shape = (n_rows, source.shape[1] if columns is None else len(columns))
        self.width, self.drawn_rows = source.width, source.drawn_rows
        self.n_entries = source.n_entries
        if source.n_entries is not None:  # as if they were spread evenly
            share = math.prod(self.shape) / max(1, math.prod(source.shape))
            self.n_entries = math.ceil(share * source.n_entries)

    def read(self, start: int, stop: int) -> Block:
        if self.rows is None:
            block = self.source.read(start, stop)
        else:
            block = _read_in_runs(self.source, self.rows[start:stop])
        return block if self.columns is None else block[:, self.columns]

    def gather(self, rows: IntArray) -> Block:
        block = self.source.gather(rows if self.rows is None else self.rows[rows])
        return block if self.columns is None else block[:, self.columns]


def _read_in_runs(source: Source, rows: IntArray) -> Block:
    """Read ascending rows in runs that are near each other, none spanning more than all rows."""
    far_apart = np.flatnonzero(np.diff(rows) > FEWEST_DRAWN) + 1
    runs: list[IntArray] = []
    for run in np.split(rows, far_apart):
        span = (run - run[0]) // len(rows)
        runs.extend(np.split(run, np.flatnonzero(np.diff(span)) + 1))
    return stack_blocks([source.read(int(run[0]), int(run[-1]) + 1)[run - run[0]] for run in runs])


def _map_file(
    name: str, dtype: Any, offset: int, shape: tuple[int, int], order: Any
) -> ArraySource:
    return ArraySource(np.memmap(name, dtype, "r", offset, shape, order))


def _sum_duplicates(block: sp.csr_array) -> sp.csr_array:
    if not block.has_canonical_format:
        block.sum_duplicates()
    return block


def _stored_entries(X: Any) -> int:
    group = getattr(X, "group", None)
    return math.prod(X.shape) if group is None else int(group["data"].shape[0])


def _rows_of_chunk(X: Any) -> int:
    chunks = getattr(X, "chunks", None)
    try:
        first = chunks[0] if chunks else 1
        return int(max(first)) if isinstance(first, tuple) else int(first)
    except (TypeError, ValueError):
        return 1
