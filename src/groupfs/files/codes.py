"""Numbers that may stand for no answer, such as 99 beside 1 to 5 or "yes", and -999 far below."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from groupfs.files.column_values import as_number
from groupfs.utils.text import count, join_names, join_words
from groupfs.utils.types import FloatArray

#: Numbers that questionnaires use for no answer, and how many of them a question has, at most.
CODES = {float(f"{sign}{digit * n}") for sign in ("", "-") for digit in "789" for n in (1, 2, 3, 4)}
CODES |= {-1.0, -2.0, 96.0, 97.0, 98.0, 996.0, 997.0, 998.0, -98.0, -97.0, -998.0, -997.0}
MOST_CODES = 3
#: Steps of a scale whose answers are numbers, and different answers with halves and codes.
MOST_STEPS, MOST_LEVELS = 12, 30
#: Share of the columns of answers that must have a code in common, and number of them.
SHARED, FEWEST_COLUMNS = 0.1, 2
#: Share that suffices for codes that can hardly be answers: 77, 99, -99 and longer ones.
SHARED_IF_LONG = 0.001
#: Columns, and share of them, that make a scale clear; with so many as have a step more, there are
#: two scales. The step beyond is a code if it has so many rows, as ends of scales may be rare,
#: but fewer by this share than the usual step, or it is one.
FEWEST_CLEAR, CLEAR, SECOND, FEWEST_ROWS, RARER = 5, 0.5, 1 / 3, 3, 2 / 3

#: Numbers that stand for gaps among measurements: long ones, and negative ones of all lengths; in
#: so many rows, and among so many other values, at least.
SENTINELS = {float("9" * n) for n in range(3, 8)} | {-float("9" * n) for n in range(1, 8)}
FEWEST_GAPS, FEWEST_VALUES = 2, 3

#: The steps of a column of answers, with how many rows have each, and codes far from them.
Answers: TypeAlias = tuple[dict[float, int], list[float]]


def suspected_codes(
    columns: Mapping[str, FloatArray], categories: Mapping[str, Sequence[str]], names: Sequence[str]
) -> list[str]:
    """Name numbers that may stand for no answer in columns of numbers and among words.

    Those that are values of other columns are to be gaps in these alone; ``names`` are those of all
    columns of the table.
    """
    found = _among_numbers(columns)
    words = {name: codes for name, values in categories.items() if (codes := _among_words(values))}
    times = Counter(code for codes in words.values() for code in codes)
    for name, codes in words.items():
        for code in codes:
            if abs(code) > 9 or times[code] >= FEWEST_COLUMNS:
                found.setdefault(code, []).append(name)
    if not found:
        return []
    place = {name: i for i, name in enumerate(names)}
    found = {code: sorted(found[code], key=place.__getitem__) for code in sorted(found)}
    shared = {f"{code:g}": of for code, of in found.items()}
    where = "; ".join(
        f"{code} in {count(len(names), 'column')} ({join_names(names)})"
        for code, names in shared.items()
    )
    they, them = ("They", "them") if len(shared) > 1 else ("It", "it")
    given, elsewhere = list[str](), list[str]()
    for code, of in found.items():
        others = (columns[name] for name in columns.keys() - of)
        spelled = (value for name in categories.keys() - of for value in categories[name])
        if any((x == code).any() for x in others) or code in map(as_number, spelled):
            given += [f"{part}={code:g}" for part in _in_short(of, place)]
            elsewhere.append(f"{code:g}")
        else:
            given.append(f"{code:g}")
    settings = f"{given}" if elsewhere else f"[{','.join(shared)}]"
    return [
        f"Found a number apart from the other values: {where}. {they} may stand for no answer: "
        f"missing={settings} takes {them} for gaps"
        f"{', and the words beside for answers in their order' if words else ''}"
        f"{f'; other columns have {join_words(elsewhere)} as a value' if elsewhere else ''}."
    ]


def _in_short(columns: Sequence[str], place: Mapping[str, int]) -> list[str]:
    """Write columns by their places as ``a1:b5,c2``; one by one where a name has a comma."""
    runs = list[list[str]]()
    for name in columns:
        if runs and place[name] == place[runs[-1][-1]] + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    parts = [of[0] if len(of) == 1 else f"{of[0]}:{of[-1]}" for of in runs]
    return parts if "," in "".join(parts) else [",".join(parts)]


def as_code(word: str) -> float | None:
    """Return a number written as text if it is one of the codes."""
    number = as_number(word)
    return number if number in CODES else None


def steps_and_codes(values: FloatArray) -> Answers | None:
    """Tell codes from the steps of a column of answers; None if it is none.

    High codes are further off than a step would be: by 2, long ones three times the highest step.
    Negative ones are below steps that are not, and a scale from -2 to 2 has none. Where answers
    have fractions, only long ones are codes.
    """
    if len(np.unique(values[:100])) > MOST_LEVELS:  # quick for measurements
        return None
    levels, times = np.unique(values[np.isfinite(values)], return_counts=True)
    if not 2 <= len(levels) <= MOST_LEVELS:
        return None
    rows = dict(zip(levels.tolist(), times.tolist(), strict=True))
    shortest = 10 if (levels % 1).any() else 0
    below = [level for level in rows if level < 0]
    known = [level for level in rows if level >= max(shortest, 0) and level in CODES]
    steps, above = [level for level in rows if level >= 0 and level not in known], list[float]()
    for code in known:
        highest = max(steps, default=code)
        is_far = code >= (highest + 2 if code < 10 else 3 * max(highest, 5))
        (above if is_far else steps).append(code)
    is_scale = not steps or below[:1] == [-max(steps)] or (len(steps) < 3 and below[:1] > [-7])
    if is_scale or not set(below) <= CODES or -shortest < max(below, default=-99):
        steps, below = below + steps, []
    if len(steps) < 2 or max(steps) - min(steps) >= MOST_STEPS:
        return None
    if max(len(above), len(below)) > MOST_CODES:
        return None
    return {step: rows[step] for step in steps}, below + above


def _among_numbers(columns: Mapping[str, FloatArray]) -> dict[float, list[str]]:
    """Find the codes that enough columns of answers have, and those far from measurements.

    Short ones must not be steps of as many columns: of -3 to 3, some may lack -3. Nor may as many
    columns have another number as far off: counts do. Where most whole numbers are no answers, but
    counts or pixels, there are none, and long ones must be shared.
    """
    answers, far, n_counts = dict[str, Answers](), list[tuple[float, str]](), 0
    for name, values in columns.items():
        if own := steps_and_codes(values):
            answers[name] = own
        else:
            far += [(code, name) for code in _far_from_others(values)]
            n_counts += not (values[:100][np.isfinite(values[:100])] % 1).any()
    times = Counter(step for steps, _ in answers.values() for step in steps)
    some, are_answers = max(FEWEST_COLUMNS, SHARED * len(answers)), len(answers) >= n_counts
    found = _beside_clear_scale(answers) if are_answers else {}
    highest = [sorted(steps)[-2:] for steps, _ in answers.values()]
    n_apart = sum(last - before >= 2 for before, last in highest)
    for code in {code for _, codes in answers.values() for code in codes}:
        names = [name for name, (_, codes) in answers.items() if code in codes]
        if abs(code) > 9:
            is_shared = len(names) >= (SHARED_IF_LONG * len(answers) if are_answers else some)
        else:
            as_many = max(times[code], n_apart if code > 0 else 0)
            is_shared = are_answers and len(names) >= max(some, as_many + 1)
        if is_shared:
            found[code] = names
    for code, name in far:
        found.setdefault(code, []).append(name)
    return found


def _far_from_others(values: FloatArray) -> list[float]:
    """Find sentinels that are beyond all other numbers by more than the range of these."""
    values = values[np.isfinite(values)]
    if not len(values) or {values.min(), values.max()}.isdisjoint(SENTINELS):
        return []
    is_code = np.isin(values, [*SENTINELS])
    codes, times = np.unique(values[is_code], return_counts=True)
    if len(others := np.unique(values[~is_code])) < FEWEST_VALUES:
        return []
    low, high = others[[0, -1]]
    is_far = np.maximum(low - codes, codes - high) > high - low
    return codes[is_far & (times >= FEWEST_GAPS)].tolist()


def _beside_clear_scale(answers: Mapping[str, Answers]) -> dict[float, list[str]]:
    """Find codes in few columns where most have one scale, also 0 and 8 beside 1 to 7.

    Nothing is found if as many columns have other numbers beside the scale.
    """
    ends = {name: (min(steps), max(steps)) for name, (steps, _) in answers.items()}
    scales = Counter(ends.values())
    (low, high), n_clear = max(scales.items(), key=lambda s: s[1], default=((0, 0), 0))
    if n_clear < max(FEWEST_CLEAR, CLEAR * len(answers)) or high - low < 2:
        return {}
    beside: dict[float, list[str]] = {}
    n_other = 0
    for name, (steps, codes) in answers.items():
        outside = [step for step in steps if not low <= step <= high]
        if set(outside) <= CODES | {0.0}:
            fewest = max(FEWEST_ROWS, sum(steps.values()) / 100)
            usual = np.median([*steps.values()])
            many = [step for step in outside if fewest <= steps[step] < RARER * usual]
            for code in (*codes, *many):
                beside.setdefault(code, []).append(name)
        else:
            n_other += scales[ends[name]] < FEWEST_CLEAR
    return {c: names for c, names in beside.items() if n_other < len(names) <= SECOND * n_clear}


def _among_words(values: Sequence[str]) -> list[float]:
    """Return the codes among answers in words, none where other numbers are among them."""
    codes = [code for value in values if (code := as_code(value)) is not None]
    words = [value for value in values if not value.lstrip("+-")[:1].isdigit()]
    enough = len(words) >= (1 if min(map(abs, codes), default=0) > 9 else 2)
    is_mixed = enough and len(codes) + len(words) == len(values)
    return codes if is_mixed and len(codes) <= MOST_CODES else []
