"""Numbers made small for json: rounded, or as bytes in base64 where a picture needs no digits."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def tidy(value: float, digits: int) -> float | None:
    """A number with so many significant digits; None if it is not finite."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def tidy_list(values: Iterable[float], digits: int) -> list[float | None]:
    return [tidy(float(value), digits) for value in values]


def pack(
    values: NDArray[np.float64],
    low: float | None = None,
    high: float | None = None,
    bits: int = 8,
) -> dict[str, Any]:
    """An array as unsigned integers between ``low`` and ``high``, little-endian, in base64.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.report.json_numbers import pack, unpack
    >>> packed = pack(np.array([[0.0, 0.5], [1.0, 0.25]]), bits=16)
    >>> unpack(packed).round(3).tolist()
    [[0.0, 0.5], [1.0, 0.25]]
    """
    low = float(values.min()) if low is None else low
    high = float(values.max()) if high is None else high
    steps = 2**bits - 1
    scaled = np.clip((values - low) / max(high - low, 1e-12), 0, 1) * steps
    data = np.round(scaled).astype("<u2" if bits == 16 else "u1").tobytes()
    return {
        "shape": list(values.shape),
        "low": float(f"{low:.6g}"),
        "high": float(f"{high:.6g}"),
        "bits": bits,
        "data": base64.b64encode(data).decode("ascii"),
    }


def first_columns(packed: dict[str, Any], n: int) -> dict[str, Any]:
    """What :func:`pack` made of a matrix, for its first n columns."""
    size = packed["bits"] // 8
    rows, columns = packed["shape"]
    raw = np.frombuffer(base64.b64decode(packed["data"]), "u1").reshape(rows, columns * size)
    data = base64.b64encode(raw[:, : n * size].tobytes()).decode("ascii")
    return {**packed, "shape": [rows, min(n, columns)], "data": data}


def unpack(packed: dict[str, Any]) -> NDArray[np.float64]:
    """What :func:`pack` packed, up to the rounding."""
    kind = "<u2" if packed["bits"] == 16 else "u1"
    steps = np.frombuffer(base64.b64decode(packed["data"]), kind).reshape(packed["shape"])
    span = packed["high"] - packed["low"]
    values: NDArray[np.float64] = packed["low"] + span * steps / (2 ** packed["bits"] - 1)
    return values
