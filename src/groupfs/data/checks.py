"""What is asked of a table before it is worked on; refusals name the columns and a remedy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray
from groupfs.utils.warn import ConstantColumnsWarning, warn


def refuse_text(X: Any) -> None:
    """Refuse a data frame with columns that are not numbers."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return
    bad = [
        f"{name} ({dtype})"
        for index, (name, dtype) in enumerate(zip(X.columns, dtypes, strict=True))
        if _is_text(X.iloc[:, index] if hasattr(X, "iloc") else X[name], dtype)
    ]
    if bad:
        raise ValueError(
            f"X has {len(bad)} column(s) that are not numbers: {join_names(bad)}; encode them "
            "first, e.g. with OrdinalEncoder, or drop them."
        )


def _is_text(column: Any, dtype: Any) -> bool:
    kind = str(dtype).lower()
    if any(word in kind for word in ("date", "time", "duration", "str", "utf8", "complex")):
        return True
    if any(word in kind for word in ("cat", "enum", "object")):  # may hold numbers
        try:
            np.asarray(column).astype(np.float64)
        except (ValueError, TypeError):
            return True
    return False


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
    """Columns with values that cannot be used."""

    columns: IntArray  #: ascending
    has_nan: bool  #: whether NaN is among these values, or infinity alone


def find_missing(X: Any) -> Missing | None:
    """Look for NaN and infinity in a table or a block of its rows."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)):  # most tables end here, without an array of their size
            return None
    finite = np.isfinite(values)
    bad = np.unique(X.indices[~finite]) if sp.issparse(X) else np.flatnonzero(~finite.all(axis=0))
    return Missing(bad.astype(np.int64), bool(np.isnan(values).any())) if len(bad) else None


def refuse_missing(missing: Missing | None, names: Sequence[str], who: str) -> None:
    """Refuse NaN and infinity where they were found; ``who`` would have used the table."""
    if missing is None:
        return
    what, remedy = "infinity (inf)", "replace infinite values or drop these columns"
    if missing.has_nan:
        what, remedy = "NaN", f"impute first, e.g. make_pipeline(SimpleImputer(), {who}())"
    bad = missing.columns.tolist()
    plural = "column" if len(bad) == 1 else "columns"
    which = join_names([names[i] for i in bad])
    raise ValueError(f"X contains {what} in {len(bad)} {plural} ({which}); {remedy}.")


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
