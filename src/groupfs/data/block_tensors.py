"""Blocks of rows as tensors, ready to go to the device."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.block_sources import Block


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
        tensors = [_as_tensor(part) for part in parts]
        return cls(block.shape[0], *(t.pin_memory() if pinned else t for t in tensors))


def _as_tensor(values: NDArray[Any]) -> Tensor:
    """Wrap an array as a tensor; copy it where torch does not know its kind or may not write."""
    known = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool")
    if not values.dtype.isnative or values.dtype.name not in known:
        values = values.astype(np.float64)
    values = np.ascontiguousarray(values)
    return torch.from_numpy(values if values.flags.writeable else values.copy())
