"""Decide which columns of a file are used and what kind each is, in other files as in the first.

A column's kind is decided from its own values and its name, never from labels, and from other
columns only which steps a scale of answers has. Every decision is reported in the notes. Every
column that is used is one feature under its own name; nothing is filled in here. Columns are asked
for by names, patterns such as ``*_mut`` and ranges such as ``age:smoke``.
"""

import contextlib
import difflib
import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

from groupfs.files.answers import find_scales, read_orders, unordered_answers
from groupfs.files.codes import suspected_codes
from groupfs.files.column_kinds import Column, DecisionLog, convert, decide
from groupfs.files.column_values import is_whole, read_codes, to_numbers, to_text, without_codes
from groupfs.files.file_table import ColumnsError
from groupfs.files.surveys import around_answers, unfinished
from groupfs.utils.text import join_names

__all__ = ["Column", "ColumnsError", "Preparation", "decide_columns", "matching", "no_such_column"]
__all__ += ["numeric_columns"]

Patterns: TypeAlias = str | Sequence[str] | None
#: Said of codes that are held nowhere and may have been meant for some columns.
BEFORE_SIGN = (
    "; codes of some columns are given on their own, e.g. 'q1:q5=9', by names of the table"
)


@dataclass(frozen=True)
class Preparation:
    """The kind of every column of a file; made by :func:`decide_columns`."""

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()  #: those of the notes that ask to look at something
    header: bool | None = None  #: whether the file began with names, see ``read_table``
    missing: tuple[str, ...] = ()  #: values that stand for no answer
    missing_in: dict[str, tuple[str, ...]] = field(default_factory=dict)  #: in some columns alone
    layer: str | None = None  #: of an h5ad file, see ``read_table``
    use_raw: bool = False  #: of an h5ad file, see ``read_table``
    labels: dict[str, str] = field(default_factory=dict)  #: wording of columns, where it is known

    @property
    def names(self) -> list[str]:
        """Names of the columns that are used, in order."""
        return [column.name for column in self.columns if column.kind != "ignored"]

    def with_labels(self, labels: Mapping[str, str]) -> "Preparation":
        """Keep the wording of the columns that are used; what was known of others stays."""
        known = {**self.labels, **labels}
        return replace(self, labels={name: known[name] for name in self.names if name in known})

    def apply(self, frame: Any) -> tuple[Any, list[str]]:
        """Return the columns that are used as the kinds they have, and notes on new gaps.

        Numbers and answers are floats, categories those of pandas; what was missing stays so, and
        values that a column of the first file could not have become gaps too.

        Parameters
        ----------
        frame : DataFrame
            A table with these columns; their order and further columns do not matter.
        """
        import pandas as pd

        self.refuse_missing(frame.columns, self.names)
        converted, log = {}, DecisionLog()
        for column in self.columns:
            if column.kind != "ignored":
                converted[column.name], n_unknown = convert(column, self._gaps(frame[column.name]))
                log.add_count("unknown", column.name, n_unknown)
        return pd.DataFrame(converted, index=frame.index), log.sentences()

    def as_selected(self, frame: Any) -> tuple[Any, list[str]]:
        """Return columns as their file has them, but for what stands for something else.

        Codes for no answer become gaps, and answers in words the numbers of their steps.
        """
        answers = [c for c in self.columns if c.kind == "answers" and c.name in frame]
        steps, notes = replace(self, columns=tuple(answers)).apply(frame)
        selected = frame.apply(self._gaps).assign(**steps)
        changed = [n for n in frame if is_whole(frame[n]) or not selected[n].equals(frame[n])]
        selected[changed] = selected[changed].convert_dtypes()  # 3 rather than 3.0
        return selected, notes

    def _gaps(self, series: Any) -> Any:
        return without_codes(series, (*self.missing, *self.missing_in.get(series.name, ())))

    def refuse_missing(self, names: Iterable[str], needed: Sequence[str]) -> None:
        """Raise an error that names the columns that are needed but not among ``names``."""
        given = set(names)
        if missing := [name for name in needed if name not in given]:
            raise ColumnsError(
                f"{len(missing)} of the {len(needed)} columns that are needed "
                f"{'is' if len(missing) == 1 else 'are'} missing: {join_names(missing, 12)}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Preparation":
        """Read what :meth:`to_dict` has written."""
        lists = ("values", "gaps")
        columns = [
            Column(**{**c, **{key: tuple(c.get(key, ())) for key in lists}})
            for c in stored["columns"]
        ]
        texts = {key: tuple(stored.get(key, ())) for key in ("notes", "advice", "missing")}
        some = {name: tuple(codes) for name, codes in stored.get("missing_in", {}).items()}
        return cls(**{**stored, **texts, "columns": tuple(columns), "missing_in": some})


def decide_columns(
    frame: Any,
    *,
    drop: Patterns = None,
    use: Patterns = None,
    label: Patterns = None,
    missing: Any = None,
    order: Any = None,
    columns: Patterns = None,
) -> Preparation:
    """Decide which columns of a table are used, and what kind each is.

    Ids (columns named so, text whose values all differ, numbers of rows), free text, dates and what
    survey programs write beside the answers are ignored. Answers in words with a known order, such
    as from "strongly disagree" to "strongly agree", are the numbers of its steps. Other text is a
    category, also if it is stored as one of numbers; text that is mostly numbers is numbers, and
    its words are gaps.

    Parameters
    ----------
    frame : DataFrame
        The table as its file has it.
    drop, use, missing, order, columns
        As in :class:`groupfs.files.ColumnPreparer`.
    label : str, sequence of str or None
        Names of columns to leave out without a word, such as that of the label.

    Examples
    --------
    >>> import pandas as pd
    >>> from groupfs.files.columns import decide_columns
    >>> people = pd.DataFrame({"id": [7, 3, 9, 4], "sex": list("fmmf"), "age": [31, 28, None, 60]})
    >>> preparation = decide_columns(people)
    >>> preparation.apply(people)[0].columns.tolist()
    ['sex', 'age']
    >>> print(preparation.notes[1])
    Took 1 column of text for categories: sex (2 values).
    """
    names = list(frame.columns)
    used, (program, about) = matching(use, names, "use"), around_answers(names)
    left_out = dict.fromkeys(set(about) - used, "about")
    left_out |= _left_out(names, drop, label, columns, use)
    every, some = find_codes(missing, names)
    codes = {name: (*every, *some.get(name, ())) for name in names if name not in left_out}
    answers = {name: without_codes(frame[name], own) for name, own in codes.items()}
    scales = find_scales(answers, read_orders(order))
    log, decided = DecisionLog(), list[Column]()
    for name in names:
        if name in left_out:
            detail = program if left_out[name] == "about" else ""
            decided.append(log.ignore(name, left_out[name], detail))
            continue
        decided.append(decide(name, answers[name], name in used, log, scales.get(name)))
        if decided[-1].kind != "ignored":
            n_missing = int(answers[name].isna().sum() - frame[name].isna().sum())
            log.add_count("missing", name, n_missing, join_names(codes[name]))
    categories = {c.name: c.values for c in decided if c.kind == "category"}
    numbers = {c.name: to_numbers(answers[c.name]) for c in decided if c.kind == "number"}
    advice = [*unordered_answers(categories), *suspected_codes(numbers, categories, names)]
    advice += unfinished(frame, program)
    unheld = list(dict.fromkeys((*every, *(code for own in some.values() for code in own))))
    if any(decision == "missing" for decision, _ in log.columns):  # = may be of a wrong name
        texts = [to_text(frame[name]).str.casefold() for name in answers if "=" in "".join(every)]
        unheld = [
            c for c in every if "=" in c and not any((t == c.casefold()).any() for t in texts)
        ]
    if unheld:
        advice.append(
            f"No column holds {join_names(unheld)}, so nothing was taken for gaps"
            f"{BEFORE_SIGN if '=' in ''.join(unheld) else ''}."
        )
    notes = (*log.sentences(), *advice)
    return Preparation(tuple(decided), notes, tuple(advice), missing=every, missing_in=some)


def find_codes(
    missing: Any, names: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Read codes for no answer: those of every column, and those of some by their names.

    ``{"a1:b5": 9}`` and ``"a1:b5=9"`` are of some columns; a value may have an = of its own.
    """
    is_one = isinstance(missing, str | Mapping) or not isinstance(missing, Iterable)
    every, some = list[Any](), dict[str, tuple[str, ...]]()
    for given in [] if missing is None else [missing] if is_one else missing:
        pairs = dict(given) if isinstance(given, Mapping) else {}
        patterns, sign, values = str(given).rpartition("=")
        if sign and not isinstance(given, Mapping):
            with contextlib.suppress(ColumnsError):
                pairs = {patterns: values} if matching(patterns, names, "missing") else {}
        for of, codes in pairs.items():
            for name in matching(of, names, "missing"):
                some[name] = (*some.get(name, ()), *read_codes(codes))
        every += [] if isinstance(given, Mapping) or pairs else [given]
    return read_codes(every), some


def numeric_columns(
    names: Sequence[str], *, drop: Patterns = None, label: Patterns = None, columns: Patterns = None
) -> Preparation:
    """Return the preparation of a table that holds numbers already and is taken as it is.

    Parameters are those of :func:`decide_columns`, with the names of the columns for the table.
    """
    names, log = [str(name) for name in names], DecisionLog()
    why = _left_out(names, drop, label, columns)
    decided = [log.ignore(n, why[n]) if n in why else Column(n, "number") for n in names]
    return Preparation(tuple(decided), tuple(log.sentences()))


def _left_out(
    names: Sequence[str], drop: Patterns, label: Patterns, asked_for: Patterns, use: Patterns = None
) -> dict[str, str]:
    """Return the columns that are not to be used, and why."""
    labels = [label] if isinstance(label, str) else label or ()
    left_out = dict.fromkeys(matching(drop, names, "drop"), "dropped")
    if asked_for:
        asked = matching(asked_for, names, "columns")
        for parameter, given in (("drop", drop), ("use", use)):
            for pattern in split_patterns(given, names):
                if not asked & matching([pattern], names, parameter):
                    raise ColumnsError(
                        f"{parameter}={pattern!r}: no such column is among those asked for, so "
                        f"{parameter} changes nothing; leave it out.",
                        parameter,
                    )
        left_out = dict.fromkeys(set(names) - asked, "not_asked") | left_out
    return left_out | dict.fromkeys(labels, "label")


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
