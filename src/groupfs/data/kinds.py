"""Columns of data frames that are not plain numbers, as numbers: categories, text, dates, gaps.

Every column stays one feature: a number has one column of values, a category one for each of its
levels, a date a few. Gaps stay gaps (NaN). How pandas and polars store them is in
``frame_columns``, how levels and dates become numbers in ``encodings``.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from groupfs.data.frame_columns import (
    StoredColumn,
    is_plain_dtype,
    is_plain_pandas,
    is_plain_polars,
    read_pandas,
    read_polars,
)
from groupfs.data.refused_columns import RefusedColumn, refuse_columns
from groupfs.utils.types import FloatArray


@dataclass(frozen=True)
class EncodedColumns:
    """Every column of a frame as numbers, by place: names may repeat."""

    values: list[FloatArray]  #: (N, a) each; NaN in all a columns where the value is missing
    kinds: list[str]  #: "number" (a = 1), "category" (a >= 3) or "date" (a >= 1)


def has_kinds(frame: Any) -> bool:
    """Return whether a data frame has columns that numpy does not simply take for floats.

    These are categories, text, dates and whatever has gaps that are not NaN; other things than
    data frames of pandas and polars have none.
    """
    if _is_pandas(frame):
        # wide frames are mostly plain, and a column takes longer to get than its type
        looked_at = [i for i, dtype in enumerate(frame.dtypes) if not is_plain_dtype(dtype)]
        return not all(is_plain_pandas(frame.iloc[:, i]) for i in looked_at)
    return _is_polars(frame) and not all(map(is_plain_polars, frame.iter_columns()))


def encode_columns(frame: Any) -> EncodedColumns:
    """Turn every column of a data frame of pandas or polars into numbers, the frame left as it is.

    - Numbers, truth values, durations (seconds), ordered categories (places in the order of all
      that are declared; the order of a polars ``Enum`` is that of its declaration) and whatever
      has two values (0 and 1 in alphabetical order) become one column.
    - Categories and text become a 0/1 column for each level, in alphabetical order. Levels of
      fewer than 5 rows are merged into one, the last. Blank text is missing.
    - Dates become days since the first, the time of the year on a circle if they span two years,
      and the time of day if it differs and they span two days.

    Raises
    ------
    ValueError
        For columns that are none of these, with their names, types and what to do.

    Examples
    --------
    >>> import pandas as pd
    >>> from groupfs.data.kinds import encode_columns
    >>> jobs = ["cook", "smith", "baker", "cook", None] * 5
    >>> encoded = encode_columns(pd.DataFrame({"age": range(25), "job": jobs}))
    >>> encoded.kinds
    ['number', 'category']
    >>> encoded.values[1][:5]
    array([[ 0.,  1.,  0.],
           [ 0.,  0.,  1.],
           [ 1.,  0.,  0.],
           [ 0.,  1.,  0.],
           [nan, nan, nan]])
    """
    encoded, refused = [], []
    for name, column in _columns(frame):
        try:
            encoded.append(_read(frame, column).encoded())
        except RefusedColumn as reason:
            refused.append((name, column.dtype, reason))
    refuse_columns(refused)
    return EncodedColumns([values for _, values in encoded], [kind for kind, _ in encoded])


def read_column(frame: Any, place: int) -> StoredColumn:
    """Read one column of a data frame of pandas or polars as it is stored."""
    column = frame.iloc[:, place] if _is_pandas(frame) else frame.to_series(place)
    try:
        return _read(frame, column)
    except RefusedColumn as reason:
        refuse_columns([(frame.columns[place], column.dtype, reason)])
        raise


def _read(frame: Any, column: Any) -> StoredColumn:
    return read_pandas(column) if _is_pandas(frame) else read_polars(column)


def _columns(frame: Any) -> Iterator[tuple[Any, Any]]:
    if _is_pandas(frame):
        return iter(frame.items())  # by place, as names may repeat
    return zip(frame.columns, frame.iter_columns(), strict=True)


def _is_pandas(frame: Any) -> bool:
    return _is_frame_of("pandas", frame)


def _is_polars(frame: Any) -> bool:
    return _is_frame_of("polars", frame)


def _is_frame_of(package: str, frame: Any) -> bool:
    module = sys.modules.get(package)  # who has such a frame has imported it
    return module is not None and isinstance(frame, module.DataFrame)
