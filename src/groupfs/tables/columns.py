"""Turn the columns of a file into columns of numbers, and those of other files in the same way.

A column's kind is decided from its own values and its name, never from other columns or from
labels, and every decision is reported in the notes.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from groupfs.tables.column_kinds import Column, ColumnsError, DecisionLog, decide, encode
from groupfs.utils.text import join_names

__all__ = ["Column", "ColumnsError", "Preparation", "learn_columns", "matching", "numeric_columns"]


@dataclass(frozen=True)
class Preparation:
    """The kind of every column of a file; made by :func:`learn_columns`.

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
    header: bool | None = None  #: whether the file began with names, see ``read_table``

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers, in order."""
        return [name for column in self.columns for name in column.outputs]

    def needed(self, outputs: Iterable[str]) -> list[str]:
        """Return the file's columns that these columns of numbers come from."""
        wanted = set(outputs)
        return [column.name for column in self.columns if wanted & set(column.outputs)]

    def apply(self, frame: Any, outputs: Iterable[str] | None = None) -> tuple[Any, list[str]]:
        """Return the columns of numbers, and notes on values that had to be replaced.

        Parameters
        ----------
        frame : DataFrame
            A table with these columns; their order and further columns do not matter.
        outputs : iterable of str or None
            Names of the columns of numbers that are wanted; None wants all.
        """
        import pandas as pd

        wanted = set(self.names if outputs is None else outputs)
        self.refuse_missing(frame.columns, wanted)
        encoded: dict[str, Any] = {}
        log = DecisionLog()
        for column in self.columns:
            if wanted & set(column.outputs):
                numbers, n_replaced = encode(column, frame[column.name])
                encoded.update(zip(column.outputs, numbers, strict=True))
                log.add_count("replaced", column.name, n_replaced)
                if column.kind == "indicators":
                    n_zero = int((np.sum(numbers, axis=0) == 0).sum())
                    log.add_count("no_indicator", column.name, n_zero)
        table = pd.DataFrame(encoded, index=frame.index)
        return table[[name for name in table.columns if name in wanted]], log.sentences()

    def refuse_missing(self, names: Iterable[str], outputs: Iterable[str]) -> None:
        """Raise an error that names the columns that are needed but not among ``names``."""
        needed, given = self.needed(outputs), set(names)
        missing = [name for name in needed if name not in given]
        if missing:
            raise ColumnsError(
                f"{len(missing)} of the {len(needed)} columns that are needed "
                f"{'is' if len(missing) == 1 else 'are'} missing: {join_names(missing, 12)}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Preparation:
        """Read what :meth:`to_dict` has written."""
        columns = [Column(**{**c, "values": tuple(c["values"])}) for c in stored["columns"]]
        return cls(tuple(columns), tuple(stored["notes"]), stored.get("header"))


def learn_columns(
    frame: Any, *, drop: Sequence[str] = (), use: Sequence[str] = (), label: str | None = None
) -> Preparation:
    """Decide how every column of a table becomes numbers.

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
    used = matching(use, list(frame.columns), "use")
    return _prepare(
        frame.columns, drop, label, lambda name, log: decide(name, frame[name], name in used, log)
    )


def numeric_columns(
    names: Sequence[str], *, drop: Sequence[str] = (), label: str | None = None
) -> Preparation:
    """Return the preparation of a table that holds numbers already and is taken as it is.

    Parameters are those of :func:`learn_columns`, with the names of the columns for the table.
    """
    return _prepare(names, drop, label, lambda name, log: Column(name, "number"))


def _prepare(
    names: Iterable[str],
    drop: Sequence[str],
    label: str | None,
    decide_kind: Callable[[str, DecisionLog], Column],
) -> Preparation:
    names = [str(name) for name in names]
    dropped = matching(drop, names, "drop")
    log = DecisionLog()
    columns = []
    for name in names:
        if name == label:
            columns.append(Column(name, "ignored", why="label"))
        elif name in dropped:
            columns.append(log.ignore(name, "dropped"))
        else:
            columns.append(decide_kind(name, log))
    preparation = Preparation(tuple(columns), tuple(log.sentences()))
    twice = [name for name, times in Counter(preparation.names).items() if times > 1]
    if twice:
        raise ColumnsError(
            f"Encoding text gives columns of the same name as others: {join_names(twice)}; rename "
            "one."
        )
    return preparation


def matching(patterns: Sequence[str], names: Sequence[str], parameter: str) -> set[str]:
    """Find the names that patterns such as ``*_mut`` stand for.

    ``a,b`` stands for both a and b, unless there is a column of that very name. An error names the
    parameter that a pattern was given as.
    """
    found: set[str] = set()
    split = [[p] if p in names else p.split(",") for p in patterns]
    for pattern in [part.strip() for parts in split for part in parts]:
        hits = [pattern] if pattern in names else fnmatch.filter(names, pattern)
        if not hits:
            raise ColumnsError(
                f"{parameter}={pattern!r}: {no_such_column(pattern, names)}", parameter
            )
        found.update(hits)
    return found


def no_such_column(name: str, names: Sequence[str]) -> str:
    """Write the end of a sentence on a column that is not there, with the closest name."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"the columns are {join_names(names, 8)}."
    return f"there is no column of that name; {hint}"
