"""Numbers and words that stand for no answer: those that are given, and those that look like it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

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


class Levels(NamedTuple):
    """The different values of a column of answers."""

    steps: list[float]
    codes: list[float]  #: known ones, far from the steps


def read_codes(missing: Any, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Read codes for no answer: a value, or several, as numbers, words or text with commas.

    Those for one of the columns with these ``names`` alone, such as C1=99, are refused.
    """
    if missing is None:
        return ()
    if isinstance(missing, Mapping):
        raise _for_one_column(missing, [v for v in missing.values() if np.isscalar(v)])
    given = [missing] if isinstance(missing, str) or not isinstance(missing, Iterable) else missing
    parts = [part.strip() for value in given for part in str(value).split(",")]
    if any(not part for part in parts):
        raise ColumnsError(
            f"missing={missing!r} has an empty value; give what stands for no answer, such as 99.",
            "missing",
        )
    for name, equals, value in [part.partition("=") for part in parts]:
        if equals and name.strip() in names:
            raise _for_one_column(f"{name}={value}", [value.strip()])
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


def suspected_codes(answers: Mapping[str, Levels]) -> list[str]:
    """Name codes that enough columns have, of those found by :func:`answer_levels`.

    Short ones must not be steps of as many columns: of -3 to 3, some may lack -3.
    """
    by_code: dict[float, list[str]] = {}
    for name, levels in answers.items():
        for code in levels.codes:
            by_code.setdefault(code, []).append(name)
    steps = Counter(step for levels in answers.values() for step in levels.steps)
    few, some = SHARED_IF_LONG * len(answers), max(FEWEST_COLUMNS, SHARED * len(answers))
    shared = {
        code: names
        for code, names in sorted(by_code.items())
        if len(names) >= (few if abs(code) > 9 else max(some, steps[code] + 1))
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


def answer_levels(values: FloatArray) -> Levels | None:
    """Tell codes from the few whole numbers of a column of answers; None if it is none."""
    first = values[:100]
    if (first[np.isfinite(first)] % 1 > 0).any():
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
    return Levels(steps.tolist(), [*below.tolist(), *above.tolist()])


def _are_above(levels: FloatArray, k: int) -> bool:
    """Tell whether the k highest are codes: known ones, and further off than steps would be."""
    if len(levels) < k + 2 or not set(levels[-k:].tolist()) <= CODES:
        return False
    first, last = levels[-k], levels[-k - 1]
    return bool(first - last >= 2 if first < 10 else first >= 3 * max(last, 5))


def _are_below(levels: FloatArray, k: int) -> bool:
    """Tell whether the k lowest are codes: negative ones, below steps that are not.

    A scale from -2 to 2 has steps on both sides of 0.
    """
    if len(levels) < k + 3 or not set(levels[:k].tolist()) <= CODES or levels[0] == -levels[-1]:
        return False
    return bool(levels[k - 1] < 0 <= levels[k])


def _for_one_column(given: Any, values: Sequence[Any]) -> ColumnsError:
    return ColumnsError(
        f"missing={given!r} names a column, but what stands for no answer does so in all columns; "
        f"give the values alone, such as missing=[{','.join(map(str, values)) or 99}].",
        "missing",
    )


def _as_number(code: str) -> float | None:
    try:
        return float(code)
    except ValueError:
        return None


def _spelling(text: str) -> str:
    return plain_spelling(text.strip()).casefold()
