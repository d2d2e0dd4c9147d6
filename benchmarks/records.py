"""Records of benchmarks: their averages, and tables of them in markdown.

A record is what one fit found; a fit that broke has its reason under ``failure`` in place of it.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Record = dict[str, Any]
#: What tells a fit that broke apart from others, and its reason.
NAMED = ("kind", "table", "cell", "draw", "change", "method", "rows", "features", "failure")


def attempt(record: Record, measure: Callable[[], Record]) -> Record:
    """Add what is measured to a record, or the reason why it broke: a finding as others are."""
    try:
        return record | measure()
    except Exception as reason:
        return record | {"failure": f"{type(reason).__name__}: {reason}"}


def averaged(records: list[Record], average: Any, *names: str) -> list[Record]:
    """Average the records that agree in the named values, a row for each combination."""
    combinations = list(dict.fromkeys(tuple(r[name] for name in names) for r in records))
    if "size" in names:
        combinations.sort()
    return [
        dict(zip(names, values, strict=True))
        | average([r for r in records if tuple(r[name] for name in names) == values])
        for values in combinations
    ]


def mean(values: Iterable[float | None]) -> float | None:
    """Average what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def means(records: list[Record], shown: dict[str, str]) -> Record:
    """Count records, and average values: what each is called, and its key in the records."""
    averages = {title: mean(r[key] for r in records) for title, key in shown.items()}
    return {"tables": len(records), **averages}


def failures(records: list[Record]) -> dict[str, list[Record]]:
    """List the fits that broke, and why; no table where none did."""
    rows = [{k: r[k] for k in NAMED if k in r} for r in records if "failure" in r]
    return {"Failures": rows} if rows else {}


def markdown(title: str, rows: list[Record]) -> str:
    """Write rows as a table that is easy to read as text, too."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [columns, *([shown(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(columns))]
    cells.insert(1, ["-" * width for width in widths])
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    return "\n".join([f"## {title}", "", *lines, ""])


def shown(value: Any) -> str:
    """Write a number with three digits after the point, and nothing for what is not known."""
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def written(value: float | None) -> str:
    """Write a number with three digits or more; a dash where there is none."""
    return "-" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
