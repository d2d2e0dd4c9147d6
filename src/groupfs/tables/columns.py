"""From the columns of a file to columns of numbers, learned once and done alike to other files.

What becomes of a column is decided from its own values and its name, never from other columns or
from labels, and every decision is told in the notes.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any

import numpy as np

from groupfs.tables.column_kinds import KINDS, Column, ColumnsError, Diary, decide, numbers_of
from groupfs.utils.text import join_names

__all__ = ["Column", "ColumnsError", "Preparation", "learn_columns", "matching", "numeric_columns"]


@dataclass(frozen=True)
class Preparation:
    """What becomes of every column of a file; made by :func:`learn_columns`.

    Examples
    --------
    >>> import pandas as pd
    >>> from groupfs.tables.columns import learn_columns
    >>> people = pd.DataFrame({"id": [7, 3, 9, 4], "sex": list("fmmf"), "age": [31, 28, None, 60]})
    >>> preparation = learn_columns(people)
    >>> preparation.apply(people)[0]
       sex   age
    0  0.0  31.0
    1  1.0  28.0
    2  1.0  31.0
    3  0.0  60.0
    >>> print(preparation.notes[1])
    Encoded 1 column of text with two values as 0 and 1: sex (f = 0, m = 1).
    """

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    header: bool | None = None  #: what was said of the file's first line, see ``read_table``

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers, in order."""
        return [name for column in self.columns for name in column.outputs]

    def needed(self, outputs: Iterable[str]) -> list[str]:
        """The file's columns that these columns of numbers come from."""
        wanted = set(outputs)
        return [column.name for column in self.columns if wanted & set(column.outputs)]

    def apply(self, frame: Any, outputs: Iterable[str] | None = None) -> tuple[Any, list[str]]:
        """The columns of numbers, all or only some, and notes on values that had to be replaced.

        Parameters
        ----------
        frame : DataFrame
            A table with the same columns; their order and further columns do not matter.
        outputs : iterable of str or None
            Names of the columns of numbers that are wanted; None wants all.
        """
        import pandas as pd

        wanted = set(self.names if outputs is None else outputs)
        self.refuse_missing(frame.columns, wanted)
        made: dict[str, Any] = {}
        replaced: list[str] = []
        unknown: list[str] = []
        for column in self.columns:
            if wanted & set(column.outputs):
                numbers, n_replaced = numbers_of(column, frame[column.name])
                made.update(zip(column.outputs, numbers, strict=True))
                if n_replaced:
                    replaced.append(f"{column.name} ({n_replaced})")
                n_unknown = int((np.sum(numbers, axis=0) == 0).sum())
                if n_unknown and column.kind == "indicators":
                    unknown.append(f"{column.name} ({n_unknown})")
        notes = [
            f"{words} (how many): {join_names(columns, 12)}."
            for words, columns in (
                ("Replaced missing or unknown values", replaced),
                ("Left all 0 for values without a column of their own", unknown),
            )
            if columns
        ]
        table = pd.DataFrame(made, index=frame.index)
        return table[[name for name in table.columns if name in wanted]], notes

    def refuse_missing(self, names: Iterable[str], outputs: Iterable[str]) -> None:
        """Complain by name about columns that are needed but not there."""
        needed, there = self.needed(outputs), set(names)
        missing = [name for name in needed if name not in there]
        if missing:
            raise ColumnsError(
                f"{len(missing)} of the {len(needed)} columns that are needed "
                f"{'is' if len(missing) == 1 else 'are'} missing: {join_names(missing, 12)}."
            )

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Preparation:
        """The inverse of :meth:`to_dict`."""
        columns = [Column(**{**c, "values": tuple(c["values"])}) for c in stored["columns"]]
        for column in columns:
            _refuse_odd(column)
        notes, header = tuple(map(str, stored["notes"])), stored.get("header")
        if header not in (None, True, False):
            raise ValueError(f"header {header!r}")
        return cls(tuple(columns), notes, header)


def _refuse_odd(column: Column) -> None:
    """What is read from a file may be of any type."""
    words = (column.name, column.kind, column.why, *column.values)
    numbers_filled = column.kind in ("number", "date")
    fill_types = (int, float, NoneType) if numbers_filled else (str, NoneType)
    if not all(isinstance(word, str) for word in words) or column.kind not in KINDS:
        raise ValueError(f"column {column.name!r} of kind {column.kind!r}")
    if not isinstance(column.fill, fill_types):
        raise ValueError(f"column {column.name!r} filled with {column.fill!r}")


def learn_columns(
    frame: Any, *, drop: Sequence[str] = (), use: Sequence[str] = (), label: str | None = None
) -> Preparation:
    """Decide what becomes of every column of a table.

    Ids (columns named so, or of text, whose values all differ; row numbers), free text and dates
    are ignored. Text with two values becomes 0 and 1 in alphabetical order; text with more becomes
    a 0/1 column for each of its frequent values, at most 10. Missing numbers become the median,
    missing text the most frequent value. Dates that are asked for become days since 1970.

    Parameters
    ----------
    frame : DataFrame
        The table as its file has it.
    drop : sequence of str
        Names or patterns (``*_mut``) of columns to leave out.
    use : sequence of str
        Names or patterns of columns to use although they look like ids, dates or free text.
    label : str or None
        Name of the column to leave out because it is the label.

    Examples
    --------
    >>> import pandas as pd
    >>> from groupfs.tables.columns import learn_columns
    >>> table = pd.DataFrame({"job": ["cook", "smith", "baker", "cook", "baker", "smith"]})
    >>> learn_columns(table).names
    ['job=baker', 'job=cook', 'job=smith']
    """
    names = [str(name) for name in frame.columns]
    dropped = matching(drop, names, "--drop")
    used = matching(use, names, "--use")
    diary = Diary()
    columns = []
    for name in names:
        if name == label:
            columns.append(Column(name, "ignored", why="label"))
        elif name in dropped:
            diary.add("dropped", name)
            columns.append(Column(name, "ignored", why="dropped"))
        else:
            columns.append(decide(name, frame[name], name in used, diary))
    preparation = Preparation(tuple(columns), tuple(diary.sentences()))
    twice = [name for name, times in Counter(preparation.names).items() if times > 1]
    if twice:
        raise ColumnsError(
            f"Encoding text gives columns of the same name as others: {join_names(twice)}; rename "
            "one."
        )
    return preparation


def numeric_columns(names: Sequence[str]) -> Preparation:
    """The preparation of a table that is numbers already and is taken as it is."""
    return Preparation(tuple(Column(str(name), "number") for name in names))


def matching(patterns: Sequence[str], names: Sequence[str], option: str) -> set[str]:
    """The names that patterns such as ``*_mut`` stand for; a pattern for none is refused.

    ``a,b`` stands for both a and b, unless there is a column of that very name.
    """
    found: set[str] = set()
    for pattern in _apart(patterns, names):
        hits = [pattern] if pattern in names else []
        if not hits and any(sign in pattern for sign in "*?["):
            hits = fnmatch.filter(names, pattern)
        if not hits:
            raise ColumnsError(f"{option} {pattern}: {no_column(pattern, names)}")
        found.update(hits)
    return found


def _apart(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    single = [[p] if p in names else p.split(",") for p in patterns]
    return [part.strip() for parts in single for part in parts]


def no_column(name: str, names: Sequence[str]) -> str:
    """The end of a sentence on a column that is not there, with the name that comes closest."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"the columns are {join_names(names, 8)}."
    return f"there is no column of that name; {hint}"
