"""The rows that gates of fixed groups are trained on: a few batches, prepared once.

Axes: B samples of a batch, d features, C groups.

Where groups stay as they are a gate is all that is learned of each, and a few thousand rows say as
much as all. The same batches are used in turn, so what a step needs of them is worked out once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import Rows
from groupfs.models.group_products import FeatureProducts, GroupProducts, Samples
from groupfs.models.losses import columns_are_cheaper
from groupfs.training.settings import MOST_BATCHES, POOL_ENTRIES
from groupfs.utils.types import IntArray


@dataclass(frozen=True)
class RowPool:
    """Batches of rows of one size, or their products over the groups."""

    batches: list[Samples]

    @classmethod
    def of(
        cls,
        rows: Rows,
        labels: IntArray | None,
        n_groups: int,
        batch_size: int,
        steps: int,
        seed: int,
        n_bytes: int,
    ) -> "RowPool":
        """Draw batches; ``labels`` (d,) are the groups, ``steps`` those of the walk.

        Without labels features may move between groups, and each has a weight of its own.

        Rows and their products over groups may take up to ``n_bytes``, beside at least one batch.
        """
        N, d = rows.shape
        most_entries = min(POOL_ENTRIES, n_bytes // 16)
        owner = rows.owner if isinstance(rows, FeatureRows) else None
        n_columns = d if owner is None else len(owner)
        n_rows = min(N, MOST_BATCHES * batch_size, max(batch_size, most_entries // n_columns))
        X = rows.random_rows(n_rows, np.random.default_rng(seed))
        size = min(batch_size, len(X))
        n_batches = -(-len(X) // size)
        # the first rows fill up a last batch
        order = torch.from_numpy(np.resize(np.arange(len(X)), n_batches * size)).to(X.device)
        batches = [X[part] for part in order.split(size)]
        if labels is None:
            assert owner is not None
            return cls([FeatureProducts.of(batch, owner, d) for batch in batches])
        entries = n_batches * n_groups * size**2
        if owner is None and (entries > most_entries or columns_are_cheaper(size, d, steps)):
            return cls(list(batches))
        if entries > most_entries:
            assert owner is not None
            return cls([FeatureProducts.of(batch, owner, d) for batch in batches])
        labels = labels if owner is None else labels[owner]
        return cls([GroupProducts.of(batch, labels, n_groups, d) for batch in batches])

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
