"""Add up the products of all columns of a table, block by block of its standardised rows.

Axes: b rows of a block, d columns. Products of some rows plus those of others are those of all: so
they can be added up anywhere, see :class:`groupfs.data.sources.Work`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.sources import Block
from groupfs.utils.types import FloatArray, IntArray


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
