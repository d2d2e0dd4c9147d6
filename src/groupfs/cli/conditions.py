"""``groupfs select --by``: a column that groups are compared by, set aside before anything else."""

import warnings
from dataclasses import replace
from typing import Any

from groupfs.cli.errors import translate
from groupfs.cli.prepare import find_column
from groupfs.cli.request import SelectRequest
from groupfs.files import FileTable
from groupfs.files.column_values import ColumnsError, read_codes, to_dates, without_codes


def set_aside(table: FileTable, request: SelectRequest) -> tuple[FileTable, Any]:
    """Return the table without the column that groups are compared by, and the column, or None.

    A column that they cannot be compared by is refused.
    """
    name = request.by
    if name is None:
        return table, None
    from groupfs.conditions.inputs import FEWEST_SAMPLES, dates_as_days, is_number

    column = without_codes(find_column(table, name, "--by"), read_codes(request.missing))
    if (dates := to_dates(column)) is not None:
        column = dates_as_days(dates)
    counts = column.value_counts()
    n_frequent = int((counts >= FEWEST_SAMPLES).sum())
    if n_frequent < 2 and not is_number(column):
        raise ColumnsError(
            f"--by {name}: {len(counts)} values, of which {n_frequent} occur {FEWEST_SAMPLES} "
            "times or more; groups are compared between two such values, or along a column of "
            "numbers or dates."
        )
    note = f"Set {name} aside to compare groups by: it plays no part in the selection."
    table = replace(table, notes=[*table.notes, note])
    if name not in table.names or name == request.label:  # the label is set aside anyway
        return table, column
    others = [other for other in table.names if other != name]
    kept = others if table.is_frame else [table.names.index(other) for other in others]
    values = table.values[kept] if table.is_frame else table.values[:, kept]
    return replace(table, values=values, names=others), column


def compare_by(estimator: Any, X: Any, names: list[str], column: Any) -> tuple[Any, list[str]]:
    """Compare the groups of a fit by a column; return what was found, and what to say of it."""
    from groupfs.conditions import compare, curves
    from groupfs.conditions.inputs import is_number

    if not estimator.n_groups_:
        return None, [f"There are no groups to compare by {column.name}."]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compared = (curves if is_number(column) else compare)(estimator, X, column)
    # a sparse table has no names of its own
    compared = replace(compared, representatives=[names[i] for i in estimator.representatives_])
    return compared, [translate(str(w.message)) for w in caught if w.category is UserWarning]
