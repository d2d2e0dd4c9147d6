"""The only door for data: whatever table the user has, checked, to standardised rows and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from groupfs.data.block_sources import as_source, is_lazy, read_whole
from groupfs.data.memory_plan import PER_ENTRY, PER_NUMBER, fits_in_memory, memory_budget
from groupfs.data.rows import DenseRows, Rows, RowsInMemory, SparseRows
from groupfs.utils.text import format_bytes, join_names
from groupfs.utils.types import FloatArray
from groupfs.utils.warn import ConstantColumnsWarning, warn

#: Sparse tables whose columns' means exceed their deviations by more than this are filled in:
#: products of columns would lose their digits otherwise, and such tables hold few zeros.
LARGEST_OFFSET = 1e3
#: Above so many rows the error of a mean, added up row by row, is more than rounding; the mean of
#: what is left after centring corrects it.
MANY_ROWS = 1000
#: Squares of deviations below this lose digits or vanish: such columns are measured in other units.
FAINT = 1e-140


@dataclass(frozen=True)
class Table:
    """A table ready for work: constant columns left out, the others in an order of their own.

    The order depends on the columns' contents alone, so a user's order of the columns cannot change
    a result.
    """

    rows: Rows
    columns: NDArray[np.int64]  #: place in the user's table of every column of ``rows``, (d,)
    twins: NDArray[np.int64]  #: equal numbers for equal columns, (d,)
    names: Sequence[str]  #: of all the user's columns
    deviations: FloatArray  #: of all the user's columns as they came, 0 where constant

    @property
    def n_distinct(self) -> int:
        return int(self.twins.max()) + 1


@dataclass(frozen=True)
class TableInMemory(Table):
    """A table whose rows are all in memory."""

    rows: RowsInMemory


def validate_table(
    estimator: Any,
    X: Any,
    standardize: bool,
    constant: str = "left out of every group",
    fewest: int = 2,
) -> TableInMemory:
    """Check X, set ``n_features_in_`` and ``feature_names_in_``, standardise.

    ``constant`` says in a warning what became of columns that do not vary; with fewer than
    ``fewest`` columns that vary the table is refused.
    """
    if is_lazy(X):
        X = _whole(X, type(estimator).__name__)
    X = _to_matrix(estimator, X)
    names = names_of(estimator, X.shape[1])
    refuse_missing(X, names, type(estimator).__name__)
    center, spread, X = _centered(X, names)
    varies = spread > 0
    refuse_too_few(varies, names, fewest)
    report_constant(varies, names, constant)

    columns = np.flatnonzero(varies)
    order, twins = _canonical_order(X, center, spread, columns)
    columns = columns[order]
    rows = _rows(X, columns, center, spread, standardize)
    return TableInMemory(rows, columns, twins, names, spread)


def _whole(X: Any, who: str) -> Any:
    """All rows of a table that is elsewhere, if they fit into memory."""
    source = as_source(X)
    if source is None:
        return X
    budget = memory_budget(None)
    if not fits_in_memory(source.shape, source.n_entries, budget):
        N, d = source.shape
        each = PER_NUMBER * N * d if source.n_entries is None else PER_ENTRY * source.n_entries
        raise ValueError(
            f"{who} needs the whole table in memory, {N:,} x {d:,} with about "
            f"{format_bytes(each)} of "
            f"work on it, and {format_bytes(budget)} are free; give it fewer rows, or use "
            "GroupFS, which "
            "reads large tables in pieces."
        )
    return read_whole(source)


def _to_matrix(estimator: Any, X: Any) -> FloatArray | sp.csr_array:
    if hasattr(X, "detach") and hasattr(X, "cpu"):  # a torch tensor
        X = X.detach().cpu().double().numpy()
    refuse_text(X)
    try:
        X = validate_data(
            estimator,
            X,
            accept_sparse=("csr", "csc"),
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=2,
            ensure_min_features=2,
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


def refuse_text(X: Any) -> None:
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return
    bad = [
        f"{name} ({dtype})"
        for place, (name, dtype) in enumerate(zip(X.columns, dtypes, strict=True))
        if _is_text(X.iloc[:, place] if hasattr(X, "iloc") else X[name], dtype)
    ]
    if bad:
        raise ValueError(
            f"X has {len(bad)} column(s) that are not numbers: {join_names(bad)}; encode them "
            "first, "
            "e.g. with OrdinalEncoder, or drop them."
        )


def _is_text(column: Any, dtype: Any) -> bool:
    kind = str(dtype).lower()
    if any(word in kind for word in ("date", "time", "duration")):
        return True
    if not any(word in kind for word in ("str", "utf8", "cat", "enum", "object")):
        return False
    try:
        np.asarray(column).astype(np.float64)
    except ValueError:
        return True
    except TypeError:  # not text either: scikit-learn has the words for it
        return False
    return "str" in kind or "utf8" in kind


class _Numbered(Sequence[str]):
    """x0, x1, ...: what scikit-learn calls columns without names, made up when asked for."""

    def __init__(self, n_features: int) -> None:
        self.places = range(n_features)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [f"x{i}" for i in self.places[place]]
        return f"x{self.places[place]}"


def names_of(estimator: Any, n_features: int) -> Sequence[str]:
    given = getattr(estimator, "feature_names_in_", None)
    return _Numbered(n_features) if given is None else list(given)


def refuse_missing(X: FloatArray | sp.csr_array, names: Sequence[str], who: str) -> None:
    if sp.issparse(X):
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(np.sum(X.data)):
                return
        bad = np.unique(sp.coo_array(X).coords[1][~np.isfinite(X.data)])
        nan = bool(np.isnan(X.data).any())
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(X.sum()):  # most tables end here, without an array of their size
                return
        finite = np.isfinite(X)
        bad = np.flatnonzero(~finite.all(axis=0))
        nan = bool(np.isnan(X).any())
    if not len(bad):
        return
    what = "NaN" if nan else "infinity (inf)"
    remedy = (
        f"impute first, e.g. make_pipeline(SimpleImputer(), {who}())"
        if nan
        else "replace infinite values or drop these columns"
    )
    plural = "column" if len(bad) == 1 else "columns"
    which = join_names([names[int(i)] for i in bad])
    raise ValueError(f"X contains {what} in {len(bad)} {plural} ({which}); {remedy}.")


def _centered(
    X: FloatArray | sp.csr_array, names: Sequence[str]
) -> tuple[FloatArray, FloatArray, FloatArray | sp.csr_array]:
    """Mean and deviation of every column, zero where it is only rounding; a dense X less the mean.

    A sparse X stays as it is.
    """
    N = X.shape[0]
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(X, np.ndarray):
            center = X.mean(axis=0)
            X = X - center
            if N > MANY_ROWS:
                rest = X.mean(axis=0)
                X -= rest
                center += rest
            spread = np.sqrt(np.einsum("ij,ij->j", X, X) / N)
            faint = np.flatnonzero(spread < FAINT)
            if len(faint):
                _, exponents = np.frexp(np.abs(X[:, faint]).max(axis=0))
                lifted = np.ldexp(X[:, faint], -exponents)
                spread[faint] = np.ldexp(np.linalg.norm(lifted, axis=0) / np.sqrt(N), exponents)
        else:
            center = np.asarray(X.sum(axis=0)).ravel() / N
            squares = sp.csc_array(X)
            filled = np.repeat(np.arange(X.shape[1]), np.diff(squares.indptr))
            n_zeros = N - np.diff(squares.indptr)
            if N > MANY_ROWS:
                rest = np.bincount(filled, squares.data - center[filled], minlength=X.shape[1])
                center += (rest - n_zeros * center) / N
            _, exponents = np.frexp(abs(squares).max(axis=0).toarray().ravel())
            exponents = np.where(exponents < np.log2(FAINT), exponents, 0)
            lifted = np.ldexp(squares.data - center[filled], -exponents[filled])
            deviations = np.bincount(filled, lifted**2, minlength=X.shape[1])
            where_zero = np.where(n_zeros > 0, np.ldexp(center, -exponents), 0)
            deviations = deviations + n_zeros * where_zero**2
            spread = np.ldexp(np.sqrt(deviations / N), exponents)
    return center, checked_spread(center, spread, N, names), X


def checked_spread(
    center: FloatArray, spread: FloatArray, n_rows: int, names: Sequence[str]
) -> FloatArray:
    """The deviations, zero where they are only rounding; refused where they overflow."""
    too_large = np.flatnonzero(~np.isfinite(spread))
    if len(too_large):
        raise ValueError(
            f"values of X overflow when squared, as distances need (columns "
            f"{join_names([names[int(i)] for i in too_large])}); rescale these columns first."
        )
    rounding = 10 * np.finfo(np.float64).eps * np.sqrt(n_rows) * np.abs(center)
    return np.where(spread <= rounding, 0.0, spread)


def refuse_too_few(varies: NDArray[np.bool_], names: Sequence[str], fewest: int) -> None:
    if varies.sum() >= fewest:
        return
    if not varies.any():
        raise ValueError(
            f"all {len(names)} columns of X are constant; there is nothing to select from."
        )
    only = names[int(np.flatnonzero(varies)[0])]
    raise ValueError(
        f"only one column of X varies ({only}); a choice needs at least 2 columns that are not "
        "constant."
    )


def report_constant(varies: NDArray[np.bool_], names: Sequence[str], what_became: str) -> None:
    constant = np.flatnonzero(~varies)
    if len(constant):
        one = len(constant) == 1
        plural = "column carries" if one else "columns carry"
        warn(
            f"{len(constant)} constant {plural} no information and "
            f"{'was' if one else 'were'} {what_became}: "
            f"{join_names([names[int(i)] for i in constant])}.",
            ConstantColumnsWarning,
        )


def _canonical_order(
    X: FloatArray | sp.csr_array,
    center: FloatArray,
    spread: FloatArray,
    columns: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """An order of the columns by content, and the twins among them (equal but for scale and shift).

    Columns are told apart by their products with three fixed random vectors.
    """
    vectors = np.random.default_rng(0).standard_normal((X.shape[0], 3))
    if isinstance(X, np.ndarray):
        keys = (X.T @ vectors)[columns] / spread[columns, None]
    else:
        keys = _rows(X, columns, center, spread, True).project(vectors)
    return order_by_keys(keys / np.sqrt(X.shape[0]))


def order_by_keys(keys: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of columns by their first key, and which of them have the same keys, (d, 3)."""
    order = np.argsort(keys[:, 0], kind="stable")
    steps = np.abs(np.diff(keys[order], axis=0)).max(axis=1)
    twins = np.concatenate([[0], np.cumsum(steps > 1e-9)])[: len(order)]
    return order, twins


def _rows(
    X: FloatArray | sp.csr_array,
    columns: NDArray[np.int64],
    center: FloatArray,
    spread: FloatArray,
    standardize: bool,
) -> RowsInMemory:
    """Standardised columns of a centred dense or a sparse X."""
    mean, deviation = center[columns], spread[columns]
    scale = deviation
    if not standardize:  # one scale for the whole table: results do not depend on its unit
        _, exponent = np.frexp(deviation.max())
        common = np.sqrt(np.mean(np.ldexp(deviation, -exponent) ** 2))
        scale = np.full(len(columns), np.ldexp(common, exponent))
    if isinstance(X, np.ndarray):
        Z = np.take(X, columns, axis=1)
        Z /= scale
        return DenseRows(Z)
    table = sp.csr_array(sp.csc_array(X)[:, columns])
    if (scale < FAINT).any():
        _, exponents = np.frexp(scale)
        table.data = np.ldexp(table.data, -exponents[table.indices])
        mean, deviation, scale = (np.ldexp(v, -exponents) for v in (mean, deviation, scale))
    if (np.abs(mean) <= LARGEST_OFFSET * deviation).all():
        return SparseRows(table, mean, scale, X.shape[0] * (deviation / scale) ** 2)
    return DenseRows((table.toarray() - mean) / scale)
