r"""Add up the standardised rows of a table, block by block: all its passes but the first.

Axes: b rows of a block, d features, m of something else. A pass is made for a device, is given
blocks Z, (b, d), and holds its sums in tensors there. Its making can be pickled, and sums of some
rows plus sums of others are those of all: so it can be done anywhere, see ``SumsWork``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.memory import PAIR_ENTRIES, block_rows
from groupfs.data.sources import Block
from groupfs.utils.types import FloatArray, IntArray


class RowSums(ABC):
    """Sums that grow with every block."""

    sums: tuple[Tensor, ...]

    @abstractmethod
    def add(self, Z: Tensor, start: int) -> None:
        """Add rows start.. of the pass, (b, d)."""


class ColumnProducts(RowSums):
    """Products of some columns with all, (m, d), double precision."""

    def __init__(self, columns: slice | IntArray, size: tuple[int, int], device: torch.device):
        self.columns: Any = columns
        if not isinstance(columns, slice):
            self.columns = as_tensor(columns).to(device)
        self.sums = (torch.zeros(size, dtype=torch.float64, device=device),)

    def add(self, Z: Tensor, start: int) -> None:
        self.sums[0].add_(Z[:, self.columns].T @ Z)


class PairProducts(RowSums):
    """Products of every column with its partners, (d, m), and squared norms, (d,)."""

    def __init__(self, partners: NDArray[np.int32], device: torch.device):
        self.partners = as_tensor(partners).to(device)
        self.sums = (
            torch.zeros(partners.shape, dtype=torch.float64, device=device),
            torch.zeros(len(partners), dtype=torch.float64, device=device),
        )

    def add(self, Z: Tensor, start: int) -> None:
        products, norms = self.sums
        by_column = Z.T.contiguous()
        size = block_rows(self.partners.shape[1] * len(Z), PAIR_ENTRIES)
        for first in range(0, len(by_column), size):
            part = slice(first, first + size)
            others = by_column[self.partners[part]]
            products[part] += (others @ by_column[part].unsqueeze(-1)).squeeze(-1)
        norms += by_column.square_().sum(1, dtype=torch.float64)


class SignedSums(RowSums):
    """Sums of the rows, each with a random sign in one of m sums at random, (m, d).

    Inner products of columns are estimated as well as by m sums of all rows with random signs, at a
    small part of the work. Single precision.
    """

    def __init__(self, size: tuple[int, int], device: torch.device):
        self.sums = (torch.zeros(size, dtype=torch.float32, device=device),)

    def add(self, Z: Tensor, start: int) -> None:
        m = len(self.sums[0])
        place, sign = (torch.from_numpy(a).to(Z.device) for a in random_places(start, len(Z), m))
        if Z.device.type == "cpu":
            self.sums[0].index_add_(0, place, Z * sign[:, None])
            return
        # on a GPU the order of such additions is left to chance
        signs = torch.zeros((m, len(Z)), dtype=Z.dtype, device=Z.device)
        signs[place, torch.arange(len(Z), device=Z.device)] = sign
        self.sums[0].add_(signs @ Z)


class GroupSums(RowSums):
    """Products of columns with the sums of their groups, (d,); squared norms of these, (C,)."""

    def __init__(self, labels: IntArray, n_groups: int, device: torch.device):
        self.labels = as_tensor(labels).to(device)
        self.groups = [torch.nonzero(self.labels == j).ravel() for j in range(n_groups)]
        self.sums = (
            torch.zeros(len(labels), dtype=torch.float64, device=device),
            torch.zeros(n_groups, dtype=torch.float64, device=device),
        )

    def add(self, Z: Tensor, start: int) -> None:
        products, norms = self.sums
        totals = torch.stack([Z[:, group].sum(1) for group in self.groups], 1)
        products += (Z * totals[:, self.labels]).sum(0, dtype=torch.float64)
        norms += totals.double().square_().sum(0)


@dataclass(frozen=True)
class SumsWork:
    """Sums as work that can be done in parts; see :class:`groupfs.data.sources.Work`."""

    make: Callable[[torch.device], RowSums]
    units: "ColumnUnits"
    n_bytes: int
    device: torch.device

    def split(self, spans: list[tuple[int, int]]) -> list[int]:
        """Tell every part which row of the pass is its first: random signs go by that."""
        return [start for start, _ in spans]

    def measure(self, pieces: Iterator[Block], part: int) -> tuple[Any, ...]:
        """Add up standardised rows; what is on no GPU comes as arrays, whose size dask knows."""
        sums, standardizer = self.make(self.device), Standardizer(self.units, self.device)
        for block in pieces:
            sums.add(standardizer.standardized(block), part)
            part += block.shape[0]
        return tuple(s.numpy() if s.device.type == "cpu" else s for s in sums.sums)

    def merge(self, found: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        merged = [one + other for one, other in zip(found[0], found[1], strict=True)]
        for others in found[2:]:
            for total, other in zip(merged, others, strict=True):
                total += other
        return tuple(merged)


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


def random_places(start: int, n_rows: int, m: int) -> tuple[IntArray, NDArray[np.float32]]:
    """Draw one of m places and a sign for rows start..: each row keeps its own in any block."""
    counter = np.random.Philox(key=0, counter=start)  # four numbers for each step of it
    words = counter.random_raw(4 * n_rows).reshape(n_rows, 4)
    signs = np.where(words[:, 1] >> np.uint64(63), 1, -1).astype(np.float32)
    return (words[:, 0] % np.uint64(m)).astype(np.int64), signs
