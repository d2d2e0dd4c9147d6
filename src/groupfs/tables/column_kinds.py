"""One column of a file: its kind, decided from its name and values, and the numbers it becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray

#: The most values of a text column that get a 0/1 column each.
MOST_INDICATORS = 10
#: A value gets a column of its own only if at least this share of the rows hold it.
FEWEST_ROWS = 0.01
#: A column of text is taken for numbers if at least this share of it reads as numbers.
MOSTLY_NUMBERS = 0.95
#: Dates as text, with or without the time of day.
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
#: Names that ids go by; the values must all differ too.
ID_NAME = re.compile(
    r"(?i:(^|[_\W])(id|uuid|guid|index|idx|row_?names?|row_?numbers?|barcode|accession)([_\W]|$))"
    r"|[a-z](ID|Id)$|^Unnamed: \d+$"
)
#: A sentence for each kind of decision, in the order in which they are reported.
SENTENCES = {
    "dropped": "Left out {}, as asked",
    "id": "Ignored {} taken for ids (use=[NAME] keeps one)",
    "text": "Ignored {} of text with too many different values (use=[NAME] keeps one)",
    "date": "Ignored {} of dates (use=[NAME] takes one as days since 1970)",
    "days": "Took {} of dates for days since 1970, as asked",
    "object": "Ignored {} with neither numbers nor text",
    "empty": "Ignored {} without any value",
    "one_value": "Ignored {} of text with one value only",
    "mixed": "Took {} of numbers and words for numbers, and the words for missing values",
    "codes": "Encoded {} of text with two values as 0 and 1",
    "ordered": "Encoded {} of ordered categories by their place in the order",
    "indicators": "Encoded {} of text with a 0/1 column for each frequent value",
    "median": "Filled in missing values of {} with the median (how many)",
    "most_frequent": "Filled in missing values of {} with the most frequent value (how many)",
    "replaced": "Replaced missing or unknown values (how many)",
    "no_indicator": "Left all 0 for values without a column of their own (how many)",
}


class ColumnsError(ParameterError):
    """Columns that cannot be used as asked; the message is one sentence for people."""

    def __init__(self, message: str, parameter: str = "frame") -> None:
        super().__init__(message, parameter)


@dataclass(frozen=True)
class Column:
    """The kind of one column of a file, and how its values become numbers."""

    name: str
    #: "number", "date", "codes" (indices into ``values``), "indicators" (one per value), "ignored"
    kind: str
    values: tuple[str, ...] = ()
    fill: float | str | None = None  #: replaces a missing value, here and in other files
    why: str = ""  #: of an ignored column

    @property
    def outputs(self) -> list[str]:
        """Names of the columns of numbers it becomes."""
        if self.kind == "ignored":
            return []
        if self.kind == "indicators":
            return [f"{self.name}={value}" for value in self.values]
        return [self.name]


class DecisionLog:
    """Names of columns under the decisions made on them."""

    def __init__(self) -> None:
        self.columns: dict[str, list[str]] = {}

    def add(self, decision: str, column: str) -> None:
        self.columns.setdefault(decision, []).append(column)

    def ignore(self, name: str, why: str) -> Column:
        """Log that a column is ignored, and return it as such."""
        self.add(why, name)
        return Column(name, "ignored", why=why)

    def add_count(self, decision: str, column: str, n_rows: int) -> None:
        """Log how many rows of a column a decision is about, if any."""
        if n_rows:
            self.add(decision, f"{column} ({n_rows})")

    def sentences(self) -> list[str]:
        """Report each kind of decision in a sentence."""
        return [
            f"{sentence.format('1 column' if len(names) == 1 else f'{len(names)} columns')}: "
            f"{join_names(names, 12)}."
            for decision, sentence in SENTENCES.items()
            if (names := self.columns.get(decision))
        ]


def decide(name: str, series: Any, use: bool, log: DecisionLog) -> Column:
    """Decide the kind of a column by its name and values, and log it.

    With ``use`` it is used although it looks like an id, a date or free text.
    """
    if series.isna().all():
        return log.ignore(name, "empty")
    if _is_numeric(series):
        return _number(name, _to_floats(series), use, log)
    text = _to_text(series)
    present = text.dropna()
    if len(present) and all(map(ISO_DATE.fullmatch, present)):
        days = _to_days(series)
        if not use or np.isnan(days).all():  # such as 0000-00-00
            return log.ignore(name, "empty" if use else "date")
        log.add("days", name)
        return _number(name, days, True, log, "date")
    if not _is_text(series):
        return log.ignore(name, "object")
    if not len(present):  # nothing but blanks
        return log.ignore(name, "empty")
    if getattr(series.dtype, "ordered", False) and len(series.dtype.categories) > 1:
        order = [str(value).strip() for value in series.dtype.categories]
        return _coded(name, text, order, "ordered", log)
    numbers = _to_floats(text)
    finite = np.isfinite(numbers)
    share = finite.sum() / len(present)
    if share == 1:
        return _number(name, numbers, use, log)
    if share >= MOSTLY_NUMBERS and len(np.unique(numbers[finite])) > 2:
        odd = text[text.notna() & ~finite]
        log.add("mixed", f"{name} ({len(odd)} x {join_names(sorted(set(odd)), 2)})")
        return _number(name, numbers, use, log)
    return _text(name, text, use, log)


def encode(column: Column, series: Any) -> tuple[list[FloatArray], int]:
    """Return the columns of numbers a column becomes, and how many of its values were replaced."""
    if column.kind in ("number", "date"):
        numbers = _to_days(series) if column.kind == "date" else _to_numbers(series)
        missing = np.isnan(numbers)
        if column.fill is None:  # nothing is filled in, so nothing may be lost either
            if (missing & series.notna().to_numpy()).any():
                raise ColumnsError(f"{column.name} holds text; it must hold numbers alone.")
            return [numbers], 0
        return [np.where(missing, column.fill, numbers)], int(missing.sum())
    values = _spell_as_learned(_to_text(series), column.values)
    missing = ~values.isin(column.values) if column.kind == "codes" else values.isna()
    values = values.where(~missing, str(column.fill))
    indicators = [(values == value).to_numpy(dtype=float) for value in column.values]
    if column.kind == "codes":
        return [sum(code * indicator for code, indicator in enumerate(indicators))], missing.sum()
    return indicators, missing.sum()


def _to_floats(series: Any) -> FloatArray:
    import pandas as pd

    if not _is_numeric(series):
        series = pd.to_numeric(series, errors="coerce")
    numbers: FloatArray = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def _to_text(series: Any) -> Any:
    """Return the values as text without blanks around it, missing ones as None."""
    text = series.astype(object).map(lambda value: str(value).strip(), na_action="ignore")
    return text.where(text.notna() & (text != ""), None)


def _to_numbers(series: Any) -> FloatArray:
    """Return numbers also of True and False, of which one gap in the column makes words."""
    if _is_numeric(series):
        return _to_floats(series)
    truth = {"true": "1", "false": "0"}
    return _to_floats(_to_text(series).map(lambda v: truth.get(v.lower(), v), na_action="ignore"))


def _to_days(series: Any) -> FloatArray:
    """Return days since 1970, NaN for what is no date."""
    import pandas as pd

    stamps = pd.to_datetime(_to_text(series), errors="coerce", utc=True, format="ISO8601")
    return _to_floats((stamps - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1))


def _spell_as_learned(text: Any, known: Sequence[str]) -> Any:
    """Undo other spellings: 007 may come as 7.0 from a file with nothing but numbers here."""
    spelled = {_plain(value): value for value in known} | {value: value for value in known}
    return text.map(lambda v: spelled.get(v, spelled.get(_plain(v), v)), na_action="ignore")


def _plain(word: str) -> str:
    """Return one spelling for all of a number or a truth value."""
    try:
        return repr(float(word))
    except ValueError:
        return word.lower() if word.lower() in ("true", "false") else word


def _is_numeric(series: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    dtype = series.dtype
    return is_bool_dtype(dtype) or (is_numeric_dtype(dtype) and not is_complex_dtype(dtype))


def _is_text(series: Any) -> bool:
    simple = (str, bytes, bool, int, float, Decimal, np.generic)
    first = series.dropna().astype(object).head(1000)
    return all(isinstance(value, simple) for value in first)


def _number(
    name: str, numbers: FloatArray, use: bool, log: DecisionLog, kind: str = "number"
) -> Column:
    missing = np.isnan(numbers)
    present = numbers[~missing]
    if not use and _is_id(name, present):
        return log.ignore(name, "id")
    log.add_count("median", name, missing.sum())
    return Column(name, kind, fill=float(np.median(present)))


def _is_id(name: str, present: FloatArray) -> bool:
    """Return whether these are whole numbers that all differ, named as ids or counting the rows."""
    whole = np.isfinite(present).all() and (present == np.floor(present)).all()
    if len(present) < 3 or not whole or len(np.unique(present)) < len(present):
        return False
    counts = bool((np.diff(present) == 1).all()) and present[0] in (0, 1)
    return counts or bool(ID_NAME.search(name))


def _text(name: str, text: Any, use: bool, log: DecisionLog) -> Column:
    counts = text.value_counts()
    n_present, n_values = int(counts.sum()), len(counts)
    if n_values == 1:
        return log.ignore(name, "one_value")
    if not use and n_values > 2:
        if n_values == n_present:
            return log.ignore(name, "id")
        if n_values > max(MOST_INDICATORS, n_present / 2):
            return log.ignore(name, "text")
    if n_values == 2:
        return _coded(name, text, sorted(counts.index), "codes", log)
    log.add_count("most_frequent", name, text.isna().sum())
    ranked = _by_frequency(counts)
    enough = max(2, FEWEST_ROWS * n_present)
    frequent = [v for v in ranked[:MOST_INDICATORS] if counts[v] >= enough] or ranked[:1]
    share = "" if len(frequent) == n_values else f"{len(frequent)} of "
    log.add("indicators", f"{name} ({share}{n_values} values)")
    return Column(name, "indicators", values=tuple(sorted(frequent)), fill=ranked[0])


def _coded(name: str, text: Any, order: Sequence[str], decision: str, log: DecisionLog) -> Column:
    meaning = ", ".join(f"{value} = {code}" for code, value in enumerate(order))
    log.add(decision, f"{name} ({meaning})")
    log.add_count("most_frequent", name, text.isna().sum())
    return Column(name, "codes", tuple(order), fill=_by_frequency(text.value_counts())[0])


def _by_frequency(counts: Any) -> list[str]:
    """Return the values, the most frequent first and in alphabetical order among equals."""
    return sorted(counts.index, key=lambda value: (-counts[value], value))
