"""Answers in words that have an order: which words make a scale, and the step of each.

Common English wordings are known; others are given. A scale is a sequence of steps, from the lowest
to the highest; a step is a word, or several that mean the same, separated by ``|``.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from groupfs.tables.column_values import to_text
from groupfs.tables.decisions import ColumnsError
from groupfs.utils.text import join_names

Scale = tuple[str, ...]


def _both_ways(word: str, opposite: str, middle: str) -> Scale:
    """Return the steps from extremely one way to extremely the other."""
    degrees = (
        "extremely|completely|totally|absolutely|fully|entirely|strongly",
        "very",
        "|mostly|moderately|quite|generally",
        "somewhat|slightly|mildly|rather|a little|tend to|fairly|a bit",
    )

    def side(of: str) -> list[str]:
        steps = []
        for degree in degrees:
            forms = [(d, f"{d} {of}".strip(), f"{of} {d}".strip()) for d in degree.split("|")]
            steps.append("|".join(dict.fromkeys(form for d, *both in forms for form in both)))
        return steps

    between = f"{middle}|neutral|neither|neutral/undecided|undecided"
    return (*side(word), between, *reversed(side(opposite)))


#: The steps of common wordings; a file need not use all of them.
WORDINGS: tuple[Scale, ...] = (
    _both_ways(
        "disagree", "agree", "neither agree nor disagree|neither disagree nor agree|no opinion"
    ),
    _both_ways(
        "dissatisfied",
        "satisfied",
        "neither satisfied nor dissatisfied|neither dissatisfied nor satisfied",
    ),
    _both_ways("unlikely", "likely", "neither likely nor unlikely|neither unlikely nor likely"),
    _both_ways("inaccurate", "accurate", "neither accurate nor inaccurate"),
    _both_ways("untrue", "true", "neither true nor untrue"),
    _both_ways("unimportant", "important", "neither important nor unimportant"),
    (
        "never|none of the time|not at any time",
        "almost never|hardly ever|very rarely|very seldom",
        "rarely|seldom|a little of the time",
        "occasionally|once in a while|now and then",
        "sometimes|some of the time|about half the time|half of the time",
        "often|frequently|regularly|a good bit of the time",
        "usually|generally|mostly|most of the time",
        "very often|very frequently",
        "almost always|nearly always",
        "always|all of the time|all the time|constantly",
    ),
    (
        "not at all|not in the least",
        "very little|hardly|hardly at all",
        "a little|a little bit|slightly|to a small extent|a bit",
        "somewhat|some|to some extent",
        "moderately|a moderate amount|to a moderate extent",
        "quite a bit|quite|fairly|considerably|rather",
        "very|very much|a lot|a great deal|to a great extent|to a large extent",
        "extremely|completely|an extreme amount|totally",
    ),
    (
        "not at all important|not important",
        "slightly important|of little importance",
        "somewhat important",
        "moderately important|of some importance",
        "important",
        "very important",
        "extremely important|absolutely essential",
    ),
    (
        "terrible|awful|extremely poor",
        "very poor|very bad",
        "poor|bad",
        "fair|below average",
        "average|ok|okay|satisfactory|acceptable",
        "good|above average",
        "very good",
        "excellent|outstanding|exceptional",
    ),
    (
        "not at all",
        "several days",
        "more than half the days|over half the days",
        "nearly every day|almost every day",
    ),
    ("none|absent|no symptoms", "mild|slight", "moderate", "severe", "very severe|extreme"),
    ("very low", "low", "medium|moderate|middle", "high", "very high"),
)
#: What people say in place of an answer.
NO_ANSWER = {
    *("don't know", "dont know", "do not know", "not applicable", "does not apply", "n/a", "na"),
    *("no answer", "no response", "prefer not to say", "prefer not to answer", "refused"),
    *("refused to answer", "declined to answer", "skipped", "missing", "not answered", "unknown"),
    *("not stated", "no reply", "unsure"),
}
#: Answers that begin with their number: "1 - never", "5 (always)".
NUMBERED = re.compile(r"(\d{1,2})(?:\s*[-–=.:()].*)?")
#: Different answers of a question, at most, and steps of one whose answers are numbered.
MOST_ANSWERS, MOST_NUMBERED = 30, 12
#: Columns with the same answers that are taken for questions of one scale: two may be of a couple.
FEWEST_SHARING = 3


def plain_word(text: str) -> str:
    """Return the spelling by which answers are compared: case and blanks do not matter."""
    return " ".join(text.replace("’", "'").lower().split()).rstrip(".!")


def steps_of(scale: Scale) -> dict[str, int]:
    """Return the number of every word of a scale, 1 for the lowest step."""
    return {plain_word(w): i for i, step in enumerate(scale, 1) for w in step.split("|")}


def read_orders(order: Any) -> list[Scale]:
    """Read orders of answers: text such as ``"low,middle,high"``, or words in a sequence.

    A sequence of words is one order; of texts with commas, or of sequences, several.
    """
    if not order:
        return []
    if isinstance(order, str):
        order = [order]
    words = all(isinstance(part, str) and "," not in part and ";" not in part for part in order)
    orders = [order] if words else order
    return [_read_order(one) for one in orders]


def _read_order(order: str | Sequence[str]) -> Scale:
    if isinstance(order, str):
        words = order.split(";" if ";" in order else ",")  # answers may have commas
    else:
        words = [str(word) for word in order]
    scale = tuple(plain_word(word) for word in words if word.strip())
    given = ",".join(word.strip() for word in words)
    if len(scale) < 2:
        raise ColumnsError(
            f"order={given!r} has {len(scale)} answer{'' if len(scale) == 1 else 's'}; give at "
            "least 2, the lowest first, separated by commas.",
            "order",
        )
    if len(steps_of(scale)) < sum(len(step.split("|")) for step in scale):
        raise ColumnsError(f"order={given!r} has the same answer twice; give each once.", "order")
    return scale


def find_scales(frame: Any, names: Sequence[str], orders: Sequence[Scale]) -> dict[str, Scale]:
    """Find the columns whose answers are words of a scale, given or known, and the scale of each.

    A given order takes every column with at least two of its words and half of its answers among
    them. A known wording takes a column only if it knows all of its answers, apart from words for
    no answer. Columns of one wording that use fewer steps have the numbers of those that use more.
    """
    answers = {name: counts for name in names if (counts := _answers(frame[name]))}
    found: dict[str, Scale] = {}
    for order in orders:
        steps = steps_of(order)
        fits = [name for name, counts in answers.items() if _fits(counts, steps)]
        if not fits:
            raise ColumnsError(_no_such_answers(order, answers), "order")
        found |= {name: order for name in fits if name not in found}
    used: dict[str, tuple[Scale, frozenset[int]]] = {}
    for name, counts in answers.items():
        if name not in found and not _is_ordered(frame[name]):
            words = set(counts) - NO_ANSWER
            if (scale := _wording(words)) is not None:
                used[name] = scale, frozenset(steps_of(scale)[word] for word in words)
    frequent = Counter(used.values())
    for name, (scale, steps_used) in used.items():
        larger = [s for s in frequent if s[0] == scale and s[1] >= steps_used]
        _, most = max(larger, key=lambda s: (len(s[1]), frequent[s]))
        found[name] = _steps_in_use(scale, most, answers)
    return found


def unordered_answers(categories: Mapping[str, Sequence[str]]) -> list[str]:
    """Ask for the order of answers that several columns share, given the values of categories."""
    shared = Counter(tuple(values) for values in categories.values() if len(values) > 2)
    if not shared or max(shared.values()) < FEWEST_SHARING:
        return []
    answers, n_columns = shared.most_common(1)[0]
    return [
        f"{n_columns} columns have the same answers ({join_names(answers, 8)}); if these have an "
        "order, order=[WORDS] makes numbers of them: the words from the lowest to the highest, "
        "separated by commas."
    ]


def _answers(series: Any) -> Counter[str]:
    """Count the different answers of a column of text; none of one that holds something else."""
    if series.dtype.kind in "biufcmM" or hasattr(series.dtype, "tz"):
        return Counter()
    present = to_text(series).dropna()
    if not len(present) or present.nunique() > MOST_ANSWERS:
        return Counter()
    counts: Counter[str] = Counter()
    for word, n_rows in present.value_counts().items():
        counts[plain_word(word)] += int(n_rows)
    return counts


def _fits(counts: Counter[str], steps: Mapping[str, int]) -> bool:
    known = {word: n for word, n in counts.items() if word in steps}
    return len(known) >= 2 and sum(known.values()) >= counts.total() / 2


def _is_ordered(series: Any) -> bool:
    return bool(getattr(series.dtype, "ordered", False))


def _wording(words: set[str]) -> Scale | None:
    """Return the known scale that has all of these words."""
    if len(words) < 2:
        return None
    numbers = {word: NUMBERED.fullmatch(word) for word in words}
    if all(numbers.values()) and not all(word.isdigit() for word in words):
        by_number = {int(match[1]): word for word, match in numbers.items() if match}
        first = min(by_number)
        counted = list(range(first, first + len(words)))
        if first <= 1 and sorted(by_number) == counted and len(words) <= MOST_NUMBERED:
            return tuple(by_number[number] for number in counted)
    return next((scale for scale in WORDINGS if words <= steps_of(scale).keys()), None)


def _steps_in_use(scale: Scale, steps: frozenset[int], answers: Mapping[str, Any]) -> Scale:
    """Return the steps that are used, by the words that the file has for them."""
    words = {word for counts in answers.values() for word in counts}
    known = steps_of(scale)
    return tuple(
        "|".join(sorted(w for w in words if known.get(w) == step)) for step in sorted(steps)
    )


def _no_such_answers(order: Scale, answers: Mapping[str, Counter[str]]) -> str:
    given = ",".join(order)
    if not answers:
        return f"order={given!r}: no column has answers in words; leave it out."
    wanted = set(steps_of(order))
    name = max(answers, key=lambda name: len(wanted & answers[name].keys()))
    return (
        f"order={given!r}: no column has these answers; those of {name} are "
        f"{join_names(answers[name], 8)}."
    )
