r"""Say how alike features are, and by what: all that discovery and selection ask of the rows.

Axes: N samples, d features, m of them, p columns of the features.

``Similarity`` is what a table offers. There are two: correlations of columns of numbers
(``correlations``), and similarities of features of any kinds (``mixed_similarity``). A feature and
its negative say the same, so similarity is :math:`|r|` unless signs matter.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from groupfs.data.coordinates import DEFAULT, Coordinates, Limits
from groupfs.data.memory import BLOCK_ENTRIES
from groupfs.data.nearest import largest
from groupfs.data.table import Rows
from groupfs.utils.threads import in_threads, spans
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from groupfs.data.all_rows import ComparedEdges

#: Features a feature is said to go with.
NEAREST = 3
#: Features up to which similarities are kept once they are known (134 MB).
MATRIX_FEATURES = 4096


@dataclass(frozen=True)
class ComparedColumns:
    """Correlations of the columns of m features, of which first components are made."""

    matrix: Any  #: (p, p), an array, or of very many columns what multiplies with vectors
    weighted: Any  #: the same, lowered for pairs with few rows in common
    feature_of_column: IntArray  #: ascending, (p,)
    dims: IntArray  #: dimensions of every feature, (m,)
    n_values: FloatArray  #: rows in which every feature has a value, (m,)


class HalvedBlocks(Protocol):
    """Features compared in pairs of halves of the rows, made of blocks of rows."""

    def correlations(self, start: int, stop: int) -> FloatArray:
        """Compare features start..stop with all in every half, (2 S, b, m)."""


class Similarity(ABC):
    """How alike the features of a table are; what was worked out once is kept."""

    rows: Rows  #: of the table
    measured: Rows  #: over which features are compared: the same, or the sample of a streamed table

    def __init__(self, rows: Rows, measured: Rows | None = None) -> None:
        self.rows, self.measured = rows, rows if measured is None else measured
        self.shape = self.measured.shape
        self.n_compared = rows.shape[1]  #: columns that are multiplied to compare all features
        self.compared: ComparedEdges | None = None  #: neighbours, where all rows gave them
        self.roots = np.sqrt(np.maximum(self.measured.column_norms, 1e-300))
        self._matrix: FloatArray | None = None

    # -- other features and rows --

    @abstractmethod
    def restricted(self, features: IntArray) -> "Similarity":
        """Return some of the features, ascending; what is known of them is not computed again."""

    def in_memory(self) -> "Similarity":
        """Return what the rows in memory say: the same, or the sample of a streamed table."""
        return self

    def sampled(self, n_rows: int, rng: np.random.Generator) -> "Similarity":
        """Compare features by random rows in memory, or all where there are no more."""
        held, N = self.in_memory(), self.in_memory().shape[0]
        if n_rows >= N:
            return held
        rows = held.rows.in_memory().resampled(np.sort(rng.permutation(N)[:n_rows]))
        return type(held)(rows)

    def shuffled(self, rng: np.random.Generator) -> Self:
        """Compare the features after each was shuffled on its own."""
        return type(self)(self.rows.shuffled(rng))

    @abstractmethod
    def halved_blocks(self, rows: IntArray, n_pairs: int) -> HalvedBlocks:
        """Compare features in halves of rows in memory, which are given as they were dealt."""

    # -- pairs --

    @property
    def is_kept(self) -> bool:
        """Whether the similarities of all pairs are kept; not of more than 4,096 features."""
        return keeps_pairs(self.shape[1], self.measured.block_entries)

    @abstractmethod
    def _compared(self, start: int, stop: int) -> FloatArray:
        """Compare features start..stop with all, (stop - start, d)."""

    def block(self, start: int, stop: int) -> FloatArray:
        """Compare features start..stop with all, (stop - start, d); a copy."""
        if self.is_kept:
            return self.matrix()[start:stop].copy()
        return self._compared(start, stop)

    def quick_block(self, start: int, stop: int) -> Any:
        """Compare features as ``block``, in single precision or on a device where that pays."""
        return self.block(start, stop)

    def matrix(self) -> FloatArray:
        """Compare all features, (d, d); not to be written to."""
        if self._matrix is not None:
            return self._matrix
        found = self._compared(0, self.shape[1])
        self._matrix = found if self.is_kept else None
        return found

    def part(self, features: IntArray) -> FloatArray:
        """Compare some features with each other, (m, m)."""
        if not self.is_kept:
            return self.restricted(features).matrix()
        return self.matrix()[np.ix_(features, features)]

    @property
    def n_compared_rows(self) -> float:
        """Rows over which features go with others."""
        return self.shape[0] if self.compared is None else float(self.compared.n_rows[0])

    def strength(self) -> FloatArray:
        """Average the three largest similarities of every feature with others, (d,)."""
        if self.compared is not None:
            return self.compared.strength
        d = self.shape[1]

        def of_some(start: int, stop: int) -> FloatArray:
            r, own = self._beside_chance(start, stop), np.arange(stop - start)
            r[own, own + start] = 0
            return self._nearest_of(r, start).mean(1, dtype=np.float64)

        parts = spans(d, self.measured.columns_at_once)
        if self.is_kept:
            self.matrix()  # once for all
        return np.concatenate(list(in_threads(of_some, parts)))

    def _nearest_of(self, r: Any, start: int) -> FloatArray:
        """Return the largest similarities of features from ``start`` on with others, (b, 3)."""
        return largest(r, min(NEAREST, r.shape[1] - 1))[0]

    def _beside_chance(self, start: int, stop: int) -> Any:
        """Compare features start..stop with all as chance compares them; a copy."""
        return abs(self.quick_block(start, stop))

    @abstractmethod
    def tails(self, n_rows: int, rng: np.random.Generator, by_chance: FloatArray) -> FloatArray:
        """Tell how strongly features go with others by accident, (d,), in any unit.

        ``by_chance`` are their strengths in tables that were shuffled, (S, d).
        """

    # -- groups --

    @abstractmethod
    def columns(self, features: IntArray, most: int = MATRIX_FEATURES) -> ComparedColumns:
        """Correlate the columns of some features; the matrix is held of at most so many."""

    @abstractmethod
    def with_sums(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        """Correlate features with the sum of their group, and with the rest of it, (d,) each.

        0 for features in no group, labelled -1.
        """

    @abstractmethod
    def mean_of(self, group: IntArray) -> float:
        """Average the similarities of all pairs of a group, each feature with itself included."""

    # -- what features explain --

    @abstractmethod
    def coordinates(self, limits: Limits = DEFAULT) -> Coordinates:
        """Find coordinates of the features in which variance is explained."""

    @abstractmethod
    def correlations_with(self, features: IntArray) -> FloatArray:
        """Correlate all columns with those of some features, (d, m)."""


def keeps_pairs(n_features: int, block_entries: int = BLOCK_ENTRIES) -> bool:
    """Tell whether a number for each pair of features is kept: two blocks of them at most."""
    return n_features**2 <= 2 * block_entries
