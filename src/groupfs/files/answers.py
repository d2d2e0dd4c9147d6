"""Answers that have an order: words that are the steps of a scale.

Common English, German and Spanish wordings are known, as ``wordings.toml`` lists them; others are
given.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from importlib import resources
from typing import Any

from groupfs.files.codes import MOST_STEPS, as_code
from groupfs.files.column_values import plain_spelling, to_text
from groupfs.files.file_table import ColumnsError
from groupfs.utils.text import count, join_names

#: Steps from the lowest to the highest: a word each, or several separated by ``|``.
Scale = tuple[str, ...]

_LISTED = tomllib.loads(resources.files(__package__).joinpath("wordings.toml").read_text("utf-8"))


def _both_ways(word: str, opposite: str) -> Scale:
    """Return the steps from extremely one way to extremely the other."""

    def side(of: str) -> list[str]:
        degrees = _LISTED["both_ways"]["degrees"]
        return ["|".join(f"{d} {of}|{of} {d}" for d in degree) for degree in degrees]

    neither = f"neither {word} nor {opposite}|neither {opposite} nor {word}|neither"
    between = f"{neither}|neutral|neutral/undecided|undecided|no opinion"
    return (*side(word), between, *reversed(side(opposite)))


WORDINGS: tuple[Scale, ...] = (
    *(_both_ways(*words) for words in _LISTED["both_ways"]["words"]),
    *map(tuple, _LISTED["scales"]),
)
#: What people say in place of an answer.
NO_ANSWER = frozenset(_LISTED["no_answer"])
#: Answers that begin with their number, "1 - never", "5 (always)", or are nothing else; not 1.5.
NUMBERED = re.compile(r"(\d{1,2})(?:\.0+)?(?!\.?\d)(?:\s*[-–=.:()][-–=.:()\s]*(.*?)\)?)?")
#: Different answers of a question, at most.
MOST_ANSWERS = 30
#: Columns with the same answers that are taken for questions of one scale: two may be of a couple.
FEWEST_SHARING = 3


def plain_word(text: str) -> str:
    """Return the spelling by which answers are compared: case and blanks do not matter."""
    return " ".join(text.replace("’", "'").lower().split()).rstrip(".!")


def steps_of(scale: Scale) -> dict[str, int]:
    """Return the number of every word of a scale, 1 for the lowest step."""
    return {plain_word(w): i for i, step in enumerate(scale, 1) for w in step.split("|")}


def find_steps(scale: Scale, text: Any) -> Any:
    """Return the steps of answers in a column of text, and a gap for what is none.

    Of answers that begin with their number, the number alone will do, also as 2.0: a file that has
    no other answer there is read as numbers.
    """
    steps = steps_of(scale).items()
    known = {plain_spelling(m[1]): step for w, step in steps if (m := NUMBERED.fullmatch(w))}
    known |= {plain_spelling(word): step for word, step in steps}
    return text.map(lambda word: known.get(plain_spelling(plain_word(word))), na_action="ignore")


def read_orders(order: Any) -> list[Scale]:
    """Read orders of answers: text such as ``"low,middle,high"``, or words in a sequence.

    A sequence of words is one order; of texts with commas, or of sequences, several.
    """
    if not order:
        return []
    given = [order] if isinstance(order, str) else order
    one = all(isinstance(part, str) and not {",", ";"} & set(part) for part in given)
    return [_read_order(words) for words in ([given] if one else given)]


def _read_order(order: str | Sequence[str]) -> Scale:
    if isinstance(order, str):
        order = order.split(";" if ";" in order else ",")  # answers may have commas
    words = [str(word).strip() for word in order]
    scale = tuple(plain_word(word) for word in words if word)
    given = ",".join(words)
    if len(scale) < 2:
        raise ColumnsError(
            f"order={given!r} has {count(len(scale), 'answer')}; give at least 2, the lowest "
            "first, separated by commas.",
            "order",
        )
    if len(steps_of(scale)) < sum(len(step.split("|")) for step in scale):
        raise ColumnsError(f"order={given!r} has the same answer twice; give each once.", "order")
    return scale


def find_scales(columns: Mapping[str, Any], orders: Sequence[Scale]) -> dict[str, Scale]:
    """Find the columns whose answers are words of a scale, given or known, and the scale of each.

    A given order takes every column with at least two of its words and half of its answers among
    them. A known wording takes a column only if all of its answers are different steps of it, apart
    from words for no answer. Answers that begin with their numbers are a scale if their words are
    known in that order, if some have no words, or if several columns have them. Columns of one
    wording that use fewer steps have the numbers of those that use more.
    """
    answers = {name: counts for name, series in columns.items() if (counts := _answers(series))}
    scales: dict[str, Scale] = {}
    for order in orders:
        steps = steps_of(order)
        fits = [name for name, counts in answers.items() if _fits(counts, steps)]
        if not fits:
            raise ColumnsError(_no_such_answers(order, answers), "order")
        scales = dict.fromkeys(fits, order) | scales
    words = {
        name: {word for word in counts if not {word, _label(word)} & NO_ANSWER}
        for name, counts in answers.items()
        if name not in scales and not getattr(columns[name].dtype, "ordered", False)
    }
    numbered = {name: scale for name, own in words.items() if (scale := _by_number(own))}
    distinct = set(map(frozenset, words.values()))
    used: dict[str, tuple[Scale, frozenset[int]]] = {}
    for name, own in words.items():
        found = numbered.get(name)
        if found is None or not _is_scale(found, numbered.values()):
            found = _wording(own, distinct)
        if found is not None:
            used[name] = found, frozenset(steps_of(found)[word] for word in own)
    frequent, in_file = Counter(used.values()), sorted(set().union(*answers.values()))
    for name, (scale, steps_used) in used.items():
        larger = [s for s in frequent if s[0] == scale and s[1] >= steps_used]
        _, most = max(larger, key=lambda s: (len(s[1]), frequent[s]))
        known = steps_of(scale)  # the steps that are used get the words that the file has for them
        by_step = ([w for w in in_file if known.get(w) == step] for step in sorted(most))
        scales[name] = tuple(map("|".join, by_step))
    return scales


def shared_answers(categories: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], int]:
    """Return answers of no known order that most columns share, and how many columns do."""
    words = [tuple(v for v in values if as_code(v) is None) for values in categories.values()]
    unknown = (own for own in words if _wording(set(map(plain_word, own))) is None)
    shared = Counter(own for own in unknown if len(own) > 2)
    return max(shared.items(), key=lambda s: s[1], default=((), 0))


def unordered_answers(categories: Mapping[str, Sequence[str]]) -> list[str]:
    """Ask for the order of answers that several columns share, given the values of categories."""
    answers, n_columns = shared_answers(categories)
    if n_columns < FEWEST_SHARING:
        return []
    return [
        f"{n_columns} columns have the same answers ({join_names(answers, 8)}); if these have an "
        "order, order=[WORDS] makes numbers of them: the words from the lowest to the highest, "
        "separated by commas."
    ]


def _answers(series: Any) -> Counter[str]:
    """Count the different answers of a column of text; none of one that holds something else."""
    counts: Counter[str] = Counter()
    if series.dtype.kind not in "biufcmM":
        words = to_text(series).value_counts()
        for word, n_rows in words.items() if len(words) <= MOST_ANSWERS else ():
            counts[plain_word(word)] += int(n_rows)
    return counts


def _fits(counts: Counter[str], steps: Mapping[str, int]) -> bool:
    known = [n for word, n in counts.items() if word in steps]
    return len(known) >= 2 and sum(known) >= counts.total() / 2


def _wording(words: set[str], columns: Collection[Set[str]] = ()) -> Scale | None:
    """Return the known scale that has all of these words, each as a step of its own.

    So must be those of other columns that have more words of the scale.
    """
    if len(words) < 2:
        return None
    for scale in WORDINGS:
        steps = steps_of(scale)
        larger = [words, *(more for more in columns if words < more)]
        alike = [known for known in larger if known <= steps.keys()]
        if words in alike and all(len({steps[w] for w in own}) == len(own) for own in alike):
            return scale
    return None


def _label(word: str) -> str:
    """Return what a numbered answer says beside its number: "always" of "5 (always)"."""
    match = NUMBERED.fullmatch(word)
    return (match[2] or "") if match else ""


def _by_number(words: set[str]) -> Scale | None:
    """Return answers in the order of the numbers they begin with; None of nothing but numbers."""
    numbers = {word: int(match[1]) for word in words if (match := NUMBERED.fullmatch(word))}
    if not 2 <= len(words) <= MOST_STEPS or len(numbers) < len(words) or "|" in "".join(words):
        return None
    scale = sorted(words, key=lambda word: numbers[word])
    first = numbers[scale[0]]
    counted = [numbers[word] for word in scale] == [*range(first, first + len(scale))]
    return tuple(scale) if first <= 1 and counted and any(map(_label, scale)) else None


def _is_scale(numbered: Scale, others: Collection[Scale]) -> bool:
    """Tell whether numbered answers have an order; the numbers of regions or jobs say nothing."""
    labels = [_label(word) for word in numbered]
    if not all(labels):  # such as the ends alone
        return True
    if (known := _wording(set(labels))) is not None:
        steps = [steps_of(known)[label] for label in labels]
        return sorted(steps) in (steps, steps[::-1])
    words = set(numbered)
    return sum(words <= set(other) or words > set(other) for other in others) >= FEWEST_SHARING


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
