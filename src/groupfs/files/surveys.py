"""Exports of survey programs: what they write beside the answers, above them and around them.

Their names of columns stand in ``surveys.toml``; that of a codebook is read in ``codebook.py``.
"""

import fnmatch
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from groupfs.utils.text import count, join_words

LISTED = tomllib.loads(resources.files(__package__).joinpath("surveys.toml").read_text("utf-8"))
#: What the third header row of Qualtrics has in every cell.
IMPORT_ID = re.compile(r'\{\s*"ImportId"\s*:')
#: What the second header row of SurveyMonkey has below a question without answers of its own.
NO_OPTION = ("", "Response", "Open-Ended Response")


@dataclass(frozen=True)
class Header:
    """What stands above the values of a table; one of several rows is that of an export."""

    names: list[str]  #: of the columns, their own or numbered
    n_rows: int  #: 0 of a table whose columns have no names of their own
    labels: dict[str, str] = field(default_factory=dict)  #: wording by column
    program: str = ""  #: that wrote the export

    @property
    def notes(self) -> list[str]:
        """Say what was recognised, if anything was."""
        sentence = (
            f"Recognised a {self.program} export: its {self.n_rows} header rows are no answers and "
            "give the names and the wording of its columns."
        )
        return [sentence] if self.program else []


def read_header(rows: Sequence[Sequence[str]]) -> Header | None:
    """Read the header of Qualtrics or SurveyMonkey from the first rows; None of other tables."""
    if len(rows) < 3:
        return None
    first, second, third = ([" ".join(cell.split()) for cell in row] for row in rows[:3])
    second += [""] * (len(first) - len(second))
    if any(third) and all(IMPORT_ID.match(cell) for cell in third if cell):
        texts = {n: text for n, text in zip(first, second, strict=False) if text not in ("", n)}
        return Header(first, 3, texts, "Qualtrics")
    if first[:2] != LISTED["exports"]["SurveyMonkey"]["tells"] or any(second[:2]):
        return None
    names, question = list[str](), ""
    for cell, option in zip(first, second, strict=False):
        question = cell or question  # it stands above the first of its answers
        names.append(question if option in NO_OPTION else f"{question}: {option}")
    return Header(names, 2, program="SurveyMonkey")


def around_answers(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the survey program that wrote a table, and the columns that are about the survey."""
    for program, listed in LISTED["exports"].items():
        if sum(bool(_like(pattern, names)) for pattern in listed["tells"]) >= 2:
            about = {n for p in (*listed["tells"], *listed["others"]) for n in _like(p, names)}
            return program, [name for name in names if name in about]
    return "", []


def unfinished(frame: Any, program: str) -> list[str]:
    """Name the rows of an export in which somebody did not finish, or only tried the survey."""
    told = []
    for name, values in LISTED["exports"].get(program, {}).get("unfinished", {}).items():
        text = frame[name].astype(str).str.strip() if name in frame else None
        if text is not None and (n := int(text.isin(values).sum())):
            which = text[text.isin(values)].iloc[0] or "empty"
            told.append(f"{name} is {which} in {count(n, 'row')}")
    if not told:
        return []
    return [
        f"{join_words(told)}: people who did not finish, or tests of the survey. They count here; "
        "leave the rows out of the file if they should not."
    ]


def _like(pattern: str, names: Sequence[str]) -> list[str]:
    if "*" in pattern:
        return fnmatch.filter(names, pattern)
    return [pattern] if pattern in names else []
