"""One column of a file: its kind, decided from its name and values, and its values as that kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from groupfs.data.encodings import MOST_DIFFERENT, MOST_LEVELS
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray

#: So many different values may be those of a category in the shortest file.
FEW_VALUES = 10
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
    "date": "Ignored {} of dates (use=[NAME] keeps one)",
    "used_date": "Took {} for dates, as asked",
    "object": "Ignored {} with neither numbers nor text",
    "empty": "Ignored {} without any value",
    "one_value": "Ignored {} of text with one value only",
    "mixed": "Took {} of numbers and words for numbers, and the words for gaps",
    "category": "Took {} of text for categories",
    "ordered": "Took {} for ordered categories",
    "gaps": "Found gaps in {}; similarities use the rows that are there (how many gaps)",
    "unknown": "Took values of {} that the first file has not for gaps (how many)",
}


class ColumnsError(ParameterError):
    """Columns that cannot be used as asked; the message is one sentence for people."""

    def __init__(self, message: str, parameter: str = "frame") -> None:
        super().__init__(message, parameter)


@dataclass(frozen=True)
class Column:
    """The kind of one column of a file."""

    name: str
    kind: str  #: "number", "category", "ordered", "date" or "ignored"
    values: tuple[str, ...] = ()  #: of a category, in alphabetical order or in their own
    why: str = ""  #: of an ignored column


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
        return _number(name, _to_numbers(series), use, log)
    text = _to_text(series)
    present = text.dropna()
    if len(present) and all(map(ISO_DATE.fullmatch, present)):
        return _date(name, _to_dates(series), use, log)
    if not _is_text(series):
        return log.ignore(name, "object")
    if not len(present):  # nothing but blanks
        return log.ignore(name, "empty")
    if series.dtype == "category":  # also one of numbers: somebody has said so
        if series.dtype.ordered and len(series.dtype.categories) > 1:
            return _ordered(name, text, series.dtype.categories, log)
        return _category(name, text, use, log)
    numbers = _to_numbers(text)
    finite = np.isfinite(numbers)
    share = finite.sum() / len(present)
    if share == 1:
        return _number(name, numbers, use, log)
    if share >= MOSTLY_NUMBERS and len(np.unique(numbers[finite])) > 2:
        odd = text[text.notna() & ~finite]
        log.add("mixed", f"{name} ({len(odd)} x {join_names(sorted(set(odd)), 2)})")
        return _number(name, numbers, use, log)
    return _category(name, text, use, log)


def convert(column: Column, series: Any) -> tuple[Any, int]:
    """Return a column as the kind it has, and how many of its values that kind has no place for.

    Numbers and truth values become floats, categories pandas' own with the levels of the first
    file, and dates those of pandas. What has no place becomes a gap, as gaps stay gaps.
    """
    import pandas as pd

    if column.kind == "number":
        converted = pd.Series(_to_numbers(series), series.index)
    elif column.kind == "date":
        converted = _to_dates(series)
    else:
        text = _spell_as_learned(_to_text(series), column.values)
        dtype = pd.CategoricalDtype(list(column.values), ordered=column.kind == "ordered")
        converted = text.where(text.isin(column.values)).astype(dtype)
    lost = _to_text(series[converted.isna() & series.notna()])  # or blank before
    return converted, lost.count()


def _to_numbers(series: Any) -> FloatArray:
    """Return numbers, also of True and False, of which one gap in a file makes words."""
    import pandas as pd

    if series.dtype.kind == "m":
        return (series / pd.Timedelta(seconds=1)).to_numpy(dtype=np.float64)
    if not _is_numeric(series):
        truth = {"true": "1", "false": "0"}
        text = _to_text(series).map(lambda v: truth.get(v.lower(), v), na_action="ignore")
        series = pd.to_numeric(text, errors="coerce")
    numbers: FloatArray = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def _to_text(series: Any) -> Any:
    """Return the values as text without blanks around it, missing ones as None."""
    text = series.astype(object).map(lambda value: str(value).strip(), na_action="ignore")
    return text.where(text.notna() & (text != ""), None)


def _to_dates(series: Any) -> Any:
    """Return dates by their own clock, of text by Greenwich's where it says how far off that is."""
    import pandas as pd

    if series.dtype.kind == "M":
        return series.dt.tz_localize(None)
    text = _to_text(series)
    return pd.to_datetime(text, errors="coerce", utc=True, format="ISO8601").dt.tz_localize(None)


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
    from pandas.api.types import is_numeric_dtype

    return series.dtype.kind == "m" or is_numeric_dtype(series.dtype) and series.dtype.kind != "c"


def _is_text(series: Any) -> bool:
    simple = (str, bytes, bool, int, float, Decimal, np.generic)
    first = series.dropna().astype(object).head(1000)
    return all(isinstance(value, simple) for value in first)


def _number(name: str, numbers: FloatArray, use: bool, log: DecisionLog) -> Column:
    missing = np.isnan(numbers)
    if not use and is_id(name, numbers[~missing]):
        return log.ignore(name, "id")
    log.add_count("gaps", name, missing.sum())
    return Column(name, "number")


def _date(name: str, dates: Any, use: bool, log: DecisionLog) -> Column:
    if dates.isna().all():  # such as 0000-00-00
        return log.ignore(name, "empty")
    if not use:
        return log.ignore(name, "date")
    log.add("used_date", name)
    log.add_count("gaps", name, dates.isna().sum())
    return Column(name, "date")


def is_id(name: str, present: FloatArray) -> bool:
    """Return whether these are whole numbers that all differ, named as ids or counting the rows."""
    whole = np.isfinite(present).all() and (present == np.floor(present)).all()
    if len(present) < 3 or not whole or len(np.unique(present)) < len(present):
        return False
    counts = bool((np.diff(present) == 1).all()) and present[0] in (0, 1)
    return counts or bool(ID_NAME.search(name))


def _ordered(name: str, text: Any, order: Sequence[Any], log: DecisionLog) -> Column:
    values = [v for v in dict.fromkeys(str(value).strip() for value in order) if v]
    log.add("ordered", f"{name} ({' < '.join(values)})")
    log.add_count("gaps", name, text.isna().sum())
    return Column(name, "ordered", tuple(values))


def _category(name: str, text: Any, use: bool, log: DecisionLog) -> Column:
    values, n_present = sorted(text.dropna().unique()), text.count()
    n_values = len(values)
    if n_values == 1:
        return log.ignore(name, "one_value")
    if not use and n_values > 2:
        if n_values == n_present:
            return log.ignore(name, "id")
        if n_values > min(max(FEW_VALUES, n_present / 2), MOST_LEVELS):
            return log.ignore(name, "text")
    if n_values > MOST_LEVELS or MOST_DIFFERENT < n_values == n_present:
        raise ColumnsError(
            f"use={name!r}: {n_values} different values in {n_present} rows are no category; cut "
            f"them down to at most {MOST_LEVELS} that occur again, or leave the column out.",
            "use",
        )
    log.add("category", f"{name} ({n_values} values)")
    log.add_count("gaps", name, text.isna().sum())
    return Column(name, "category", tuple(values))
