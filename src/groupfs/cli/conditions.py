"""``groupfs select --by``: a column that groups are compared by, set aside before anything else."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from groupfs.cli.errors import translate
from groupfs.tables import Table
from groupfs.tables.column_kinds import convert, decide
from groupfs.tables.decisions import Column, ColumnsError, DecisionLog
from groupfs.utils.condition_kind import FEWEST_SAMPLES, dates_as_days, is_number


def check_conditions(column: Any, option: str) -> None:
    """Refuse, before any work, a column that groups cannot be compared by."""
    column = _followed(column)
    if is_number(column):
        return
    counts = column.value_counts()
    if int((counts >= FEWEST_SAMPLES).sum()) < 2:
        raise ColumnsError(
            f"{option}: {len(counts)} values, of which {int((counts >= FEWEST_SAMPLES).sum())} "
            f"occur {FEWEST_SAMPLES} times or more; groups are compared between two such values, "
            "or along a column of numbers or dates."
        )


def without_column(table: Table, name: str) -> Table:
    """Return the table without a column, if it has it; the file may say it beside the table."""
    if name not in table.names:
        return table
    kept = [other for other in table.names if other != name]
    if table.is_frame:
        return replace(table, values=table.values[kept], names=kept)
    columns = np.flatnonzero([other != name for other in table.names])
    return replace(table, values=table.values[:, columns], names=kept)


def compare_by(estimator: Any, X: Any, names: list[str], column: Any) -> tuple[Any, list[str]]:
    """Compare the groups of a fit by a column; return what was found, and what to say of it."""
    from groupfs.conditions import compare, curves

    if not estimator.n_groups_:
        return None, [f"There are no groups to compare by {column.name}."]
    column = _followed(column)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = (curves if is_number(column) else compare)(estimator, X, column)
    # a sparse table has no names of its own
    found = replace(found, representatives=[names[i] for i in estimator.representatives_])
    ours = [w for w in caught if w.category is UserWarning]
    return found, [translate(str(w.message)) for w in ours]


def _followed(column: Any) -> Any:
    """Return dates, also those written as text, as days; other columns as they are."""
    log, name = DecisionLog(), str(column.name)
    decide(name, column, False, log)
    if "date" not in log:
        return column
    return dates_as_days(convert(Column(name, "date"), column)[0])
