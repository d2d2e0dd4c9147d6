"""The door for tables of any size: read into memory where they fit, else opened to be streamed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names

from groupfs.data.block_sources import ArraySource, Block, Source, as_source, is_lazy, read_whole
from groupfs.data.column_moments import gather_moments
from groupfs.data.memory_plan import Plan, fits_in_memory, memory_budget, plan_rows
from groupfs.data.standardize import (
    Table,
    checked_spread,
    names_of,
    order_by_keys,
    refuse_missing,
    refuse_text,
    refuse_too_few,
    report_constant,
    validate_table,
)
from groupfs.data.streamed_rows import StreamRows


def open_table(
    estimator: Any,
    X: Any,
    standardize: bool,
    max_memory: Any = None,
    n_models: int = 2,
    verbose: bool = False,
) -> Table:
    """Check X, set ``n_features_in_`` and ``feature_names_in_``, and stream it if it is large.

    ``n_models`` are trained side by side.
    """
    source = as_source(X)
    if isinstance(source, ArraySource):
        source.give_back()  # what others have looked at is not ours to count
    budget = memory_budget(max_memory)
    if source is None or fits_in_memory(source.shape, source.n_entries, budget):
        if source is not None and is_lazy(X):
            X = read_whole(source)
        return validate_table(estimator, X, standardize)
    refuse_text(X)
    _refuse_too_small(source)
    _remember_columns(estimator, X, source)
    plan = plan_rows(*source.shape, n_models, budget, max_memory)
    return _streamed(estimator, source, standardize, plan, verbose)


def _refuse_too_small(source: Source) -> None:
    """As scikit-learn does, in its words."""
    for size, what in zip(source.shape, ("sample", "feature"), strict=True):
        if size < 2:
            raise ValueError(
                f"Found array with {size} {what}(s) (shape={source.shape}) while a minimum of 2 is "
                "required."
            )


def _streamed(
    estimator: Any, source: Source, standardize: bool, plan: Plan, verbose: bool
) -> Table:
    names = names_of(estimator, source.shape[1])
    found = gather_moments(
        source, plan.sample_rows, plan.block_rows, _refuser(estimator, names), verbose
    )
    N = source.shape[0]
    spread = checked_spread(found.mean, found.spread, N, names)
    varies = spread > 0
    refuse_too_few(varies, names, fewest=2)
    report_constant(varies, names, "left out of every group")
    columns = np.flatnonzero(varies)
    order, twins = order_by_keys(found.keys[columns] / (spread[columns, None] * np.sqrt(N)))
    columns = columns[order]
    mean, deviation = found.mean[columns], spread[columns]
    scale = deviation if standardize else np.full(len(columns), np.sqrt(np.mean(deviation**2)))
    norms = N * (deviation / scale) ** 2
    rows = StreamRows(source, columns, mean, scale, norms, found.sample, plan, verbose)
    return Table(rows, columns, twins, names, spread)


def _refuser(estimator: Any, names: Sequence[str]) -> Any:
    """Raises on a block with missing values."""

    def refuse(block: Block) -> None:
        refuse_missing(block, names, type(estimator).__name__)

    return refuse


def _remember_columns(estimator: Any, X: Any, source: Source) -> None:
    """What scikit-learn notes of a table, without looking at its values."""
    _check_feature_names(estimator, X, reset=True)
    estimator.n_features_in_ = source.shape[1]
