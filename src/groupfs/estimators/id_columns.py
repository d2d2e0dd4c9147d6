"""Columns of a data frame that number its rows: used as others are, with a word of warning."""

from typing import Any

import numpy as np

from groupfs.data.block_sources import describing_frame
from groupfs.data.refused_columns import leave_out
from groupfs.tables.column_kinds import ID_NAME, is_id
from groupfs.utils.text import join_names
from groupfs.utils.warn import IdColumnsWarning, warn


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
