"""Read columns of data frames as numbers: categories, text, gaps.

Every column stays one feature: a number has one column of values, a category one for each of its
levels. Gaps stay gaps (NaN). What pandas and polars have no type for is stored as Python's objects,
and decided by the types of these. Bytes are text, as files of other programs give it.
"""

import datetime
import numbers
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupfs.data.checks import RefusedColumn, refuse_columns
from groupfs.utils.text import one_line, shorten
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: A level of fewer rows says nothing of the others; it is merged with those like it.
FEWEST_OF_LEVEL = 5
#: More levels than this are no category; ids and free text have so many.
MOST_LEVELS = 100
#: So many values that all differ may be chance in a small table; more are ids.
MOST_DIFFERENT = 10
#: Python's types by what their values are; the first that fits: numpy calls durations integers.
TYPES: dict[str, tuple[type, ...]] = {
    "date": (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64),
    "number": (numbers.Real, Decimal, np.bool_),
    "complex": (numbers.Complex,),
    "text": (str, bytes),
    "object": (object,),
}


@dataclass(frozen=True)
class StoredColumn:
    """What a column stores, before anything is learned from its rows."""

    sort: str  #: "numbers", "order" or "levels"
    values: NDArray[Any]  #: floats, or places in ``names`` (-1 in gaps), (N,)
    names: tuple[str, ...] = ()  #: of levels, in the order of an ordered category

    def encoded(self) -> FloatArray:
        """Turn the column into numbers by its own rows: (N, 1), or (N, a) of a category."""
        if self.sort == "levels":
            return encode_levels(self.values, self.names)
        if self.sort == "order":
            return _places(self.values)
        return np.array(self.values, dtype=np.float64).reshape(-1, 1)


def has_kinds(frame: Any) -> bool:
    """Return whether a data frame has columns that numpy does not simply take for floats.

    These are categories, text, dates and whatever has gaps that are not NaN; other things than
    data frames of pandas and polars have none.
    """
    if _is_frame_of("pandas", frame):
        # wide frames are mostly plain, and a column takes longer to get than its type
        is_plain = [isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in frame.dtypes]
        others = np.flatnonzero(np.logical_not(is_plain))
        return not all(_is_plain_pandas(frame.iloc[:, i]) for i in others)
    return _is_frame_of("polars", frame) and not all(map(_is_plain_polars, frame.iter_columns()))


def encode_columns(frame: Any) -> list[FloatArray]:
    """Turn every column of a data frame of pandas or polars into numbers, (N, a) each.

    - Numbers, truth values, ordered categories (places in the order of all that are declared; the
      order of a polars ``Enum`` is that of its declaration) and whatever has two values (0 and 1 in
      alphabetical order) become one column.
    - Categories and text become a 0/1 column for each level, in alphabetical order. Levels of
      fewer than 5 rows are merged into one, the last. Blank text is missing.

    So a number has one column and a category at least three, all NaN where its value is missing.
    An error names columns that are none of these.

    >>> import pandas as pd
    >>> jobs = ["cook", "smith", "baker", "cook", None] * 5
    >>> encoded = encode_columns(pd.DataFrame({"age": range(25), "job": jobs}))
    >>> encoded[1][:5]
    array([[ 0.,  1.,  0.],
           [ 0.,  0.,  1.],
           [ 1.,  0.,  0.],
           [ 0.,  1.,  0.],
           [nan, nan, nan]])
    """
    return _read_each(frame, StoredColumn.encoded)


def read_columns(frame: Any, places: IntArray) -> list[StoredColumn]:
    """Read some columns of a data frame of pandas or polars as they are stored."""
    is_pandas = _is_frame_of("pandas", frame)
    return _read_each(frame.iloc[:, places] if is_pandas else frame[:, places.tolist()])


def refuse_text(frame: Any) -> None:
    """Refuse a data frame with columns that are not numbers, nor levels called by numbers."""

    def refuse_words(column: StoredColumn) -> None:
        try:
            np.array(column.names, dtype=np.float64)
        except ValueError as reason:
            raise RefusedColumn("text") from reason

    if has_kinds(frame):
        _read_each(frame, refuse_words)
        if not len(frame):  # what describes a DataFrame of dask has types alone
            text = [name for name in frame.columns if has_kinds(frame[[name]])]
            refuse_columns((name, frame[name].dtype, RefusedColumn("text")) for name in text)


def encode_levels(codes: IntArray, names: Sequence[str]) -> FloatArray:
    """Return 0/1 columns of the levels, or one column if there are but two.

    ``codes`` (N,) are places in ``names``, -1 for a missing value; names are in any order, blank
    ones are missing, equal ones are one.
    """
    known = sorted({name for name in names if name.strip()})
    place = {name: i for i, name in enumerate(known)}
    codes = np.array([*(place.get(name, -1) for name in names), -1])[codes]
    counts = np.bincount(codes[codes >= 0], minlength=len(known))
    occur = np.flatnonzero(counts)
    _refuse_too_many(counts[occur])
    rare = occur[_rare_levels(counts[occur])]
    kept = np.setdiff1d(occur, rare)
    number = np.full(len(known) + 1, len(kept))
    number[kept] = np.arange(len(kept))
    number[-1] = -1  # where a code of -1, missing, looks
    codes, n_levels = number[codes], len(kept) + (len(rare) > 0)
    if n_levels <= 2:
        return _places(codes)
    indicators = (codes[:, None] == np.arange(n_levels)).astype(np.float64)
    indicators[codes < 0] = np.nan
    return indicators


def _places(codes: IntArray) -> FloatArray:
    """Return places in an order, (N, 1); -1 stands for a missing value."""
    return np.where(codes < 0, np.nan, codes).reshape(-1, 1)


def _refuse_too_many(counts: IntArray) -> None:
    n_levels, n_rows = len(counts), int(counts.sum())
    if MOST_DIFFERENT < n_levels == n_rows:
        raise RefusedColumn("levels", f"{n_levels} values that all differ")
    if n_levels > max(MOST_DIFFERENT, n_rows / 2):
        raise RefusedColumn("levels", f"{n_levels} different values in {n_rows} rows")
    if n_levels > MOST_LEVELS:
        raise RefusedColumn("levels", f"{n_levels} different values")


def _rare_levels(counts: IntArray) -> IntArray:
    """Find levels to merge into one: rare ones, and another if these are rare together still.

    The most frequent level stays apart, so that small tables keep two levels.
    """
    others = np.argsort(counts, kind="stable")[:-1] if len(counts) > 2 else counts[:0]
    rare = others[counts[others] < FEWEST_OF_LEVEL]
    if 0 < counts[rare].sum() < FEWEST_OF_LEVEL:
        return others[: len(rare) + 1]
    return rare


def _read_each(frame: Any, use: Callable[[StoredColumn], Any] = lambda column: column) -> list[Any]:
    """Read every column and use it; one error names all that are refused."""
    if _is_frame_of("pandas", frame):
        read, columns = _read_pandas, frame.items()  # by place, as names may repeat
    else:
        read, columns = _read_polars, zip(frame.columns, frame.iter_columns(), strict=True)
    found, refused = [], []
    for name, column in columns:
        try:
            found.append(use(read(column)))
        except RefusedColumn as reason:
            refused.append((name, column.dtype, reason))
    refuse_columns(refused)
    return found


def _is_frame_of(package: str, frame: Any) -> bool:
    module = sys.modules.get(package)  # who has such a frame has imported it
    return module is not None and isinstance(frame, module.DataFrame)


def _is_plain_pandas(column: Any) -> bool:
    """Return whether numpy takes a pandas column, of no type of its own for numbers, for floats."""
    from pandas.api.types import is_numeric_dtype

    dtype = column.dtype
    if not isinstance(dtype, np.dtype):  # one that may mark gaps in its own way
        return is_numeric_dtype(dtype) and dtype.kind != "c" and not column.isna().any()
    return dtype.kind == "O" and {_type(kind) for kind in set(map(type, column))} <= {"number"}


def _is_plain_polars(column: Any) -> bool:
    """Return whether numpy takes a polars column for floats, none of them missing but by NaN."""
    import polars as pl

    dtype = column.dtype
    is_number = dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean
    return is_number and not column.null_count()


def _read_pandas(column: Any) -> StoredColumn:
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.int64)
        return StoredColumn("order" if dtype.ordered else "levels", codes, _text(dtype.categories))
    if dtype.kind in "Mm" or isinstance(dtype, pd.PeriodDtype):
        raise RefusedColumn("dates")
    if dtype.kind == "c":
        raise RefusedColumn("complex")
    if is_numeric_dtype(dtype):  # truth values too
        return StoredColumn("numbers", column.to_numpy(dtype=np.float64, na_value=np.nan))
    objects = column.astype(object).to_numpy()
    return _read_objects(objects, pd.isna(objects))


def _read_polars(column: Any) -> StoredColumn:
    import polars as pl

    dtype = column.dtype
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return StoredColumn("numbers", column.cast(pl.Float64).to_numpy())
    if dtype == pl.Enum:
        codes = column.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return StoredColumn("order", codes, _text(dtype.categories.to_list()))
    if dtype.is_temporal():
        raise RefusedColumn("dates")
    if dtype == pl.Categorical:
        column = column.cast(pl.String)
    values = column.to_list()
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return _read_objects(objects, column.is_null().to_numpy())


def _read_objects(objects: Any, missing: BoolArray) -> StoredColumn:
    """Read Python's objects, of one type where they are not missing."""
    present = objects[~missing]
    type_of = {kind: _type(kind) for kind in set(map(type, present))}
    types = set(type_of.values())
    if types <= {"number"}:
        values = np.full(len(objects), np.nan)
        values[~missing] = present.astype(np.float64)
        return StoredColumn("numbers", values)
    if types == {"text"}:
        place: dict[Any, int] = {}
        codes = np.full(len(objects), -1)
        codes[~missing] = [place.setdefault(value, len(place)) for value in present]
        return StoredColumn("levels", codes, _text(place))
    if types == {"date"}:
        raise RefusedColumn("dates")
    counts = Counter(type_of[type(value)] for value in present)
    problem, odd = "mixed", min(types, key=lambda name: (counts[name], name))  # the rarest
    if "object" in types or types <= {"number", "complex"}:
        problem = odd = "object" if "object" in types else "complex"
    first = next(value for value in present if type_of[type(value)] == odd)
    raise RefusedColumn(problem, f"e.g. {shorten(one_line(repr(first)), 40)}")


def _text(levels: Any) -> tuple[str, ...]:
    """Return names of levels; what is no utf-8 keeps its bytes, so that no two become one."""
    return tuple(
        level.decode("utf-8", "backslashreplace") if isinstance(level, bytes) else str(level)
        for level in levels
    )


def _type(kind: type) -> str:
    return next(name for name, types in TYPES.items() if issubclass(kind, types))
