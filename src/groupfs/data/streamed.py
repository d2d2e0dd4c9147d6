"""Work on a standardised table that does not fit into memory: two passes over it, and a sample.

Rows come from a source as they are stored and are standardised as (x - mean) / scale where they are
used, so a sparse table is never filled in as a whole. A first pass measures the columns and takes a
sample of rows that stays in memory. Where similarities of all pairs can be kept, a second one adds
up the products of columns over all rows; else columns are compared over the sample, or on a device
of torch over all rows again (``all_rows``).
"""

import copy
import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from groupfs.data import checks
from groupfs.data.correlations import Correlations
from groupfs.data.dask_source import on_cluster
from groupfs.data.dense import DenseRows
from groupfs.data.memory import STAYS_ON_CLUSTER, Plan, fits_in_memory, memory_budget, plan_rows
from groupfs.data.passes import ColumnUnits, ProductsWork, SurveyWork
from groupfs.data.similarity import keeps_pairs
from groupfs.data.sources import ArraySource, Block, Source
from groupfs.data.standardize import column_scale, order_by_keys, without_rounding
from groupfs.data.table import NumberRows, Table, TableOptions
from groupfs.utils.types import FloatArray, IntArray


def choose_plan(source: Source | None, max_memory: Any) -> Plan | None:
    """Plan how to stream a table, or return None if it fits into memory.

    A large dask array stays where it is, even if it fits, where a cluster is at hand.
    """
    if isinstance(source, ArraySource):
        source.drop_pages()  # or what others have read of the file would count as ours
    budget = memory_budget(max_memory)
    if source is None:
        return None
    stays = source.is_remote and math.prod(source.shape) > STAYS_ON_CLUSTER and on_cluster()
    if fits_in_memory(source.shape, source.n_entries, budget) and not stays:
        return None
    return plan_rows(*source.shape, budget, max_memory)


def streamed_table(
    source: Source, plan: Plan, names: Sequence[str], options: TableOptions, device: Any = None
) -> Table:
    """Make a table of rows that are read in blocks, and compared on a device of torch."""
    work, on_device = SurveyWork(source.shape, plan.sample_rows), None
    if device is not None:
        from groupfs.data.all_rows import DeviceRows

        on_device = DeviceRows(source, device)
    seen = on_device.look_at(work) if on_device else source.run(work, plan.block_rows)
    checks.refuse_missing(seen.missing, names, options.who)
    found = seen.moments
    spread = without_rounding(found.mean, found.spread, found.n_rows, names)
    columns = checks.varying_columns(spread, names, options.constant, options.fewest)
    N, width = source.shape
    order, twins = order_by_keys(seen.keys[columns] / (spread[columns, None] * np.sqrt(N)))
    columns = columns[order]
    mean, deviation = found.mean[columns], spread[columns]
    scale = column_scale(deviation, options.standardize)
    units = ColumnUnits(columns, mean, scale, width)
    rows = StreamRows(source, units, N * (deviation / scale) ** 2, seen.sample, plan)
    by_sample = not keeps_pairs(len(columns), plan.block_entries)
    similarity = Correlations(rows, by_sample)
    if on_device and by_sample:
        similarity.know(on_device.compare(units))
    return Table(similarity, columns, twins, names, spread, found.mean)


@final
class StreamRows(NumberRows):
    """Rows of a table that is read in blocks, or worked on where its blocks are.

    ``sample`` are rows as they came, which stay in memory, ``norms`` (d,) squared norms of
    the standardised columns.
    """

    def __init__(
        self, source: Source, units: ColumnUnits, norms: FloatArray, sample: Block, plan: Plan
    ) -> None:
        self.source, self.units, self.column_norms = source, units, norms
        self.read_rows, self.block_entries = plan.block_rows, plan.block_entries
        self.shape = (source.shape[0], len(units.columns))
        self.feature_of_column = np.arange(self.shape[1])
        self.sample = DenseRows(units.standardized(sample, np.float32), plan.block_entries)

    def multiply_on(self, device: Any) -> None:
        super().multiply_on(device)
        self.sample.multiply_on(device)

    def take(self, index: IntArray) -> FloatArray:
        return self.units.standardized(self.source.gather(index))

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> FloatArray:
        """Return random rows of the sample."""
        return self.sample.random_rows(n_rows, rng)

    def all_products(self) -> FloatArray:
        device = None if self.source.is_remote else self.device  # workers have no GPU
        return self.source.run(ProductsWork(self.units, device), self.read_rows)

    def restricted(self, columns: IntArray) -> "StreamRows":
        part = copy.copy(self)
        part.units, part.column_norms = self.units.restricted(columns), self.column_norms[columns]
        part.shape, part.feature_of_column = (self.shape[0], len(columns)), np.arange(len(columns))
        part.sample = self.sample.restricted(columns)
        return part

    def in_memory(self) -> DenseRows:
        return self.sample
