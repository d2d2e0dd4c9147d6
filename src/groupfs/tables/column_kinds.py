"""One column of a file: its kind, decided from its name and values, and its values as that kind."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from groupfs.data.encodings import MOST_DIFFERENT, MOST_LEVELS
from groupfs.data.id_columns import is_id
from groupfs.tables.answer_scales import find_steps, plain_word
from groupfs.tables.column_values import (
    is_numeric,
    is_text,
    plain_spelling,
    to_dates,
    to_numbers,
    to_text,
)
from groupfs.tables.decisions import Column, ColumnsError, DecisionLog
from groupfs.tables.wordings import Scale
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray

#: So many different values may be those of a category in the shortest file.
FEW_VALUES = 10
#: A column of text is taken for numbers if at least this share of it reads as numbers.
MOSTLY_NUMBERS = 0.95
#: Dates as text, with or without the time of day.
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


def decide(
    name: str, series: Any, use: bool, log: DecisionLog, scale: Scale | None = None
) -> Column:
    """Decide the kind of a column by its name and values, and log it.

    With ``use`` it is used although it looks like an id, a date or free text; with a ``scale`` its
    answers are the steps of it.
    """
    if series.isna().all():
        return log.ignore(name, "empty")
    if scale is not None:
        return _answers(name, to_text(series), scale, log)
    if is_numeric(series):
        return _number(name, to_numbers(series), use, log)
    text = to_text(series)
    present = text.dropna()
    if len(present) and all(map(ISO_DATE.fullmatch, present)):
        return _date(name, to_dates(series), use, log)
    if not is_text(series):
        return log.ignore(name, "object")
    if not len(present):  # nothing but blanks
        return log.ignore(name, "empty")
    if series.dtype == "category":  # also one of numbers: somebody has said so
        if series.dtype.ordered and len(series.dtype.categories) > 1:
            return _ordered(name, text, series.dtype.categories, log)
        return _category(name, text, use, log)
    numbers = to_numbers(text)
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

    Numbers and truth values become floats, and so do answers: the number of the step. Categories
    become pandas' own with the levels of the first file, and dates those of pandas. What has no
    place becomes a gap, as gaps stay gaps.
    """
    import pandas as pd

    if column.kind == "number":
        converted = pd.Series(to_numbers(series), series.index)
    elif column.kind == "answers":
        converted = pd.to_numeric(find_steps(column.values, to_text(series))).astype(np.float64)
    elif column.kind == "date":
        converted = to_dates(series)
    else:
        text = _spell_as_learned(to_text(series), column.values)
        dtype = pd.CategoricalDtype(list(column.values), ordered=column.kind == "ordered")
        converted = text.where(text.isin(column.values)).astype(dtype)
    lost = to_text(series[converted.isna() & series.notna()])  # or blank before
    return converted, lost.count()


def _spell_as_learned(text: Any, known: Sequence[str]) -> Any:
    """Undo other spellings: 007 may come as 7.0 from a file with nothing but numbers here."""
    spelled = {plain_spelling(value): value for value in known} | {value: value for value in known}
    return text.map(lambda v: spelled.get(v, spelled.get(plain_spelling(v), v)), na_action="ignore")


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


def _answers(name: str, text: Any, scale: Scale, log: DecisionLog) -> Column:
    words = " < ".join(step.split("|")[0] for step in scale)
    log.add("answers", name, f"1 to {len(scale)}, {words}")
    outside = text[text.notna() & find_steps(scale, text).isna()]
    words = join_names(sorted(set(map(plain_word, outside))), 3)
    log.add_count("no_step", name, len(outside), words)
    log.add_count("gaps", name, int(text.isna().sum()) + len(outside))
    return Column(name, "answers", scale)


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
