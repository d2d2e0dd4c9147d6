"""Open X, whatever it is: checked, read into memory where it fits, else streamed."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from groupfs.data import checks, sources
from groupfs.data.basis import SimilarityFunction
from groupfs.data.columns import encode_columns, has_kinds, refuse_text
from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.data.mixed import mixed_table
from groupfs.data.sparse import SparseRows
from groupfs.data.standardize import (
    N_KEYS,
    ColumnMoments,
    column_scale,
    order_by_keys,
    without_rounding,
)
from groupfs.data.streamed import choose_plan, streamed_table
from groupfs.data.table import RowsInMemory, Table, TableInMemory, TableOptions
from groupfs.utils.device import find_gpu
from groupfs.utils.errors import ParameterError
from groupfs.utils.sklearn_compat import check_feature_names
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray, IntArray

Matrix: TypeAlias = FloatArray | sp.csr_array
#: Numbers of an array that needs no look at the memory (34 MB).
SURELY_FITS = 2**20
#: Numbers of a sparse table that may be filled in (512 MB).
MOST_FILLED = 2**26
#: Sparse tables whose columns' means exceed their deviations by more than this are filled in:
#: products of columns would lose their digits otherwise, and such tables hold few zeros.
LARGEST_OFFSET = 1e3
#: Above so many rows the error of a mean, added up row by row, is more than rounding; the mean of
#: what is left after centring corrects it.
MANY_ROWS = 1000
#: What becomes of columns that do not vary.
LEFT_OUT = "left out of every group"


def open_table(
    estimator: Any,
    X: Any,
    standardize: bool,
    max_memory: Any = None,
    *,
    reset: bool = True,
    constant: str | None = LEFT_OUT,
    similarity: str | SimilarityFunction = "correlation",
    device: Any = "cpu",
) -> Table:
    """Check X, whose columns may be of any kinds, and stream it if it is too large for memory.

    The estimator's ``n_features_in_`` and ``feature_names_in_`` are set, or with ``reset=False``
    kept to. With ``standardize`` columns get variance one, else the table one unit. ``constant`` is
    what a warning says became of columns that do not vary; None for no warning. On a ``device`` all
    rows of a large table are compared.
    """
    options = TableOptions(type(estimator).__name__, standardize, similarity, constant)
    described, source = X, None
    if type(X) is not np.ndarray or X.size > SURELY_FITS or max_memory is not None:
        described = sources.describing_frame(X)
        if has_kinds(described):
            if described is not X:
                others = join_names(str(n) for n in described if has_kinds(described[[n]]))
                raise ValueError(
                    f"X is a DataFrame of dask with columns that are not numbers: {others}; give a "
                    "DataFrame in memory, X.compute(), or drop these columns."
                )
            names = _match_columns(estimator, X, X.shape[1], reset)
            checks.refuse_too_small(X.shape)
            columns = encode_columns(X)
            if reset:
                checks.report_repeated_rows(np.hstack(columns))
            return mixed_table(columns, names, options)
        source = sources.as_source(X)
        plan = choose_plan(source, max_memory)
        if plan is not None and source is not None:
            _refuse_streamed(source, similarity)
            names = _match_columns(estimator, described, source.shape[1], reset)
            on_gpu = None if source.is_remote else find_gpu(device, source.shape)
            return streamed_table(source, plan, names, options, on_gpu)
    matrix = _read_matrix(X, source, options.who)
    names = _match_columns(estimator, described, matrix.shape[1], reset)
    if reset and isinstance(matrix, np.ndarray):
        checks.report_repeated_rows(matrix)
    missing = checks.find_missing(matrix)
    if similarity != "correlation" or (missing is not None and len(missing.nan)):
        filled = _filled_in(matrix, similarity, names, missing, options.who)
        return mixed_table(list(filled.T[:, :, None]), names, options)
    checks.refuse_missing(missing, names, options.who)
    return _matrix_table(matrix, names, options)


def open_matrix(
    estimator: Any, X: Any, standardize: bool, constant: str = LEFT_OUT, fewest: int = 2
) -> TableInMemory:
    """Check X, which must be of numbers without gaps and fit into memory.

    ``constant`` says what becomes of columns that do not vary; ``fewest`` must vary.
    """
    options = TableOptions(type(estimator).__name__, standardize, "correlation", constant, fewest)
    described, source = sources.describing_frame(X), sources.as_source(X)
    refuse_text(described)
    if source is not None and sources.is_lazy(X):
        checks.refuse_too_large(source.shape, source.n_entries, options.who)
    matrix = _read_matrix(X, source, options.who)
    names = _match_columns(estimator, described, matrix.shape[1], reset=True)
    checks.refuse_missing(checks.find_missing(matrix), names, options.who)
    return _matrix_table(matrix, names, options)


def read_rows(selector: Any, X: Any, most_rows: int) -> tuple[FloatArray, Table, IntArray]:
    """Check X against a fitted selector and read standardised rows of it, at random if too many.

    Returns them, (n, d), in the user's order of the columns, zero where these are constant; the
    table; and which of its rows they are, ascending. Gaps are NaN.
    """
    most = getattr(selector, "max_memory", None)
    table = open_table(selector, X, selector.standardize, most, reset=False, constant=None)
    N = table.rows.shape[0]
    index = np.arange(N)
    if most_rows < N:
        index = np.sort(np.random.default_rng(0).choice(N, most_rows, replace=False))
    Z, own = np.zeros((len(index), len(table.names))), table.columns
    labels = signs = np.zeros(len(own), dtype=np.int64)
    if table.kinds is not None:  # what a level stands for depends on the group
        labels, signs = selector.group_labels_[own], selector.group_signs_[own]
    Z[:, own] = table.rows.feature_values(index, labels, signs)
    if isinstance(X, np.memmap):
        sources.ArraySource(X).drop_pages()  # rows from all over a file bring in most of it
    return Z, table, index


def _read_matrix(X: Any, source: sources.Source | None, who: str) -> Matrix:
    """Read the whole table as an array or CSR array of doubles, to be looked at."""
    if source is not None and sources.is_lazy(X):
        X = sources.read_whole(source)
    if hasattr(X, "detach") and hasattr(X, "cpu"):  # a torch tensor
        X = X.detach().cpu().double().numpy()
    try:
        size = {"ensure_min_samples": 2, "ensure_min_features": 2}
        told = {"estimator": who, "input_name": "X"}
        kinds = ("csr", "csc")
        X = check_array(X, accept_sparse=kinds, ensure_all_finite=False, **size, **told)
    except ValueError as error:
        if "could not convert string" in str(error) or "bytes/strings" in str(error):
            reason = str(error).partition(".Convert")[0]
            raise ValueError(
                f"X holds text ({reason}); encode text columns as numbers first, e.g. with "
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


def _matrix_table(matrix: Matrix, names: Sequence[str], options: TableOptions) -> TableInMemory:
    moments = ColumnMoments(matrix.shape[1])
    matrix = moments.add(matrix, correct_mean=matrix.shape[0] > MANY_ROWS)
    mean = moments.mean
    spread = without_rounding(mean, moments.spread, moments.n_rows, names)
    columns = checks.varying_columns(spread, names, options.constant, options.fewest)
    vectors = np.random.default_rng(0).standard_normal((matrix.shape[0], N_KEYS))
    if isinstance(matrix, np.ndarray):
        keys = (matrix.T @ vectors)[columns] / spread[columns, None]
    else:
        keys = _standardized_rows(matrix, columns, mean, spread, True).project(vectors)
    order, twins = order_by_keys(keys / np.sqrt(matrix.shape[0]))
    columns = columns[order]
    rows = _standardized_rows(matrix, columns, mean, spread, options.standardize)
    return TableInMemory(Correlations(rows), columns, twins, names, spread, mean)


def _standardized_rows(
    X: Matrix, columns: IntArray, center: FloatArray, spread: FloatArray, standardize: bool
) -> RowsInMemory:
    """Build rows of some columns of a centred dense or a sparse X."""
    mean, deviation = center[columns], spread[columns]
    scale = column_scale(deviation, standardize)
    if isinstance(X, np.ndarray):
        Z = np.take(X, columns, axis=1)
        Z /= scale
        return DenseRows(Z)
    table = sp.csr_array(sp.csc_array(X)[:, columns])
    if (np.abs(mean) <= LARGEST_OFFSET * deviation).all():
        return SparseRows(table, mean, scale, X.shape[0] * (deviation / scale) ** 2)
    return DenseRows((table.toarray() - mean) / scale)


def _filled_in(
    matrix: Matrix,
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


def _refuse_streamed(source: sources.Source, similarity: str | SimilarityFunction) -> None:
    if similarity != "correlation":
        raise ParameterError(
            f"similarity={similarity!r} looks at all rows at once, but X ({source.shape[0]:,} x "
            f"{source.shape[1]:,}) is too large for memory; give it fewer rows, or use "
            'similarity="correlation".',
            "similarity",
        )
    checks.refuse_too_small(source.shape)


def _match_columns(estimator: Any, X: Any, n_features: int, reset: bool) -> Sequence[str]:
    """Let the estimator learn the columns of X, or compare them; return their names."""
    if reset:
        vars(estimator).pop("feature_names_in_", None)
        if hasattr(X, "columns"):
            check_feature_names(estimator, X, reset=True)
        estimator.n_features_in_ = n_features
    elif n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but the selector was fitted on "
            f"{estimator.n_features_in_}; give the table it was fitted on."
        )
    named = vars(estimator).get("feature_names_in_")
    return [f"x{i}" for i in range(n_features)] if named is None else list(named)
