"""What names of columns, patterns such as ``*_mut`` and ranges such as ``age:smoke`` stand for."""

import difflib
import fnmatch
from collections.abc import Sequence
from typing import TypeAlias

from groupfs.files.column_values import ColumnsError
from groupfs.utils.text import join_names

Patterns: TypeAlias = str | Sequence[str] | None


def matching(patterns: Patterns, names: Sequence[str], parameter: str) -> set[str]:
    """Find the names that patterns such as ``*_mut`` stand for.

    ``a,b`` stands for both a and b, and ``a:b`` for all columns from a to b, unless there is a
    column of that very name. An error names the parameter that a pattern was given as.
    """
    given = split_patterns(patterns, names)
    return set().union(*(_matches(pattern, names, parameter) for pattern in given))


def split_patterns(patterns: Patterns, names: Sequence[str]) -> list[str]:
    """Return patterns one by one, where several are written with commas."""
    given = [patterns] if isinstance(patterns, str) else patterns or ()
    split = [[p] if p in names or _ends(p, names) else p.split(",") for p in given]
    return [part.strip() for parts in split for part in parts]


def _matches(pattern: str, names: Sequence[str], parameter: str) -> list[str]:
    if hits := [pattern] if pattern in names else fnmatch.filter(names, pattern):
        return hits
    if ends := _ends(pattern, names):
        first, last = map(names.index, ends)
        if first > last:
            raise ColumnsError(
                f"{parameter}={pattern!r}: {ends[1]} comes before {ends[0]} in the table; write "
                f"{ends[1]}:{ends[0]}.",
                parameter,
            )
        return list(names[first : last + 1])
    halves = [half.strip() for half in pattern.split(":")]
    unknown = [half for half in halves if half not in names]
    where = f"at its end {unknown[0]}, " if len(halves) == 2 and len(unknown) == 1 else ""
    said = no_such_column(unknown[0] if where else pattern, names)
    raise ColumnsError(f"{parameter}={pattern!r}: {where}{said}", parameter)


def _ends(pattern: str, names: Sequence[str]) -> tuple[str, str] | None:
    """Return the two columns that a range is written with; their names may have colons."""
    places = [place for place, letter in enumerate(pattern) if letter == ":"]
    both = [(pattern[:place].strip(), pattern[place + 1 :].strip()) for place in places]
    return next(((a, b) for a, b in both if a in names and b in names), None)


def no_such_column(name: str, names: Sequence[str]) -> str:
    """Write the end of a sentence on a column that is not there, with the closest name."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.66)
    hint = f"did you mean {close[0]}?" if close else f"the columns are {join_names(names, 8)}."
    return f"there is no column of that name; {hint}"
