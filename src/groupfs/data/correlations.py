"""Correlate columns of numbers, of tables in memory, sparse or streamed.

Axes: N samples, d columns, m of them.

Indicator columns of one variable exclude each other: where one is on, the others are off. That
makes them correlate without saying anything, so their correlation counts as none.
"""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse.linalg

from groupfs.data.coordinates import DEFAULT, Coordinates, Limits, column_coordinates
from groupfs.data.dense import DenseRows
from groupfs.data.halves import ALL_PAIRS, BlockSums
from groupfs.data.nearest import UnitColumns, largest
from groupfs.data.similarity import MATRIX_FEATURES, NEAREST, ComparedColumns, Similarity
from groupfs.data.table import NumberRows, RowsInMemory
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from groupfs.data.all_rows import ComparedEdges

#: Features of which all pairs are multiplied to find a first component, where none is kept.
MULTIPLIED = 1024
#: Deviation from -1 of lowest times highest value at which a standardised column has two values.
TWO_VALUED = 1e-4


class Correlations(Similarity):
    """Correlations of columns of numbers."""

    rows: NumberRows
    measured: NumberRows

    def __init__(self, rows: NumberRows, by_sample: bool = False) -> None:
        """Compare columns over all rows, or over those in memory alone."""
        self.held = rows.in_memory()
        super().__init__(rows, self.held if by_sample else rows)
        self._products: FloatArray | None = None
        self._of_sample: Correlations | None = None

    def restricted(self, features: IntArray) -> "Correlations":
        if len(features) == self.shape[1]:
            return self
        part = Correlations(self.rows.restricted(features), self.measured is not self.rows)
        for name in ("_products", "_matrix"):
            known = getattr(self, name)
            if known is not None:
                setattr(part, name, known[features][:, features])
        if self.compared is not None:
            part.compared = self.compared.restricted(features)
        if self._of_sample is not None:
            part._of_sample = self._of_sample.restricted(features)
        return part

    def in_memory(self) -> "Correlations":
        if self.measured is self.held:
            return self
        if self._of_sample is None:
            self._of_sample = Correlations(self.held)
        return self._of_sample

    def part(self, features: IntArray) -> FloatArray:
        if self.is_kept:
            return super().part(features)
        return Correlations(self.held.restricted(features)).matrix()

    def halved_blocks(self, rows: IntArray, n_pairs: int) -> BlockSums:
        dtype = np.float64 if self.shape[1] <= ALL_PAIRS else np.float32
        return BlockSums(self.held.take(rows).astype(dtype, copy=False), n_pairs)

    def _all_products(self) -> FloatArray:
        """Multiply all columns with all, (d, d); not to be written to."""
        if self._products is not None:
            return self._products
        found = self.measured.all_products()
        self._products = found if self.is_kept else None
        return found

    def products(self, start: int, stop: int) -> FloatArray:
        """Multiply columns start..stop with all, (stop - start, d); a copy."""
        if self.is_kept:
            return self._all_products()[start:stop].copy()
        return self.held.column_products(start, stop)

    def quick_block(self, start: int, stop: int) -> Any:
        if self.is_kept or self.held.unit is None:
            return self.block(start, stop)
        r, (two, on) = self.held.unit.block(start, stop), self._on
        own = slice(*np.searchsorted(two, [start, stop]).tolist())
        if len(two[own]):
            together = on.block(own.start, own.stop) > 0.5  # of counts single precision is exact
            r[np.ix_(two[own] - start, two)] *= together
        return r

    def _nearest_of(self, r: Any, start: int) -> FloatArray:
        if self.is_kept or self.held.unit is None:
            return super()._nearest_of(r, start)
        # compared again in double precision, or rounding would order what is nearly alike
        size_of, target = largest(r, min(NEAREST + 1, r.shape[1] - 1))
        source = np.repeat(np.arange(start, start + len(target)), target.shape[1])
        again = np.abs(self.held.unit.along(source, target.ravel())).reshape(target.shape)
        again[size_of <= 0] = 0  # indicators that exclude each other, and what is left out
        return np.sort(again, axis=1)[:, -NEAREST:]

    @cached_property
    def _on(self) -> tuple[IntArray, UnitColumns]:
        """Columns with two values, and 1 where they have the higher one, for quick blocks."""
        two, unit = np.flatnonzero(np.isfinite(self._indicators[0])), self.held.unit
        assert unit is not None  # who has none is not compared quickly
        on = unit.Z[:, two] > 0
        on = on if isinstance(on, np.ndarray) else on.cpu().numpy()
        return two, UnitColumns(on, self.held.device)

    @cached_property
    def _indicators(self) -> tuple[FloatArray, FloatArray]:
        """How often columns with two values have the higher one, and their deviation, (d,) each.

        NaN for other columns. A standardised column has two values if its lowest times its highest
        is -1, and no column has more than that.
        """
        return self._two_valued(self.roots / np.sqrt(self.shape[0]))

    def _two_valued(self, deviation: FloatArray) -> tuple[FloatArray, FloatArray]:
        lowest, highest = (ends / deviation for ends in self.held.column_ends())
        two = np.abs(lowest * highest + 1) < TWO_VALUED
        share = np.where(two, 1 / (1 + highest**2), np.nan)
        return share, np.sqrt(share * (1 - share))

    def know(self, compared: "ComparedEdges") -> None:
        """Take neighbours that all rows gave for those there are."""
        (i, j), N = compared.edges.T, self.rows.shape[0]
        share, spread = self._two_valued(np.sqrt(self.rows.column_norms / N))
        least = (0.5 / N - share[i] * share[j]) / (spread[i] * spread[j])
        compared.r[:, compared.r[0] < least] = 0  # never on together; False where NaN
        self.compared = compared

    def _compared(self, start: int, stop: int) -> FloatArray:
        r = self.products(start, stop)
        r /= self.roots[start:stop, None]
        r /= self.roots
        r = self._without_exclusive(r, start, stop)
        own = np.arange(stop - start)
        r[own, own + start] = 1
        return np.clip(r, -1, 1, out=r)

    def _without_exclusive(self, r: FloatArray, start: int, stop: int) -> FloatArray:
        """Put 0 in place of correlations of indicators that are never on together, (b, d)."""
        on_share, on_spread = self._indicators
        two = np.flatnonzero(np.isfinite(on_share))
        own = two[(two >= start) & (two < stop)]
        if len(own):
            some = np.ix_(own - start, two)
            ratio = np.outer(1 / on_spread[own], 1 / on_spread[two])
            # where fewer than half a row has both on
            least = (0.5 / self.shape[0] - np.outer(on_share[own], on_share[two])) * ratio
            r[some] *= r[some] >= least
        return r

    def tails(self, n_rows: int, rng: np.random.Generator, by_chance: FloatArray) -> FloatArray:
        """Measure the kurtosis of the columns: rare large values correlate by accident."""
        squares = np.square(self.rows.random_rows(n_rows, rng), dtype=np.float64)
        variance = squares.mean(0)
        kurtosis = np.square(squares, out=squares).mean(0) / np.maximum(variance**2, 1e-30)
        return np.asarray(kurtosis)

    def columns(self, features: IntArray, most: int = MATRIX_FEATURES) -> ComparedColumns:
        held, m = self.in_memory(), len(features)
        on_device = isinstance(self.held, DenseRows) and self.held.device is not None
        most = most if held.is_kept or on_device else min(most, MULTIPLIED)
        matrix = held.part(features) if m <= most else _operator(self.held.restricted(features))
        counts = np.full(m, float(held.shape[0]))
        return ComparedColumns(matrix, matrix, np.arange(m), np.ones(m, dtype=np.int64), counts)

    def with_sums(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        central, rest = np.zeros(len(labels)), np.zeros(len(labels))
        inside = np.flatnonzero(labels >= 0)
        part, own_labels = self.held.restricted(inside), labels[inside]
        sums = part.combine(np.eye(n_groups)[own_labels])
        products = part.project(sums)[np.arange(len(inside)), own_labels]
        own, length = part.column_norms, np.linalg.norm(sums, axis=0)[own_labels]
        central[inside] = products / np.maximum(length * np.sqrt(own), 1e-12)
        left = np.square(length) - 2 * products + own  # squared length of the sum of the others
        alone = left <= 1e-9 * own
        alike = (products - own) / np.sqrt(np.where(alone, 1, left * own))
        rest[inside] = np.where(alone, 0, alike)
        return central, rest

    def mean_of(self, group: IntArray) -> float:
        columns, roots = self.held.restricted(group), self.in_memory().roots[group, None]
        return float(np.square(columns.combine(1 / roots)).sum()) / len(group) ** 2

    def coordinates(self, limits: Limits = DEFAULT) -> Coordinates:
        is_sample = self.measured is not self.held
        found = column_coordinates(self.held, self._all_products, is_sample, limits)
        # what few rows of many explain is corrected for chance, as in a sketch
        return found if self.measured is self.rows else replace(found, is_sketch=True)

    def correlations_with(self, features: IntArray) -> FloatArray:
        if self.is_kept:
            products = self._all_products()[:, features]
        else:
            products = self.held.products_of(features).T
        return products / self.roots[:, None] / self.roots[features]


def _operator(rows: RowsInMemory) -> scipy.sparse.linalg.LinearOperator:
    """Multiply vectors with the correlations of very many columns, which are never held."""
    m, roots = rows.shape[1], np.sqrt(np.maximum(rows.column_norms, 1e-300))

    def multiply(vector: FloatArray) -> FloatArray:
        scores = rows.combine(vector.reshape(m, 1) / roots[:, None])
        return rows.project(scores)[:, 0] / roots

    return scipy.sparse.linalg.LinearOperator((m, m), matvec=multiply, dtype=np.float64)
