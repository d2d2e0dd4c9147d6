"""Which columns are ids: whole numbers and words that tell rows apart and measure nothing."""

import math
import re
from typing import Any

import numpy as np

from groupfs.data.columns import MOST_DIFFERENT
from groupfs.files.surveys import LISTED
from groupfs.utils.types import FloatArray

#: Name of the index of a sample of rows, which tells which rows of the file they are.
FILE_ROWS = "rows of the file"
#: Parts of a name: two in ``sampleId``, one in ``covid``.
PARTS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
#: Parts that tell what a column holds, as ``surveys.toml`` lists and explains them, in this order.
ID_WORDS, PEOPLE, OTHERS, NUMBER_WORDS, MEASURED = map(set, LISTED["ids"].values())
NUMBERED = PEOPLE | OTHERS
#: Whole numbers of so many rows that all differ are ids if chance would hardly have it so.
FEWEST_ROWS, LOG_CHANCE = 20, math.log(1e-6)


def is_id(name: str, present: FloatArray, rows: Any) -> bool:
    """Return whether these are whole numbers that are named as ids, count rows or number them.

    ``rows`` is their index, by which numbers in a sample count the rows of the file.
    """
    whole = np.isfinite(present).all() and (present == np.floor(present)).all()
    if len(present) < 3 or not whole:
        return False
    n_different, parts = len(np.unique(present)), _parts(name)
    if n_different < len(present) or is_named_id(name, n_different):
        return is_named_id(name, n_different)
    first = present - (rows if rows.name == FILE_ROWS else np.arange(len(present)))
    counts = first[0] in (0, 1) and bool((first == first[0]).all())
    index = parts[-1:] in (["index"], ["idx"]) and {*parts[:-1]} <= NUMBERED
    named = index or parts[-1:] in (["barcode"], ["accession"]) or name.startswith("Unnamed: ")
    return counts or named or (not MEASURED & {*parts} and _is_numbering(present))


def is_named_id(name: str, n_different: int) -> bool:
    """Return whether a column with so many different values is named as ids are.

    What has two values is no id: "has_id" is an answer. "subject" alone may be one at school.
    """
    parts = _parts(name)
    if not parts or n_different <= 2:
        return False
    if parts[-1] in ID_WORDS or (parts[0] == "id" and {*parts[1:]} <= NUMBERED):
        return True
    if len(parts) == 1:
        return parts[0] in PEOPLE and n_different > MOST_DIFFERENT
    return parts[-1] in NUMBER_WORDS and bool(NUMBERED & {*parts[:-1]})


def _parts(name: str) -> list[str]:
    return [part.lower() for part in PARTS.findall(name)]


def _is_numbering(different: FloatArray) -> bool:
    """Return whether draws from their range would hardly ever have been as different as these.

    Of measurements, counts and money some are alike where there are many.
    """
    n, size = len(different), np.ptp(different) + 1
    return n >= FEWEST_ROWS and np.log1p(-np.arange(n) / size).sum() < LOG_CHANCE
