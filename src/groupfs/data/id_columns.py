"""Columns that number the rows: how they are known, and a word of warning where they are used."""

import re
from typing import Any

import numpy as np

from groupfs.data.block_sources import describing_frame
from groupfs.data.refused_columns import leave_out
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray
from groupfs.utils.warn import IdColumnsWarning, warn

#: Names that ids go by; the values must all differ too.
ID_NAME = re.compile(
    r"(?i:(^|[_\W])(id|uuid|guid|index|idx|row_?names?|row_?numbers?|barcode|accession)([_\W]|$))"
    r"|[a-z](ID|Id)$|^Unnamed: \d+$"
)


def is_id(name: str, present: FloatArray) -> bool:
    """Return whether these are whole numbers that all differ, named as ids or counting the rows."""
    whole = np.isfinite(present).all() and (present == np.floor(present)).all()
    if len(present) < 3 or not whole or len(np.unique(present)) < len(present):
        return False
    counts = bool((np.diff(present) == 1).all()) and present[0] in (0, 1)
    return counts or bool(ID_NAME.search(name))


def warn_of_ids(X: Any) -> None:
    """Warn of columns of whole numbers that all differ and are named as ids or count the rows."""
    if not hasattr(X, "dtypes") or describing_frame(X) is not X:
        return
    found = [
        str(name)
        for place, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True))
        if str(dtype).lower().startswith(("int", "uint")) and _looks_like_id(X, place, str(name))
    ]
    if found:
        what, are = ("1 column looks like an id", "is")
        if len(found) > 1:
            what, are = f"{len(found)} columns look like ids", "are"
        warn(
            f"{what}, with whole numbers that all differ, and {are} used as numbers all the same: "
            f"{join_names(found)}; if that is not meant, {leave_out(found)}.",
            IdColumnsWarning,
        )


def _looks_like_id(X: Any, place: int, name: str) -> bool:
    column = X.iloc[:, place].dropna() if hasattr(X, "iloc") else X.to_series(place).drop_nulls()
    first = column[:3].to_numpy().astype(np.float64)
    if not (ID_NAME.search(name) or np.array_equal(np.diff(first), [1, 1])):
        return False  # most columns end here
    return is_id(name, column.to_numpy().astype(np.float64))
