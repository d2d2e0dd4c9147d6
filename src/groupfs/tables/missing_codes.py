"""Numbers and words that stand for no answer: those that are given, and those that look like it."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from groupfs.tables.column_values import is_numeric, plain_spelling, to_text
from groupfs.tables.decisions import ColumnsError
from groupfs.utils.text import join_names
from groupfs.utils.types import BoolArray, FloatArray

#: Numbers that questionnaires use for no answer.
CODES = {float(f"{sign}{digit * n}") for sign in ("", "-") for digit in "789" for n in (1, 2, 3, 4)}
CODES |= {-1.0, -2.0, 96.0, 97.0, 98.0, 996.0, 997.0, 998.0, -98.0, -97.0, -998.0, -997.0}
#: Steps of a scale of answers, at most, and codes beside them.
MOST_STEPS, MOST_CODES = 12, 3
#: Share of the columns of answers that must have a code in common, and number of them.
SHARED, FEWEST_COLUMNS = 0.1, 2
#: Share that suffices for codes that can hardly be answers: 77, 99, -99 and longer ones.
SHARED_IF_LONG = 0.001


def read_codes(missing: Any) -> tuple[str, ...]:
    """Read codes for no answer: a value, or several, as numbers, words or text with commas."""
    if missing is None:
        return ()
    given = [missing] if isinstance(missing, str) or not isinstance(missing, Iterable) else missing
    parts = [part.strip() for value in given for part in str(value).split(",")]
    if any(not part for part in parts):
        raise ColumnsError(
            f"missing={missing!r} has an empty value; give what stands for no answer, such as 99.",
            "missing",
        )
    return tuple(dict.fromkeys(parts))


def find_codes(series: Any, codes: Sequence[str]) -> BoolArray:
    """Return where a column has one of the codes, as a number or as text."""
    if not codes:
        return np.zeros(len(series), dtype=bool)
    if is_numeric(series) and series.dtype.kind != "m":
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.isin(
            numbers, [value for code in codes if (value := _as_number(code)) is not None]
        )
    text = to_text(series).map(_spelling, na_action="ignore")
    found: BoolArray = text.isin([_spelling(code) for code in codes]).to_numpy()
    return found


def without_codes(series: Any, codes: Sequence[str]) -> Any:
    """Return a column with gaps where it has one of the codes."""
    found = find_codes(series, codes)
    return series.mask(found) if found.any() else series


def suspected_codes(answers: dict[str, list[float]]) -> list[str]:
    """Name codes that enough columns have, of those found by :func:`outlying_codes`."""
    by_code: dict[float, list[str]] = {}
    for name, codes in answers.items():
        for code in codes:
            by_code.setdefault(code, []).append(name)
    few, some = max(1, SHARED_IF_LONG * len(answers)), max(FEWEST_COLUMNS, SHARED * len(answers))
    shared = {
        code: names
        for code, names in sorted(by_code.items())
        if len(names) >= (few if abs(code) > 9 else some)
    }
    if not shared:
        return []
    found = "; ".join(
        f"{code:g} in {len(names)} column{'s' * (len(names) > 1)} ({join_names(names)})"
        for code, names in shared.items()
    )
    which = ",".join(f"{code:g}" for code in shared)
    stand = "They may" if len(shared) > 1 else "It may"
    return [
        f"Found a number far from the other answers: {found}. {stand} stand for no answer: "
        f"missing=[{which}] takes {'them' if len(shared) > 1 else 'it'} for gaps."
    ]


def outlying_codes(values: FloatArray) -> list[float] | None:
    """Return codes far from the few whole numbers of a column of answers; None if it is none."""
    if (values[:100] % 1 > 0).any():
        return None
    levels = np.unique(values[np.isfinite(values)])
    if not 2 <= len(levels) <= MOST_STEPS + 2 * MOST_CODES or (levels != np.floor(levels)).any():
        return None
    high = next((k for k in range(MOST_CODES, 0, -1) if _are_above(levels, k)), 0)
    levels, above = levels[: len(levels) - high], levels[len(levels) - high :]
    low = next((k for k in range(MOST_CODES, 0, -1) if _are_below(levels, k)), 0)
    steps, below = levels[low:], levels[:low]
    if len(steps) < 2 or np.ptp(steps) >= MOST_STEPS:
        return None
    return [*below.tolist(), *above.tolist()]


def _are_above(levels: FloatArray, k: int) -> bool:
    """Tell whether the k highest are codes: known ones, and further off than steps would be."""
    if len(levels) < k + 2 or not set(levels[-k:].tolist()) <= CODES:
        return False
    first, last = levels[-k], levels[-k - 1]
    return bool(first - last >= 2 if first < 10 else first >= 3 * max(last, 5))


def _are_below(levels: FloatArray, k: int) -> bool:
    """Tell whether the k lowest are codes: negative ones, below steps that are not."""
    if len(levels) < k + 3 or not set(levels[:k].tolist()) <= CODES:
        return False
    return bool(levels[k - 1] < 0 <= levels[k])


def _as_number(code: str) -> float | None:
    try:
        return float(code)
    except ValueError:
        return None


def _spelling(text: str) -> str:
    return plain_spelling(text.strip()).casefold()
