"""Pass over a table that is not in memory: look at it once, then multiply its columns.

Axes: b rows of a block, d columns. The first pass finds means and deviations of the columns, their
products with fixed random vectors, by which columns are ordered and twins known, values that cannot
be used, and a sample of random rows. The second adds up products of all columns of the standardised
rows. What is found in some rows merges with what is found in others, so both can be done anywhere,
see :class:`groupfs.data.sources.Work`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from groupfs.data import checks
from groupfs.data.checks import Missing
from groupfs.data.sources import Block, stack_blocks
from groupfs.data.standardize import N_KEYS, ColumnMoments
from groupfs.utils.device import as_array, on_device
from groupfs.utils.progress import doing
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
            return replace(self, missing=(self.missing or none).merged(other.missing or none))
        with np.errstate(over="ignore", invalid="ignore"):
            moved = other.products + np.outer(other.shift - self.shift, other.total)
        moments, total = self.moments.merged(other.moments), self.total + other.total
        sample = stack_blocks([self.sample, other.sample])
        return Survey(moments, self.products + moved, self.shift, total, sample)


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
        vectors, parts = np.random.default_rng(0), []
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
            doing()
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
    device: Any  #: of torch; None where numpy multiplies

    @property
    def n_bytes(self) -> int:
        return 8 * len(self.units.columns) ** 2

    def split(self, spans: list[tuple[int, int]]) -> list[None]:
        return [None] * len(spans)

    def measure(self, pieces: Iterator[Block], part: None) -> FloatArray:
        """Add up blocks of rows."""
        d = len(self.units.columns)
        total = np.zeros((d, d))
        for block in pieces:
            doing()
            Z = on_device(self.units.standardized(block, np.float32), self.device)
            total += as_array(Z.T @ Z)
        return total

    def merge(self, found: list[FloatArray]) -> FloatArray:
        return reduce(np.add, found)


@dataclass(frozen=True)
class ColumnUnits:
    """Which columns of a table are used, in the order of use, and what makes them standard."""

    columns: IntArray  #: (d,)
    mean: FloatArray  #: (d,)
    scale: FloatArray  #: (d,)
    width: int  #: columns of the table as it came

    def restricted(self, columns: IntArray) -> "ColumnUnits":
        own = (self.columns[columns], self.mean[columns], self.scale[columns])
        return ColumnUnits(*own, self.width)

    def standardized(self, block: Block, dtype: type = np.float64) -> FloatArray:
        """Standardise a block's rows as they came, (x - mean) / scale, (b, d)."""
        if isinstance(block, np.ndarray):
            raw = np.take(block, self.columns, axis=1).astype(np.float64, copy=False)
            raw -= self.mean
            raw /= self.scale
            return raw.astype(dtype, copy=False)
        place = np.full(self.width, -1)
        place[self.columns] = np.arange(len(self.columns))
        filled: FloatArray = np.tile((-self.mean / self.scale).astype(dtype), (block.shape[0], 1))
        column = place[block.indices]
        row, used = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)), column >= 0
        row, column, raw = row[used], column[used], block.data[used].astype(np.float64)
        filled[row, column] = (raw - self.mean[column]) / self.scale[column]
        return filled
