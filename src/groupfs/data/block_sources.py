"""Tables that are read in pieces: files, dask arrays, whatever has a shape and rows to slice."""

import contextlib
import math
import mmap
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from tqdm import tqdm

from groupfs.data.blocks import Block, checked_block, stack_blocks, sum_duplicates
from groupfs.data.dask_passes import ChunkedRows, Work, chunked_rows, gather_rows, run_pass
from groupfs.data.memory_plan import FEWEST_DRAWN, MOST_DRAWN, block_rows
from groupfs.utils.types import IntArray


class Source(ABC):
    """N rows of d columns, read from start to stop."""

    n_entries: int | None = None  #: stored entries of a sparse table, as far as known
    drawn_rows: int = 1  #: neighbouring rows that are best read together; 1 if any can be had
    is_remote: bool = False  #: whether the rows lie elsewhere, and passes over them run there

    def __init__(self, shape: tuple[int, int], width: int | None = None) -> None:
        self.shape = shape
        self.width = shape[1] if width is None else width  #: numbers that are read with each row

    def read(self, start: int, stop: int) -> Block:
        """Read rows start..stop, to be looked at, not to be changed."""
        return self.gather(slice(start, stop))

    @abstractmethod
    def gather(self, rows: Any) -> Block:
        """Read rows by number, in any order."""

    def run_there(self, work: Work, what: str, verbose: bool, rows: IntArray | None = None) -> Any:
        """Do work on all rows, or on some, where they lie; only a remote source can."""
        raise NotImplementedError


def is_lazy(X: Any) -> bool:
    """Tell whether X is not yet in memory, but has a shape and gives rows when sliced."""
    if isinstance(X, Source) or is_dask_frame(X):
        return True
    if isinstance(X, np.ndarray) or sp.issparse(X) or hasattr(X, "columns") or hasattr(X, "detach"):
        return isinstance(X, np.memmap)
    return len(getattr(X, "shape", ())) == 2 and hasattr(X, "__getitem__")


def as_source(X: Any) -> Source | None:
    """Wrap X to be read in pieces; None if it is no table of numbers of a known kind."""
    if isinstance(X, Source):
        return X
    if is_dask_frame(X):
        return DaskSource(X.to_dask_array(lengths=True))
    if isinstance(X, np.ndarray):
        return ArraySource(X) if X.ndim == 2 and X.dtype.kind in "fiub" else None
    if sp.issparse(X):
        return SparseSource(X) if X.dtype.kind in "fiub" and X.dtype != np.float16 else None
    if hasattr(X, "iloc") and X.ndim == 2:
        return FrameSource(X)
    if hasattr(X, "columns") or hasattr(X, "detach") or not hasattr(X, "__getitem__"):
        return None
    if getattr(X, "format", None) == "csc":  # of AnnData: rows of such a file are all over it
        return SparseSource(X.to_memory())
    if hasattr(X, "shape"):
        return DaskSource(X) if hasattr(X, "to_delayed") else SlicedSource(X)
    return None


def is_dask_frame(X: Any) -> bool:
    """Tell whether X is a DataFrame of dask."""
    return hasattr(X, "to_dask_array")


def describing_frame(X: Any) -> Any:
    """Return what tells names and types of the columns: of a dask DataFrame one without rows."""
    return X._meta if is_dask_frame(X) else X


def read_blocks(source: Source, size: int | None = None) -> Iterator[Block]:
    """Yield all rows in order, so many at a time."""
    size = size or block_rows(source.width)
    for start in range(0, source.shape[0], size):
        yield source.read(start, min(start + size, source.shape[0]))


def read_whole(source: Source) -> Block:
    """Read all rows."""
    if source.is_remote and source.shape[0]:  # a block of it would be made again for every read
        return source.read(0, source.shape[0])
    blocks = list(read_blocks(source))
    return stack_blocks(blocks) if blocks else np.zeros(source.shape)


def read_columns(source: Source, columns: IntArray) -> Block:
    """Read all rows of some columns."""
    if isinstance(source, DaskSource):
        return read_whole(source.restricted(columns))
    return read_whole(PartSource(source, columns=columns))


class ArraySource(Source):
    """An array in memory or mapped into it; pages of a file are dropped once they are read."""

    def __init__(self, X: NDArray[Any]) -> None:
        super().__init__(X.shape)
        self.X: Any = X
        self.drawn_rows = FEWEST_DRAWN if isinstance(X, np.memmap) else 1
        # changes to a private copy ("c") are in the pages themselves
        is_file = isinstance(X, np.memmap) and X.mode in ("r", "r+")
        self.pages = getattr(X, "_mmap", None) if is_file else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Let other processes open the file themselves where X is one, as a whole."""
        X = self.X
        if self.pages is None or not isinstance(X.base, mmap.mmap) or X.filename is None:
            return ArraySource, (np.asarray(X),)
        order = "C" if X.flags.c_contiguous else "F"
        return _map_file, (str(X.filename), X.dtype, "r", X.offset, X.shape, order)

    def read(self, start: int, stop: int) -> Block:
        block = np.array(self.X[start:stop], order="C", subok=False)
        self.drop_pages()
        return block

    def drop_pages(self) -> None:
        """Drop pages of the file from memory, where they would count as ours."""
        if self.pages is not None and hasattr(self.pages, "madvise"):
            with contextlib.suppress(OSError, ValueError):
                self.pages.madvise(mmap.MADV_DONTNEED)

    def gather(self, rows: Any) -> Block:
        return np.asarray(self.X[rows])


def _map_file(*description: Any) -> ArraySource:
    return ArraySource(np.memmap(*description))


class SparseSource(Source):
    """A scipy matrix in memory, by rows."""

    def __init__(self, X: Any) -> None:
        super().__init__(X.shape)
        self.X = sp.csr_array(X)
        self.n_entries = int(self.X.nnz)

    def gather(self, rows: Any) -> Block:
        return sum_duplicates(self.X[rows])


class FrameSource(Source):
    """A DataFrame whose columns are numbers."""

    def __init__(self, X: Any) -> None:
        super().__init__(X.shape)
        self.X = X

    def gather(self, rows: Any) -> Block:
        return self.X.iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)


class SlicedSource(Source):
    """Anything else that gives rows when sliced: h5py, zarr, AnnData's backed matrices."""

    def __init__(self, X: Any) -> None:
        if len(X.shape) != 2:
            raise ValueError(
                f"X has shape {X.shape}; a table has two dimensions, rows and columns."
            )
        if np.isnan(X.shape).any():
            raise ValueError(
                f"X has shape {X.shape}, but the numbers of its rows and columns must be known; of "
                "a dask array compute_chunk_sizes() finds them."
            )
        super().__init__((int(X.shape[0]), int(X.shape[1])))
        self.X = X
        if getattr(X, "format", None) == "csr":  # AnnData's sparse matrices in files
            self.n_entries = int(X.group["data"].shape[0])
        rows_of_chunk = np.max((getattr(X, "chunks", None) or (1,))[0])
        self.drawn_rows = min(max(int(rows_of_chunk), FEWEST_DRAWN), MOST_DRAWN)

    def read(self, start: int, stop: int) -> Block:
        wanted = (stop - start, self.shape[1])
        what = f"X[{start}:{stop}] of a {type(self.X).__name__}"
        return checked_block(self._fetch(start, stop), wanted, what)

    def _fetch(self, start: int, stop: int) -> Any:
        return self.X[start:stop]

    def gather(self, rows: Any) -> Block:
        ascending, back = np.unique(rows, return_inverse=True)
        return _read_in_runs(self, ascending)[back]


class DaskSource(SlicedSource):
    """A dask array: passes over it run where its blocks are."""

    is_remote = True

    def __init__(self, X: Any) -> None:
        super().__init__(X)
        self._chunked: ChunkedRows | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return DaskSource, (self.X,)

    @property
    def chunked(self) -> ChunkedRows:
        """Rows divided among tasks."""
        if self._chunked is None:
            self._chunked = chunked_rows(self.X)
        return self._chunked

    def _fetch(self, start: int, stop: int) -> Any:
        return self.X[start:stop].compute()

    def gather(self, rows: Any) -> Block:
        ascending, back = np.unique(rows, return_inverse=True)
        return gather_rows(self.chunked, ascending)[back]

    def run_there(self, work: Work, what: str, verbose: bool, rows: IntArray | None = None) -> Any:
        with tqdm(desc=what, total=1, unit="pass", disable=not verbose) as bar:
            found = run_pass(self.chunked, work, rows)
            bar.update()
        return found

    def restricted(self, columns: IntArray) -> "DaskSource":
        """Return some of the columns."""
        return DaskSource(self.X[:, columns])


class PartSource(Source):
    """Some rows (ascending, may repeat) or some columns of another source."""

    def __init__(
        self, source: Source, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> None:
        n_rows = source.shape[0] if rows is None else len(rows)
        n_columns = source.shape[1] if columns is None else len(columns)
        super().__init__((n_rows, n_columns), source.width)
        self.source, self.rows, self.columns = source, rows, columns
        self.drawn_rows = source.drawn_rows
        self.is_remote = source.is_remote and columns is None
        if source.n_entries is not None:  # as if they were spread evenly
            share = math.prod(self.shape) / max(1, math.prod(source.shape))
            self.n_entries = math.ceil(share * source.n_entries)

    def read(self, start: int, stop: int) -> Block:
        if self.rows is None:
            block = self.source.read(start, stop)
        elif self.source.is_remote:
            block = self.source.gather(self.rows[start:stop])
        else:
            block = _read_in_runs(self.source, self.rows[start:stop])
        return block if self.columns is None else block[:, self.columns]

    def gather(self, rows: Any) -> Block:
        block = self.source.gather(rows if self.rows is None else self.rows[rows])
        return block if self.columns is None else block[:, self.columns]

    def run_there(self, work: Work, what: str, verbose: bool, rows: IntArray | None = None) -> Any:
        if self.rows is not None:
            rows = self.rows if rows is None else self.rows[rows]
        return self.source.run_there(work, what, verbose, rows)


def _read_in_runs(source: Source, rows: IntArray) -> Block:
    """Read ascending rows in runs that are near each other, none spanning more than all rows."""
    far_apart = np.flatnonzero(np.diff(rows) > FEWEST_DRAWN) + 1
    runs: list[IntArray] = []
    for run in np.split(rows, far_apart):
        span = (run - run[0]) // len(rows)
        runs.extend(np.split(run, np.flatnonzero(np.diff(span)) + 1))
    return stack_blocks([source.read(int(run[0]), int(run[-1]) + 1)[run - run[0]] for run in runs])
