"""Pass over a dask array where its blocks are: only what they find travels.

Every pass is a ``Work``: what is measured in some rows, and how findings become one. dask cuts the
array into blocks of whole rows, maps the work over them and merges the findings in a tree of fixed
shape, so the result is the same to the last bit whoever did what. Nothing here schedules:
``compute()`` goes to the cluster whose client is active, else to threads of this process.
"""

import sys
from functools import cached_property, partial
from typing import Any

import numpy as np

from groupfs.data.memory import MERGED_BYTES, MOST_MERGED, WORKER_ENTRIES, block_rows
from groupfs.data.sources import Block, SlicedSource, Work, checked_block, stack_blocks
from groupfs.utils.types import IntArray


class DaskSource(SlicedSource):
    """A dask array: passes over it run where its blocks are."""

    is_remote = True

    def __init__(self, X: Any, entries: int = WORKER_ENTRIES) -> None:
        super().__init__(X)
        self.entries = entries  #: numbers that a task works on at a time
        self.at_once = block_rows(self.shape[1], entries)  #: rows

    @cached_property
    def blocks(self) -> list[tuple[int, int, Any]]:
        """Blocks of whole rows, one for each task: first row, last row plus one, delayed block."""
        X = self.X.rechunk({0: max(self.at_once, *self.X.chunks[0]), 1: -1})
        ends = np.cumsum((0, *X.chunks[0])).tolist()
        return list(zip(ends[:-1], ends[1:], X.to_delayed()[:, 0].tolist(), strict=True))

    def _fetch(self, start: int, stop: int) -> Any:
        """Bring rows block by block: no worker has room for all."""
        from dask.base import compute

        blocks = self.X[start:stop].rechunk({1: -1}).to_delayed()[:, 0]
        return stack_blocks(list(compute(*blocks)))

    def gather(self, rows: Any) -> Block:
        ascending, back = np.unique(rows, return_inverse=True)
        taken = []
        for start, stop, block in self.blocks:
            first, last = np.searchsorted(ascending, [start, stop])
            if last > first:
                taken.append(_later(partial(_take, rows=ascending[first:last] - start))(block))
        return _later(stack_blocks)(taken).compute()[back]

    def run(self, work: Work, size: int) -> Any:
        """Measure all rows where they are, and merge what was found."""
        shared = _later(work)  # a task of its own: it is sent once, not with every other
        parts = work.split([(start, stop) for start, stop, _ in self.blocks])
        tasks = [_later(partial(_measure, part=part, size=self.at_once)) for part in parts]
        blocks = (block for _, _, block in self.blocks)
        found = [task(shared, block) for task, block in zip(tasks, blocks, strict=True)]
        at_once = min(MOST_MERGED, max(2, MERGED_BYTES // max(1, work.n_bytes)))
        while len(found) > 1:
            groups = [found[i : i + at_once] for i in range(0, len(found), at_once)]
            found = [_later(type(work).merge)(shared, group) for group in groups]
        return found[0].compute()

    def restricted(self, columns: IntArray) -> "DaskSource":
        """Return some of the columns."""
        return DaskSource(self.X[:, columns], self.entries)


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


def _later(function: Any) -> Any:
    """Have dask call a function, or hold a value, where its arguments are."""
    from dask.delayed import delayed

    return delayed(function, pure=False, traverse=False)


def _measure(work: Work, block: Any, part: Any, size: int) -> Any:
    starts = range(0, block.shape[0], size)
    return work.measure((_take(block, slice(start, start + size)) for start in starts), part)


def _take(block: Any, rows: Any) -> Block:
    taken = block[rows]
    return checked_block(taken, (taken.shape[0], block.shape[1]), "X")
