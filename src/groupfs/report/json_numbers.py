"""Numbers made small for json: rounded, or as bytes in base64 where a picture needs no digits."""

import base64
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from groupfs.utils.types import FloatArray

#: What json can write: a summary, or one of its parts.
Json = dict[str, Any]


def tidy(value: float, digits: int) -> float | None:
    """Round to so many significant digits; give None for what is not finite."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def tidy_list(values: Iterable[float], digits: int) -> list[float | None]:
    return [tidy(float(value), digits) for value in values]


def pack(
    values: FloatArray, low: float | None = None, high: float | None = None, bits: int = 8
) -> Json:
    """Write an array as unsigned integers between ``low`` and ``high``, little-endian, in base64.

    ``gaps`` are the places of NaN, where there are any.

    Examples
    --------
    >>> pack(np.array([[0.0, 0.5], [1.0, 0.25]]))
    {'shape': [2, 2], 'low': 0.0, 'high': 1.0, 'bits': 8, 'data': 'AID/QA=='}
    """
    low = float(np.nanmin(values)) if low is None else low
    high = float(np.nanmax(values)) if high is None else high
    scaled = np.clip((values - low) / max(high - low, 1e-12), 0, 1) * (2**bits - 1)
    data = np.round(np.nan_to_num(scaled)).astype("<u2" if bits == 16 else "u1").tobytes()
    gaps = np.flatnonzero(np.isnan(values)).tolist()
    return {
        "shape": list(values.shape),
        "low": float(f"{low:.6g}"),
        "high": float(f"{high:.6g}"),
        "bits": bits,
        "data": base64.b64encode(data).decode("ascii"),
        **({"gaps": gaps} if gaps else {}),
    }
