"""Check a table before it is worked on; refusals name the columns and a remedy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.data.memory import fits_in_memory, memory_budget, memory_of_table
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import count, format_bytes, join_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray
from groupfs.utils.warn import ConstantColumnsWarning, warn

#: What is wrong with columns, and what to do about it.
PROBLEMS = {
    "object": "that hold{s} neither numbers nor text: {names}; make numbers or text of {them}, or "
    "{leave_out}",
    "complex": "of complex numbers: {names}; give real and imaginary parts as columns of their own",
    "mixed": "that mix{es} numbers, text or dates: {names}; make {them} one kind, e.g. numbers "
    'with pandas.to_numeric(column, errors="coerce"), or text with astype(str)',
    "levels": "that look{s} like {ids} or free text: {names}; {leave_out}, or cut {them} down to "
    "at most 100 values",
    "text": "of text: {names}; encode {them} first, e.g. with OrdinalEncoder or OneHotEncoder, or "
    "{leave_out}",
    "dates": "of dates or times: {names}; turn {them} into numbers, such as days since a date, or "
    "{leave_out}",
}
#: Numbers of a table in which repeated rows are looked for, at most.
MOST_HASHED = 2**20
#: Most names of columns in a sentence, and in a remedy.
MOST_NAMES, FEW_NAMES = 20, 5


class RefusedColumn(ValueError):
    """A column that cannot be a feature: which of ``PROBLEMS`` it has, and what shows it."""

    def __init__(self, problem: str, evidence: str = "") -> None:
        super().__init__(problem)
        self.problem, self.evidence = problem, evidence


def refuse_columns(refused: Iterable[tuple[Any, Any, RefusedColumn]]) -> None:
    """Raise an error, if any column was refused, with the names, types and reasons of all."""
    by_problem: dict[str, dict[Any, str]] = {}
    for name, dtype, reason in refused:
        what = ", ".join(filter(None, (str(dtype), reason.evidence)))
        by_problem.setdefault(reason.problem, {})[name] = f"{name} ({what})"
    if by_problem:
        raise ValueError(" ".join(_sentence(PROBLEMS[p], by_problem[p]) for p in by_problem))


def _sentence(problem: str, columns: dict[Any, str]) -> str:
    words = {"s": "", "es": "", "ids": "ids", "them": "them"}
    if len(columns) == 1:
        words = {"s": "s", "es": "es", "ids": "an id", "them": "it"}
    which = list(columns) if len(columns) <= FEW_NAMES else "[...]"
    words["leave_out"] = (
        f"leave {words['them']} out, X.drop(columns={which}), as groupfs.files.ColumnPreparer does"
    )
    names = join_names(columns.values(), MOST_NAMES)
    return f"X has {count(len(columns), 'column')} {problem.format(names=names, **words)}."


def refuse_too_small(shape: tuple[int, int]) -> None:
    """Refuse fewer than two rows or columns, in scikit-learn's words."""
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size < 2:
            raise ValueError(
                f"Found array with {size} {what}(s) (shape={shape}) while a minimum of 2 is "
                "required."
            )


def refuse_too_large(shape: tuple[int, int], n_entries: int | None, who: str) -> None:
    """Refuse a table that does not fit into memory; ``n_entries`` are those of a sparse one."""
    budget = memory_budget(None)
    if not fits_in_memory(shape, n_entries, budget):
        raise ValueError(
            f"{who} needs the whole table in memory, {shape[0]:,} x {shape[1]:,} with about "
            f"{format_bytes(memory_of_table(shape, n_entries))} of work on it, and "
            f"{format_bytes(budget)} are free; give it fewer rows, or use FeatureGroups, which "
            "reads large tables in pieces."
        )


@dataclass(frozen=True)
class Missing:
    """Columns with values that cannot be used, ascending."""

    nan: IntArray  #: columns with NaN
    infinite: IntArray  #: columns with infinity

    def merged(self, other: "Missing") -> "Missing":
        """Return what is missing here or there."""
        return Missing(np.union1d(self.nan, other.nan), np.union1d(self.infinite, other.infinite))


def find_missing(X: Any) -> Missing | None:
    """Look for NaN and infinity in a table or a block of its rows."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)):  # most tables end here, without an array of their size
            return None
    columns = X.indices if sp.issparse(X) else np.broadcast_to(np.arange(X.shape[1]), X.shape)
    found = [np.unique(columns[test(values)]).astype(np.int64) for test in (np.isnan, np.isinf)]
    return Missing(*found) if any(map(len, found)) else None


def refuse_missing(missing: Missing | None, names: Sequence[str], who: str) -> None:
    """Refuse NaN and infinity where they were found; ``who`` would have used the table."""
    if missing is None:
        return
    found = {"infinity (inf)": missing.infinite, "NaN": missing.nan}
    there = {what: columns for what, columns in found.items() if len(columns)}
    where = [f"{w} in {count(len(c), 'column')} ({_named(c, names)})" for w, c in there.items()]
    remedies = ["replace infinite values or drop these columns"] if len(missing.infinite) else []
    if len(missing.nan):
        remedies.append(f"impute first, e.g. make_pipeline(SimpleImputer(), {who}())")
    raise ValueError(f"X contains {' and '.join(where)}; {', and '.join(remedies)}.")


def _named(columns: IntArray, names: Sequence[str]) -> str:
    return join_names([names[i] for i in columns.tolist()])


def refuse_overflow(spread: FloatArray, names: Sequence[str]) -> None:
    """Refuse columns whose deviations are not finite although their values are."""
    bad = np.flatnonzero(~np.isfinite(spread))
    if len(bad):
        raise ValueError(
            f"values of X overflow when squared, as distances need (columns {_named(bad, names)}); "
            "rescale these columns first."
        )


def varying_columns(
    spread: FloatArray, names: Sequence[str], constant: str | None, fewest: int
) -> IntArray:
    """Return the columns that vary; refuse fewer than so many, and warn of the others.

    ``constant`` says what became of these; None for no warning.
    """
    varies = spread > 0
    if fewest and not varies.any():
        raise ValueError(
            f"all {len(names)} columns of X are constant; there is nothing to select from."
        )
    if varies.sum() < fewest:
        raise ValueError(
            f"only one column of X varies ({names[int(varies.argmax())]}); a choice needs at least "
            "2 columns that are not constant."
        )
    if constant is not None:
        report_constant(varies, names, constant)
    return np.flatnonzero(varies)


def report_constant(varies: BoolArray, names: Sequence[str], consequence: str) -> None:
    """Warn of columns that do not vary, and say what became of them."""
    constant = np.flatnonzero(~varies)
    if len(constant):
        few = len(constant) == 1
        columns, were = ("column carries", "was") if few else ("columns carry", "were")
        warn(
            f"{len(constant)} constant {columns} no information and {were} {consequence}: "
            f"{_named(constant, names)}.",
            ConstantColumnsWarning,
        )


def report_repeated_rows(X: FloatArray) -> None:
    """Warn where nearly every row is there more than once, and that is not how few values meet.

    ``X`` are numbers, (N, d). Equal rows come about by chance where all columns together hold few
    bits, as five answers of yes or no do, and where most rows say "nothing of all this".
    """
    if X.size > MOST_HASHED:
        return
    hashes = [hash(row.tobytes()) for row in X]
    if 2 * len(set(hashes)) > len(X):
        return
    _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    bits = 0.0
    for column in X[first].T:
        shares = np.unique(column, return_counts=True)[1] / len(first)
        bits -= float(np.log2(np.square(shares).sum()))
    if 10 * (counts == 1).sum() <= len(X) and bits > 2 * np.log2(len(X)):
        warn(
            f"X has {len(X):,} rows, but only {len(first):,} different ones, and what is there "
            "often looks surer than it is; leave repeated rows out."
        )


def refuse_n_groups(n_groups: Any, n_features: int, most: int) -> None:
    """Refuse a number of groups that the features cannot fill: below 2, or above ``most``."""
    most = max(most, 2)
    if not isinstance(n_groups, str) and not 2 <= n_groups <= most:
        raise ParameterError(
            f"n_groups={n_groups} but X has {n_features} features that vary; a group needs "
            f'at least one feature, so choose 2 <= n_groups <= {most} or "auto".',
            "n_groups",
        )
