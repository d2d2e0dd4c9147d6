"""Blocks of rows as tensors, ready to go to the device and to be standardised there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.blocks import Block
from groupfs.utils.types import FloatArray, IntArray


@dataclass(frozen=True)
class BlockTensors:
    """A block as tensors; of a sparse one the entries, their columns and their number per row."""

    n_rows: int
    values: Tensor
    indices: Tensor | None = None
    lengths: Tensor | None = None

    @classmethod
    def of(cls, block: Block, pinned: bool = False) -> "BlockTensors":
        """Make tensors of a block, in pinned memory if it goes to a GPU."""
        parts = [block]
        if sp.issparse(block):
            parts = [block.data, block.indices, np.diff(block.indptr).astype(np.int64)]
        tensors = [as_tensor(part) for part in parts]
        return cls(block.shape[0], *(t.pin_memory() if pinned else t for t in tensors))


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

    def standardized(
        self, block: BlockTensors, dtype: torch.dtype = torch.float32, out: Tensor | None = None
    ) -> Tensor:
        """Standardise a block's rows, (b, d)."""
        size = (block.n_rows, self.n_columns)
        if block.indices is None or block.lengths is None:
            raw = self._send(block.values).index_select(1, self._columns).double()
            values = raw.sub_(self._mean).div_(self._scale)
            return values.to(dtype) if out is None else out.copy_(values)
        filled = torch.empty(size, dtype=dtype, device=self.device) if out is None else out
        filled.copy_((-self._mean / self._scale).expand(size))
        column = self._index[self._send(block.indices).long()]
        row = torch.repeat_interleave(self._send(block.lengths), output_size=len(column))
        raw = self._send(block.values).double()
        if size[1] < self.width:
            used = column >= 0
            row, column, raw = row[used], column[used], raw[used]
        values = (raw - self._mean[column]) / self._scale[column]
        filled.view(-1)[row * size[1] + column] = values.to(dtype)
        return filled

    def _send(self, values: Tensor) -> Tensor:
        return values.to(self.device, non_blocking=True)


def as_tensor(values: NDArray[Any]) -> Tensor:
    """Wrap an array as a tensor; copy it where torch does not know its kind or may not write."""
    known = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool")
    if not values.dtype.isnative or values.dtype.name not in known:
        values = values.astype(np.float64)
    values = np.ascontiguousarray(values)
    return torch.from_numpy(values if values.flags.writeable else values.copy())
