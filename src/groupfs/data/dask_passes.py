"""Passes over a dask array where its blocks are: only what they find travels.

Every pass is a ``Work``: what is measured in some rows, and how two findings become one. dask maps
it over the blocks and merges the findings in a tree of fixed shape, so the result is the same to
the last bit whoever did what. Nothing here schedules: ``compute()`` goes to the cluster whose
client is active, else to threads of this process.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from groupfs.data.blocks import Block, pieces_of, stack_blocks
from groupfs.data.memory_plan import MERGED_BYTES, MOST_MERGED, WORKER_ENTRIES, block_rows
from groupfs.utils.types import IntArray


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


@dataclass(frozen=True)
class RowChunk:
    """Consecutive rows that one task works on."""

    start: int
    stop: int
    grid: list[list[Any]]  #: delayed blocks, side by side and one below the other


def row_chunks(X: Any) -> list[RowChunk]:
    """Divide a dask array among tasks: whole rows, and small chunks of them together."""
    heights, width = X.chunks[0], X.shape[1]
    lines = X.to_delayed().tolist()
    most = block_rows(width, WORKER_ENTRIES)
    chunks: list[RowChunk] = []
    start = stop = 0
    grid: list[list[Any]] = []
    for height, line in zip(heights, lines, strict=True):
        if grid and stop + height - start > most:
            chunks.append(RowChunk(start, stop, grid))
            start, grid = stop, []
        if height:
            grid, stop = [*grid, line], stop + height
    return [*chunks, RowChunk(start, stop, grid)] if grid else chunks


def run_pass(chunks: list[RowChunk], work: Work, rows: IntArray | None = None) -> Any:
    """Measure all rows, or some of them (ascending, may repeat), and merge what was found."""
    from dask.delayed import delayed

    shared = delayed(work, traverse=False, pure=False)  # sent once, not with every task
    chosen = list(_chosen(chunks, rows))
    ends = np.cumsum([0] + [n for _, _, n in chosen]).tolist()
    parts = work.split(list(zip(ends[:-1], ends[1:], strict=True)))
    found = [
        delayed(measure_rows, pure=False)(shared, chunk.grid, own, part)
        for (chunk, own, _), part in zip(chosen, parts, strict=True)
    ]
    at_once = min(MOST_MERGED, max(2, MERGED_BYTES // max(1, work.n_bytes)))
    while len(found) > 1:
        groups = [found[i : i + at_once] for i in range(0, len(found), at_once)]
        merge = delayed(merge_found, pure=False)
        found = [merge(shared, group) if len(group) > 1 else group[0] for group in groups]
    return found[0].compute()


def gather_rows(chunks: list[RowChunk], rows: IntArray) -> Block:
    """Fetch rows by number, ascending, may repeat."""
    from dask.base import compute
    from dask.delayed import delayed

    tasks = [
        delayed(take_rows, pure=False)(chunk.grid, own) for chunk, own, _ in _chosen(chunks, rows)
    ]
    return stack_blocks(list(compute(*tasks)))


def measure_rows(work: Work, grid: list[list[Any]], rows: IntArray | None, part: Any) -> Any:
    """Do the work of one task."""
    return work.measure(pieces_of(grid, rows, _piece_rows(grid)), part)


def merge_found(work: Work, found: list[Any]) -> Any:
    """Merge what a few tasks have found."""
    return work.merge(found)


def take_rows(grid: list[list[Any]], rows: IntArray) -> Block:
    """Copy some rows of the blocks of one task."""
    return stack_blocks(list(pieces_of(grid, rows, len(rows))))


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


def _chosen(
    chunks: list[RowChunk], rows: IntArray | None
) -> Iterator[tuple[RowChunk, IntArray | None, int]]:
    """Yield the chunks that hold wanted rows, which rows of theirs (None for all), how many."""
    for chunk in chunks:
        if rows is None:
            yield chunk, None, chunk.stop - chunk.start
            continue
        first, last = np.searchsorted(rows, [chunk.start, chunk.stop])
        if last > first:
            yield chunk, rows[first:last] - chunk.start, int(last - first)


def _piece_rows(grid: list[list[Any]]) -> int:
    width = sum(math.prod(block.shape[1:]) for block in grid[0])
    return block_rows(width, WORKER_ENTRIES)
