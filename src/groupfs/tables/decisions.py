"""Decisions on columns: what a column was taken for, and the sentences that report it."""

from collections.abc import Sequence
from dataclasses import dataclass

from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names

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
    "missing": "Took {detail} for gaps in {}, as asked (how many)",
    "mixed": "Took {} of numbers and words for numbers, and the words for gaps",
    "answers": "Took the answers in {} for numbers from {detail}",
    "no_step": "Took answers that are no such step ({detail}) for gaps in {} (how many)",
    "category": "Took {} of text for categories",
    "ordered": "Took {} for ordered categories",
    "gaps": "Found gaps in {}; similarities use the rows that are there (how many gaps)",
    "unknown": "Took values that were not seen before for gaps in {} (how many)",
}


class ColumnsError(ParameterError):
    """Columns that cannot be used as asked; the message is one sentence for people."""

    def __init__(self, message: str, parameter: str = "frame") -> None:
        super().__init__(message, parameter)


@dataclass(frozen=True)
class Column:
    """The kind of one column of a file."""

    name: str
    kind: str  #: "number", "answers", "category", "ordered", "date" or "ignored"
    values: tuple[str, ...] = ()  #: of a category in alphabetical order, else in their own
    why: str = ""  #: of an ignored column


class DecisionLog:
    """Names of columns under the decisions made on them."""

    def __init__(self) -> None:
        self.columns: dict[tuple[str, str], list[str]] = {}

    def add(self, decision: str, column: str, detail: str = "") -> None:
        """Log a decision on a column, with what its sentence says beside the columns."""
        self.columns.setdefault((decision, detail), []).append(column)

    def __contains__(self, decision: str) -> bool:
        return any(decision == made for made, _ in self.columns)

    def ignore(self, name: str, why: str) -> Column:
        """Log that a column is ignored, and return it as such."""
        self.add(why, name)
        return Column(name, "ignored", why=why)

    def add_count(self, decision: str, column: str, n_rows: int, detail: str = "") -> None:
        """Log how many rows of a column a decision is about, if any."""
        if n_rows:
            self.add(decision, f"{column} ({n_rows})", detail)

    def sentences(self) -> list[str]:
        """Report each kind of decision in a sentence."""
        return [
            f"{sentence.format(_count_columns(names), detail=detail)}: {join_names(names, 12)}."
            for decision, sentence in SENTENCES.items()
            for (made, detail), names in self.columns.items()
            if made == decision
        ]


def _count_columns(names: Sequence[str]) -> str:
    return "1 column" if len(names) == 1 else f"{len(names)} columns"
