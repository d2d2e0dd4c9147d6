"""The one door for X, whatever it is: checked, read into memory where it fits, else streamed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils import check_array
from sklearn.utils.validation import _check_feature_names

from groupfs.data import checks
from groupfs.data.block_sources import ArraySource, Block, Source, as_source, is_lazy, read_whole
from groupfs.data.memory_plan import (
    Plan,
    fits_in_memory,
    memory_budget,
    memory_of_table,
    plan_rows,
)
from groupfs.data.prefetch import read_ahead
from groupfs.data.standardize import (
    MANY_ROWS,
    ColumnMoments,
    checked_spread,
    column_scale,
    order_by_keys,
    order_columns,
    standardized_rows,
    survey,
)
from groupfs.data.streamed_rows import StreamRows
from groupfs.data.table import Table, TableInMemory, column_names
from groupfs.utils.text import format_bytes
from groupfs.utils.types import FloatArray, IntArray


def open_table(
    estimator: Any,
    X: Any,
    standardize: bool,
    max_memory: Any = None,
    n_models: int = 2,
    verbose: bool = False,
    *,
    may_stream: bool = True,
    plan: Plan | None = None,
    reset: bool = True,
    constant: str | None = "left out of every group",
    fewest: int = 2,
) -> Table:
    """Check X, standardise it, and stream it if it is too large for memory.

    Parameters
    ----------
    estimator : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set, or with ``reset=False`` kept to.
    X : array, sparse matrix, DataFrame, tensor or whatever has a shape and rows to slice
        The table.
    standardize : bool
        Whether columns get variance one, or the table one unit.
    max_memory : int, str or None
        How much memory the process may take; None for a share of what is free.
    n_models : int
        Models that are trained side by side.
    verbose : bool
        Whether passes over a streamed table show a bar.
    may_stream : bool
        Whether the table may be streamed; else one that does not fit is refused, and the result is
        a ``TableInMemory``.
    plan : Plan or None
        How to stream the table; None streams it only where it does not fit.
    reset : bool
        Whether the estimator learns its columns from X.
    constant : str or None
        What a warning says became of columns that do not vary; None for no warning.
    fewest : int
        Columns that must vary.
    """
    source = as_source(X)
    checks.refuse_text(X)
    if may_stream and plan is None:
        plan = choose_plan(source, n_models, max_memory)
    if plan is None:
        matrix = _read_matrix(X, source, type(estimator).__name__, may_stream)
        names = _match_columns(estimator, X, matrix.shape[1], reset)
        return _in_memory(estimator, matrix, names, standardize, constant, fewest)
    assert source is not None
    checks.refuse_too_small(source.shape)
    names = _match_columns(estimator, X, source.shape[1], reset)
    return _streamed(estimator, source, names, standardize, constant, fewest, plan, verbose)


def read_rows(selector: Any, X: Any, most_rows: int) -> tuple[FloatArray, int, IntArray]:
    """Check X against a fitted selector and read standardised rows of it, at random if too many.

    Returns
    -------
    Z : (n, d)
        In the user's order of the columns, zero where they are constant.
    n_samples : int
        Rows of X.
    index : (n,)
        Which of them they are, ascending.
    """
    table = open_table(
        selector, X, selector.standardize, selector.max_memory, reset=False, constant=None
    )
    N = table.rows.shape[0]
    index = np.arange(N)
    if most_rows < N:
        index = np.sort(np.random.default_rng(0).choice(N, most_rows, replace=False))
    table.rows.to(torch.device("cpu"), torch.float64)
    Z = np.zeros((len(index), len(table.names)))
    Z[:, table.columns] = table.rows.take(torch.from_numpy(index)).numpy()
    return Z, N, index


def read_matrix(selector: Any, X: Any) -> FloatArray | sp.csr_array:
    """Check X against a fitted selector and read it as it is, dense or sparse, in double."""
    matrix = _read_matrix(X, as_source(X), type(selector).__name__, may_stream=False)
    _match_columns(selector, X, matrix.shape[1], reset=False)
    return matrix


def choose_plan(source: Source | None, n_models: int, max_memory: Any) -> Plan | None:
    """Plan how to stream a table, or return None if it fits into memory."""
    if isinstance(source, ArraySource):
        source.drop_pages()  # or what others have read of the file would count as ours
    budget = memory_budget(max_memory)
    if source is None or fits_in_memory(source.shape, source.n_entries, budget):
        return None
    return plan_rows(*source.shape, n_models, budget, max_memory)


def _read_matrix(
    X: Any, source: Source | None, who: str, may_stream: bool
) -> FloatArray | sp.csr_array:
    """Read the whole table as an array or CSR array of doubles, to be looked at."""
    if source is not None and is_lazy(X):
        if not may_stream:
            _refuse_too_large(source, who)
        X = read_whole(source)
    if hasattr(X, "detach") and hasattr(X, "cpu"):  # a torch tensor
        X = X.detach().cpu().double().numpy()
    try:
        X = check_array(
            X,
            accept_sparse=("csr", "csc"),
            ensure_all_finite=False,
            ensure_min_samples=2,
            ensure_min_features=2,
            estimator=who,
            input_name="X",
        )
    except ValueError as error:
        if "could not convert string" in str(error):
            raise ValueError(
                f"X holds text ({error}); encode text columns as numbers first, e.g. with "
                "OrdinalEncoder, or drop them."
            ) from error
        raise
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()  # or zeros that are stored would be shuffled as numbers of their own
        return X
    # one memory order, so that sums over rows round alike whatever the user's is
    return np.ascontiguousarray(X, dtype=np.float64)


def _refuse_too_large(source: Source, who: str) -> None:
    budget = memory_budget(None)
    if not fits_in_memory(source.shape, source.n_entries, budget):
        needed = format_bytes(memory_of_table(source.shape, source.n_entries))
        N, d = source.shape
        raise ValueError(
            f"{who} needs the whole table in memory, {N:,} x {d:,} with about {needed} of work on "
            f"it, and {format_bytes(budget)} are free; give it fewer rows, or use GroupFS, which "
            "reads large tables in pieces."
        )


def _match_columns(estimator: Any, X: Any, n_features: int, reset: bool) -> Sequence[str]:
    """Let the estimator learn the columns of X, or compare them; return their names."""
    if reset:
        _check_feature_names(estimator, X, reset=True)
        estimator.n_features_in_ = n_features
    elif n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but the selector was fitted on "
            f"{estimator.n_features_in_}; give the table it was fitted on."
        )
    return column_names(estimator, n_features)


def _in_memory(
    estimator: Any,
    X: FloatArray | sp.csr_array,
    names: Sequence[str],
    standardize: bool,
    constant: str | None,
    fewest: int,
) -> TableInMemory:
    checks.refuse_missing(X, names, type(estimator).__name__)
    moments = ColumnMoments(X.shape[1])
    X = moments.add(X, correct_mean=X.shape[0] > MANY_ROWS)
    spread, columns = _varying(moments, names, constant, fewest)
    order, twins = order_columns(X, moments.mean, spread, columns)
    columns = columns[order]
    rows = standardized_rows(X, columns, moments.mean, spread, standardize)
    return TableInMemory(rows, columns, twins, names, spread)


def _streamed(
    estimator: Any,
    source: Source,
    names: Sequence[str],
    standardize: bool,
    constant: str | None,
    fewest: int,
    plan: Plan,
    verbose: bool,
) -> Table:
    def check(block: Block) -> None:
        checks.refuse_missing(block, names, type(estimator).__name__)

    blocks = read_ahead(source, plan.block_rows, "mean and variance", verbose)
    found = survey(blocks, source.shape, min(plan.sample_rows, source.shape[0]), check)
    spread, columns = _varying(found.moments, names, constant, fewest)
    N = source.shape[0]
    order, twins = order_by_keys(found.keys[columns] / (spread[columns, None] * np.sqrt(N)))
    columns = columns[order]
    mean, deviation = found.moments.mean[columns], spread[columns]
    scale = column_scale(deviation, standardize)
    norms = N * (deviation / scale) ** 2
    rows = StreamRows(source, columns, mean, scale, norms, found.sample, plan, verbose)
    return Table(rows, columns, twins, names, spread)


def _varying(
    moments: ColumnMoments, names: Sequence[str], constant: str | None, fewest: int
) -> tuple[FloatArray, IntArray]:
    """Return the deviations of all columns, 0 where constant, and the columns that vary."""
    spread = checked_spread(moments, names)
    varies = spread > 0
    checks.refuse_too_few(varies, names, fewest)
    if constant is not None:
        checks.report_constant(varies, names, constant)
    return spread, np.flatnonzero(varies)
