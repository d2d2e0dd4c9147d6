"""The table as all other rooms know it: standardised rows, and what their columns are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from groupfs.data.rows import Rows, RowsInMemory
from groupfs.utils.types import FloatArray, IntArray


@dataclass(frozen=True)
class Table:
    """A table ready for work: constant columns left out, the others in an order of their own.

    The order depends on the columns' contents alone, so a user's order of the columns cannot change
    a result.
    """

    rows: Rows
    columns: IntArray  #: index in the user's table of every column of ``rows``, (d,)
    twins: IntArray  #: equal numbers for equal columns, (d,)
    names: Sequence[str]  #: of all the user's columns
    deviations: FloatArray  #: of all the user's columns as they came, 0 where constant
    means: FloatArray  #: of all the user's columns; 0 for features of several columns
    kinds: Sequence[str] | None = None  #: of all the user's columns; None if they are numbers

    @property
    def n_distinct(self) -> int:
        return int(self.twins.max()) + 1

    def restricted(self, features: IntArray) -> "Table":
        """Return the table with some of the columns of ``rows``, ascending."""
        if len(features) == self.rows.shape[1]:
            return self
        _, twins = np.unique(self.twins[features], return_inverse=True)
        return replace(
            self,
            rows=self.rows.restricted(features),
            columns=self.columns[features],
            twins=twins,
        )


@dataclass(frozen=True)
class TableInMemory(Table):
    """A table whose rows are all in memory."""

    rows: RowsInMemory
