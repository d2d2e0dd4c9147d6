"""The standardised table where it does not fit into memory: blocks, a shuffled buffer, a sample.

Rows come from a source as they are stored and are standardised as (x - mean) / scale where they are
used, so a sparse table is never filled in as a whole. Passes over all rows give the products of
columns; batches are drawn from a buffer of random blocks; what needs a few hundred rows at random
takes them from a sample that stays in memory.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.block_sources import FEWEST_DRAWN, Block, PartSource, Source, stacked
from groupfs.data.column_moments import blocks, gather_moments
from groupfs.data.memory_plan import Plan
from groupfs.data.prefetch import ahead
from groupfs.data.rows import BLOCK_ENTRIES, DenseRows, at_least_rounding
from groupfs.utils.types import FloatArray

#: Multiplications of the products of all columns with all that are still done one by one.
EXACT_PRODUCTS = {"cpu": 1e13, "cuda": 1e15}
#: Passes over the table for them at most.
MOST_PASSES = 16
#: Random sums of rows that stand for all rows where neighbours are looked for, and multiplications
#: they may take: of very many rows only some are added up.
SKETCH_ROWS, SKETCH_PRODUCTS = 1024, {"cpu": 1e13, "cuda": 1e15}
#: Bytes for each product of two columns, with the distance that is made of it.
PER_PRODUCT = 40


class Staged:
    """A block as tensors, in pinned memory if it goes to a GPU."""

    def __init__(self, block: Block, pinned: bool = False) -> None:
        def tensor(values: NDArray[Any]) -> Tensor:
            values = np.ascontiguousarray(_native(values))
            there = torch.from_numpy(values if values.flags.writeable else values.copy())
            return there.pin_memory() if pinned else there

        self.n_rows = block.shape[0]
        self.lengths = self.indices = torch.zeros(0)
        self.is_sparse = sp.issparse(block)
        self.values = tensor(block.data if self.is_sparse else block)
        if self.is_sparse:
            self.indices = tensor(block.indices)
            self.lengths = tensor(np.diff(block.indptr).astype(np.int64))


class StreamRows:
    """Rows of a table that is read in blocks.

    Parameters
    ----------
    source : Source
        The table as it came.
    columns : (d,) int
        Which of its columns are used, in the order of use.
    mean, scale : (d,)
        Of these columns.
    column_norms : (d,)
        Squared norms of the standardised columns.
    sample : Block
        Some rows of the table, as they came.
    plan : Plan
        How many rows may be held at a time.
    verbose : bool
        Whether passes over the table show a bar.
    """

    def __init__(
        self,
        source: Source,
        columns: NDArray[np.int64],
        mean: FloatArray,
        scale: FloatArray,
        column_norms: FloatArray,
        sample: Block,
        plan: Plan,
        verbose: bool,
    ) -> None:
        self.source, self.columns, self.plan, self.verbose = source, columns, plan, verbose
        self.mean, self.scale, self.column_norms = mean, scale, column_norms
        self.shape = (source.shape[0], len(columns))
        self._place = np.full(source.shape[1], -1)
        self._place[columns] = np.arange(len(columns))
        self.device = torch.device("cpu")
        self._target, self._dtype = self.device, torch.float32
        self._on_device()
        entries = min(BLOCK_ENTRIES, plan.slab_bytes // PER_PRODUCT)
        self.sample = DenseRows(self.standardized(Staged(sample)).numpy(), entries)

    def __copy__(self) -> StreamRows:
        """Rows that may go to another device; the sample goes with them."""
        other = object.__new__(StreamRows)
        other.__dict__ = {**self.__dict__, "sample": copy.copy(self.sample)}
        return other

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        self._target, self._dtype = device, dtype
        self._on_device()
        self.sample.to(device, dtype)

    def standardized(
        self, block: Staged, dtype: torch.dtype = torch.float32, out: Tensor | None = None
    ) -> Tensor:
        """A block's rows on the device, (b, d)."""
        size = (block.n_rows, self.shape[1])
        if not block.is_sparse:
            raw = self._sent(block.values).index_select(1, self._columns).double()
            values = raw.sub_(self._mean).div_(self._scale)
            return values.to(dtype) if out is None else out.copy_(values)
        filled = torch.empty(size, dtype=dtype, device=self._target) if out is None else out
        filled.copy_((-self._mean / self._scale).expand(size))
        column = self._places[self._sent(block.indices).long()]
        lengths = self._sent(block.lengths)
        row = torch.repeat_interleave(lengths, output_size=len(column))
        raw = self._sent(block.values).double()
        if size[1] < self.source.shape[1]:
            used = column >= 0
            row, column, raw = row[used], column[used], raw[used]
        values = (raw - self._mean[column]) / self._scale[column]
        filled.view(-1)[row * size[1] + column] = values.to(dtype)
        return filled

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        """Rows by index: for a few."""
        block = self.source.gather(index.cpu().numpy())
        values = self.standardized(Staged(block), self._dtype)
        return values if out is None else out.copy_(values)

    def some(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        """Random rows of the sample."""
        return self.sample.some(n_rows, rng)

    def batches(self, n_steps: int, rng: np.random.Generator, out: Tensor) -> Iterator[None]:
        """Fill ``out`` with other random rows for every step of an epoch.

        The next batches are read, put together and, for a GPU, pinned in a thread; the copy to the
        device runs beside the step before it.
        """
        seed = int(rng.integers(2**62))  # what is drawn ahead leaves the caller's state alone
        drawn = self._drawn(n_steps * len(out), len(out), np.random.default_rng(seed))
        for batch in ahead(self._staged(block) for block in drawn):
            self.standardized(batch, self._dtype, out=out)
            yield

    def _drawn(self, n_rows: int, size: int, rng: np.random.Generator) -> Iterator[Block]:
        """Batches of rows at random or, from a file, from a shuffled buffer of random runs."""
        length = self.source.drawn_rows
        if length == 1:
            order = np.resize(rng.permutation(self.shape[0]), n_rows)
            yield from (self.source.gather(order[i : i + size]) for i in range(0, n_rows, size))
            return
        starts = rng.permutation(-(-self.shape[0] // length)) * length
        per_buffer = -(-max(self.plan.buffer_rows, size) // length)
        n_left, begin = n_rows // size, 0
        first = rest = None
        while n_left and begin < len(starts):
            missing = n_left * size - (0 if rest is None else rest.shape[0])
            end = begin + min(per_buffer, -(-missing // length))
            runs = [(a, min(a + length, self.shape[0])) for a in np.sort(starts[begin:end])]
            pieces = [self.source.read(int(a), int(b)) for a, b in runs]
            buffer = stacked(pieces if rest is None else [rest, *pieces])
            order = rng.permutation(buffer.shape[0])
            n_batches = min(len(order) // size, n_left)
            for i in range(n_batches):
                batch = buffer[order[i * size : (i + 1) * size]]
                first = batch if first is None else first
                yield batch
            rest = buffer[order[n_batches * size :]]
            n_left, begin = n_left - n_batches, end
        if n_left and rest is not None and first is not None:
            # no row twice in a batch: copies have no distance
            yield stacked([rest, first[: size - rest.shape[0]]])

    @property
    def is_exact(self) -> bool:
        """Whether the products of all columns with all are affordable, and the passes for them."""
        N, d = self.shape
        few = N * d**2 <= EXACT_PRODUCTS.get(self._target.type, EXACT_PRODUCTS["cpu"])
        return few and -(-d // self.columns_at_once) <= MOST_PASSES

    @property
    def columns_at_once(self) -> int:
        """Columns whose products with all others fit in memory."""
        return max(1, self._slab_bytes() // (PER_PRODUCT * self.shape[1]))

    def column_products(self, start: int, stop: int) -> Tensor:
        """Inner products of columns start..stop with all, added up over blocks in double."""
        d = self.shape[1]
        products = torch.zeros((stop - start, d), dtype=torch.float64, device=self._target)
        for Z in self._passes("feature graph"):
            products += Z[:, start:stop].T @ Z
        return products

    def pair_distances(self, partners: NDArray[np.int64], n_rows: int) -> FloatArray:
        """Squared distances of every column to some others, from about so many rows, (d, m)."""
        index = torch.from_numpy(partners).to(self._target)
        products = torch.zeros(index.shape, dtype=torch.float64, device=self._target)
        norms = torch.zeros(self.shape[1], dtype=torch.float64, device=self._target)
        seen = 0
        for Z in self._passes("nearest features", n_rows):
            by_column = Z.T.contiguous()
            size = max(1, 2**24 // (index.shape[1] * len(Z)))
            for first in range(0, len(index), size):
                part = slice(first, first + size)
                others = by_column[index[part]]
                products[part] += (others @ by_column[part].unsqueeze(-1)).squeeze(-1)
            norms += by_column.square_().sum(1, dtype=torch.float64)
            seen += len(Z)
        distances = norms.unsqueeze(-1) + norms[index] - 2 * products
        return (distances.clamp_(min=0) * (self.shape[0] / seen)).cpu().numpy()

    def sketch(self) -> DenseRows:
        """The columns over a few random sums of rows, as many as the sample has, with random signs.

        Inner products of its columns estimate those of the table's.
        """
        if self.sample.shape[0] == self.shape[0]:
            return self.sample
        rng = np.random.default_rng(0)
        m, d = self.sample.shape
        m = min(m, SKETCH_ROWS)
        most = SKETCH_PRODUCTS.get(self._target.type, SKETCH_PRODUCTS["cpu"])
        sums = torch.zeros((m, d), dtype=torch.float32, device=self._target)
        for Z in self._passes("sketch of the features", max(4 * m, int(most / (m * d)))):
            signs = torch.from_numpy(rng.integers(2, size=(m, len(Z)), dtype=np.int8))
            sums += self._sent(signs).to(Z.dtype).mul_(2).sub_(1) @ Z
        found = DenseRows((sums / np.sqrt(m)).cpu().numpy(), self.sample.block_entries)
        found.to(self._target, self._dtype)
        return found

    def group_products(
        self, labels: NDArray[np.int64], n_groups: int
    ) -> tuple[FloatArray, FloatArray]:
        """Products of every column with the sum of its group, (d,), and norms of the sums, (C,)."""
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

    def shuffled(self, rng: np.random.Generator) -> DenseRows:
        """The sample with every column shuffled on its own."""
        return self.sample.shuffled(rng)

    def resampled(self, index: NDArray[np.int64], standardize: bool) -> StreamRows:
        """Some of the rows, centred and, if so wanted, standardised anew."""
        source = PartSource(self.source, rows=np.sort(index))
        n_sample = min(self.plan.sample_rows, len(index))
        found = gather_moments(source, n_sample, self.plan.block_rows, _accept, False)
        mean, spread = found.mean[self.columns], found.spread[self.columns]
        scale = at_least_rounding(spread, self.scale) if standardize else self.scale
        norms = len(index) * (spread / scale) ** 2
        return StreamRows(
            source, self.columns, mean, scale, norms, found.sample, self.plan, self.verbose
        )

    def _passes(self, what: str, n_rows: int | None = None) -> Iterator[Tensor]:
        """Standardised blocks of all rows, or of so many."""
        source: Source = self.source
        if n_rows is not None and n_rows < self.shape[0]:
            source = PartSource(source, rows=_spread_out(self.shape[0], n_rows))
        size = self.plan.block_rows
        for _, block in blocks(source, size, what, self.verbose, self._staged):
            yield self.standardized(block)

    def _staged(self, block: Block) -> Staged:
        return Staged(block, pinned=self._target.type == "cuda")

    def _slab_bytes(self) -> int:
        if self._target.type == "cuda":
            return torch.cuda.mem_get_info(self._target)[0] // 2
        return self.plan.slab_bytes

    def _on_device(self) -> None:
        numbers = (self.mean, self.scale, self.columns, self._place)
        tensors = [torch.from_numpy(values).to(self._target) for values in numbers]
        self._mean, self._scale, self._columns, self._places = tensors

    def _sent(self, values: Tensor) -> Tensor:
        return values.to(self._target, non_blocking=True)


def _native(block: NDArray[np.generic]) -> NDArray[np.generic]:
    """The same numbers in a type torch knows."""
    kinds = {"b": np.uint8, "u": np.float64, "f": np.float64, "i": np.int64}
    known = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64")
    if block.dtype.isnative and block.dtype.name in known:
        return block
    return block.astype(kinds[block.dtype.kind])


def _spread_out(n_rows: int, n_wanted: int, length: int = FEWEST_DRAWN) -> NDArray[np.int64]:
    """Random runs of rows, about so many rows in all, ascending."""
    starts = np.arange(0, n_rows, length)
    n_runs = min(len(starts), max(1, n_wanted // length))
    chosen = np.sort(np.random.default_rng(0).choice(len(starts), n_runs, replace=False))
    rows = (starts[chosen, None] + np.arange(length)).ravel()
    return rows[rows < n_rows]


def _accept(block: Block) -> None:
    """Values were looked at before."""
