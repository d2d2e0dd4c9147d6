"""Columns that cannot be features: what is wrong with each, and one error that names them all."""

from collections.abc import Iterable
from typing import Any

from groupfs.utils.text import join_names, one_line, shorten

#: What is wrong with columns, and what to do about it.
PROBLEMS = {
    "object": (
        "that {hold} neither numbers, text nor dates",
        "drop {them}, or make numbers or text of {them}",
    ),
    "complex": ("of complex numbers", "give real and imaginary parts as columns of their own"),
    "mixed": (
        "that {mix} numbers, text or dates",
        'make {them} one kind, e.g. numbers with pandas.to_numeric(column, errors="coerce"), or '
        "text with astype(str)",
    ),
    "levels": (
        "that {look} like ids or free text",
        "drop {them}, or cut {them} down to at most 100 values",
    ),
}
#: Most names of columns in a sentence.
MOST_NAMES = 20


class RefusedColumn(ValueError):
    """A column that cannot be a feature: which of ``PROBLEMS`` it has, and what shows it."""

    def __init__(self, problem: str, evidence: str = "") -> None:
        super().__init__(problem)
        self.problem, self.evidence = problem, evidence


def such_as(value: Any) -> str:
    """Write a value of a column as evidence."""
    return f"e.g. {shorten(one_line(repr(value)), 40)}"


def refuse_columns(refused: Iterable[tuple[Any, Any, RefusedColumn]]) -> None:
    """Raise an error, if any column was refused, with the names, types and reasons of all."""
    by_problem: dict[str, list[str]] = {}
    for name, dtype, reason in refused:
        what = ", ".join(filter(None, (str(dtype), reason.evidence)))
        by_problem.setdefault(reason.problem, []).append(f"{name} ({what})")
    if by_problem:
        raise ValueError(" ".join(_sentence(*PROBLEMS[p], by_problem[p]) for p in by_problem))


def _sentence(what: str, remedy: str, columns: list[str]) -> str:
    if len(columns) == 1:
        words = {"hold": "holds", "mix": "mixes", "look": "looks", "them": "it"}
        what = what.replace("ids", "an id")
    else:
        words = {word: word for word in ("hold", "mix", "look", "them")}
    count = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
    return (
        f"X has {count} {what.format(**words)}: {join_names(columns, MOST_NAMES)}; "
        f"{remedy.format(**words)}."
    )
