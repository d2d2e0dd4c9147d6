"""Answers of a questionnaire that are no plain numbers: words in order, codes for no answer.

They are used as they are, with a word of warning: ``groupfs.tables.ColumnPreparer`` knows them.
"""

from typing import Any

from groupfs.data.block_sources import describing_frame
from groupfs.utils.text import join_names
from groupfs.utils.warn import ColumnsWarning, warn

#: Columns and rows that are looked at, at most.
MOST_COLUMNS, MOST_ROWS = 2000, 5000


def warn_of_answers(X: Any) -> None:
    """Warn where columns of a pandas frame hold words with a known order, or codes such as 99."""
    if not hasattr(X, "iloc") or describing_frame(X) is not X or X.shape[1] > MOST_COLUMNS:
        return
    from groupfs.tables.answer_scales import find_scales
    from groupfs.tables.column_values import is_numeric, to_numbers
    from groupfs.tables.missing_codes import answer_levels, suspected_codes

    rows = X.iloc[:: len(X) // MOST_ROWS + 1]
    columns = {str(name): rows.iloc[:, place] for place, name in enumerate(X.columns)}
    if scales := find_scales(columns, list(columns), []):
        steps = next(iter(scales.values()))
        warn(
            f"Answers in words are taken for categories without an order in {len(scales)} "
            f"column{'s' * (len(scales) > 1)} ({join_names(scales)}): "
            f"groupfs.tables.ColumnPreparer makes numbers of them, {steps[0]!r} to {steps[-1]!r}.",
            ColumnsWarning,
        )
    numbers = {name: to_numbers(column) for name, column in columns.items() if is_numeric(column)}
    found = {
        name: levels for name, v in numbers.items() if (levels := answer_levels(v)) is not None
    }
    for remark in suspected_codes(found):
        remedy = "groupfs.tables.ColumnPreparer(missing=["
        warn(remark.replace("missing=[", remedy).replace("] takes", "]) takes"), ColumnsWarning)
