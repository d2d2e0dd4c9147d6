"""From a file to a table for the estimator: label and condition set aside, columns given a kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from groupfs.cli.errors import translate
from groupfs.cli.options import OF_COLUMNS, SelectRequest
from groupfs.files import FileTable, read_table
from groupfs.files.codebook import read_wording
from groupfs.files.column_values import is_whole, to_dates, without_codes
from groupfs.files.columns import (
    ColumnsError,
    Preparation,
    decide_columns,
    find_codes,
    matching,
    no_such_column,
    numeric_columns,
)
from groupfs.files.large_text import is_too_large, read_sample
from groupfs.utils.text import count, join_names

#: Said of a column to keep that has the name of a score.
LIKE_A_SCORE = "scores are called so; rename the column in the table."
#: So few values of a label are classes, whatever they are.
FEW_VALUES = 10
#: More are classes if they are whole and occur so often each: so many at most, or, where they count
#: from 0 or 1 without a gap, as codes do and ages do not, so many.
OF_EACH, MOST_VALUES, MOST_CODES = 5, 30, 100


@dataclass(frozen=True)
class Prepared:
    """A table ready for the estimator."""

    X: Any
    preparation: Preparation
    labels: Any
    condition: Any  #: the column that groups are compared by, or None
    beside: dict[str, Any]  #: columns that are carried along with the scores
    notes: list[str]


def read_file(request: SelectRequest) -> FileTable:
    """Read a file; of text too large for memory a sample of rows."""
    path = str(request.table)
    for_h5ad = request.layer is not None or request.use_raw  # which text is refused with
    if for_h5ad or not is_too_large(path, request.max_memory):
        return read_table(path, **request.reading)
    return read_sample(path, request.reading["header"], request.max_memory)


def find_condition(table: FileTable, name: str | None, missing: Any) -> tuple[Any, list[str]]:
    """Return the column that groups are compared by, or None, and what to say of it.

    One that tells nothing is refused.
    """
    if name is None:
        return None, []
    from groupfs.conditions.inputs import FEWEST_SAMPLES, dates_as_days, is_number

    column = _without_codes(table, name, "--by", missing)
    notes = [f"Set {name} aside to compare groups by: it plays no part in the selection."]
    if (dates := to_dates(column)) is not None:
        column = dates_as_days(dates)
    elif is_number(column) and (column.dropna() % 1 == 0).all():
        notes.append(
            f"{name} has {column.nunique()} values and is followed as a number, as time would be; "
            "write them as words to compare kinds."
        )
    counts = column.value_counts()
    n_frequent = int((counts >= FEWEST_SAMPLES).sum())
    if n_frequent < 2 and not is_number(column):
        raise ColumnsError(
            f"--by {name}: {len(counts)} values, of which {n_frequent} occur {FEWEST_SAMPLES} "
            "times or more; groups are compared between two such values, or along a column of "
            "numbers or dates."
        )
    return column, notes


def prepare(table: FileTable, request: SelectRequest) -> Prepared:
    """Set label and condition aside before anything else, then give every column its kind."""
    condition, notes = find_condition(table, request.by, request.missing)
    labels, more = _labels(table, request)
    beside = kept_columns(table, request.keep)
    if request.keep and not request.scores:
        raise ColumnsError(
            f"--keep {request.keep[0]}: columns are carried into scores.csv; add --scores, or use "
            "--drop to leave them out alone."
        )
    aside = [name for name in (request.label, request.by, *beside) if name is not None]
    if table.is_frame:
        said = {name: getattr(request, name) for name in OF_COLUMNS}
        preparation = decide_columns(table.values, label=aside, **said)
        X = preparation.apply(table.values)[0]
    else:
        X, preparation = _take_numbers(table, request, aside)
    notes = [translate(note) for note in [*table.notes, *notes, *more, *preparation.notes]]
    if len(preparation.names) < 2:
        raise ColumnsError(
            f"{table.source} has {count(len(preparation.names), 'usable column')} left, and a "
            f"choice needs at least 2{': ' if notes else '.'}{' '.join(notes)}"
        )
    for name in beside:
        if re.match(r"group\d+_", name) and name.partition("_")[2] in preparation.names:
            raise ColumnsError(f"--keep {name}: {LIKE_A_SCORE}")
    if table.n_rows < 2:
        raise ColumnsError(f"{table.source} has only one row; groups show in many.")
    asked: dict[str, str] = {}
    if request.labels is not None:
        asked, told = read_wording(request.labels, table.names)
        notes.append(told)
    preparation = replace(preparation, **request.reading).with_labels(table.labels | asked)
    return Prepared(X, preparation, labels, condition, beside, notes)


def _take_numbers(
    table: FileTable, request: SelectRequest, aside: list[str]
) -> tuple[Any, Preparation]:
    """Take a sparse table as it is, without the columns to drop; it holds no answers."""
    for option, given in (("--missing", request.missing), ("--order", request.order)):
        if given:
            raise ColumnsError(
                f"{option} {given[0]}: {table.source} is a sparse table of numbers, which has no "
                "answers; leave it out."
            )
    chosen = {"drop": request.drop, "columns": request.columns}
    preparation = numeric_columns(table.names, label=aside, **chosen)
    kept = [i for i, column in enumerate(preparation.columns) if column.kind == "number"]
    X = table.values if len(kept) == len(table.names) else table.values[:, kept]
    return X, preparation


def _labels(table: FileTable, request: SelectRequest) -> tuple[Any, list[str]]:
    label = request.label
    if label is None:
        others = [] if table.row_metadata is None else list(table.row_metadata.columns)
        hint = f"--label can report agreement with what else the file holds: {join_names(others)}."
        return None, [hint] if others else []
    series = _without_codes(table, label, "--label", request.missing)
    note = f"Set {label} aside as the label: it plays no part in the selection."
    n_classes = series.nunique()
    if n_classes < 2:
        only = "".join(f"one value only, {value}" for value in series.dropna().unique())
        raise ColumnsError(f"--label {label}: the column has {only or 'no value'}.")
    if series.dtype.kind in "iuf" and not _are_classes(series):
        middle = float(series.median())
        if middle == series.max():
            middle = float(series[series < middle].max())
        low, high = f"up to {middle:g}", f"above {middle:g}"
        series = series.map(lambda v: low if v <= middle else high, na_action="ignore")
        note = f"{note[:-1]}; agreement is that with its two halves, {low} and {high}."
    return series.to_numpy(dtype=object, na_value=None), [note]


def _are_classes(numbers: Any) -> bool:
    counts = numbers.value_counts()
    n, low, high = len(counts), counts.index.min(), counts.index.max()
    whole = bool((counts.index % 1 == 0).all()) and counts.min() >= OF_EACH
    most = MOST_CODES if low in (0, 1) and high - low == n - 1 else MOST_VALUES
    return n <= FEW_VALUES or whole and n <= most


def kept_columns(table: FileTable, keep: Sequence[str] | None) -> dict[str, Any]:
    """Return the columns to carry along: names, several (a,b), patterns or ranges (a:c)."""
    others = [] if table.row_metadata is None else list(map(str, table.row_metadata.columns))
    names = [*table.names, *others]
    chosen = matching(keep, names, "keep")
    # as they were named, and those of a pattern as the file has them
    order = dict.fromkeys([*(name for part in keep or () for name in part.split(",")), *names])
    columns = {name: find_column(table, name, "--keep") for name in order if name in chosen}
    return {  # 3 and not 3.0
        name: of.astype("Int64").array if is_whole(of) else of.to_numpy()
        for name, of in columns.items()
    }


def _without_codes(table: FileTable, name: str, option: str, missing: Any) -> Any:
    every, some = find_codes(missing, table.names)
    return without_codes(find_column(table, name, option), (*every, *some.get(name, ())))


def find_column(table: FileTable, name: str, option: str) -> Any:
    """Return a column of the table, or of what else its file says of the rows."""
    if name in table.names:
        return table.frame([name])[name]
    others = [] if table.row_metadata is None else list(map(str, table.row_metadata.columns))
    if name in others:
        return table.row_metadata[name]
    raise ColumnsError(f"{option} {name}: {no_such_column(name, [*table.names, *others])}")
