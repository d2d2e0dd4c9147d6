r"""Compare the columns of a table that is not in memory by all of its rows, on a device of torch.

Axes: N rows, n of a batch, d columns, c of them, 16 blocks of rows, H = 17: the whole and both
halves of 8 pairs, E edges.

Every row of a batch goes to one of 16 blocks at random, as many to each; halves are 8 of them
(:mod:`groupfs.data.halves`). Rows are passed twice, and stay on the device if they fit: for moments
of the columns, in double precision (``look_at``), and for products of all columns with all in every
block, as many columns at a time as fit (``compare``). Of these only correlations of neighbours
leave the device.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.data.halves import LEAST_VARIANCE, WIDE_PAIRS, chance_line, first_halves
from groupfs.data.passes import ColumnUnits, Survey, SurveyWork
from groupfs.data.similarity import NEAREST
from groupfs.data.sources import Block, Source, prefetch
from groupfs.data.standardize import N_KEYS, ColumnMoments
from groupfs.utils.device import as_array, import_torch
from groupfs.utils.progress import doing
from groupfs.utils.threads import spans
from groupfs.utils.types import FloatArray, IntArray

#: Blocks of rows that so many pairs of halves tell apart.
N_ROW_BLOCKS = 2 * WIDE_PAIRS
#: Neighbours of a column.
NEIGHBORS = 20
#: Shares of the free memory for rows that stay, for a batch in double precision, for products, and
#: for correlations that are looked at together, with what is made of them.
KEPT_SHARE, BATCH_SHARE, PRODUCTS_SHARE, LOOKED_AT_SHARE = 1 / 3, 1 / 12, 2 / 3, 1 / 8
#: Rows of a batch at most, correlations that are looked at together, and bytes that each takes.
BATCH_ROWS, AT_ONCE, PER_CORRELATION = 2**15, 2**29, 24
#: Columns that are multiplied at a time with all that come after them.
STRIP = 4096
#: Bytes that are free where nobody tells.
FREE_BYTES = 2**30


@dataclass(frozen=True)
class ComparedEdges:
    """Correlations of neighbours, in all rows and in both halves of every pair."""

    n_features: int
    edges: IntArray  #: the lower feature first, (E, 2)
    r: FloatArray  #: (H, E)
    n_rows: FloatArray  #: of the whole and each half, (H,)
    strength: FloatArray  #: mean of the three largest abs(r) of every feature, (d,)

    def restricted(self, features: IntArray) -> "ComparedEdges":
        """Return the edges among some features, ascending."""
        place = np.full(self.n_features, -1)
        place[features] = np.arange(len(features))
        edges = place[self.edges]
        inside = (edges >= 0).all(1)
        parts = (edges[inside], self.r[:, inside], self.n_rows, self.strength[features])
        return ComparedEdges(len(features), *parts)


def as_native(dtype: Any) -> Any:
    """Return the type that torch knows for numbers of one."""
    return np.dtype(np.float64) if dtype.char == "g" else dtype.newbyteorder("=")


class DeviceRows:
    """Rows of a source on a device, in batches; what was read once stays there if it fits."""

    def __init__(self, source: Source, device: Any) -> None:
        self.torch, self.source, self.device = import_torch("device"), source, device
        most = int(BATCH_SHARE * self.free_bytes()) // (8 * source.shape[1])
        self.n_rows = min(BATCH_ROWS, max(N_ROW_BLOCKS, most))
        self._kept: list[Batch] | None = None

    def free_bytes(self) -> int:
        """Return how much memory of the device is free."""
        if self.device.type != "cuda":
            return FREE_BYTES
        self.torch.cuda.empty_cache()
        return int(self.torch.cuda.mem_get_info(self.device)[0])

    def __iter__(self) -> Iterator["Batch"]:
        if self._kept is not None:
            yield from self._kept
            return
        N, kept, room = self.source.shape[0], list[Batch](), KEPT_SHARE * self.free_bytes()
        ready = (self._pinned(self.source.stored(*span)) for span in spans(N, self.n_rows))
        for number, (n, arrays) in enumerate(prefetch(ready)):
            doing()
            brought = [array.to(self.device, non_blocking=True) for array in arrays]
            batch = Batch(number, (n, self.source.shape[1]), brought)
            room -= sum(array.nbytes for array in brought)
            kept = [*kept, batch] if room > 0 else []
            yield batch
        self._kept = kept or None

    def _pinned(self, block: Block) -> tuple[int, list[Any]]:
        """Return numbers of a block of rows, in memory that a GPU reads by itself."""
        sparse = sp.issparse(block)
        arrays = [np.diff(block.indptr), block.indices, block.data] if sparse else [block]
        types = [as_native(array.dtype) for array in arrays]
        own = (np.require(array, of, ["C", "W"]) for array, of in zip(arrays, types, strict=True))
        found = [self.torch.from_numpy(array) for array in own]
        is_cuda = self.device.type == "cuda"
        return block.shape[0], [array.pin_memory() if is_cuda else array for array in found]

    def look_at(self, work: SurveyWork) -> Survey:
        """Look at all rows; where values are missing, as the processor does."""
        ((_, chosen),) = work.split([(0, self.source.shape[0])])
        rng, d = np.random.default_rng(0), self.source.shape[1]
        moments, products, total = ColumnMoments(d), np.zeros((d, N_KEYS)), np.zeros(N_KEYS)
        shift: FloatArray = np.zeros(0)
        for batch in self:
            if not bool(self.torch.isfinite(batch.arrays[-1]).all()):
                found: Survey = self.source.run(work, self.n_rows)
                return found
            drawn = rng.standard_normal((batch.shape[0], N_KEYS))
            X = batch.filled(batch.as_it_is(), self.torch.float64)
            mean = X.mean(0)
            X -= mean
            shift = shift if moments.n_rows else as_array(mean)
            products += as_array(X.T @ X.new_tensor(drawn))
            products += np.outer(as_array(mean) - shift, drawn.sum(0))
            moments.merge(len(drawn), as_array(mean), as_array(X.square_().sum(0)))
            total += drawn.sum(0)
        return Survey(moments, products, shift, total, self.source.gather(chosen))

    def compare(self, units: ColumnUnits) -> ComparedEdges:
        """Find the nearest neighbours of columns that are alike beyond chance."""
        torch, d = self.torch, len(units.columns)
        blocks = BlocksOfRows(self, units)
        keys, values, strength = [], [], []
        for start, r in blocks.correlations():
            size = abs(r)
            every = torch.arange(r.shape[1], device=self.device)
            size[:, every, every + start] = 0
            largest, target = size.topk(min(NEIGHBORS, d - 1), dim=2)
            strength.append(largest[0, :, :NEAREST].mean(1))
            h, source, place = torch.nonzero(largest > blocks.line[:, None, None], as_tuple=True)
            pair = torch.unique(source * d + target[h, source, place])
            source, target = pair // d, pair % d
            values.append(r[:, source, target])
            source = source + start
            keys.append(torch.minimum(source, target) * d + torch.maximum(source, target))
        key, place = np.unique(torch.cat(keys).cpu().numpy(), return_index=True)
        along = as_array(torch.cat(values, 1).cpu())[:, place]
        found = along, as_array(blocks.n_rows), as_array(torch.cat(strength))
        return ComparedEdges(d, np.stack([key // d, key % d], 1), *found)

    def times(self, weights: FloatArray) -> FloatArray | None:
        """Multiply rows as they came with weights, (d, C) to (N, C); None if values are missing."""
        combine = self.torch.as_tensor(weights, device=self.device)
        found = np.zeros((self.source.shape[0], weights.shape[1]))
        for batch in self:
            if not bool(self.torch.isfinite(batch.arrays[-1]).all()):
                return None
            start = batch.number * self.n_rows
            X = batch.filled(batch.as_it_is(), self.torch.float64)
            found[start : start + len(X)] = as_array(X @ combine)
        return found


@dataclass
class Units:
    """Columns of a batch that are used, in order, and what makes them standard, on the device."""

    columns: Any  #: (d,)
    place: Any  #: of every column among these, -1 for others
    mean: Any
    scale: Any


@dataclass
class Batch:
    """A few rows on a device as they came: lengths, columns and values if sparse, else values."""

    number: int
    shape: tuple[int, int]
    arrays: list[Any]

    def as_it_is(self) -> Units:
        """Return what leaves all columns as they are."""
        import torch

        every = torch.arange(self.shape[1], device=self.arrays[0].device)
        return Units(
            every, every, torch.zeros_like(every).double(), torch.ones_like(every).double()
        )

    def filled(self, units: Units, dtype: Any, slots: Any = None, n_slots: int = 0) -> Any:
        """Standardise the rows, and put each into its slot; other slots are 0, (n_slots, d)."""
        import torch

        d, device = len(units.columns), self.arrays[0].device
        slots = torch.arange(self.shape[0], device=device) if slots is None else slots
        out = torch.zeros((max(n_slots, self.shape[0]), d), dtype=dtype, device=device)
        if len(self.arrays) == 1:
            raw = self.arrays[0][:, units.columns].double()
            out[slots] = raw.sub_(units.mean).div_(units.scale).to(dtype)
            return out
        lengths, column, values = self.arrays
        out[slots] = (-units.mean / units.scale).to(dtype)
        row = torch.repeat_interleave(slots, lengths.long(), output_size=len(column))
        column = units.place[column.long()]
        if d < self.shape[1]:
            used = column >= 0
            row, column, values = row[used], column[used], values[used]
        z = (values.double() / units.scale[column]).to(dtype)
        out.view(-1).index_add_(0, row * d + column, z)  # a place may be stored more than once
        return out


def _mirror(products: Any) -> None:
    """Fill in products of columns with all, (B, d, d), if strips have those from themselves on."""
    c, d = products.shape[1:]
    for a, b in spans(d if c == d else 0, STRIP):
        products[:, b:, a:b] = products[:, a:b, b:].mT


class BlocksOfRows:
    """Standardised columns of a table, multiplied in blocks of rows, of which halves are made."""

    def __init__(self, rows: DeviceRows, units: ColumnUnits) -> None:
        torch, self.rows, d = rows.torch, rows, len(units.columns)
        self.torch, on_device = torch, torch.device(rows.device)
        place = np.full(units.width, -1)
        place[units.columns] = np.arange(d)
        used = (units.columns, place, units.mean, units.scale)
        self.units = Units(*(torch.as_tensor(own, device=on_device) for own in used))
        first = first_halves(WIDE_PAIRS)[:, :N_ROW_BLOCKS]
        halves = np.stack([first, ~first], 1).reshape(-1, N_ROW_BLOCKS)
        marked = np.concatenate([np.ones((1, N_ROW_BLOCKS)), halves])
        self.marked = torch.as_tensor(marked, device=on_device)  # (H, 16)
        self.counts = self.marked.new_zeros(N_ROW_BLOCKS)
        for batch in rows:
            slots, per_block = self._slots(batch)
            self.counts += torch.bincount(slots // per_block, minlength=N_ROW_BLOCKS)
        self.n_rows = self.marked @ self.counts
        self.line = torch.as_tensor(chance_line(d, as_array(self.n_rows)), device=on_device)

    def correlations(self) -> Iterator[tuple[int, Any]]:
        """Correlate columns with all, (H, c, d), from the first of c on; in single precision."""
        torch, d = self.torch, len(self.units.columns)
        free, marked = self.rows.free_bytes(), self.marked.float()
        step = int(PRODUCTS_SHARE * free) // (4 * d * N_ROW_BLOCKS)
        at_once = min(AT_ONCE, int(LOOKED_AT_SHARE * free) // PER_CORRELATION)
        for start, stop in spans(d, max(step, 1)):
            sums, squares = self.marked.new_zeros((2, N_ROW_BLOCKS, d))
            products = marked.new_zeros((N_ROW_BLOCKS, stop - start, d))
            for batch in self.rows:
                slots, per_block = self._slots(batch)
                Z = batch.filled(self.units, torch.float32, slots, N_ROW_BLOCKS * per_block)
                for k, own in enumerate(Z.view(N_ROW_BLOCKS, per_block, d)):
                    self._add_products(products[k], own, start)
                    sums[k] += own.sum(0, dtype=torch.float64)
                    squares[k] += own.square().sum(0, dtype=torch.float64)
                doing()
            _mirror(products)
            mean, inverse = (own.float() for own in self._moments(sums, squares))
            for a, b in spans(stop - start, max(1, at_once // (len(marked) * d))):
                part, some = slice(start + a, start + b), products[:, a:b].reshape(N_ROW_BLOCKS, -1)
                r = (marked @ some).view(-1, b - a, d)
                r /= self.n_rows.float()[:, None, None]
                r -= mean[:, part, None] * mean[:, None]
                r *= inverse[:, part, None]
                r *= inverse[:, None]
                yield start + a, r.clamp_(-1, 1)
            del products, some, r  # which share their memory

    def _add_products(self, sums: Any, Z: Any, start: int) -> None:
        """Add products of columns with those from the same strip on, (n, d) to (c, d), single.

        The c columns from ``start`` on are taken in strips; what is left of a strip is mirrored
        later. Tensor cores multiply bfloat16, of 8 bits: numbers are sums of two, and the product
        of both second ones is left out.
        """
        torch, left, right, settings = self.torch, Z, Z, {}
        if self.rows.device.type == "cuda" and torch.__version__ >= (2, 8):
            high = Z.bfloat16()
            low = (Z - high).bfloat16()
            left, right = torch.cat([high, high, low]), torch.cat([high, low, high])
            settings = {"out_dtype": torch.float32}
        for a, b in spans(len(sums), STRIP):
            from_here = start + a if len(sums) == Z.shape[1] else 0
            part = left[:, start + a : start + b].T
            sums[a:b, from_here:] += torch.mm(part, right[:, from_here:], **settings)

    def _slots(self, batch: Batch) -> tuple[Any, int]:
        """Deal the rows of a batch to slots, as many of every block."""
        per_block = -(-batch.shape[0] // N_ROW_BLOCKS)
        dealt = np.random.default_rng(batch.number).permutation(batch.shape[0])
        slots = dealt % N_ROW_BLOCKS * per_block + dealt // N_ROW_BLOCKS
        return self.torch.as_tensor(slots, device=self.rows.device), per_block

    def _moments(self, sums: Any, squares: Any) -> tuple[Any, Any]:
        """Return means and inverse deviations of columns in the whole and the halves, (H, d)."""
        mean = self.marked @ sums / self.n_rows[:, None]
        variance = self.marked @ squares / self.n_rows[:, None] - mean.square()
        enough = variance > LEAST_VARIANCE * variance[0]
        return mean, self.torch.where(enough, variance.clamp(min=1e-300).rsqrt(), 0)
