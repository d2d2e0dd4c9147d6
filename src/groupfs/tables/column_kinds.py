"""One column of a file: what it is taken for, the numbers it becomes, and the words for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupfs.utils.text import join_names

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


class ColumnsError(ValueError):
    """Columns that cannot be used as asked; the message is one sentence for people."""


#: What a column may be taken for.
KINDS = ("number", "date", "codes", "indicators", "ignored")


@dataclass(frozen=True)
class Column:
    """What becomes of one column of a file."""

    name: str
    #: "number", "date", "codes" (places in ``values``), "indicators" (one per value), "ignored"
    kind: str
    values: tuple[str, ...] = ()
    fill: float | str | None = None  #: what stands in for a missing value, here and in other files
    why: str = ""  #: of an ignored column

    @property
    def outputs(self) -> list[str]:
        """Names of the columns of numbers it becomes."""
        if self.kind == "ignored":
            return []
        if self.kind == "indicators":
            return [f"{self.name}={value}" for value in self.values]
        return [self.name]


@dataclass
class Diary:
    """Columns by what happened to them, to be told in a sentence for each kind of decision."""

    entries: dict[str, list[str]] = field(default_factory=dict)

    def add(self, decision: str, column: str) -> None:
        self.entries.setdefault(decision, []).append(column)

    def sentences(self) -> list[str]:
        return [
            f"{words.format(_count(self.entries[decision]))}: "
            f"{join_names(self.entries[decision], 12)}."
            for decision, words in _SENTENCES.items()
            if decision in self.entries
        ]


#: A sentence for each kind of decision, in the order in which they are told.
_SENTENCES = {
    "dropped": "Left out {}, as asked",
    "id": "Ignored {} taken for ids (--use NAME keeps one)",
    "text": "Ignored {} of text with too many different values (--use NAME keeps one)",
    "date": "Ignored {} of dates (--use NAME takes one as days since 1970)",
    "span": "Ignored {} of durations, periods or intervals; write them as numbers to use them",
    "days": "Took {} of dates for days since 1970, as asked",
    "object": "Ignored {} with neither numbers nor text",
    "empty": "Ignored {} without any value",
    "one_value": "Ignored {} of text with one value only",
    "constant": "Found {} of numbers that never change, which no group can hold",
    "mixed": "Took {} of numbers and words for numbers, and the words for missing values",
    "codes": "Encoded {} of text with two values as 0 and 1",
    "ordered": "Encoded {} of ordered categories by their place in the order",
    "indicators": "Encoded {} of text with a 0/1 column for each value",
    "frequent": "Encoded {} of text with a 0/1 column for each frequent value",
    "median": "Filled in missing values of {} with the median",
    "most_frequent": "Filled in missing values of {} with the most frequent value",
}


def decide(name: str, series: Any, use: bool, diary: Diary) -> Column:
    """What a column is taken for, by its name and values; ``use`` has it used all the same."""
    kind = series.dtype.kind if isinstance(series.dtype, np.dtype) else "O"
    if str(series.dtype).startswith(("timedelta", "duration", "period", "interval")):
        return _ignored(name, "span", diary)
    if series.isna().all():
        return _ignored(name, "empty", diary)
    if _is_date(series):
        return _date(name, _days(series), diary) if use else _ignored(name, "date", diary)
    if kind in "biuf" or _is_number_dtype(series):
        return _number(name, as_floats(series), use, diary)
    if kind == "c" or not _is_text(series):
        return _ignored(name, "object", diary)
    ordered = _ordered_categories(series)
    if ordered:
        return _coded(name, words(series), ordered, "ordered", diary)
    values = words(series)
    if values.isna().all():  # nothing but blanks
        return _ignored(name, "empty", diary)
    numbers = _as_numbers(values)
    share = np.isfinite(numbers).sum() / values.notna().sum()
    if share == 1:
        return _number(name, numbers, use, diary)
    if share >= MOSTLY_NUMBERS and len(np.unique(numbers[np.isfinite(numbers)])) > 2:
        odd = values[values.notna() & ~np.isfinite(numbers)]
        diary.add("mixed", f"{name} ({len(odd)} x {join_names(sorted(set(odd)), 2)})")
        return _number(name, numbers, use, diary)
    return _text(name, values, use, diary)


def numbers_of(column: Column, series: Any) -> tuple[list[NDArray[np.float64]], int]:
    """The columns of numbers a column becomes, and how many of its values had to be replaced."""
    if column.kind in ("number", "date"):
        numbers = _days(series) if column.kind == "date" else _measured(series)
        gaps = np.isnan(numbers)
        if column.fill is None:  # nothing is filled in, so nothing may be lost either
            if (gaps & series.notna().to_numpy()).any():
                raise ColumnsError(f"{column.name} holds text; it must hold numbers alone.")
            return [numbers], 0
        return [np.where(gaps, column.fill, numbers)], int(gaps.sum())
    values = _as_learned(words(series), column.values)
    gaps = values.isna().to_numpy()
    if column.kind == "codes":
        gaps = gaps | ~values.isin(column.values).to_numpy()
    values = values.where(~gaps, str(column.fill))
    if column.kind == "codes":
        places = {value: float(place) for place, value in enumerate(column.values)}
        return [values.map(places).to_numpy(dtype=float)], int(gaps.sum())
    made = [(values == value).to_numpy(dtype=float) for value in column.values]
    return made, int(gaps.sum())


def as_floats(series: Any) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def words(series: Any) -> Any:
    """The values as text without blanks around it, missing ones as None."""
    text = series.astype(object).map(lambda value: str(value).strip(), na_action="ignore")
    return text.where(text.notna() & (text != ""), None)


def _measured(series: Any) -> NDArray[np.float64]:
    if _is_number_dtype(series):
        return as_floats(series)
    # one gap makes words of a column of True and False
    truth = {"true": "1", "false": "0"}
    values = words(series).map(lambda v: truth.get(v.lower(), v), na_action="ignore")
    return _as_numbers(values)


def _days(series: Any) -> NDArray[np.float64]:
    """Days since 1970; NaN for what is no date."""
    import pandas as pd

    stamps = pd.to_datetime(words(series), errors="coerce", utc=True, format="ISO8601")
    return as_floats((stamps - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1))


def _as_learned(values: Any, known: Sequence[str]) -> Any:
    """Words as they were learned: 007 may come as 7.0 from a file with nothing but numbers here."""
    spelled = {_plain(value): value for value in known} | {value: value for value in known}
    return values.map(lambda v: spelled.get(v, spelled.get(_plain(v), v)), na_action="ignore")


def _plain(word: str) -> str:
    """One spelling for all of a number or a truth value."""
    try:
        return repr(float(word))
    except ValueError:
        return word.lower() if word.lower() in ("true", "false") else word


def _ignored(name: str, why: str, diary: Diary) -> Column:
    diary.add(why, name)
    return Column(name, "ignored", why=why)


def _is_number_dtype(series: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(series.dtype) or is_bool_dtype(series.dtype))


def _is_date(series: Any) -> bool:
    """Dates of every type are ISO dates once they are written."""
    if _is_number_dtype(series):
        return False
    present = words(series).dropna()
    return len(present) > 0 and all(map(ISO_DATE.fullmatch, present))


def _is_text(series: Any) -> bool:
    from decimal import Decimal

    present = series.dropna()
    simple = (str, bytes, bool, int, float, Decimal, np.generic)
    return all(isinstance(value, simple) for value in present.astype(object).head(1000))


def _ordered_categories(series: Any) -> list[str]:
    categories = getattr(series.dtype, "categories", None)
    if categories is None or not series.dtype.ordered or len(categories) < 2:
        return []
    return [str(value).strip() for value in categories]


def _as_numbers(values: Any) -> NDArray[np.float64]:
    import pandas as pd

    numbers: NDArray[np.float64] = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
    return numbers


def _number(
    name: str, numbers: NDArray[np.float64], use: bool, diary: Diary, kind: str = "number"
) -> Column:
    gaps = np.isnan(numbers)
    present = numbers[~gaps]
    if not use and _is_id(name, present):
        return _ignored(name, "id", diary)
    fill = float(np.median(present))
    if gaps.any():
        diary.add("median", f"{name} ({_rows(int(gaps.sum()))})")
    if (present == present[0]).all():
        diary.add("constant", name)
    return Column(name, kind, fill=fill)


def _date(name: str, days: NDArray[np.float64], diary: Diary) -> Column:
    if np.isnan(days).all():  # such as 0000-00-00
        return _ignored(name, "empty", diary)
    diary.add("days", name)
    return _number(name, days, True, diary, "date")


def _is_id(name: str, present: NDArray[np.float64]) -> bool:
    """Whole numbers that all differ, under the name of an id or counting the rows."""
    if len(present) < 3 or not np.isfinite(present).all() or (present != np.floor(present)).any():
        return False
    if len(np.unique(present)) < len(present):
        return False
    counts = bool((np.diff(present) == 1).all()) and present[0] in (0, 1)
    return counts or bool(ID_NAME.search(name))


def _text(name: str, values: Any, use: bool, diary: Diary) -> Column:
    counts = values.value_counts()
    n_present, n_values = int(counts.sum()), len(counts)
    if n_values == 1:
        return _ignored(name, "one_value", diary)
    if not use and n_values > 2:
        if n_values == n_present:
            return _ignored(name, "id", diary)
        if n_values > max(MOST_INDICATORS, n_present / 2):
            return _ignored(name, "text", diary)
    if n_values == 2:
        return _coded(name, values, sorted(counts.index), "codes", diary)
    fill = _most_frequent(counts)
    _tell_filled(name, values, diary)
    ranked = sorted(counts.index, key=lambda value: (-counts[value], value))
    enough = max(2, FEWEST_ROWS * n_present)
    frequent = [value for value in ranked[:MOST_INDICATORS] if counts[value] >= enough] or [fill]
    if len(frequent) == n_values:
        diary.add("indicators", f"{name} ({n_values} values)")
    else:
        diary.add("frequent", f"{name} ({len(frequent)} of {n_values} values)")
    return Column(name, "indicators", values=tuple(sorted(frequent)), fill=fill)


def _coded(name: str, values: Any, order: Sequence[str], decision: str, diary: Diary) -> Column:
    meaning = ", ".join(f"{value} = {place}" for place, value in enumerate(order))
    diary.add(decision, f"{name} ({meaning})")
    _tell_filled(name, values, diary)
    return Column(name, "codes", values=tuple(order), fill=_most_frequent(values.value_counts()))


def _most_frequent(counts: Any) -> str:
    return min(counts.index, key=lambda value: (-counts[value], value))


def _tell_filled(name: str, values: Any, diary: Diary) -> None:
    n_gaps = int(values.isna().sum())
    if n_gaps:
        diary.add("most_frequent", f"{name} ({_rows(n_gaps)})")


def _count(columns: Sequence[str]) -> str:
    return "1 column" if len(columns) == 1 else f"{len(columns)} columns"


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"
