"""Refuse columns that cannot be features: one error says what is wrong with each."""

from collections.abc import Iterable
from typing import Any

from groupfs.utils.text import join_names, one_line, shorten

#: What is wrong with columns, and what to do about it.
PROBLEMS = {
    "object": (
        "that {hold} neither numbers nor text",
        "make numbers or text of {them}, or {leave_out}",
    ),
    "complex": ("of complex numbers", "give real and imaginary parts as columns of their own"),
    "mixed": (
        "that {mix} numbers, text or dates",
        'make {them} one kind, e.g. numbers with pandas.to_numeric(column, errors="coerce"), or '
        "text with astype(str)",
    ),
    "levels": (
        "that {look} like ids or free text",
        "{leave_out}, or cut {them} down to at most 100 values",
    ),
    "text": (
        "of text",
        "encode {them} first, e.g. with OrdinalEncoder or OneHotEncoder, or {leave_out}",
    ),
    "dates": (
        "of dates or times",
        "turn {them} into numbers, such as days since a date, or {leave_out}",
    ),
}
#: Most names of columns in a sentence, and in a remedy.
MOST_NAMES, FEW_NAMES = 20, 5


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
    by_problem: dict[str, dict[Any, str]] = {}
    for name, dtype, reason in refused:
        what = ", ".join(filter(None, (str(dtype), reason.evidence)))
        by_problem.setdefault(reason.problem, {})[name] = f"{name} ({what})"
    if by_problem:
        raise ValueError(" ".join(_sentence(*PROBLEMS[p], by_problem[p]) for p in by_problem))


def leave_out(names: Iterable[Any]) -> str:
    """Tell how columns are left out, by name where they are few."""
    every = list(names)
    them = "it" if len(every) == 1 else "them"
    which = repr(every) if len(every) <= FEW_NAMES else "[...]"
    return f"leave {them} out: X.drop(columns={which})"


def _sentence(what: str, remedy: str, columns: dict[Any, str]) -> str:
    if len(columns) == 1:
        words = {"hold": "holds", "mix": "mixes", "look": "looks", "them": "it"}
        what = what.replace("ids", "an id")
    else:
        words = {word: word for word in ("hold", "mix", "look", "them")}
    words["leave_out"] = leave_out(columns)
    count = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
    return (
        f"X has {count} {what.format(**words)}: {join_names(columns.values(), MOST_NAMES)}; "
        f"{remedy.format(**words)}."
    )
