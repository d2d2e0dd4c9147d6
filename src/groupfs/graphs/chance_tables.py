"""Tables without structure to compare with: the columns, each shuffled on its own.

Axes: S chance tables, N samples, d features. Shuffling keeps every column's values and destroys
what columns have in common.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import Rows
from groupfs.data.streamed_rows import StreamRows
from groupfs.graphs.similarity import Correlations
from groupfs.utils.types import FloatArray

#: Features of all chance tables together, at least, and tables, at least and at most.
CHANCE_FEATURES, FEWEST_TABLES, MOST_TABLES = 2000, 2, 60
#: Entries and products of columns that a chance table may take, and rows it has at least.
TABLE_ENTRIES, TABLE_PRODUCTS, FEWEST_ROWS = 2**23, 3e10, 500


@dataclass(frozen=True)
class ChanceTables:
    """Shuffled tables, made again from their seeds whenever they are looked at."""

    rows: Rows  #: a table, or some of the rows of a tall one
    seeds: list[int]
    strength: FloatArray | None = None  #: of every feature in every table, (S, d)

    @classmethod
    def of(cls, rows: Rows, seed: int) -> "ChanceTables":
        """Choose rows and seeds: more tables where features are few."""
        rng = np.random.default_rng(seed)
        rows = _some_rows(rows, rng)
        n_tables = -(-CHANCE_FEATURES // rows.shape[1])
        n_tables = min(max(n_tables, FEWEST_TABLES), MOST_TABLES)
        return cls(rows, rng.integers(2**31, size=n_tables).tolist())

    def __iter__(self) -> Iterator[Rows]:
        for seed in self.seeds:
            yield self.rows.shuffled(np.random.default_rng(seed))

    def measured(self) -> "ChanceTables":
        """Measure how far features of the tables go with others by chance."""
        found = [Correlations(table).strength() for table in self]
        return ChanceTables(self.rows, self.seeds, np.array(found))

    def strongest(self, n_features: int) -> Iterator[Rows]:
        """Yield the tables with the features alone that go with others most, so many of them.

        Features of a table that were chosen because they go together are compared with chance
        features that were chosen so, too.
        """
        for i, table in enumerate(self):
            if self.strength is None or n_features >= table.shape[1]:
                yield table
            else:
                order = np.argsort(-self.strength[i], kind="stable")
                yield table.restricted(np.sort(order[:n_features]))


def _some_rows(rows: Rows, rng: np.random.Generator) -> Rows:
    """Take random rows of a tall table, and the sample of a streamed one."""
    if isinstance(rows, StreamRows):
        rows = rows.sample
    N, d = rows.shape
    if isinstance(rows, FeatureRows):
        d = len(rows.basis.owner)
    most = max(FEWEST_ROWS, int(min(TABLE_ENTRIES / d, TABLE_PRODUCTS / d**2)))
    if most >= N:
        return rows
    return rows.resampled(np.sort(rng.permutation(N)[:most]), True)
