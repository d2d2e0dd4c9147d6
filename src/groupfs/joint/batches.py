"""Rows of a table as batches of tensors."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from groupfs.data.table import RowsInMemory

#: Numbers of a table up to which all of its rows are held on the device (1 GB in single precision).
HELD_ENTRIES = 2**28


class Batches:
    """Standardised rows of a table on a device: all of them, or those that are asked for."""

    def __init__(self, rows: RowsInMemory, device: torch.device, dtype: torch.dtype) -> None:
        self.rows, self.shape, self.device, self._dtype = rows, rows.shape, device, dtype
        self._held: Tensor | None = None
        if rows.shape[0] * rows.shape[1] <= HELD_ENTRIES:
            self._held = self._sent(torch.arange(rows.shape[0]))

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        """Return rows by index, (B, d); into ``out`` if given."""
        if self._held is not None:
            return torch.index_select(self._held, 0, index.to(self.device), out=out)
        return self._sent(index) if out is None else out.copy_(self._sent(index))

    def random(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        """Return random rows, or all where there are no more, (n_rows, d)."""
        return self.take(torch.from_numpy(rng.permutation(self.shape[0])[:n_rows]))

    def fill(self, n_steps: int, rng: np.random.Generator, out: Tensor) -> Iterator[None]:
        """Fill ``out`` (B, d) with other random rows for every step of an epoch."""
        # every batch has the same size: the first rows of the order fill up the last
        order = np.resize(rng.permutation(self.shape[0]), n_steps * len(out))
        for batch in torch.from_numpy(order).to(self.device).split(len(out)):
            self.take(batch, out=out)
            yield

    def _sent(self, index: Tensor) -> Tensor:
        values = self.rows.take(index.cpu().numpy())
        return torch.as_tensor(values, dtype=self._dtype, device=self.device)
