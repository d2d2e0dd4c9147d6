"""Read tables in pieces: files, dask arrays, whatever has a shape and rows to slice."""

import contextlib
import math
import mmap
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupfs.data.memory import RUN_ROWS, block_rows
from groupfs.utils.text import join_names
from groupfs.utils.types import IntArray

#: A few rows as they came: a dense array or a scipy CSR array.
Block: TypeAlias = Any
#: Blocks that are read before they are asked for, at most.
PREFETCHED = 2


class Work(Protocol):
    """What is to be found in a pass over rows; it is sent to workers, and small."""

    @property
    def n_bytes(self) -> int:
        """Return about how large a finding is."""

    def split(self, spans: list[tuple[int, int]]) -> list[Any]:
        """Say what each task is told beside its rows, which are start..stop of the pass."""

    def measure(self, pieces: Iterator[Block], part: Any) -> Any:
        """Find what there is in some rows, given in pieces."""

    def merge(self, found: list[Any]) -> Any:
        """Make one of what was found in consecutive rows, and leave the parts as they are."""


class Source(ABC):
    """N rows of d columns, read from start to stop."""

    n_entries: int | None = None  #: stored entries of a sparse table, as far as known
    is_remote: bool = False  #: whether the rows lie elsewhere, and passes over them run there

    def __init__(self, shape: tuple[int, int], width: int | None = None) -> None:
        self.shape = shape
        self.width = shape[1] if width is None else width  #: numbers that are read with each row

    def read(self, start: int, stop: int) -> Block:
        """Read rows start..stop, to be looked at, not to be changed."""
        return self.gather(slice(start, stop))

    def stored(self, start: int, stop: int) -> Block:
        """Read rows start..stop as they are stored: entries at the same place are to be added."""
        return self.read(start, stop)

    @abstractmethod
    def gather(self, rows: Any) -> Block:
        """Read rows by number, in any order."""

    def restricted(self, columns: IntArray) -> "Source":
        """Return some of the columns."""
        return PartSource(self, columns)

    def run(self, work: Work, size: int) -> Any:
        """Do work in one pass over the rows, so many at a time."""
        pieces = prefetch(read_blocks(self, size))
        return work.measure(pieces, work.split([(0, self.shape[0])])[0])


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
    if is_dask_frame(X) or hasattr(X, "to_delayed"):
        from groupfs.data.dask_source import DaskSource

        return DaskSource(X.to_dask_array(lengths=True) if is_dask_frame(X) else X)
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
    return SlicedSource(X) if hasattr(X, "shape") else None


def is_dask_frame(X: Any) -> bool:
    """Tell whether X is a DataFrame of dask."""
    return hasattr(X, "to_dask_array")


def describing_frame(X: Any) -> Any:
    """Return what tells names and types of the columns: of a dask DataFrame one without rows.

    Names that occur more than once are refused.
    """
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, which has no rows yet; give X.collect().")
    counts = Counter(getattr(X, "columns", ()))
    if twice := [f"{name} ({times} times)" for name, times in counts.items() if times > 1]:
        raise ValueError(
            f"X has names of columns more than once: {join_names(twice)}; rename these."
        )
    return X._meta if is_dask_frame(X) else X


def read_blocks(source: Source, size: int | None = None) -> Iterator[Block]:
    """Yield all rows in order, so many at a time."""
    size = size or block_rows(source.width)
    for start in range(0, source.shape[0], size):
        yield source.read(start, min(start + size, source.shape[0]))


def prefetch(items: Iterable[Block], depth: int = PREFETCHED) -> Iterator[Block]:
    """Yield blocks, the next ones being read in a thread while the last one is used.

    An error in the thread is raised where the block would have been. Leaving early ends the thread.
    """
    source, end = iter(items), object()
    pool = ThreadPoolExecutor(1, "groupfs-prefetch")
    try:
        ready: deque[Any] = deque(pool.submit(next, source, end) for _ in range(depth))
        while (item := ready.popleft().result()) is not end:
            ready.append(pool.submit(next, source, end))
            yield item
    finally:
        pool.shutdown(cancel_futures=True)


def read_whole(source: Source) -> Block:
    """Read all rows."""
    if source.is_remote and source.shape[0]:  # a block of it would be made again for every read
        return source.read(0, source.shape[0])
    blocks = list(read_blocks(source))
    return stack_blocks(blocks) if blocks else np.zeros(source.shape)


def stack_blocks(blocks: list[Block]) -> Block:
    """Put blocks one below the other."""
    if len(blocks) == 1:
        return blocks[0]
    if sp.issparse(blocks[0]):
        return sp.csr_array(sp.vstack(blocks, format="csr"))
    return np.concatenate(blocks)


def sum_duplicates(block: sp.csr_array) -> sp.csr_array:
    """Add up entries at the same place, in a copy: the arrays may be those of the user."""
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    return block


def checked_block(block: Any, wanted: tuple[int, int], what: str) -> Block:
    """Return rows as an array or CSR array; refuse what is no block of numbers of this shape."""
    if sp.issparse(block):
        return sum_duplicates(sp.csr_array(block))
    block = np.asarray(block)
    if block.dtype.kind not in "fiub" or block.shape != wanted:
        raise ValueError(
            f"{what} holds {block.dtype} in shape {block.shape}, not {wanted[0]} rows of "
            f"{wanted[1]} numbers; give a table of numbers whose slices are its rows."
        )
    return block


class ArraySource(Source):
    """An array in memory or mapped into it; pages of a file are dropped once they are read."""

    def __init__(self, X: NDArray[Any]) -> None:
        super().__init__(X.shape)
        self.X: Any = X
        # changes to a private copy ("c") are in the pages themselves
        is_file = isinstance(X, np.memmap) and X.mode in ("r", "r+")
        self.pages = getattr(X, "_mmap", None) if is_file else None

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


class SparseSource(Source):
    """A scipy matrix in memory, by rows."""

    def __init__(self, X: Any) -> None:
        super().__init__(X.shape)
        self.X = sp.csr_array(X)
        self.n_entries = int(self.X.nnz)

    def read(self, start: int, stop: int) -> Block:
        return sum_duplicates(self.stored(start, stop))

    def stored(self, start: int, stop: int) -> Block:
        X, (first, last) = self.X, self.X.indptr[[start, stop]]
        parts = (X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first)
        return sp.csr_array(parts, shape=(stop - start, self.shape[1]))

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

    def read(self, start: int, stop: int) -> Block:
        wanted = (stop - start, self.shape[1])
        what = f"X[{start}:{stop}] of a {type(self.X).__name__}"
        return checked_block(self._fetch(start, stop), wanted, what)

    def _fetch(self, start: int, stop: int) -> Any:
        return self.X[start:stop]

    def gather(self, rows: Any) -> Block:
        """Read rows in runs that are near each other, none spanning more than all rows."""
        ascending, back = np.unique(rows, return_inverse=True)
        runs: list[IntArray] = []
        for run in np.split(ascending, np.flatnonzero(np.diff(ascending) > RUN_ROWS) + 1):
            span = (run - run[0]) // len(ascending)
            runs.extend(np.split(run, np.flatnonzero(np.diff(span)) + 1))
        blocks = [self.read(int(run[0]), int(run[-1]) + 1)[run - run[0]] for run in runs]
        return stack_blocks(blocks)[back]


class PartSource(Source):
    """Some columns of another source."""

    def __init__(self, source: Source, columns: IntArray) -> None:
        super().__init__((source.shape[0], len(columns)), source.width)
        self.source, self.columns = source, columns
        if source.n_entries is not None:  # as if they were spread evenly
            self.n_entries = math.ceil(source.n_entries * len(columns) / max(1, source.shape[1]))

    def read(self, start: int, stop: int) -> Block:
        return self.source.read(start, stop)[:, self.columns]

    def gather(self, rows: Any) -> Block:
        return self.source.gather(rows)[:, self.columns]
