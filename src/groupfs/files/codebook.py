"""Codebooks: tables of what the columns of another table ask, and what they were called before."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from groupfs.files.column_values import to_text
from groupfs.files.file_table import TableError
from groupfs.files.read import read_table
from groupfs.files.surveys import LISTED
from groupfs.utils.text import count, join_names


@dataclass(frozen=True)
class Codebook:
    """What a codebook says of the columns of a table."""

    labels: dict[str, str]  #: wording by column
    renamed: dict[str, str]  #: what a column was called before


def read_codebook(path: str | Path, names: Collection[str]) -> Codebook:
    """Read the wording and former names of columns from a table with a row for each of them.

    The names are in the first column, or one headed "name", "variable", "item", ...; the wording is
    in one headed "label", "question", ..., or else in the second. A column headed "old name", or
    "new name", maps names of one year to those of another.

    Parameters
    ----------
    path : str or Path
        A file of any format that :func:`groupfs.files.read_table` reads.
    names : sequence of str
        Names of the columns of the table that the codebook is of.

    Raises
    ------
    TableError
        With one sentence, if the file is no codebook, or that of another table.
    """
    table = read_table(path)
    roles = _roles(table.names)
    if roles.keys() == {"name", "wording"} and table.names[roles["name"]] in names:
        table = read_table(path, header=False)  # nothing stands above the columns
    if len(table.names) < 2 or len(roles) < 2:
        raise TableError(
            f"{table.source} has {count(len(table.names), 'column')} ({join_names(table.names)}); "
            "a codebook has one with the names of columns and one with their wording."
        )
    frame, none = table.frame(table.names), [None] * table.n_rows
    cells = {role: [*to_text(frame[table.names[place]])] for role, place in roles.items()}
    labels, renamed, given = dict[str, str](), dict[str, str](), set(names)
    keys = ("name", "renamed", "former", "wording")
    for name, new, old, text in zip(*(cells.get(key, none) for key in keys), strict=True):
        now, before = (new or name, old or name) if new or old else (name, None)
        known = now if now in given else before
        if known in given and text:
            labels[known] = text
        if now in given and before and before not in given:
            renamed[now] = before
    if not labels and not renamed:
        raise TableError(
            f"{table.source} is no codebook of this table: of the columns that it names "
            f"({join_names(filter(None, cells['name']))}) the table ({join_names(names)}) has none."
        )
    return Codebook(labels, renamed)


def _roles(names: Sequence[str]) -> dict[str, int]:
    """Find which column of a codebook is what, by its heading or else by its place."""
    headings = [" ".join(name.lower().replace("_", " ").split()) for name in names]
    found = {
        role: next((headings.index(word) for word in words if word in headings), None)
        for role, words in LISTED["codebook"].items()
    }
    roles = {role: place for role, place in found.items() if place is not None}
    others = [place for place in range(len(names)) if place not in roles.values()]
    if "name" not in roles and others:
        roles["name"] = others.pop(0)
    if len(roles) < 2 and others:
        roles["wording"] = others[0]
    return roles
