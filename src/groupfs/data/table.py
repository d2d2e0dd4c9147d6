"""Say what a table offers, whatever it is made of: other rooms ask for nothing else.

Axes: N rows, d features, p columns of the features: one each, but several for a category.

Rows of numbers are dense (``dense``), sparse (``sparse``) or read in blocks (``streamed``); rows of
features of any kinds and with gaps are in ``mixed``. How alike features are is another
question, which the table's ``similarity`` answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from groupfs.data.memory import BLOCK_ENTRIES
from groupfs.data.nearest import UnitColumns
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from groupfs.data.similarity import Similarity


class Rows(ABC):
    """N standardised rows of d features: what every kind offers; nobody asks which it is."""

    shape: tuple[int, int]
    column_norms: FloatArray  #: squared norm of every feature, (d,)
    feature_of_column: IntArray  #: ascending, (p,)
    block_entries: int = BLOCK_ENTRIES
    device: Any = None  #: of torch, where dense columns are multiplied; None where numpy does it

    @abstractmethod
    def take(self, index: IntArray) -> FloatArray:
        """Return rows by index, NaN in gaps, (B, p); a copy."""

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> FloatArray:
        """Return random rows, or all where there are no more, (n_rows, p)."""
        return self.take(rng.permutation(self.shape[0])[:n_rows])

    @property
    def n_values(self) -> FloatArray:
        """How many rows have a value of each feature, (d,)."""
        return np.full(self.shape[1], float(self.shape[0]))

    def multiply_on(self, device: Any) -> None:
        """Multiply dense columns on a device of torch from here on."""
        self.device = device

    @abstractmethod
    def feature_values(self, index: IntArray, labels: IntArray, signs: IntArray) -> FloatArray:
        """Give every feature one number in each of some rows, (n, d), NaN in gaps.

        A category's depend on the groups (``labels``) and the features' ``signs`` in them.
        """

    @abstractmethod
    def restricted(self, features: IntArray) -> Self:
        """Return some of the features, ascending."""

    def shuffled(self, rng: np.random.Generator) -> "Rows":
        """Return the features, each shuffled on its own; of a streamed table in its sample."""
        return self.in_memory().shuffled(rng)

    def resampled(self, index: IntArray) -> "Rows":
        """Return rows in memory by number, centred and standardised anew."""
        return self.in_memory().resampled(index)

    def in_memory(self) -> "Rows":
        """Return the rows themselves, or the sample that a streamed table holds."""
        return self

    def without_common_column(self, share: float) -> Self:
        """Take the mean column off all, where less than this share of them is left then.

        Their distances stay the same, but products of columns would have no digits for them: an
        outlier row of a million deviations, say, makes all columns so alike.
        """
        return self

    @property
    def columns_at_once(self) -> int:
        """Features to compare with all at a time."""
        return max(1, self.block_entries // self.shape[1])


class NumberRows(Rows):
    """Rows in which every feature is one column of numbers: columns can be multiplied."""

    def feature_values(self, index: IntArray, labels: IntArray, signs: IntArray) -> FloatArray:
        return np.asarray(self.take(index), dtype=np.float64)

    @abstractmethod
    def in_memory(self) -> "RowsInMemory": ...

    @abstractmethod
    def all_products(self) -> FloatArray:
        """Multiply all columns with all, (d, d), double precision."""


class RowsInMemory(NumberRows):
    """Rows that can also be asked for products of some columns, over all rows and of rows."""

    @abstractmethod
    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        """Find the lowest and the highest value of every column, (d,) each."""

    @abstractmethod
    def columns(self, start: int, stop: int) -> FloatArray:
        """Return columns start..stop, (N, stop - start)."""

    def column_products(self, start: int, stop: int) -> FloatArray:
        """Multiply columns start..stop with all, (stop - start, d), double precision."""
        return self.products_of(slice(start, stop))

    @property
    def unit(self) -> UnitColumns | None:
        """The columns, brought to length one; None where they are sparse."""
        return None

    @abstractmethod
    def products_of(self, columns: IntArray | slice) -> FloatArray:
        """Multiply some columns with all, (m, d), double precision."""

    @abstractmethod
    def project(self, vectors: FloatArray) -> FloatArray:
        """Multiply the columns with vectors over the samples, (N, m) to (d, m)."""

    @abstractmethod
    def combine(self, weights: FloatArray) -> FloatArray:
        """Add up the columns with weights, (d, m) to (N, m)."""

    @abstractmethod
    def row_products(self, start: int, stop: int) -> FloatArray:
        """Multiply rows start..stop with all, (stop - start, N), double precision."""

    def in_memory(self) -> "RowsInMemory":
        return self

    def all_products(self) -> FloatArray:
        return self.column_products(0, self.shape[1])


@dataclass(frozen=True)
class Table:
    """A table ready for work: constant columns left out, the others in an order of their own.

    The order depends on the columns' contents alone, so a user's order of the columns cannot change
    a result.
    """

    similarity: "Similarity"  #: of the features, by all rows
    columns: IntArray  #: index in the user's table of every column of ``rows``, (d,)
    twins: IntArray  #: equal numbers for equal columns, (d,)
    names: Sequence[str]  #: of all the user's columns
    deviations: FloatArray  #: of all the user's columns as they came, 0 where constant
    means: FloatArray  #: of all the user's columns; 0 for features of several columns
    kinds: Sequence[str] | None = None  #: of all the user's columns; None if they are numbers

    @property
    def rows(self) -> Rows:
        return self.similarity.rows

    @property
    def duplicate_of(self) -> IntArray:
        """The user's first column that equals each, up to scale, -1 for none, (all columns,)."""
        first = np.full(int(self.twins.max(initial=0)) + 1, len(self.names))
        np.minimum.at(first, self.twins, self.columns)
        found = np.full(len(self.names), -1)
        found[self.columns] = np.where(first[self.twins] < self.columns, first[self.twins], -1)
        return found

    def restricted(self, features: IntArray) -> "Table":
        """Return the table with some of the columns of ``rows``, ascending."""
        if len(features) == self.rows.shape[1]:
            return self
        _, twins = np.unique(self.twins[features], return_inverse=True)
        part, columns = self.similarity.restricted(features), self.columns[features]
        return replace(self, similarity=part, columns=columns, twins=twins)


class TableInMemory(Table):
    """A table of numbers that are all in memory."""

    @property
    def rows(self) -> RowsInMemory:
        return cast(RowsInMemory, self.similarity.rows)


@dataclass(frozen=True)
class TableOptions:
    """What an estimator wants of a table; see :func:`groupfs.data.open_table.open_table`."""

    who: str  #: the estimator's name, for errors
    standardize: bool
    similarity: Any = "correlation"
    constant: str | None = None
    fewest: int = 2
