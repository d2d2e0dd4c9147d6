"""The standardised table where it does not fit into memory: blocks, a shuffled buffer, a sample.

Rows come from a source as they are stored and are standardised as (x - mean) / scale where they are
used, so a sparse table is never filled in as a whole. Passes over all rows give the products of
columns; batches are drawn from a buffer of random blocks; what needs a few hundred rows at random
takes them from a sample that stays in memory.
"""

import copy
from collections.abc import Iterator
from dataclasses import InitVar, dataclass

import numpy as np
import torch
from torch import Tensor

from groupfs.data import memory_plan
from groupfs.data.block_sources import Block, PartSource, Source, stack_blocks
from groupfs.data.block_tensors import BlockTensors
from groupfs.data.memory_plan import Plan, block_rows, most_products
from groupfs.data.prefetch import prefetch, read_ahead
from groupfs.data.rows import DenseRows, at_least_rounding
from groupfs.data.standardize import survey
from groupfs.utils.types import FloatArray, IntArray


@dataclass(eq=False)
class StreamRows:
    """Rows of a table that is read in blocks."""

    source: Source  #: the table as it came
    columns: IntArray  #: which of its columns are used, in the order of use, (d,)
    mean: FloatArray  #: of these columns
    scale: FloatArray
    column_norms: FloatArray  #: squared norms of the standardised columns
    sample_block: InitVar[Block]  #: rows as they came, for the sample that stays in memory
    plan: Plan  #: how many rows may be held at a time
    verbose: bool  #: whether passes over the table show a bar

    def __post_init__(self, sample_block: Block) -> None:
        self.shape = (self.source.shape[0], len(self.columns))
        self._index = np.full(self.source.shape[1], -1)
        self._index[self.columns] = np.arange(len(self.columns))
        self.device = torch.device("cpu")
        self._target, self._dtype = self.device, torch.float32
        self._on_device()
        entries = min(memory_plan.BLOCK_ENTRIES, self.plan.slab_bytes // memory_plan.PER_PRODUCT)
        self.sample = DenseRows(self.standardized(BlockTensors.of(sample_block)).numpy(), entries)

    def __copy__(self) -> "StreamRows":
        """Copy rows that may go to another device; the sample goes with them."""
        other = object.__new__(StreamRows)
        other.__dict__ = {**self.__dict__, "sample": copy.copy(self.sample)}
        return other

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        self._target, self._dtype = device, dtype
        self._on_device()
        self.sample.to(device, dtype)

    def standardized(
        self, block: BlockTensors, dtype: torch.dtype = torch.float32, out: Tensor | None = None
    ) -> Tensor:
        """Standardise a block's rows on the device, (b, d)."""
        size = (block.n_rows, self.shape[1])
        if block.indices is None or block.lengths is None:
            raw = self._send(block.values).index_select(1, self._columns).double()
            values = raw.sub_(self._mean).div_(self._scale)
            return values.to(dtype) if out is None else out.copy_(values)
        filled = torch.empty(size, dtype=dtype, device=self._target) if out is None else out
        filled.copy_((-self._mean / self._scale).expand(size))
        column = self._own_index[self._send(block.indices).long()]
        row = torch.repeat_interleave(self._send(block.lengths), output_size=len(column))
        raw = self._send(block.values).double()
        if size[1] < self.source.shape[1]:
            used = column >= 0
            row, column, raw = row[used], column[used], raw[used]
        values = (raw - self._mean[column]) / self._scale[column]
        filled.view(-1)[row * size[1] + column] = values.to(dtype)
        return filled

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        block = self.source.gather(index.cpu().numpy())
        values = self.standardized(BlockTensors.of(block), self._dtype)
        return values if out is None else out.copy_(values)

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        """Return random rows of the sample."""
        return self.sample.random_rows(n_rows, rng)

    def batches(self, n_steps: int, rng: np.random.Generator, out: Tensor) -> Iterator[None]:
        # the next batches are read, put together and, for a GPU, pinned in a thread; the copy to
        # the device runs beside the step before it
        seed = int(rng.integers(2**62))  # what is prefetched leaves the caller's state alone
        drawn = draw_batches(
            self.source, n_steps, len(out), self.plan.buffer_rows, np.random.default_rng(seed)
        )
        for batch in prefetch(self._stage(block) for block in drawn):
            self.standardized(batch, self._dtype, out=out)
            yield

    @property
    def is_exact(self) -> bool:
        """Whether all products of columns are affordable, and the passes for them."""
        N, d = self.shape
        few = N * d**2 <= most_products(self._target)
        return few and -(-d // self.columns_at_once) <= memory_plan.MOST_PASSES

    @property
    def columns_at_once(self) -> int:
        """Columns whose products with all others fit in memory."""
        slab_bytes = self.plan.slab_bytes
        if self._target.type == "cuda":
            slab_bytes = torch.cuda.mem_get_info(self._target)[0] // 2
        return block_rows(memory_plan.PER_PRODUCT * self.shape[1], slab_bytes)

    def column_products(self, start: int, stop: int) -> Tensor:
        return self._products(slice(start, stop), stop - start, "feature graph")

    def products_of(self, columns: IntArray) -> Tensor:
        index = torch.from_numpy(columns).to(self._target)
        return self._products(index, len(columns), "order of the features")

    def _products(self, columns: slice | Tensor, n_columns: int, what: str) -> Tensor:
        size = (n_columns, self.shape[1])
        products = torch.zeros(size, dtype=torch.float64, device=self._target)
        for Z in self._passes(what):
            products += Z[:, columns].T @ Z
        return products

    def pair_distances(self, partners: IntArray, n_rows: int, signed: bool = True) -> FloatArray:
        """Measure squared distances of columns to others from about so many rows, (d, m)."""
        index = torch.from_numpy(partners).to(self._target)
        products = torch.zeros(index.shape, dtype=torch.float64, device=self._target)
        norms = torch.zeros(self.shape[1], dtype=torch.float64, device=self._target)
        seen = 0
        for Z in self._passes("nearest features", n_rows):
            by_column = Z.T.contiguous()
            size = block_rows(index.shape[1] * len(Z), memory_plan.PAIR_ENTRIES)
            for first in range(0, len(index), size):
                part = slice(first, first + size)
                others = by_column[index[part]]
                products[part] += (others @ by_column[part].unsqueeze(-1)).squeeze(-1)
            norms += by_column.square_().sum(1, dtype=torch.float64)
            seen += len(Z)
        if not signed:
            products.abs_()
        distances = norms.unsqueeze(-1) + norms[index] - 2 * products
        return (distances.clamp_(min=0) * (self.shape[0] / seen)).cpu().numpy()

    def sketch(self) -> DenseRows:
        """Add up rows with random signs into as few rows as the sample has at most.

        Inner products of its columns estimate those of the table's.
        """
        if self.sample.shape[0] == self.shape[0]:
            return self.sample
        rng = np.random.default_rng(0)
        m, d = self.sample.shape
        m = min(m, memory_plan.SKETCH_ROWS)
        most = most_products(self._target)
        sums = torch.zeros((m, d), dtype=torch.float32, device=self._target)
        for Z in self._passes("sketch of the features", max(4 * m, int(most / (m * d)))):
            signs = torch.from_numpy(rng.integers(2, size=(m, len(Z)), dtype=np.int8))
            sums += self._send(signs).to(Z.dtype).mul_(2).sub_(1) @ Z
        found = DenseRows((sums / np.sqrt(m)).cpu().numpy(), self.sample.block_entries)
        found.to(self._target, self._dtype)
        return found

    def group_products(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        own = torch.from_numpy(labels).to(self._target)
        products = torch.zeros(len(labels), dtype=torch.float64, device=self._target)
        norms = torch.zeros(n_groups, dtype=torch.float64, device=self._target)
        groups = [torch.nonzero(own == j).ravel() for j in range(n_groups)]
        for Z in self._passes("central features"):
            sums = torch.stack([Z[:, group].sum(1) for group in groups], 1)
            products += (Z * sums[:, own]).sum(0, dtype=torch.float64)
            norms += sums.double().square_().sum(0)
        lengths = norms.sqrt_().cpu().numpy()
        most = lengths[labels] * np.sqrt(self.column_norms)  # but for rounding, they are no more
        return np.clip(products.cpu().numpy(), -most, most), lengths

    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        """Find the lowest and highest values in the sample."""
        return self.sample.column_ends()

    def restricted(self, columns: IntArray) -> "StreamRows":
        part = copy.copy(self)
        part.columns, part.mean = self.columns[columns], self.mean[columns]
        part.scale, part.column_norms = self.scale[columns], self.column_norms[columns]
        part.shape = (self.shape[0], len(columns))
        part._index = np.full(self.source.shape[1], -1)
        part._index[part.columns] = np.arange(len(columns))
        part._on_device()
        part.sample = self.sample.restricted(columns)
        return part

    def shuffled(self, rng: np.random.Generator) -> DenseRows:
        """Return the sample with every column shuffled on its own."""
        return self.sample.shuffled(rng)

    def resampled(self, index: IntArray, standardize: bool) -> "StreamRows":
        source = PartSource(self.source, rows=np.sort(index))
        blocks = read_ahead(source, self.plan.block_rows, "", verbose=False)
        moments, _, sample = survey(blocks, source.shape, self.plan.sample_rows)
        mean, spread = moments.mean[self.columns], moments.spread[self.columns]
        scale = at_least_rounding(spread, self.scale) if standardize else self.scale
        norms = len(index) * (spread / scale) ** 2
        return StreamRows(source, self.columns, mean, scale, norms, sample, self.plan, self.verbose)

    def _passes(self, what: str, n_rows: int | None = None) -> Iterator[Tensor]:
        """Yield standardised blocks of all rows, or of so many."""
        source: Source = self.source
        if n_rows is not None and n_rows < self.shape[0]:
            source = PartSource(source, rows=_random_runs(self.shape[0], n_rows))
        for block in read_ahead(source, self.plan.block_rows, what, self.verbose, self._stage):
            yield self.standardized(block)

    def _stage(self, block: Block) -> BlockTensors:
        return BlockTensors.of(block, pinned=self._target.type == "cuda")

    def _on_device(self) -> None:
        numbers = (self.mean, self.scale, self.columns, self._index)
        tensors = [torch.from_numpy(values).to(self._target) for values in numbers]
        self._mean, self._scale, self._columns, self._own_index = tensors

    def _send(self, values: Tensor) -> Tensor:
        return values.to(self._target, non_blocking=True)


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
