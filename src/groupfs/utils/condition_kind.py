"""What makes a column of pandas a number to follow, and not categories to compare by.

Kept apart from ``groupfs.conditions``, so that the command line can refuse a column before torch is
imported.
"""

from typing import Any

#: Columns of numbers with more values than this are followed as a number, e.g. time.
MOST_CATEGORIES = 10
#: Samples that a condition needs: correlations of fewer say nothing.
FEWEST_SAMPLES = 10


def is_number(column: Any) -> bool:
    """Return whether a column is followed as a number, and not compared by category."""
    return column.dtype.kind in "iuf" and column.nunique() > MOST_CATEGORIES


def dates_as_days(column: Any) -> Any:
    """Return many dates as days since the first, to be followed; other columns as they are."""
    if column.dtype.kind != "M" or column.nunique() <= MOST_CATEGORIES:
        return column
    first = column.min().normalize()
    days = (column - first).dt.total_seconds() / 86_400
    return days.rename(f"{column.name} (days since {first:%Y-%m-%d})")
