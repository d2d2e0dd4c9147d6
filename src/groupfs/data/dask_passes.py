"""Passes over a dask array where its blocks are: only what they find travels.

Every pass is a ``Work``: what is measured in some rows, and how two findings become one. dask maps
it over the blocks and merges the findings in a tree of fixed shape, so the result is the same to
the last bit whoever did what. Nothing here schedules: ``compute()`` goes to the cluster whose
client is active, else to threads of this process.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

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
    grid: list[list[Any]]  #: keys of blocks, side by side and one below the other


@dataclass(frozen=True)
class ChunkedRows:
    """The rows of a dask array, divided among tasks."""

    graph: dict[Any, Any]  #: how the blocks are made
    chunks: list[RowChunk]


def chunked_rows(X: Any) -> ChunkedRows:
    """Divide a dask array among tasks: whole rows, and small chunks of them together."""
    heights, width = X.chunks[0], X.shape[1]
    blocks = X.to_delayed()
    most = block_rows(width, WORKER_ENTRIES)
    chunks: list[RowChunk] = []
    start = stop = 0
    grid: list[list[Any]] = []
    for height, line in zip(heights, blocks.tolist(), strict=True):
        if grid and stop + height - start > most:
            chunks.append(RowChunk(start, stop, grid))
            start, grid = stop, []
        if height:
            grid, stop = [*grid, [block.key for block in line]], stop + height
    if grid:
        chunks.append(RowChunk(start, stop, grid))
    graph = dict(blocks[0, 0].dask) if blocks.size else {}
    if any(block.key not in graph for block in blocks.flat):
        # optimising leaves out what workers hold already
        graph = {**X.__dask_graph__(), **graph}
    return ChunkedRows(graph, chunks)


def run_pass(table: ChunkedRows, work: Work, rows: IntArray | None = None) -> Any:
    """Measure all rows, or some of them (ascending, may repeat), and merge what was found."""
    name = uuid4().hex
    shared = f"work-{name}"  # a key of its own: it is sent once, not with every task
    chosen = list(_chosen(table.chunks, rows))
    ends = np.cumsum([0] + [n for _, _, n in chosen]).tolist()
    parts = work.split(list(zip(ends[:-1], ends[1:], strict=True)))
    graph: dict[Any, Any] = {shared: work}
    found: list[tuple[Any, ...]] = []
    for (chunk, own, _), part in zip(chosen, parts, strict=True):
        found.append((f"measure_rows-{name}", len(found)))
        graph[found[-1]] = (MeasureRows(own, part), shared, chunk.grid)
    at_once = min(MOST_MERGED, max(2, MERGED_BYTES // max(1, work.n_bytes)))
    level = 0
    while len(found) > 1:
        merged: list[tuple[Any, ...]] = []
        for i in range(0, len(found), at_once):
            merged.append((f"merge_found-{name}", level, i))
            graph[merged[-1]] = (merge_found, shared, found[i : i + at_once])
        found, level = merged, level + 1
    return _compute(found[0], table, graph)


def gather_rows(table: ChunkedRows, rows: IntArray) -> Block:
    """Fetch rows by number, ascending, may repeat."""
    name = uuid4().hex
    graph: dict[Any, Any] = {}
    for chunk, own, _ in _chosen(table.chunks, rows):
        graph[f"take_rows-{name}", len(graph)] = (TakeRows(own), chunk.grid)
    keys = list(graph)
    graph[f"gather_rows-{name}"] = (stack_blocks, keys)
    return _compute(f"gather_rows-{name}", table, graph)


@dataclass(frozen=True)
class MeasureRows:
    """The work of one task."""

    rows: IntArray | None
    part: Any

    def __call__(self, work: Work, grid: list[list[Any]]) -> Any:
        width = sum(block.shape[1] for block in grid[0])
        size = block_rows(width, WORKER_ENTRIES)
        return work.measure(pieces_of(grid, self.rows, size), self.part)


@dataclass(frozen=True)
class TakeRows:
    """Copies some rows of the blocks of one task."""

    rows: IntArray | None

    def __call__(self, grid: list[list[Any]]) -> Block:
        return stack_blocks(list(pieces_of(grid, self.rows, WORKER_ENTRIES)))


def merge_found(work: Work, found: list[Any]) -> Any:
    """Merge what a few tasks have found."""
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


def _compute(key: Any, table: ChunkedRows, graph: dict[Any, Any]) -> Any:
    """Have dask compute a key of a graph; thousands of ``delayed`` calls would take far longer."""
    from dask.delayed import Delayed

    return Delayed(key, {**table.graph, **graph}).compute()
