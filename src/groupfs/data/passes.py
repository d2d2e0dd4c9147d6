"""Pass over a table that is not in memory: look at it once, then multiply its columns.

Axes: b rows of a block, d columns. The first pass finds means and deviations of the columns, their
products with fixed random vectors, by which columns are ordered and twins known, values that cannot
be used, and a sample of random rows. The second adds up products of all columns of the standardised
rows. What is found in some rows merges with what is found in others, so both can be done anywhere,
see :class:`groupfs.data.sources.Work`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data import checks
from groupfs.data.checks import Missing
from groupfs.data.sources import Block, stack_blocks
from groupfs.data.standardize import N_KEYS, ColumnMoments
from groupfs.utils.types import FloatArray, IntArray


@dataclass(frozen=True)
class Survey:
    """What was seen of some rows; where values are missing nothing else counts."""

    moments: ColumnMoments
    products: FloatArray  #: of the columns, less a shift, with the random vectors, (d, 3)
    shift: FloatArray  #: about where the columns are, (d,)
    total: FloatArray  #: sums of the random vectors, (3,)
    sample: Block  #: rows as they came
    missing: Missing | None = None

    @property
    def keys(self) -> FloatArray:
        """Products of the centred columns with the random vectors, (d, 3)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.products - np.outer(self.moments.mean - self.shift, self.total)

    def merged(self, other: "Survey") -> "Survey":
        """Put what was seen of other rows to this, for rows that follow these."""
        if self.missing is not None or other.missing is not None:
            none = Missing(np.zeros(0, np.int64), np.zeros(0, np.int64))
            missing = (self.missing or none).merged(other.missing or none)
            return Survey(self.moments, self.products, self.shift, self.total, self.sample, missing)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = other.products + np.outer(other.shift - self.shift, other.total)
        return Survey(
            self.moments.merged(other.moments),
            self.products + moved,
            self.shift,
            self.total + other.total,
            stack_blocks([self.sample, other.sample]),
        )


@dataclass(frozen=True)
class SurveyWork:
    """A survey as work that can be done in parts; see :class:`groupfs.data.sources.Work`."""

    shape: tuple[int, int]
    sample_rows: int

    @property
    def n_bytes(self) -> int:
        return 8 * (2 * N_KEYS + 2) * self.shape[1]

    def split(self, spans: list[tuple[int, int]]) -> list[Any]:
        """Tell every part where the random numbers stand at its start, and its sampled rows."""
        N = self.shape[0]
        size = min(self.sample_rows, N)
        chosen = np.sort(np.random.default_rng(0).choice(N, size, replace=False))
        vectors = np.random.default_rng(0)
        parts = []
        for start, stop in spans:
            first, last = np.searchsorted(chosen, [start, stop])
            parts.append((vectors.bit_generator.state, chosen[first:last] - start))
            if stop < N:
                vectors.standard_normal((stop - start, N_KEYS))
        return parts

    def measure(self, pieces: Iterator[Block], part: tuple[Any, IntArray]) -> Survey:
        """Look at some rows, up to the first values that cannot be used."""
        state, chosen = part
        vectors = np.random.default_rng()
        vectors.bit_generator.state = state
        d = self.shape[1]
        moments, products, total = ColumnMoments(d), np.zeros((d, N_KEYS)), np.zeros(N_KEYS)
        shift: FloatArray = np.zeros(0)
        sample: list[Block] = []
        for block in pieces:
            missing = checks.find_missing(block)
            if missing is not None:
                return Survey(moments, products, shift, total, block[:0], missing)
            start = moments.n_rows
            moments.add(block)
            shift = shift if start else moments.mean
            drawn = vectors.standard_normal((block.shape[0], N_KEYS))
            with np.errstate(over="ignore", invalid="ignore"):
                products += _products(block, shift, drawn)
            total += drawn.sum(0)
            first, last = np.searchsorted(chosen, [start, moments.n_rows])
            sample.append(block[chosen[first:last] - start])
        return Survey(moments, products, shift, total, stack_blocks(sample))

    def merge(self, found: list[Survey]) -> Survey:
        return reduce(Survey.merged, found)


def _products(block: Block, shift: FloatArray, vectors: FloatArray) -> FloatArray:
    """Multiply the columns, less a shift, with vectors over the rows, (d, 3)."""
    if isinstance(block, np.ndarray):
        return (block - shift).T @ vectors
    return np.asarray(block.T.astype(np.float64) @ vectors - np.outer(shift, vectors.sum(0)))


@dataclass(frozen=True)
class ProductsWork:
    """Products of all columns with all, (d, d), double precision, as work done in parts."""

    units: "ColumnUnits"
    device: torch.device

    @property
    def n_bytes(self) -> int:
        return 8 * len(self.units.columns) ** 2

    def split(self, spans: list[tuple[int, int]]) -> list[None]:
        return [None] * len(spans)

    def measure(self, pieces: Iterator[Block], part: None) -> Any:
        """Add up blocks of rows; what is on no GPU comes as an array, whose size dask knows."""
        d = len(self.units.columns)
        standardizer = Standardizer(self.units, self.device)
        total = torch.zeros((d, d), dtype=torch.float64, device=self.device)
        for block in pieces:
            _add_products(total, standardizer.standardized(block))
        return total.numpy() if total.device.type == "cpu" else total

    def merge(self, found: list[Any]) -> Any:
        merged = found[0] + found[1]
        for others in found[2:]:
            merged += others
        return merged


def _add_products(total: Tensor, Z: Tensor) -> None:
    """Add the products of the columns of a block, (b, d), which is not held any longer."""
    total.add_(Z.T @ Z)


@dataclass(frozen=True)
class ColumnUnits:
    """Which columns of a table are used, in the order of use, and what makes them standard."""

    columns: IntArray  #: (d,)
    mean: FloatArray  #: (d,)
    scale: FloatArray  #: (d,)
    width: int  #: columns of the table as it came

    def restricted(self, columns: IntArray) -> "ColumnUnits":
        return ColumnUnits(
            self.columns[columns], self.mean[columns], self.scale[columns], self.width
        )


class Standardizer:
    """Turns blocks as they came into standardised rows (x - mean) / scale on a device."""

    def __init__(self, units: ColumnUnits, device: torch.device) -> None:
        self.device, self.width, self.n_columns = device, units.width, len(units.columns)
        index = np.full(units.width, -1)
        index[units.columns] = np.arange(self.n_columns)
        numbers = (units.mean, units.scale, units.columns, index)
        tensors = [as_tensor(values).to(device) for values in numbers]
        self._mean, self._scale, self._columns, self._index = tensors

    def standardized(self, block: Block, dtype: torch.dtype = torch.float32) -> Tensor:
        """Standardise a block's rows, (b, d)."""
        size = (block.shape[0], self.n_columns)
        if not sp.issparse(block):
            raw = self._send(block).index_select(1, self._columns).double()
            return raw.sub_(self._mean).div_(self._scale).to(dtype)
        filled = (-self._mean / self._scale).to(dtype).repeat(size[0], 1)
        column = self._index[self._send(block.indices).long()]
        lengths = self._send(np.diff(block.indptr).astype(np.int64))
        row = torch.repeat_interleave(lengths, output_size=len(column))
        raw = self._send(block.data).double()
        if size[1] < self.width:
            used = column >= 0
            row, column, raw = row[used], column[used], raw[used]
        values = (raw - self._mean[column]) / self._scale[column]
        filled.view(-1)[row * size[1] + column] = values.to(dtype)
        return filled

    def _send(self, values: NDArray[Any]) -> Tensor:
        return as_tensor(values).to(self.device)


def as_tensor(values: NDArray[Any]) -> Tensor:
    """Wrap an array as a tensor; copy it where torch does not know its kind or may not write."""
    known = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool")
    if not values.dtype.isnative or values.dtype.name not in known:
        values = values.astype(np.float64)
    values = np.ascontiguousarray(values)
    return torch.from_numpy(values if values.flags.writeable else values.copy())
