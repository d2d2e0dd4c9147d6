"""What is asked of a table before it is worked on; refusals name the columns and a remedy."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.data.refused_columns import RefusedColumn, refuse_columns
from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray
from groupfs.utils.warn import ConstantColumnsWarning, warn


def refuse_text(X: Any) -> None:
    """Refuse a data frame with columns that are not numbers, with advice for each kind."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return
    refuse_columns(
        (name, dtype, RefusedColumn(problem))
        for index, (name, dtype) in enumerate(zip(X.columns, dtypes, strict=True))
        if (problem := _problem(X.iloc[:, index] if hasattr(X, "iloc") else X[name], dtype))
    )


def _problem(column: Any, dtype: Any) -> str | None:
    """Find why a column is not of numbers; None if it is."""
    kind = str(dtype).lower()
    if any(word in kind for word in ("date", "time", "duration")):
        return "dates"
    if "complex" in kind:
        return "complex"
    if any(word in kind for word in ("str", "utf8")):
        return "text"
    if any(word in kind for word in ("cat", "enum", "object")):  # may hold numbers
        try:
            np.asarray(column).astype(np.float64)
        except (ValueError, TypeError):
            first = next((value for value in column if value is not None), None)
            return "dates" if isinstance(first, datetime.date) else "text"
    return None


def refuse_too_small(shape: tuple[int, int]) -> None:
    """Refuse fewer than two rows or columns, in scikit-learn's words."""
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size < 2:
            raise ValueError(
                f"Found array with {size} {what}(s) (shape={shape}) while a minimum of 2 is "
                "required."
            )


@dataclass(frozen=True)
class Missing:
    """Columns with values that cannot be used, ascending."""

    nan: IntArray  #: columns with NaN
    infinite: IntArray  #: columns with infinity

    @property
    def has_nan(self) -> bool:
        return len(self.nan) > 0

    def merged(self, other: "Missing") -> "Missing":
        """Return what is missing here or there."""
        return Missing(np.union1d(self.nan, other.nan), np.union1d(self.infinite, other.infinite))


def find_missing(X: Any) -> Missing | None:
    """Look for NaN and infinity in a table or a block of its rows."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)):  # most tables end here, without an array of their size
            return None
    found = Missing(*(_columns_where(X, test(values)) for test in (np.isnan, np.isinf)))
    return found if found.has_nan or len(found.infinite) else None


def _columns_where(X: Any, mask: BoolArray) -> IntArray:
    found = np.unique(X.indices[mask]) if sp.issparse(X) else np.flatnonzero(mask.any(axis=0))
    return found.astype(np.int64)


def refuse_missing(missing: Missing | None, names: Sequence[str], who: str) -> None:
    """Refuse NaN and infinity where they were found; ``who`` would have used the table."""
    if missing is None:
        return
    found = {"infinity (inf)": missing.infinite, "NaN": missing.nan}
    where = [_in_columns(what, columns, names) for what, columns in found.items() if len(columns)]
    remedies = ["replace infinite values or drop these columns"] if len(missing.infinite) else []
    if missing.has_nan:
        remedies.append(f"impute first, e.g. make_pipeline(SimpleImputer(), {who}())")
    raise ValueError(f"X contains {' and '.join(where)}; {', and '.join(remedies)}.")


def _in_columns(what: str, columns: IntArray, names: Sequence[str]) -> str:
    plural = "column" if len(columns) == 1 else "columns"
    which = join_names([names[i] for i in columns.tolist()])
    return f"{what} in {len(columns)} {plural} ({which})"


def refuse_overflow(spread: FloatArray, names: Sequence[str]) -> None:
    """Refuse columns whose deviations are not finite although their values are."""
    bad = np.flatnonzero(~np.isfinite(spread))
    if len(bad):
        raise ValueError(
            f"values of X overflow when squared, as distances need (columns "
            f"{join_names([names[i] for i in bad.tolist()])}); rescale these columns first."
        )


def refuse_too_few(varies: BoolArray, names: Sequence[str], fewest: int) -> None:
    """Refuse a table with fewer than so many columns that vary."""
    if varies.sum() >= fewest:
        return
    if not varies.any():
        raise ValueError(
            f"all {len(names)} columns of X are constant; there is nothing to select from."
        )
    raise ValueError(
        f"only one column of X varies ({names[int(varies.argmax())]}); a choice needs at least 2 "
        "columns that are not constant."
    )


def report_constant(varies: BoolArray, names: Sequence[str], consequence: str) -> None:
    """Warn of columns that do not vary, and say what became of them."""
    constant = np.flatnonzero(~varies)
    if len(constant):
        columns, were = (
            ("column carries", "was") if len(constant) == 1 else ("columns carry", "were")
        )
        warn(
            f"{len(constant)} constant {columns} no information and {were} {consequence}: "
            f"{join_names([names[i] for i in constant.tolist()])}.",
            ConstantColumnsWarning,
        )
