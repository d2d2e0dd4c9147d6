"""Columns of pandas and polars, read by what each of them stores: numbers, levels or dates.

What neither of them has a type for is stored as Python's objects, and decided by the types of
these. Bytes are text, as files of other programs give it.
"""

import datetime
import numbers
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupfs.data.encodings import (
    Encoded,
    encode_dates,
    encode_levels,
    encode_numbers,
    encode_order,
)
from groupfs.data.refused_columns import RefusedColumn, such_as
from groupfs.utils.types import BoolArray

SECOND = np.timedelta64(1, "s")
#: Python's types by what their values are; the first that fits counts, as numpy calls durations
#: whole numbers.
SORTS: dict[str, tuple[type, ...]] = {
    "duration": (datetime.timedelta, np.timedelta64),
    "date": (datetime.date, np.datetime64),
    "number": (numbers.Real, Decimal, np.bool_),
    "complex": (numbers.Complex,),
    "text": (str, bytes),
    "object": (object,),
}


@dataclass(frozen=True)
class StoredColumn:
    """What a column stores, before anything is learned from its rows."""

    sort: str  #: "numbers", "order", "levels" or "dates"
    values: NDArray[Any]  #: floats, places in ``names`` (-1 in gaps), or datetime64, (N,)
    names: tuple[str, ...] = ()  #: of levels, in the order of an ordered category

    def encoded(self) -> Encoded:
        """Turn the column into numbers, by its own rows."""
        if self.sort == "levels":
            return encode_levels(self.values, self.names)
        if self.sort == "order":
            return encode_order(self.values)
        return (encode_dates if self.sort == "dates" else encode_numbers)(self.values)


def is_plain_dtype(dtype: Any) -> bool:
    """Return whether a type of pandas is one of numpy's for numbers and truth values."""
    return isinstance(dtype, np.dtype) and dtype.kind in "fiub"


def is_plain_pandas(column: Any) -> bool:
    """Return whether numpy takes a pandas column for floats, none of them missing but by NaN."""
    from pandas.api.types import is_numeric_dtype

    dtype = column.dtype
    if not isinstance(dtype, np.dtype):  # one that may mark gaps in its own way
        return is_numeric_dtype(dtype) and dtype.kind != "c" and not column.isna().any()
    if dtype.kind == "O":
        return {_sort(kind) for kind in set(map(type, column))} <= {"number"}
    return is_plain_dtype(dtype)


def is_plain_polars(column: Any) -> bool:
    """Return whether numpy takes a polars column for floats, none of them missing but by NaN."""
    import polars as pl

    dtype = column.dtype
    is_number = dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean
    return is_number and not column.null_count()


def read_pandas(column: Any) -> StoredColumn:
    """Read a pandas column."""
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.int64)
        return StoredColumn("order" if dtype.ordered else "levels", codes, _text(dtype.categories))
    if isinstance(dtype, pd.PeriodDtype):  # by seconds, which reach further back than timestamps
        seconds = column.array.asfreq("s", how="start").asi8
        return StoredColumn("dates", seconds.view("datetime64[s]"))
    if dtype.kind == "c":
        raise RefusedColumn("complex")
    if is_numeric_dtype(dtype):  # truth values too
        return StoredColumn("numbers", column.to_numpy(dtype=np.float64, na_value=np.nan))
    if isinstance(dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_localize(None)  # the time of day where it was noted
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "M":
        return StoredColumn("dates", column.to_numpy())
    if isinstance(dtype, np.dtype) and dtype.kind == "m":
        return StoredColumn("numbers", column.to_numpy() / SECOND)
    objects = column.astype(object).to_numpy()
    return read_objects(objects, pd.isna(objects))


def read_polars(column: Any) -> StoredColumn:
    """Read a polars column."""
    import polars as pl

    dtype = column.dtype
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return StoredColumn("numbers", column.cast(pl.Float64).to_numpy())
    if dtype == pl.Enum:
        codes = column.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return StoredColumn("order", codes, _text(dtype.categories.to_list()))
    if dtype in (pl.Date, pl.Datetime):
        if getattr(dtype, "time_zone", None):
            column = column.dt.replace_time_zone(None)  # the time of day where it was noted
        return StoredColumn("dates", column.to_numpy())
    if dtype == pl.Duration:
        return StoredColumn("numbers", column.to_numpy() / SECOND)
    if dtype == pl.Categorical:
        column = column.cast(pl.String)
    values = column.to_list()
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return read_objects(objects, column.is_null().to_numpy())


def read_objects(objects: Any, missing: BoolArray) -> StoredColumn:
    """Read Python's objects, of one sort where they are not missing."""
    present = objects[~missing]
    sort_of = {kind: _sort(kind) for kind in set(map(type, present))}
    sorts = set(sort_of.values())
    if not sorts:
        return StoredColumn("numbers", np.full(len(objects), np.nan))
    if sorts == {"text"}:
        return _read_text(objects, missing)
    if sorts == {"number"}:
        values = np.full(len(objects), np.nan)
        values[~missing] = present.astype(np.float64)
        return StoredColumn("numbers", values)
    if sorts == {"date"} or sorts == {"duration"}:
        kind = "datetime64[us]" if sorts == {"date"} else "timedelta64[us]"
        times = np.full(len(objects), "NaT", dtype=kind)
        times[~missing] = [_without_zone(value) for value in present]
        if sorts == {"duration"}:
            return StoredColumn("numbers", times / SECOND)
        return StoredColumn("dates", times)
    if "object" in sorts:
        odd, problem = "object", "object"
    elif sorts <= {"number", "complex"}:
        odd, problem = "complex", "complex"
    else:  # the rarest sort is what should not be there
        counts = Counter(sort_of[type(value)] for value in present)
        odd, problem = min(sorts, key=lambda sort: (counts[sort], sort)), "mixed"
    first = next(value for value in present if sort_of[type(value)] == odd)
    raise RefusedColumn(problem, such_as(first))


def _read_text(objects: Any, missing: BoolArray) -> StoredColumn:
    place: dict[Any, int] = {}
    codes = np.full(len(objects), -1)
    codes[~missing] = [place.setdefault(value, len(place)) for value in objects[~missing]]
    return StoredColumn("levels", codes, _text(place))


def _text(levels: Any) -> tuple[str, ...]:
    """Return names of levels; what is no utf-8 keeps its bytes, so that no two become one."""
    return tuple(
        level.decode("utf-8", "backslashreplace") if isinstance(level, bytes) else str(level)
        for level in levels
    )


def _sort(kind: type) -> str:
    return next(sort for sort, types in SORTS.items() if issubclass(kind, types))


def _without_zone(time: Any) -> Any:
    return time.replace(tzinfo=None) if getattr(time, "tzinfo", None) is not None else time
