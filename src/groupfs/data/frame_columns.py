"""Columns of pandas and polars as numbers, by what each of them stores.

What neither of them has a type for is stored as Python's objects, and decided by the types of
these. Bytes are text, as files of other programs give it.
"""

import datetime
import numbers
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np

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


def encode_pandas(column: Any) -> Encoded:
    """Turn a pandas column into numbers."""
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.int64)
        return (
            encode_order(codes) if dtype.ordered else encode_levels(codes, _text(dtype.categories))
        )
    if isinstance(dtype, pd.PeriodDtype):  # by seconds, which reach further back than timestamps
        seconds = column.array.asfreq("s", how="start").asi8
        return encode_dates(seconds.view("datetime64[s]"))
    if dtype.kind == "c":
        raise RefusedColumn("complex")
    if is_numeric_dtype(dtype):  # truth values too
        return encode_numbers(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if isinstance(dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_localize(None)  # the time of day where it was noted
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "M":
        return encode_dates(column.to_numpy())
    if isinstance(dtype, np.dtype) and dtype.kind == "m":
        return encode_numbers(column.to_numpy() / SECOND)
    objects = column.astype(object).to_numpy()
    return encode_objects(objects, pd.isna(objects))


def encode_polars(column: Any) -> Encoded:
    """Turn a polars column into numbers."""
    import polars as pl

    dtype = column.dtype
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return encode_numbers(column.cast(pl.Float64).to_numpy())
    if dtype == pl.Enum:
        return encode_order(column.to_physical().cast(pl.Int64).fill_null(-1).to_numpy())
    if dtype in (pl.Date, pl.Datetime):
        if getattr(dtype, "time_zone", None):
            column = column.dt.replace_time_zone(None)  # the time of day where it was noted
        return encode_dates(column.to_numpy())
    if dtype == pl.Duration:
        return encode_numbers(column.to_numpy() / SECOND)
    if dtype == pl.Categorical:
        column = column.cast(pl.String)
    values = column.to_list()
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return encode_objects(objects, column.is_null().to_numpy())


def encode_objects(objects: Any, missing: BoolArray) -> Encoded:
    """Turn Python's objects, of one sort where they are not missing, into numbers."""
    present = objects[~missing]
    sort_of = {kind: _sort(kind) for kind in set(map(type, present))}
    sorts = set(sort_of.values())
    if not sorts:
        return encode_numbers(np.full(len(objects), np.nan))
    if sorts == {"text"}:
        return _encode_text(objects, missing)
    if sorts == {"number"}:
        values = np.full(len(objects), np.nan)
        values[~missing] = present.astype(np.float64)
        return encode_numbers(values)
    if sorts == {"date"} or sorts == {"duration"}:
        kind = "datetime64[us]" if sorts == {"date"} else "timedelta64[us]"
        times = np.full(len(objects), "NaT", dtype=kind)
        times[~missing] = [_without_zone(value) for value in present]
        return encode_dates(times) if sorts == {"date"} else encode_numbers(times / SECOND)
    if "object" in sorts:
        odd, problem = "object", "object"
    elif sorts <= {"number", "complex"}:
        odd, problem = "complex", "complex"
    else:  # the rarest sort is what should not be there
        counts = Counter(sort_of[type(value)] for value in present)
        odd, problem = min(sorts, key=lambda sort: (counts[sort], sort)), "mixed"
    first = next(value for value in present if sort_of[type(value)] == odd)
    raise RefusedColumn(problem, such_as(first))


def _encode_text(objects: Any, missing: BoolArray) -> Encoded:
    place: dict[Any, int] = {}
    codes = np.full(len(objects), -1)
    codes[~missing] = [place.setdefault(value, len(place)) for value in objects[~missing]]
    return encode_levels(codes, _text(place))


def _text(levels: Any) -> list[str]:
    """Return names of levels; what is no utf-8 keeps its bytes, so that no two become one."""
    return [
        level.decode("utf-8", "backslashreplace") if isinstance(level, bytes) else str(level)
        for level in levels
    ]


def _sort(kind: type) -> str:
    return next(sort for sort, types in SORTS.items() if issubclass(kind, types))


def _without_zone(time: Any) -> Any:
    return time.replace(tzinfo=None) if getattr(time, "tzinfo", None) is not None else time
