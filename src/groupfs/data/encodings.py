"""How levels and dates become numbers; N rows, a columns each, NaN where a value is missing.

Every function returns the kind, "number", "category" or "date", and the values, (N, a).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groupfs.data.refused_columns import RefusedColumn
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: A level of fewer rows says nothing of the others; it is merged with those like it.
FEWEST_ROWS = 5
#: More levels than this are no category; ids and free text have so many.
MOST_LEVELS = 100
#: So many values that all differ may be chance in a small table; more are ids.
MOST_DIFFERENT = 10
DAY = np.timedelta64(1, "D")
DATE = "datetime64[us]"  # nanoseconds end in the middle of a year
#: Days, two years, that dates must span for seasons to be told from a trend.
TWO_YEARS = 730
#: Points on a circle whose mean is so long are one: within 3 days of the year, 10 minutes of the
#: day. The same date has two places in the year, by whether it is a leap year.
ONE_POINT = 0.999
#: Spread of points on a circle that is none but for rounding.
NO_SPREAD = 1e-9

Encoded = tuple[str, FloatArray]


def encode_numbers(values: NDArray[np.generic]) -> Encoded:
    """Return numbers as a column of their own, copied."""
    return "number", np.array(values, dtype=np.float64).reshape(-1, 1)


def encode_order(codes: IntArray) -> Encoded:
    """Return places in an order; -1 stands for a missing value."""
    return encode_numbers(np.where(codes < 0, np.nan, codes))


def encode_levels(codes: IntArray, names: Sequence[str]) -> Encoded:
    """Return 0/1 columns of the levels, or one column if there are but two.

    Parameters
    ----------
    codes : (N,)
        The level of every row by its place in ``names``; -1 stands for a missing value.
    names : sequence of str
        Of the levels, in any order; blank ones are missing, equal ones are one.
    """
    known = sorted({name for name in names if name.strip()})
    place = {name: i for i, name in enumerate(known)}
    codes = np.array([*(place.get(name, -1) for name in names), -1])[codes]
    present, codes = np.unique(codes, return_inverse=True)
    if len(present) and present[0] < 0:
        codes -= 1
    counts = np.bincount(codes[codes >= 0])
    _refuse_too_many(counts)
    if len(counts) > 2:
        codes, counts = _merge_rare(codes, counts)
    if len(counts) <= 2:
        return encode_order(codes)
    indicators = (codes[:, None] == np.arange(len(counts))).astype(np.float64)
    indicators[codes < 0] = np.nan
    return "category", indicators


def encode_dates(times: NDArray[np.datetime64]) -> Encoded:
    """Return days since the first date, and places in the year and in the day where they matter.

    A place is a point on a circle, two columns, as the end of a year is next to its beginning.
    """
    times = times.astype(DATE)
    known = times[~np.isnat(times)]
    if not len(known):
        return "date", np.full((len(times), 1), np.nan)
    return "date", date_columns(times, known.min(), useful_parts(known))


def useful_parts(times: NDArray[np.datetime64]) -> list[int]:
    """Choose, of the columns of :func:`date_columns`, those that say something of these dates."""
    days = (times - times.min()) / DAY
    useful = [0]
    if days.max() >= TWO_YEARS:
        useful += [1 + part for part in _on_circle(_place_in_year(times))]
    if days.max() >= 2:
        useful += [3 + part for part in _on_circle(_place_in_day(times))]
    return useful


def date_columns(
    times: NDArray[np.datetime64], first: np.datetime64, parts: Sequence[int]
) -> FloatArray:
    """Return some of: days since a date, sine and cosine of the time of the year, of the day."""
    times = times.astype(DATE)
    present = ~np.isnat(times)
    known = times[present]
    columns = [
        (known - first) / DAY if part == 0 else _circle(_place(known, part), (part - 1) % 2)
        for part in parts
    ]
    return _fill_rows(np.column_stack(columns), present)


def _refuse_too_many(counts: IntArray) -> None:
    n_levels, n_rows = len(counts), int(counts.sum())
    if MOST_DIFFERENT < n_levels == n_rows:
        raise RefusedColumn("levels", f"{n_levels} values that all differ")
    if n_levels > max(MOST_DIFFERENT, n_rows / 2):
        raise RefusedColumn("levels", f"{n_levels} different values in {n_rows} rows")
    if n_levels > MOST_LEVELS:
        raise RefusedColumn("levels", f"{n_levels} different values")


def _merge_rare(codes: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Merge rare levels into the last one, and that with another if it is rare still.

    The most frequent level stays apart, so that small tables keep two levels.
    """
    by_rows = np.argsort(counts, kind="stable")
    others = by_rows[:-1]
    rare = others[counts[others] < FEWEST_ROWS]
    if not len(rare):
        return codes, counts
    if counts[rare].sum() < FEWEST_ROWS:
        rare = others[: len(rare) + 1]
    kept = np.setdiff1d(np.arange(len(counts)), rare)
    place = np.full(len(counts) + 1, len(kept))
    place[kept] = np.arange(len(kept))
    place[-1] = -1  # where a code of -1, missing, looks
    codes = place[codes]
    return codes, np.bincount(codes[codes >= 0])


def _place(times: NDArray[np.datetime64], part: int) -> FloatArray:
    return _place_in_year(times) if part < 3 else _place_in_day(times)


def _place_in_year(times: NDArray[np.datetime64]) -> FloatArray:
    year = times.astype("datetime64[Y]")
    start, end = year.astype("datetime64[D]"), (year + 1).astype("datetime64[D]")
    share: FloatArray = (times - start) / (end - start)
    return share


def _place_in_day(times: NDArray[np.datetime64]) -> FloatArray:
    share: FloatArray = (times - times.astype("datetime64[D]")) / DAY
    return share


def _circle(share: FloatArray, part: int) -> FloatArray:
    """Return sine (0) or cosine (1) of shares of a full turn."""
    angle = 2 * np.pi * share
    found: FloatArray = np.cos(angle) if part else np.sin(angle)
    return found


def _on_circle(share: FloatArray) -> list[int]:
    """Tell whether sine and cosine of shares of a full turn vary; neither if at one point."""
    parts = [_circle(share, part) for part in (0, 1)]
    if np.hypot(*(part.mean() for part in parts)) >= ONE_POINT:
        return []
    return [i for i in (0, 1) if parts[i].std() > NO_SPREAD]  # two opposite points need one


def _fill_rows(values: FloatArray, present: BoolArray) -> FloatArray:
    filled = np.full((len(present), values.shape[1]), np.nan)
    filled[present] = values
    return filled
