"""The one door for X, whatever it is: checked, read into memory where it fits, else streamed."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils import check_array

from groupfs.data import checks
from groupfs.data.block_sources import (
    ArraySource,
    Source,
    as_source,
    describing_frame,
    is_lazy,
    read_whole,
)
from groupfs.data.block_tensors import ColumnUnits
from groupfs.data.dask_passes import on_cluster
from groupfs.data.feature_basis import SimilarityFunction
from groupfs.data.feature_rows import FeatureRows
from groupfs.data.feature_table import feature_table, numbers, single_columns
from groupfs.data.kinds import encode_columns, has_kinds
from groupfs.data.memory_plan import (
    STAYS_ON_CLUSTER,
    Plan,
    fits_in_memory,
    memory_budget,
    memory_of_table,
    plan_for_workers,
    plan_rows,
)
from groupfs.data.standardize import (
    MANY_ROWS,
    ColumnMoments,
    checked_spread,
    column_scale,
    order_by_keys,
    order_columns,
    standardized_rows,
)
from groupfs.data.streamed_rows import StreamRows
from groupfs.data.survey import survey
from groupfs.data.table import Table, TableInMemory
from groupfs.utils.errors import ParameterError
from groupfs.utils.sklearn_compat import check_feature_names
from groupfs.utils.text import format_bytes, join_names
from groupfs.utils.types import FloatArray, IntArray

#: Numbers of a sparse table that may be filled in (512 MB).
MOST_FILLED = 2**26


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
    any_kind: bool = False,
    similarity: str | SimilarityFunction = "correlation",
) -> Table:
    """Check X, standardise it, and stream it if it is too large for memory.

    Parameters
    ----------
    estimator : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set, or with ``reset=False`` kept to.
    standardize : bool
        Whether columns get variance one, or the table one unit.
    n_models : int
        Models that are trained side by side.
    verbose : bool
        Whether passes over a streamed table show a bar.
    may_stream : bool
        Whether the table may be streamed; else one that does not fit is refused, and the result is
        a ``TableInMemory``.
    plan : Plan or None
        How to stream the table; None streams it only where it does not fit.
    constant : str or None
        What a warning says became of columns that do not vary; None for no warning.
    fewest : int
        Columns that must vary.
    any_kind : bool
        Whether columns may be categories and dates, and have gaps; else they are refused.
    similarity : str or callable
        How features are compared.
    """
    described = describing_frame(X)
    if any_kind and has_kinds(described):
        if described is not X:
            _refuse_remote_kinds(described)
        names = _match_columns(estimator, X, X.shape[1], reset)
        checks.refuse_too_small(X.shape)
        encoded = encode_columns(X)
        return feature_table(encoded, names, standardize, similarity, constant, fewest)
    checks.refuse_text(described)
    source = as_source(X)
    who = type(estimator).__name__
    if may_stream and plan is None:
        plan = choose_plan(source, n_models, max_memory)
    if plan is None:
        matrix = _read_matrix(X, source, who, may_stream)
        names = _match_columns(estimator, described, matrix.shape[1], reset)
        missing = checks.find_missing(matrix)
        compared = similarity != "correlation"
        if any_kind and (compared or (missing is not None and missing.has_nan)):
            matrix = _filled_in(matrix, similarity, names, missing, who)
            return feature_table(numbers(matrix), names, standardize, similarity, constant, fewest)
        checks.refuse_missing(missing, names, who)
        moments = ColumnMoments(matrix.shape[1])
        matrix = moments.add(matrix, correct_mean=matrix.shape[0] > MANY_ROWS)
        spread, columns = _varying(moments, names, constant, fewest)
        order, twins = order_columns(matrix, moments.mean, spread, columns)
        columns = columns[order]
        rows = standardized_rows(matrix, columns, moments.mean, spread, standardize)
        return TableInMemory(rows, columns, twins, names, spread, moments.mean)

    assert source is not None
    if similarity != "correlation":
        raise ParameterError(
            f"similarity={similarity!r} looks at all rows at once, but X ({source.shape[0]:,} x "
            f"{source.shape[1]:,}) is too large for memory; give it fewer rows, or use "
            'similarity="correlation".',
            "similarity",
        )
    checks.refuse_too_small(source.shape)
    names = _match_columns(estimator, described, source.shape[1], reset)
    if source.is_remote:
        plan = plan_for_workers(plan)
    seen = survey(source, plan, "mean and variance", verbose)
    checks.refuse_missing(seen.missing, names, who)
    spread, columns = _varying(seen.moments, names, constant, fewest)
    N, width = source.shape
    order, twins = order_by_keys(seen.keys[columns] / (spread[columns, None] * np.sqrt(N)))
    columns = columns[order]
    mean, deviation = seen.moments.mean[columns], spread[columns]
    scale = column_scale(deviation, standardize)
    norms = N * (deviation / scale) ** 2
    units = ColumnUnits(columns, mean, scale, width)
    streamed = StreamRows(source, units, norms, seen.sample, plan, verbose)
    return Table(streamed, columns, twins, names, spread, seen.moments.mean)


def read_rows(
    selector: Any, X: Any, most_rows: int, keep_gaps: bool = False
) -> tuple[FloatArray, int, IntArray]:
    """Check X against a fitted selector and read standardised rows of it, at random if too many.

    Returns them, (n, d), in the user's order of the columns, zero where these are constant; how
    many rows X has; and which of them they are, ascending. Gaps are at the mean, zero, or with
    ``keep_gaps`` NaN.
    """
    table = open_table(
        selector,
        X,
        selector.standardize,
        selector.max_memory,
        reset=False,
        constant=None,
        any_kind=True,
    )
    N = table.rows.shape[0]
    index = np.arange(N)
    if most_rows < N:
        index = np.sort(np.random.default_rng(0).choice(N, most_rows, replace=False))
    Z = np.zeros((len(index), len(table.names)))
    if isinstance(table.rows, FeatureRows):
        labels, signs = selector.group_labels_, selector.group_signs_
        own = labels[table.columns], signs[table.columns]
        columns = single_columns(table.rows, *own, keep_gaps=keep_gaps)
        Z[:, table.columns] = columns[index]
        return Z, N, index
    table.rows.to(torch.device("cpu"), torch.float64)
    Z[:, table.columns] = table.rows.take(torch.from_numpy(index)).numpy()
    if isinstance(X, np.memmap):
        ArraySource(X).drop_pages()  # rows from all over a file bring most of it into memory
    return Z, N, index


def read_matrix(selector: Any, X: Any) -> FloatArray | sp.csr_array:
    """Check X against a fitted selector and read it as it is, dense or sparse, in double.

    Columns of other kinds, and tables with gaps, are read as :func:`read_rows` gives them.
    """
    if has_kinds(describing_frame(X)):
        return read_rows(selector, X, len(X))[0]
    matrix = _read_matrix(X, as_source(X), type(selector).__name__, may_stream=False)
    _match_columns(selector, describing_frame(X), matrix.shape[1], reset=False)
    missing = checks.find_missing(matrix)
    if missing is not None and missing.has_nan and isinstance(matrix, np.ndarray):
        return read_rows(selector, X, len(matrix))[0]
    return matrix


def choose_plan(source: Source | None, n_models: int, max_memory: Any) -> Plan | None:
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


def _filled_in(
    matrix: FloatArray | sp.csr_array,
    similarity: str | SimilarityFunction,
    names: Sequence[str],
    missing: checks.Missing | None,
    who: str,
) -> FloatArray:
    """Return a matrix for which gaps are gaps, dense; refuse sparse ones that have them."""
    if isinstance(matrix, np.ndarray):
        return matrix
    checks.refuse_missing(missing, names, who)
    N, d = matrix.shape
    if N * d > MOST_FILLED:
        raise ParameterError(
            f"similarity={similarity!r} needs a dense table, and {N:,} x {d:,} numbers are too "
            'many; give it fewer rows or columns, or use similarity="correlation".',
            "similarity",
        )
    return np.asarray(matrix.toarray())


def _refuse_remote_kinds(frame: Any) -> None:
    bad = [str(n) for n in frame.columns if has_kinds(frame[[n]])]
    raise ValueError(
        f"X is a DataFrame of dask with columns that are not numbers: {join_names(bad)}; give "
        "GroupFS a DataFrame in memory, X.compute(), or drop these columns."
    )


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
    counts = Counter(getattr(X, "columns", ()))
    if twice := [f"{name} ({times} times)" for name, times in counts.items() if times > 1]:
        raise ValueError(
            f"X has {len(twice)} column name(s) that occur more than once: {join_names(twice)}; "
            "rename these columns."
        )
    if reset:
        check_feature_names(estimator, X, reset=True)
        estimator.n_features_in_ = n_features
    elif n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but the selector was fitted on "
            f"{estimator.n_features_in_}; give the table it was fitted on."
        )
    return list(getattr(estimator, "feature_names_in_", (f"x{i}" for i in range(n_features))))


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
