"""The values of one column of a file as numbers, text or dates, and which of them are no answer."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from groupfs.files.file_table import ColumnsError
from groupfs.utils.types import FloatArray

#: Dates as text, with or without the time of day.
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


def is_whole(series: Any) -> bool:
    """Return whether a column of floats holds whole numbers: what gaps have made of them."""
    return series.dtype.kind == "f" and bool((series.dropna() % 1 == 0).all())


def to_numbers(series: Any) -> FloatArray:
    """Return numbers, also of True and False, of which one gap in a file makes words."""
    import pandas as pd

    if not is_numeric(series):
        truth = {"true": "1", "false": "0"}
        text = to_text(series).map(lambda v: truth.get(v.lower(), v), na_action="ignore")
        series = pd.to_numeric(text, errors="coerce")
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


def to_text(series: Any) -> Any:
    """Return the values as text without blanks around it, missing ones as None."""
    text = series.astype(object).map(lambda value: str(value).strip(), na_action="ignore")
    return text.where(text.notna() & (text != ""), None)


def to_dates(series: Any) -> Any:
    """Return dates, also those written as text, without a time zone; None if some are no dates.

    Dates have their own clock, those of text Greenwich's where it says how far off that is.
    """
    import pandas as pd

    if is_numeric(series):
        return None
    text = to_text(series)
    present = text.dropna()
    if not len(present) or not all(map(ISO_DATE.fullmatch, present)):
        return None
    if series.dtype.kind == "M":
        return series.dt.tz_localize(None)
    return pd.to_datetime(text, errors="coerce", utc=True, format="ISO8601").dt.tz_localize(None)


def plain_spelling(word: str) -> str:
    """Return one spelling for all of a number or a truth value."""
    if (number := as_number(word)) is not None:
        return repr(number)
    return word.lower() if word.lower() in ("true", "false") else word


def as_number(text: str) -> float | None:
    """Return the number that a text is, None if it is no number."""
    try:
        return float(text)
    except ValueError:
        return None


def is_numeric(series: Any) -> bool:
    """Return whether a column holds real numbers or truth values."""
    from pandas.api.types import is_numeric_dtype

    return is_numeric_dtype(series.dtype) and series.dtype.kind != "c"


def read_codes(missing: Any) -> tuple[str, ...]:
    """Read codes for no answer: a value, or several, as numbers, words or text with commas."""
    if missing is None:
        return ()
    given = [missing] if isinstance(missing, str) or not isinstance(missing, Iterable) else missing
    codes = [part.strip() for value in given for part in str(value).split(",")]
    if not all(codes):
        raise ColumnsError(
            f"missing={missing!r} has an empty value; give what stands for no answer, such as 99.",
            "missing",
        )
    return tuple(dict.fromkeys(codes))


def without_codes(series: Any, codes: Sequence[str]) -> Any:
    """Return a column with gaps where it has one of the codes, as a number or as text."""
    import pandas as pd

    if not codes:
        return series
    if is_numeric(series):
        known = pd.to_numeric(np.array(codes, dtype=object), errors="coerce")
        is_code = np.isin(series.to_numpy(dtype=np.float64, na_value=np.nan), known)
    else:
        text = to_text(series).map(lambda v: plain_spelling(v).casefold(), na_action="ignore")
        is_code = text.isin([plain_spelling(code).casefold() for code in codes])
    return series.mask(is_code) if is_code.any() else series
