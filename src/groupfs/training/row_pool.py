"""The rows that gates of fixed groups are trained on: a few batches, prepared once.

Axes: B samples of a batch, d features, C groups.

Where groups stay as they are a gate is all that is learned of each, and a few thousand rows say as
much as all. The same batches are used in turn, so what a step needs of them is worked out once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from groupfs.models.group_products import GroupProducts, Samples
from groupfs.models.losses import columns_are_cheaper
from groupfs.training.settings import MOST_BATCHES, POOL_ENTRIES
from groupfs.utils.types import IntArray


class RandomRows(Protocol):
    """Rows that batches are drawn from."""

    shape: tuple[int, int]

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> torch.Tensor:
        """Return random rows, or all where there are no more, (n_rows, d)."""


@dataclass(frozen=True)
class RowPool:
    """Batches of rows of one size, or their products over the groups."""

    batches: list[Samples]

    @classmethod
    def of(
        cls,
        rows: RandomRows,
        labels: IntArray | None,
        n_groups: int,
        batch_size: int,
        steps: int,
        seed: int,
        n_bytes: int,
    ) -> "RowPool":
        """Draw batches; ``labels`` (d,) are the groups, ``steps`` those of the walk.

        Without labels rows are kept, as where groups are learned.

        Rows and their products over groups may take up to ``n_bytes``, beside at least one batch.
        """
        N, d = rows.shape
        most_entries = min(POOL_ENTRIES, n_bytes // 16)
        n_rows = min(N, MOST_BATCHES * batch_size, max(batch_size, most_entries // d))
        X = rows.random_rows(n_rows, np.random.default_rng(seed))
        size = min(batch_size, len(X))
        n_batches = -(-len(X) // size)
        # the first rows fill up a last batch
        order = torch.from_numpy(np.resize(np.arange(len(X)), n_batches * size)).to(X.device)
        batches = [X[part] for part in order.split(size)]
        entries = n_batches * n_groups * size**2
        if labels is None or entries > most_entries or columns_are_cheaper(size, d, steps):
            return cls(list(batches))
        return cls([GroupProducts.of(batch, labels, n_groups) for batch in batches])

    def __iter__(self) -> Iterator[Samples]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)

    @property
    def holds_products(self) -> bool:
        """Whether weights are those of groups, not of features."""
        return isinstance(self.batches[0], GroupProducts)

    @property
    def n_bytes(self) -> int:
        """How much the batches take."""
        tensors = [b if isinstance(b, torch.Tensor) else b.products for b in self.batches]
        return sum(tensor.element_size() * tensor.numel() for tensor in tensors)

    def to(self, device: torch.device) -> "RowPool":
        """Copy the batches to another device."""
        return RowPool([batch.to(device) for batch in self.batches])
