"""The rows that gates of fixed groups are trained on: a few batches, prepared once.

Axes: B samples of a batch, d features, p columns they own, C groups.

Where groups stay as they are a gate is all that is learned of each, and a few thousand rows say as
much as all. The same batches are used in turn, so what a step needs of them is worked out once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from groupfs.models.group_products import FeatureProducts, GroupProducts, Samples
from groupfs.models.losses import columns_are_cheaper
from groupfs.training.settings import MOST_BATCHES, POOL_ENTRIES
from groupfs.utils.types import IntArray


class RandomRows(Protocol):
    """Rows that batches are drawn from."""

    shape: tuple[int, int]

    @property
    def owner(self) -> IntArray | None:
        """Feature of every column, where features own several, (p,)."""

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        """Return random rows, or all where there are no more, (n_rows, p)."""


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

        Without labels features may move between groups, and each has a weight of its own. Rows and
        their products over groups may take up to ``n_bytes``, beside at least one batch.
        """
        batches = draw_batches(rows, batch_size, seed, n_bytes)
        owner, d, size = rows.owner, rows.shape[1], len(batches[0])
        too_many = len(batches) * n_groups * size**2 > _most_entries(n_bytes)
        by_feature = labels is None or too_many
        if owner is not None and by_feature:
            return cls([FeatureProducts.of(batch, owner, d) for batch in batches])
        if by_feature or (owner is None and columns_are_cheaper(size, d, steps)):
            return cls(list(batches))
        assert labels is not None
        own = labels if owner is None else labels[owner]
        return cls([GroupProducts.of(batch, own, n_groups, d) for batch in batches])

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
        return sum(batch.nbytes for batch in self.batches)

    def to(self, device: torch.device) -> "RowPool":
        """Copy the batches to another device."""
        return RowPool([batch.to(device) for batch in self.batches])


def draw_batches(rows: RandomRows, batch_size: int, seed: int, n_bytes: int) -> list[Tensor]:
    """Draw random rows in batches of one size, (B, p) each, that take up to ``n_bytes``."""
    N, d = rows.shape
    n_columns = d if rows.owner is None else len(rows.owner)
    most = max(batch_size, _most_entries(n_bytes) // n_columns)
    X = rows.random_rows(min(N, MOST_BATCHES * batch_size, most), np.random.default_rng(seed))
    size = min(batch_size, len(X))
    n_batches = -(-len(X) // size)
    # the first rows fill up a last batch
    order = torch.from_numpy(np.resize(np.arange(len(X)), n_batches * size)).to(X.device)
    return [X[part] for part in order.split(size)]


def _most_entries(n_bytes: int) -> int:
    return min(POOL_ENTRIES, n_bytes // 16)
