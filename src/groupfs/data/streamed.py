"""Work on a standardised table that does not fit into memory: passes over it, and a sample.

Rows come from a source as they are stored and are standardised as (x - mean) / scale where they are
used, so a sparse table is never filled in as a whole. Passes over all rows give the products of
columns; what needs rows at random takes them from a sample that stays in memory.
"""

import copy
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import final

import numpy as np
import torch
from torch import Tensor

from groupfs.data import checks
from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.data.memory import (
    BLOCK_ENTRIES,
    MOST_PASSES,
    PER_PRODUCT,
    RUN_ROWS,
    SKETCH_ROWS,
    Plan,
    block_rows,
    most_products,
)
from groupfs.data.row_sums import (
    ColumnProducts,
    ColumnUnits,
    GroupSums,
    PairProducts,
    RowSums,
    SignedSums,
    Standardizer,
    SumsWork,
)
from groupfs.data.sources import Block, Source
from groupfs.data.standardize import (
    at_least_rounding,
    checked_spread,
    column_scale,
    mean_and_deviation,
    order_by_keys,
)
from groupfs.data.survey import SurveyWork
from groupfs.data.table import NumberRows, Table, TableOptions
from groupfs.utils.types import FloatArray, IntArray


def streamed_table(
    source: Source, plan: Plan, names: Sequence[str], options: TableOptions
) -> Table:
    """Make a table of rows that are read in blocks."""
    work = SurveyWork(source.shape, plan.sample_rows)
    seen = source.run(work, plan.block_rows)
    checks.refuse_missing(seen.missing, names, options.who)
    spread = checked_spread(seen.moments, names)
    columns = checks.varying_columns(spread, names, options.constant, options.fewest)
    N, width = source.shape
    order, twins = order_by_keys(seen.keys[columns] / (spread[columns, None] * np.sqrt(N)))
    columns = columns[order]
    mean, deviation = seen.moments.mean[columns], spread[columns]
    scale = column_scale(deviation, options.standardize)
    units = ColumnUnits(columns, mean, scale, width)
    rows = StreamRows(source, units, N * (deviation / scale) ** 2, seen.sample, plan)
    return Table(Correlations(rows), columns, twins, names, spread, seen.moments.mean)


@final
class StreamRows(NumberRows):
    """Rows of a table that is read in blocks, or worked on where its blocks are.

    Parameters
    ----------
    source : Source
        The table as it came.
    units : ColumnUnits
        Which of its columns are used, their means and scales.
    column_norms : (d,)
        Squared norms of the standardised columns.
    sample : Block
        Rows as they came, for the sample that stays in memory.
    plan : Plan
        How many rows may be held at a time.
    """

    def __init__(
        self,
        source: Source,
        units: ColumnUnits,
        column_norms: FloatArray,
        sample: Block,
        plan: Plan,
    ) -> None:
        self.source, self.units, self.column_norms = source, units, column_norms
        self.plan, self.most_product_bytes = plan, plan.slab_bytes
        self.shape = (source.shape[0], len(units.columns))
        self.feature_of_column = np.arange(self.shape[1])
        self.device = torch.device("cpu")
        self._target, self._dtype = self.device, torch.float32
        self._standardizer = Standardizer(self.units, self._target)
        entries = min(BLOCK_ENTRIES, self.plan.slab_bytes // PER_PRODUCT)
        self.sample = DenseRows(self._standardizer.standardized(sample).numpy(), entries)
        self._sketch: DenseRows | None = None  #: once it is known
        self._whole: tuple[StreamRows, IntArray] | None = None  #: rows that these are columns of

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        self._target, self._dtype = device, dtype
        self._standardizer = Standardizer(self.units, device)
        self.sample.to(device, dtype)
        if self._sketch is not None:
            self._sketch.to(device, dtype)

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        block = self.source.gather(index.cpu().numpy())
        values = self._standardizer.standardized(block, self._dtype)
        return values if out is None else out.copy_(values)

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        """Return random rows of the sample."""
        return self.sample.random_rows(n_rows, rng)

    @property
    def is_exact(self) -> bool:
        """Whether all products of columns are affordable, and the passes for them."""
        N, d = self.shape
        few = N * d**2 <= most_products(self._adds_on)
        return few and -(-d // self.columns_at_once) <= MOST_PASSES

    @property
    def columns_at_once(self) -> int:
        """Columns whose products with all others fit in memory."""
        slab_bytes = self.plan.slab_bytes
        if self._adds_on.type == "cuda":
            slab_bytes = torch.cuda.mem_get_info(self._adds_on)[0] // 2
        return block_rows(PER_PRODUCT * self.shape[1], slab_bytes)

    def column_products(self, start: int, stop: int, single: bool = False) -> Tensor:
        return self._products(slice(start, stop), stop - start)

    def products_of(self, columns: IntArray) -> Tensor:
        return self._products(columns, len(columns))

    def _products(self, columns: slice | IntArray, n_columns: int) -> Tensor:
        size = (n_columns, self.shape[1])
        (products,) = self._add_up(partial(ColumnProducts, columns, size), 8 * math.prod(size))
        return products

    def pair_distances(self, partners: IntArray, n_rows: int, signed: bool = True) -> FloatArray:
        """Measure squared distances of columns to others from about so many rows, (d, m)."""
        rows = None if n_rows >= self.shape[0] else _random_runs(self.shape[0], n_rows)
        make = partial(PairProducts, partners.astype(np.int32))
        products, norms = self._add_up(make, 8 * partners.size, rows)
        if not signed:
            products = products.abs()
        index = torch.from_numpy(partners).to(self._target)
        distances = norms.unsqueeze(-1) + norms[index] - 2 * products
        share = 1.0 if rows is None else len(rows) / self.shape[0]
        return (distances.clamp_(min=0) / share).cpu().numpy()

    def sketch(self, n_sums: int = SKETCH_ROWS) -> DenseRows:
        """Add up rows with random signs, each in one of as few sums as the sample has rows at most.

        Inner products of its columns estimate those of the table's. There is one sketch of a table,
        however many sums are asked for.
        """
        if self.sample.shape[0] == self.shape[0]:
            return self.sample
        if self._sketch is None:
            if self._whole is None:
                self._sketch = self._made_sketch()
            else:
                whole, columns = self._whole
                self._sketch = whole.sketch(n_sums).restricted(columns)
            self._sketch.to(self._target, self._dtype)
        return self._sketch

    def _made_sketch(self) -> DenseRows:
        N = self.shape[0]
        m, d = self.sample.shape
        m = min(m, SKETCH_ROWS)
        n_rows = max(4 * m, int(most_products(self._adds_on) / (m * d)))
        rows = None if n_rows >= N else _random_runs(N, n_rows)
        make = partial(SignedSums, (m, d))
        (sums,) = self._add_up(make, 4 * m * d, rows)
        return DenseRows(sums.cpu().numpy(), self.sample.block_entries)

    def group_products(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        make = partial(GroupSums, labels, n_groups)
        products, norms = self._add_up(make, 8 * len(labels))
        lengths = norms.sqrt().cpu().numpy()
        most = lengths[labels] * np.sqrt(self.column_norms)  # but for rounding, they are no more
        return np.clip(products.cpu().numpy(), -most, most), lengths

    def column_ends(self) -> tuple[FloatArray, FloatArray]:
        """Find the lowest and highest values in the sample."""
        return self.sample.column_ends()

    def restricted(self, columns: IntArray) -> "StreamRows":
        part = copy.copy(self)
        part.units, part.column_norms = self.units.restricted(columns), self.column_norms[columns]
        part.shape = (self.shape[0], len(columns))
        part.feature_of_column = np.arange(len(columns))
        part._standardizer = Standardizer(part.units, self._target)
        part.sample = self.sample.restricted(columns)
        part._sketch, part._whole = None, (self, columns)
        return part

    def in_memory(self) -> DenseRows:
        return self.sample

    def shuffled(self, rng: np.random.Generator) -> DenseRows:
        return self.sample.shuffled(rng)

    def resampled(self, index: IntArray, standardize: bool) -> DenseRows:
        """Read some of the rows into memory, centred and, if so wanted, standardised anew."""
        Z = self.take(torch.from_numpy(index)).double().cpu().numpy()
        mean, deviation = mean_and_deviation(Z)
        scale = at_least_rounding(deviation, 1.0) if standardize else 1.0
        return self.sample._like((Z - mean) / scale)

    def feature_values(self, index: IntArray, labels: IntArray, signs: IntArray) -> FloatArray:
        values = self._standardizer.standardized(self.source.gather(index), torch.float64)
        return values.cpu().numpy()

    def _add_up(
        self, make: Callable[[torch.device], RowSums], n_bytes: int, rows: IntArray | None = None
    ) -> tuple[Tensor, ...]:
        """Add up all rows, or some; ``n_bytes`` is about what the sums hold."""
        work = SumsWork(make, self.units, n_bytes, self._adds_on)
        found = self.source.run(work, self.plan.block_rows, rows)
        return tuple(torch.as_tensor(values, device=self._target) for values in found)

    @property
    def _adds_on(self) -> torch.device:
        """Where sums over the rows are added up: workers have no GPU."""
        return torch.device("cpu") if self.source.is_remote else self._target


def _random_runs(n_rows: int, n_wanted: int, length: int = RUN_ROWS) -> IntArray:
    """Choose random runs of rows, about so many rows in all, ascending."""
    starts = np.arange(0, n_rows, length)
    n_runs = min(len(starts), max(1, n_wanted // length))
    chosen = np.sort(np.random.default_rng(0).choice(len(starts), n_runs, replace=False))
    rows = (starts[chosen, None] + np.arange(length)).ravel()
    return rows[rows < n_rows]
