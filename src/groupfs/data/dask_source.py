"""Pass over a dask array where its blocks are: only what they find travels.

Every pass is a ``Work``: what is measured in some rows, and how findings become one. dask maps
it over the blocks and merges the findings in a tree of fixed shape, so the result is the same to
the last bit whoever did what. Nothing here schedules: ``compute()`` goes to the cluster whose
client is active, else to threads of this process.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.data.memory import MERGED_BYTES, MOST_MERGED, WORKER_ENTRIES, block_rows
from groupfs.data.sources import (
    Block,
    SlicedSource,
    Work,
    checked_block,
    stack_blocks,
    sum_duplicates,
)
from groupfs.utils.types import IntArray


@dataclass(frozen=True)
class RowChunk:
    """Consecutive rows that one task works on."""

    start: int
    stop: int
    grid: list[list[Any]]  #: delayed blocks, side by side and one below the other


class DaskSource(SlicedSource):
    """A dask array: passes over it run where its blocks are."""

    is_remote = True

    def __init__(self, X: Any, entries: int = WORKER_ENTRIES) -> None:
        super().__init__(X)
        self.entries = entries  #: numbers that a task works on at a time

    @cached_property
    def chunks(self) -> list[RowChunk]:
        """Rows divided among tasks: whole rows, and small blocks of them together."""
        heights, most = self.X.chunks[0], block_rows(self.shape[1], self.entries)
        chunks: list[RowChunk] = []
        start = stop = 0
        grid: list[list[Any]] = []
        for height, line in zip(heights, self.X.to_delayed().tolist(), strict=True):
            if grid and stop + height - start > most:
                chunks.append(RowChunk(start, stop, grid))
                start, grid = stop, []
            if height:
                grid, stop = [*grid, line], stop + height
        return [*chunks, RowChunk(start, stop, grid)] if grid else chunks

    def _fetch(self, start: int, stop: int) -> Any:
        return self.X[start:stop].compute()

    def gather(self, rows: Any) -> Block:
        ascending, back = np.unique(rows, return_inverse=True)
        size = block_rows(self.shape[1], self.entries)
        taken = []
        for chunk in self.chunks:
            first, last = np.searchsorted(ascending, [chunk.start, chunk.stop])
            if last > first:
                own = ascending[first:last] - chunk.start
                taken.append(_later(partial(_take_rows, rows=own, size=size))(chunk.grid))
        return _later(stack_blocks)(taken).compute()[back]

    def run(self, work: Work, size: int) -> Any:
        """Measure all rows where they are, and merge what was found."""
        shared = _later(work)  # a task of its own: it is sent once, not with every other
        size = block_rows(self.shape[1], self.entries)
        parts = work.split([(chunk.start, chunk.stop) for chunk in self.chunks])
        found = [
            _later(partial(_measure_rows, part=part, size=size))(shared, chunk.grid)
            for chunk, part in zip(self.chunks, parts, strict=True)
        ]
        at_once = min(MOST_MERGED, max(2, MERGED_BYTES // max(1, work.n_bytes)))
        while len(found) > 1:
            groups = [found[i : i + at_once] for i in range(0, len(found), at_once)]
            found = [_later(_merge_found)(shared, group) for group in groups]
        return found[0].compute()

    def restricted(self, columns: IntArray) -> "DaskSource":
        """Return some of the columns."""
        return DaskSource(self.X[:, columns], self.entries)


def _later(function: Any) -> Any:
    """Have dask call a function, or hold a value, where its arguments are."""
    from dask.delayed import delayed

    return delayed(function, pure=False, traverse=False)


def _measure_rows(work: Work, grid: list[list[Any]], part: Any, size: int) -> Any:
    return work.measure(pieces_of(grid, None, size), part)


def _take_rows(grid: list[list[Any]], rows: IntArray, size: int) -> Block:
    return stack_blocks(list(pieces_of(grid, rows, size)))


def _merge_found(work: Work, found: list[Any]) -> Any:
    return work.merge(found) if len(found) > 1 else found[0]


def on_cluster() -> bool:
    """Tell whether a client of dask.distributed is active, so that blocks are computed there."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.default_client()
    except ValueError:
        return False
    return True


def pieces_of(grid: Sequence[Sequence[Any]], rows: IntArray | None, size: int) -> Iterator[Block]:
    """Yield the rows of blocks that lie side by side and one below the other, so many at a time.

    ``rows`` are those wanted, ascending, counted from the first of the blocks; None for all. No
    more than a piece is copied at a time, however tall the blocks are.
    """
    first = 0
    for line in grid:
        n = line[0].shape[0]
        if rows is None:
            index: Any = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        else:
            own = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + n)] - first
            index = [own[start : start + size] for start in range(0, len(own), size)]
        for chosen in index:
            yield _side_by_side([_take(block, chosen) for block in line])
        first += n


def _take(block: Any, rows: Any) -> Block:
    if sp.issparse(block):
        return sum_duplicates(sp.csr_array(sp.csr_array(block)[rows]))
    taken = block[rows]
    return checked_block(taken, (taken.shape[0], block.shape[1]), "X")


def _side_by_side(parts: list[Block]) -> Block:
    if sp.issparse(parts[0]):
        return parts[0] if len(parts) == 1 else sp.csr_array(sp.hstack(parts, format="csr"))
    return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))
