"""The standardised table where it does not fit into memory: blocks, a shuffled buffer, a sample.

Rows come from a source as they are stored and are standardised as (x - mean) / scale where they are
used, so a sparse table is never filled in as a whole. Passes over all rows give the products of
columns; batches are drawn from a buffer of random blocks; what needs a few hundred rows at random
takes them from a sample that stays in memory.
"""

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import InitVar, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from groupfs.data import memory_plan
from groupfs.data.block_sources import PartSource, Source
from groupfs.data.block_tensors import BlockTensors, ColumnUnits, Standardizer, as_tensor
from groupfs.data.blocks import Block, stack_blocks
from groupfs.data.memory_plan import KEPT_PRODUCTS, Plan, block_rows, most_products
from groupfs.data.prefetch import prefetch, read_ahead
from groupfs.data.row_sums import (
    ColumnProducts,
    GroupSums,
    PairProducts,
    RowSums,
    SignedSums,
    SumsWork,
    add_up,
)
from groupfs.data.rows import DenseRows, at_least_rounding
from groupfs.data.survey import survey
from groupfs.utils.types import FloatArray, IntArray


@dataclass(eq=False)
class StreamRows:
    """Rows of a table that is read in blocks, or worked on where its blocks are."""

    owner = None  # every feature is a column

    source: Source  #: the table as it came
    units: ColumnUnits  #: which of its columns are used, their means and scales
    column_norms: FloatArray  #: squared norms of the standardised columns
    sample_block: InitVar[Block]  #: rows as they came, for the sample that stays in memory
    plan: Plan  #: how many rows may be held at a time
    verbose: bool  #: whether passes over the table show a bar

    def __post_init__(self, sample_block: Block) -> None:
        self.shape = (self.source.shape[0], len(self.units.columns))
        self.device = torch.device("cpu")
        self._target, self._dtype = self.device, torch.float32
        self._standardizer = Standardizer(self.units, self._target)
        entries = min(memory_plan.BLOCK_ENTRIES, self.plan.slab_bytes // memory_plan.PER_PRODUCT)
        sample = self._standardizer.standardized(BlockTensors.of(sample_block))
        self.sample = DenseRows(sample.numpy(), entries)
        # kept once they are known, or passes would be many
        self._all_products: Tensor | None = None
        self._sketch: DenseRows | None = None
        self._whole: tuple[StreamRows, IntArray] | None = None  #: rows that these are columns of

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be worked out again where rows are sent to other processes."""
        return {**self.__dict__, "_all_products": None, "_sketch": None, "_whole": None}

    def __copy__(self) -> "StreamRows":
        """Copy rows that may go to another device; the sample goes with them."""
        other = object.__new__(StreamRows)
        other.__dict__ = {**self.__dict__, "sample": copy.copy(self.sample)}
        return other

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        self._target, self._dtype = device, dtype
        self._standardizer = Standardizer(self.units, device)
        self.sample.to(device, dtype)
        if self._sketch is not None:
            self._sketch.to(device, dtype)

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        block = self.source.gather(index.cpu().numpy())
        values = self._standardizer.standardized(BlockTensors.of(block), self._dtype)
        return values if out is None else out.copy_(values)

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        """Return random rows of the sample."""
        return self.sample.random_rows(n_rows, rng)

    def batches(self, n_steps: int, rng: np.random.Generator, out: Tensor) -> Iterator[None]:
        seed = int(rng.integers(2**62))  # what is prefetched leaves the caller's state alone
        rng = np.random.default_rng(seed)
        if self.source.is_remote:  # rows of other batches would have to travel
            per_round = max(1, self.sample.shape[0] // len(out))
            for done in range(0, n_steps, per_round):
                yield from self.sample.batches(min(per_round, n_steps - done), rng, out)
            return
        # the next batches are read, put together and, for a GPU, pinned in a thread; the copy to
        # the device runs beside the step before it
        drawn = draw_batches(self.source, n_steps, len(out), self.plan.buffer_rows, rng)
        for batch in prefetch(self._stage(block) for block in drawn):
            self._standardizer.standardized(batch, self._dtype, out=out)
            yield

    @property
    def is_exact(self) -> bool:
        """Whether all products of columns are affordable, and the passes for them."""
        N, d = self.shape
        few = N * d**2 <= most_products(self._adds_on)
        return few and -(-d // self.columns_at_once) <= memory_plan.MOST_PASSES

    @property
    def columns_at_once(self) -> int:
        """Columns whose products with all others fit in memory."""
        slab_bytes = self.plan.slab_bytes
        if self._adds_on.type == "cuda":
            slab_bytes = torch.cuda.mem_get_info(self._adds_on)[0] // 2
        return block_rows(memory_plan.PER_PRODUCT * self.shape[1], slab_bytes)

    def column_products(self, start: int, stop: int, single: bool = False) -> Tensor:
        d = self.shape[1]
        if self._all_products is None and (start, stop) == (0, d) and d**2 <= KEPT_PRODUCTS:
            self._all_products = self._products(slice(0, d), d, "products of features")
        if self._all_products is not None:
            return self._all_products[start:stop].to(self._target, copy=True)
        return self._products(slice(start, stop), stop - start, "products of features")

    def products_of(self, columns: IntArray) -> Tensor:
        if self._all_products is not None:
            index = torch.from_numpy(columns).to(self._all_products.device)
            return self._all_products[index].to(self._target)
        return self._products(columns, len(columns), "order of the features")

    def _products(self, columns: slice | IntArray, n_columns: int, what: str) -> Tensor:
        size = (n_columns, self.shape[1])
        make = partial(ColumnProducts, columns, size)
        (products,) = self._add_up(make, 8 * math.prod(size), what)
        return products

    def pair_distances(self, partners: IntArray, n_rows: int, signed: bool = True) -> FloatArray:
        """Measure squared distances of columns to others from about so many rows, (d, m)."""
        rows = None if n_rows >= self.shape[0] else _random_runs(self.shape[0], n_rows)
        make = partial(PairProducts, partners.astype(np.int32))
        products, norms = self._add_up(make, 8 * partners.size, "nearest features", rows)
        if not signed:
            products = products.abs()
        index = torch.from_numpy(partners).to(self._target)
        distances = norms.unsqueeze(-1) + norms[index] - 2 * products
        share = 1.0 if rows is None else len(rows) / self.shape[0]
        return (distances.clamp_(min=0) / share).cpu().numpy()

    def sketch(self) -> DenseRows:
        """Add up rows with random signs, each in one of as few sums as the sample has rows at most.

        Inner products of its columns estimate those of the table's.
        """
        if self.sample.shape[0] == self.shape[0]:
            return self.sample
        if self._sketch is None:
            if self._whole is None:
                self._sketch = self._made_sketch()
            else:
                whole, columns = self._whole
                self._sketch = whole.sketch().restricted(columns)
            self._sketch.to(self._target, self._dtype)
        return self._sketch

    def _made_sketch(self) -> DenseRows:
        N = self.shape[0]
        m, d = self.sample.shape
        m = min(m, memory_plan.SKETCH_ROWS)
        n_rows = max(4 * m, int(most_products(self._adds_on) / (m * d)))
        rows = None if n_rows >= N else _random_runs(N, n_rows)
        make = partial(SignedSums, (m, d))
        (sums,) = self._add_up(make, 4 * m * d, "sketch of the features", rows)
        return DenseRows(sums.cpu().numpy(), self.sample.block_entries)

    def group_products(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        make = partial(GroupSums, labels, n_groups)
        products, norms = self._add_up(make, 8 * len(labels), "central features")
        lengths = norms.sqrt().cpu().numpy()
        most = lengths[labels] * np.sqrt(self.column_norms)  # but for rounding, they are no more
        return np.clip(products.cpu().numpy(), -most, most), lengths

    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        """Find the lowest and highest values in the sample."""
        return self.sample.column_ends()

    def columns_of(self, features: IntArray) -> IntArray:
        return features

    def restricted(self, columns: IntArray) -> "StreamRows":
        part = copy.copy(self)
        part.units, part.column_norms = self.units.restricted(columns), self.column_norms[columns]
        part.shape = (self.shape[0], len(columns))
        part._standardizer = Standardizer(part.units, self._target)
        part.sample = self.sample.restricted(columns)
        part._sketch, part._whole = None, (self, columns)
        if self._all_products is not None:
            own = torch.from_numpy(columns).to(self._all_products.device)
            part._all_products = self._all_products[own][:, own]
        return part

    def shuffled(self, rng: np.random.Generator) -> DenseRows:
        """Return the sample with every column shuffled on its own."""
        return self.sample.shuffled(rng)

    def resampled(self, index: IntArray, standardize: bool) -> "StreamRows":
        source = PartSource(self.source, rows=np.sort(index))
        seen, own = survey(source, self.plan), self.units.columns
        mean, spread = seen.moments.mean[own], seen.moments.spread[own]
        scale = self.units.scale
        scale = at_least_rounding(spread, scale) if standardize else scale
        norms = len(index) * (spread / scale) ** 2
        units = replace(self.units, mean=mean, scale=scale)
        return StreamRows(source, units, norms, seen.sample, self.plan, self.verbose)

    def _add_up(
        self,
        make: Callable[[torch.device], RowSums],
        n_bytes: int,
        what: str,
        rows: IntArray | None = None,
    ) -> tuple[Tensor, ...]:
        """Add up all rows, or some; ``n_bytes`` is about what the sums hold."""
        source = self.source if rows is None else PartSource(self.source, rows=rows)
        if source.is_remote:
            work = SumsWork(make, self.units, n_bytes)
            found = source.run_there(work, what, self.verbose)
            return tuple(as_tensor(values).to(self._target) for values in found)
        blocks = read_ahead(source, self.plan.block_rows, what, self.verbose, self._stage)
        return add_up(blocks, self._standardizer, make(self._target))

    @property
    def _adds_on(self) -> torch.device:
        """Where sums over the rows are added up: workers have no GPU."""
        return torch.device("cpu") if self.source.is_remote else self._target

    def _stage(self, block: Block) -> BlockTensors:
        return BlockTensors.of(block, pinned=self._target.type == "cuda")


def draw_batches(
    source: Source, n_batches: int, size: int, buffer_rows: int, rng: np.random.Generator
) -> Iterator[Block]:
    """Draw batches of rows at random or, from a file, from a shuffled buffer of random runs.

    Rows of a buffer that make no whole batch go into the next one. The last batch of all may be
    short; it is filled up from the first one, so that no row is twice in a batch: copies have no
    distance.
    """
    N, length = source.shape[0], source.drawn_rows
    if length == 1:
        order = np.resize(rng.permutation(N), n_batches * size)
        yield from (source.gather(batch) for batch in np.split(order, n_batches))
        return
    runs = (rng.permutation(-(-N // length)) * length).tolist()
    runs_per_buffer = -(-max(buffer_rows, size) // length)
    first: Block = None
    rest: list[Block] = []
    while n_batches and runs:
        n_missing = n_batches * size - sum(block.shape[0] for block in rest)
        n_runs = min(runs_per_buffer, -(-n_missing // length))
        starts, runs = sorted(runs[:n_runs]), runs[n_runs:]
        pieces = [source.read(start, min(start + length, N)) for start in starts]
        buffer = stack_blocks([*rest, *pieces])
        order = rng.permutation(buffer.shape[0])
        n_whole = min(len(order) // size, n_batches)
        *batches, left = np.split(order, size * np.arange(1, n_whole + 1))
        for index in batches:
            batch = buffer[index]
            first = batch if first is None else first
            yield batch
        rest = [buffer[left]]
        n_batches -= n_whole
    if n_batches and first is not None:
        yield stack_blocks([*rest, first[: size - rest[0].shape[0]]])


def _random_runs(n_rows: int, n_wanted: int, length: int = memory_plan.FEWEST_DRAWN) -> IntArray:
    """Choose random runs of rows, about so many rows in all, ascending."""
    starts = np.arange(0, n_rows, length)
    n_runs = min(len(starts), max(1, n_wanted // length))
    chosen = np.sort(np.random.default_rng(0).choice(len(starts), n_runs, replace=False))
    rows = (starts[chosen, None] + np.arange(length)).ravel()
    return rows[rows < n_rows]
