"""One column of a file: its kind, decided from its name and values, and its values as that kind."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from groupfs.data.columns import MOST_DIFFERENT, MOST_LEVELS
from groupfs.files.answers import Scale, find_steps, plain_word
from groupfs.files.column_values import is_numeric, plain_spelling, to_dates, to_numbers, to_text
from groupfs.files.file_table import ColumnsError
from groupfs.files.ids import is_id, is_named_id
from groupfs.utils.text import count, join_names
from groupfs.utils.types import FloatArray

#: A column of text is taken for numbers if at least this share of it reads as numbers.
MOSTLY_NUMBERS = 0.95
#: What cells of a file hold; other objects are looked for among so many values.
CELLS, LOOKED_AT = (str, bytes, bool, int, float, Decimal, np.generic), 1000
#: A sentence for each decision on columns, in the order in which they are reported.
SENTENCES = {
    "dropped": "Left out {}, as asked",
    "not_asked": "Left out {} not asked for",
    "about": "Left out {} that {detail} writes beside the answers (use=[NAME] keeps one)",
    "id": "Ignored {} taken for ids{detail}",
    "text": "Ignored {} of text with too many different values{detail}",
    "date": "Ignored {} of dates (days since the first, as numbers, can be used)",
    "object": "Ignored {} with neither numbers nor text",
    "empty": "Ignored {} without any value",
    "one_value": "Ignored {} of text with one value only",
    "missing": "Took {detail} for gaps in {}, as asked (how many)",
    "mixed": "Took {} of numbers and words for numbers, and the words for gaps",
    "answers": "Took the answers in {} for numbers from {detail}",
    "no_step": "Took answers that are no such step ({detail}) for gaps in {} (how many)",
    "category": "Took {} of text for categories",
    "ordered": "Took {} for ordered categories",
    "gaps": "Found gaps in {}; similarities use the rows that are there (how many gaps)",
    "unknown": "Took values that were not seen before for gaps in {} (how many)",
}


#: What is said of ids and text that can be used all the same.
KEPT = " (use=[NAME] keeps one)"


@dataclass(frozen=True)
class Column:
    """The kind of one column of a file."""

    name: str
    kind: str  #: "number", "answers", "category", "ordered" or "ignored"
    values: tuple[str, ...] = ()  #: of a category in alphabetical order, else in their own
    why: str = ""  #: of an ignored column
    gaps: tuple[str, ...] = ()  #: words that are no such number or answer


class DecisionLog:
    """Names of columns under the decisions made on them."""

    def __init__(self) -> None:
        self.columns: dict[tuple[str, str], list[str]] = {}

    def add(self, decision: str, column: str, detail: str = "") -> None:
        """Log a decision on a column, with what its sentence says beside the columns."""
        self.columns.setdefault((decision, detail), []).append(column)

    def add_count(self, decision: str, column: str, n_rows: int, detail: str = "") -> None:
        """Log how many rows of a column a decision is about, if any."""
        if n_rows:
            self.add(decision, f"{column} ({n_rows})", detail)

    def ignore(self, name: str, why: str, detail: str = "") -> Column:
        """Log that a column is ignored, and return it as such; of the label others speak."""
        self.add(why, name, detail)
        return Column(name, "ignored", why=why)

    def sentences(self) -> list[str]:
        """Report each decision in a sentence."""
        return [
            f"{sentence.format(count(len(names), 'column'), detail=detail)}: "
            f"{join_names(names, 3 if decision == 'not_asked' else 12)}."
            for decision, sentence in SENTENCES.items()
            for (made, detail), names in self.columns.items()
            if made == decision
        ]


def decide(
    name: str, series: Any, use: bool, log: DecisionLog, scale: Scale | None = None
) -> Column:
    """Decide the kind of a column by its name and values, and log it.

    With ``use`` it is used although it looks like an id or free text; with a ``scale`` its
    answers are the steps of it.
    """
    if series.isna().all():
        return log.ignore(name, "empty")
    if scale is not None:
        return _answers(name, to_text(series), scale, log)
    if is_numeric(series):
        return _number(name, to_numbers(series), series.index, use, log)
    if to_dates(series) is not None:
        if use:
            raise ColumnsError(
                f"use={name!r}: the column holds dates, which are no features; write what matters "
                "of them as numbers, such as days since the first, or leave it out.",
                "use",
            )
        return log.ignore(name, "date")
    if not all(isinstance(cell, CELLS) for cell in series.dropna().astype(object).head(LOOKED_AT)):
        return log.ignore(name, "object")
    text = to_text(series)
    present = text.dropna()
    if not len(present):  # nothing but blanks
        return log.ignore(name, "empty")
    if series.dtype == "category":  # also one of numbers: somebody has said so
        if not series.dtype.ordered or len(series.dtype.categories) < 2:
            return _category(name, text, use, log)
        values = [v for v in dict.fromkeys(str(v).strip() for v in series.dtype.categories) if v]
        log.add("ordered", f"{name} ({' < '.join(values)})")
        log.add_count("gaps", name, text.isna().sum())
        return Column(name, "ordered", tuple(values))
    numbers = to_numbers(text)
    finite = np.isfinite(numbers)
    share = finite.sum() / len(present)
    if share < 1 and (share < MOSTLY_NUMBERS or len(np.unique(numbers[finite])) <= 2):
        return _category(name, text, use, log)
    column = _number(name, numbers, series.index, use, log)
    if share == 1:
        return column
    odd = text[text.notna() & ~finite]
    words = tuple(sorted(set(odd)))
    log.add("mixed", f"{name} ({len(odd)} x {join_names(words, 2)})")
    return replace(column, gaps=words)


def convert(column: Column, series: Any) -> tuple[Any, int]:
    """Return a column as the kind it has, and how many of its values that kind has no place for.

    Numbers, truth values and steps of answers are floats; categories are pandas' own with the
    levels of the first file. What has no place becomes a gap, as gaps stay gaps.
    """
    import pandas as pd

    if column.kind == "number":
        converted = pd.Series(to_numbers(series), series.index)
    elif column.kind == "answers":
        converted = pd.to_numeric(find_steps(column.values, to_text(series))).astype(np.float64)
    else:
        # 007 may come as 7.0 from a file with nothing but numbers here
        known = {plain_spelling(value): value for value in column.values}
        known |= {value: value for value in column.values}
        text = to_text(series).map(lambda v: known.get(v, known.get(plain_spelling(v))), "ignore")
        dtype = pd.CategoricalDtype(list(column.values), ordered=column.kind == "ordered")
        converted = text.astype(dtype)
    lost = to_text(series[converted.isna() & series.notna()])  # or blank before
    return converted, int(lost.notna().sum() - lost.isin(column.gaps).sum())


def _number(name: str, numbers: FloatArray, rows: Any, use: bool, log: DecisionLog) -> Column:
    missing = np.isnan(numbers)
    if not use and is_id(name, numbers[~missing], rows[~missing]):
        return log.ignore(name, "id", KEPT)
    log.add_count("gaps", name, missing.sum())
    return Column(name, "number")


def _answers(name: str, text: Any, scale: Scale, log: DecisionLog) -> Column:
    words = " < ".join(step.split("|")[0] for step in scale)
    log.add("answers", name, f"1 to {len(scale)}, {words}")
    outside = text[text.notna() & find_steps(scale, text).isna()]
    words = join_names(sorted(set(map(plain_word, outside))), 3)
    log.add_count("no_step", name, len(outside), words)
    log.add_count("gaps", name, int(text.isna().sum()) + len(outside))
    return Column(name, "answers", scale, gaps=tuple(sorted(set(outside))))


def _category(name: str, text: Any, use: bool, log: DecisionLog) -> Column:
    values = sorted(text.dropna().unique())
    n_values, n_present = len(values), text.count()
    if n_values == 1:
        return log.ignore(name, "one_value")
    too_many = n_values > MOST_LEVELS or MOST_DIFFERENT < n_values == n_present
    if not use and n_values > 2:
        if n_values == n_present or is_named_id(name, n_values):
            return log.ignore(name, "id", "" if too_many else KEPT)
        if n_values > min(max(MOST_DIFFERENT, n_present / 2), MOST_LEVELS):
            return log.ignore(name, "text", "" if too_many else KEPT)
    if too_many:
        raise ColumnsError(
            f"use={name!r}: {n_values} different values in {n_present} rows are no category; cut "
            f"them down to at most {MOST_LEVELS} that occur again, or leave the column out.",
            "use",
        )
    log.add("category", f"{name} ({n_values} values)")
    log.add_count("gaps", name, text.isna().sum())
    return Column(name, "category", tuple(values))
