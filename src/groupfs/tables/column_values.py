"""The values of one column of a file as numbers, text or dates, whatever way they are stored."""

from decimal import Decimal
from typing import Any

import numpy as np

from groupfs.utils.types import FloatArray


def to_numbers(series: Any) -> FloatArray:
    """Return numbers, also of True and False, of which one gap in a file makes words."""
    import pandas as pd

    if series.dtype.kind == "m":
        return (series / pd.Timedelta(seconds=1)).to_numpy(dtype=np.float64)
    if not is_numeric(series):
        truth = {"true": "1", "false": "0"}
        text = to_text(series).map(lambda v: truth.get(v.lower(), v), na_action="ignore")
        series = pd.to_numeric(text, errors="coerce")
    numbers: FloatArray = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def to_text(series: Any) -> Any:
    """Return the values as text without blanks around it, missing ones as None."""
    text = series.astype(object).map(lambda value: str(value).strip(), na_action="ignore")
    return text.where(text.notna() & (text != ""), None)


def to_dates(series: Any) -> Any:
    """Return dates by their own clock, of text by Greenwich's where it says how far off that is."""
    import pandas as pd

    if series.dtype.kind == "M":
        return series.dt.tz_localize(None)
    text = to_text(series)
    return pd.to_datetime(text, errors="coerce", utc=True, format="ISO8601").dt.tz_localize(None)


def plain_spelling(word: str) -> str:
    """Return one spelling for all of a number or a truth value."""
    try:
        return repr(float(word))
    except ValueError:
        return word.lower() if word.lower() in ("true", "false") else word


def is_numeric(series: Any) -> bool:
    from pandas.api.types import is_numeric_dtype

    return series.dtype.kind == "m" or is_numeric_dtype(series.dtype) and series.dtype.kind != "c"


def is_text(series: Any) -> bool:
    simple = (str, bytes, bool, int, float, Decimal, np.generic)
    first = series.dropna().astype(object).head(1000)
    return all(isinstance(value, simple) for value in first)
