r"""Sums over the standardised rows of a table, block by block: all its passes but the first.

Axes: b rows of a block, d features, m of something else. A pass is made for a device, is given
blocks Z, (b, d), and holds its sums in tensors there. Its making can be pickled, and sums of some
rows plus sums of others are those of all: so it can be done anywhere, see ``SumsWork``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.block_tensors import BlockTensors, ColumnUnits, Standardizer, as_tensor
from groupfs.data.blocks import Block
from groupfs.data.memory_plan import PAIR_ENTRIES, block_rows
from groupfs.utils.types import IntArray


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


def add_up(
    blocks: Iterable[BlockTensors], standardizer: Standardizer, sums: RowSums, start: int = 0
) -> tuple[Tensor, ...]:
    """Standardise blocks and add them up; the first row is row ``start`` of the pass."""
    for block in blocks:
        sums.add(standardizer.standardized(block), start)
        start += block.n_rows
    return sums.sums


@dataclass(frozen=True)
class SumsWork:
    """Sums as work that can be done in parts; see :class:`groupfs.data.dask_passes.Work`."""

    make: Callable[[torch.device], RowSums]
    units: ColumnUnits
    n_bytes: int

    def split(self, spans: list[tuple[int, int]]) -> list[int]:
        """Tell every part which row of the pass is its first: random signs go by that."""
        return [start for start, _ in spans]

    def measure(self, pieces: Iterator[Block], part: int) -> tuple[NDArray[Any], ...]:
        device = torch.device("cpu")
        blocks = (BlockTensors.of(piece) for piece in pieces)
        found = add_up(blocks, Standardizer(self.units, device), self.make(device), part)
        return tuple(values.numpy() for values in found)

    def merge(self, found: list[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
        merged = [one + other for one, other in zip(found[0], found[1], strict=True)]
        for others in found[2:]:
            for total, other in zip(merged, others, strict=True):
                total += other
        return tuple(merged)


def random_places(start: int, n_rows: int, m: int) -> tuple[IntArray, NDArray[np.float32]]:
    """Draw one of m places and a sign for rows start..: each row keeps its own in any block."""
    counter = np.random.Philox(key=0, counter=start)  # four numbers for each step of it
    words = counter.random_raw(4 * n_rows).reshape(n_rows, 4)
    signs = np.where(words[:, 1] >> np.uint64(63), 1, -1).astype(np.float32)
    return (words[:, 0] % np.uint64(m)).astype(np.int64), signs
