"""Codebooks: tables of what the columns of another table ask, and what they are called elsewhere.

What each column of a codebook holds is told by its values, and by its heading in case of doubt.
"""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import TypeAlias

from groupfs.files.column_values import to_text
from groupfs.files.file_table import TableError
from groupfs.files.read import read_table
from groupfs.files.surveys import LISTED
from groupfs.utils.text import count, join_names

#: Headings by what the columns below them hold, in small letters; the likeliest first.
HEADINGS: dict[str, list[str]] = LISTED["codebook"]
#: The columns of a codebook by heading, None where a cell is empty.
Cells: TypeAlias = dict[str, list[str | None]]


def read_wording(path: str | Path, names: Sequence[str]) -> tuple[dict[str, str], str]:
    """Read the wording of columns from a table with a row for each; return it, and what was read.

    The wording is in a column headed "label", "question", ..., or else in that of the longest
    texts; the names are in the column that has most of them.

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
    given = set(names)
    source, cells = _read(path, names)
    hits = {column: len(given.intersection(of)) for column, of in cells.items()}
    named = max(cells, key=lambda c: (hits[c], _is_headed(c, "renamed", "name")))
    of_names = [c for c, n in hits.items() if c == named or 2 * n > len(set(cells[c]))]
    texts = [c for c in cells if c not in of_names and not _is_headed(c, "former", "renamed")]
    if not texts:
        return {}, f"{source} has names of columns in {named}, but no wording."
    wording, labels = min(texts, key=lambda c: _place_of_wording(c, cells[c])), dict[str, str]()
    for row in zip(*cells.values(), strict=True):
        of = dict(zip(cells, row, strict=True))
        own = [of[c] for c in (named, *cells) if c != wording and of[c] in given]
        if own and own[0] and (text := of[wording]):
            labels[own[0]] = text
    of_all = f"{len(labels)} of {count(len(names), 'column')}"
    return labels, f"{source}: wording ({wording}) of {of_all} by name ({named})."


def read_renamed(
    path: str | Path, names: Sequence[str], known: Sequence[str]
) -> tuple[dict[str, str], str]:
    """Read what columns are called in a model, ``known``; return it, and what was read.

    The codebook has a column with ``names`` of the table and one with those of the model, in any
    order; where as many names fit either way, headings such as "old name" tell which is which.
    Parameters and errors are as above.
    """
    given, wanted = set(names), set(known)
    source, cells = _read(path, names)
    hits = {
        c: (len(given.intersection(of)), len(wanted.intersection(of))) for c, of in cells.items()
    }

    def fit(pair: tuple[str, str]) -> tuple[int, int]:
        now, before = pair
        headed = _is_headed(now, "renamed", "name") + _is_headed(before, "former", "name")
        return hits[now][0] + hits[before][1], headed

    now, before = max(permutations(cells, 2), key=fit)
    first = dict[str, str]()
    for new, old in zip(cells[now], cells[before], strict=True):
        if new in given and old in wanted and new != old:
            first.setdefault(str(old), str(new))
    renamed = {new: old for old, new in first.items()}
    # a name stays with the column that has it, unless that one is renamed itself
    while held := [new for new, old in renamed.items() if old in given - renamed.keys()]:
        renamed = {new: old for new, old in renamed.items() if new not in held}
    if renamed:
        pairs = join_names([f"{new} for {old}" for new, old in renamed.items()], 12)
        return renamed, (
            f"{source}: took {count(len(renamed), 'column')} by name ({now}) for those of the "
            f"model ({before}): {pairs}."
        )
    lacking = [name for name in known if name not in given]
    told = f"{source} renames no column, and the table lacks {join_names(lacking)} of the model: "
    told += "a codebook needs a column of the names in the table and one of those in the model."
    return {}, told if lacking else ""


def _read(path: str | Path, names: Sequence[str]) -> tuple[str, Cells]:
    table = read_table(path)
    given, listed = set(names), {heading for headings in HEADINGS.values() for heading in headings}
    if any(name in given and _plain(name) not in listed for name in table.names):
        table = read_table(path, header=False)  # nothing stands above the columns
    if len(table.names) < 2:
        raise TableError(
            f"{table.source} has {count(len(table.names), 'column')} ({join_names(table.names)}); "
            "a codebook has one with the names of columns and one with their wording."
        )
    frame = table.frame(table.names)
    cells = {name: [*to_text(frame[name])] for name in table.names}
    if not any(given.intersection(of) for of in cells.values()):
        first = filter(None, max(cells.values(), key=lambda of: len(set(of))))
        raise TableError(
            f"{table.source} is no codebook of this table: of the columns that it names "
            f"({join_names(first)}) the table ({join_names(names)}) has none."
        )
    return table.source, cells


def _plain(heading: str) -> str:
    return " ".join(heading.lower().replace("_", " ").split())


def _is_headed(heading: str, *roles: str) -> int:
    """Return 0 for a heading of none of the roles, and more for one of the first."""
    of = [len(roles) - i for i, role in enumerate(roles) if _plain(heading) in HEADINGS[role]]
    return max(of, default=0)


def _place_of_wording(heading: str, cells: Sequence[str | None]) -> tuple[int, float]:
    listed, plain = HEADINGS["wording"], _plain(heading)
    place = listed.index(plain) if plain in listed else len(listed)
    return place, -sum(len(text or "") for text in cells)
