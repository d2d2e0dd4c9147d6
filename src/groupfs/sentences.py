"""Words for what was found: the levels, where every feature stands, a reason for every decision.

:class:`groupfs.result.Result` fills them in, and so do the scripts of the report: a reason reads
the same in a frame, in a file and on the page.
"""

from enum import IntEnum
from typing import Any, Self

import numpy as np

from groupfs.groups import CLEAR_LEVEL, NEAR_LINE, Level
from groupfs.utils.text import join_words, write_p, write_share


class Why(IntEnum):
    """Why a group is kept or not, and why a feature is selected or not.

    ``words`` are the reason as it is told, without the full stop.
    """

    words: str

    def __new__(cls, code: int, words: str) -> Self:
        why = int.__new__(cls, code)
        why._value_, why.words = code, words
        return why

    # of a group
    BEYOND_CHANCE = 0, "coheres (adjusted p {p}{replication})"
    NOT_BEYOND_CHANCE = 1, "does not cohere beyond chance (adjusted p {p})"
    NOT_REPLICATED = 2, "not found again in halves of the rows{replication}"
    AMONG_FIRST = 3, "number {rank} of the {asked} asked for"
    AFTER_FIRST = 4, "number {rank}, but only {asked} asked for"
    GATE_OPEN = 5, "gate open"
    GATE_CLOSED = 6, "gate closed"
    FIRST_OF_CLOSED = 7, "gate closed, but the first in rank"
    TAKEN_WHOLE = 8, "taken whole, to cover the budget of {budget}"
    OUT_OF_BUDGET = 9, "the budget of {budget} goes to other groups"
    # of a feature
    AS_GROUP = 10, "{why}"
    REPRESENTS = 11, "represents it; {why}"
    REPRESENTED = 12, "{representative} represents it; {why}"
    CHOSEN = 13, "chosen {nth}, explains {gain}"
    LATER = 14, "comes {nth} in the order; {limit}"
    SHARE = 15, "among the {n} of {size} that the budget of {budget} takes"
    NO_SHARE = 16, "not among the {n} of {size} that the budget of {budget} takes"
    IN_NO_GROUP = 17, ""
    KEEPS_SCORE = 18, "one of the {n} of {size} that keep its score; {why}"
    NOT_NEEDED = 19, "not among the {n} of {size} that keep its score; {why}"
    # of a group
    IN_SOME_ROWS = 20, "holds together in some of the rows only{replication}"
    IN_FEW_BLOCKS = 21, "holds in {in_blocks} only"


REASONS = [why.words for why in Why]

#: What a feature that is chosen in order adds: first of all, on top of others, or nothing.
GAINS = {
    "first": "{share}",
    "more": "{share} on top of those before it",
    "nothing": "nothing, as those before it explain all",
}
#: Why no more features are chosen in order; the last is of the page's slider.
LIMITS = {
    "budget": "the budget is {budget}",
    "explain": "the first {budget} explain {share}",
    "slider": "the slider is at {budget}",
}
#: What a feature is, and where it stands.
VERDICTS = {
    "member": "In {group}{stability}",
    "between two": "In {group}{stability}, and goes with {second}, too (r = {strength:.2f})",
    "between two, in none": "Near to no group alone, and to {second} among others",
    "duplicate of": "The same as {twin} up to scale",
    "alone": "Varies, but goes with no group{p}",
    "too few rows": "Has only {n} values, too few to say what it goes with",
    "constant": "The same in every row",
}
STABILITY = ", where {share} of the halves of the rows put it"
#: Where a feature is that the reason is of, and what stands between both.
PLACES = {
    "group": "In {group}: ",
    "constant": "Constant",
    "unrelated": "Unrelated to every other feature (adjusted p {p})",
    "between": "Related to others (adjusted p {p}), but near to no group",
}
#: Why features are in no group, of one and of many.
IN_NO_GROUP = {
    "unrelated": ("is unrelated", "are unrelated"),
    "between": ("is related, but near to no group", "are related, but near to no group"),
    "constant": ("is constant", "are constant"),
}
#: What alpha is.
ALPHA = "Cronbach's alpha of the sum of the standardised features, reversed ones turned"
#: What replication is.
REPLICATION = (
    "overlap (Jaccard index) of the group with what each of two halves of the rows finds, the "
    "smaller one of the two, mean over many pairs of halves: 1 where the same features always come "
    "back"
)


def p_words(p_value: float | None) -> str:
    """Write a p-value behind what it is of: ``= 0.03``, ``< 0.001``."""
    text = write_p(p_value)
    return text if text.startswith("<") else f"= {text}"


def in_no_group_words(kind: str, number: int) -> str:
    """Say how many features are in no group for one reason: ``4 are unrelated``."""
    return f"{number:,} {IN_NO_GROUP[kind][number != 1]}"


def levels_sentence(levels: list[Level], shown: int) -> str | None:
    """Name the levels, which is shown, and whether that was a near thing; None if it is one."""
    if len(levels) < 2:
        return None
    numbers = join_words(f"{one.n_groups:,}" for one in levels)
    agreed = join_words(f"{one.agreement or 0:.2f}" for one in levels)
    told = (
        f"Groups at {len(levels)} levels: {numbers} (halves of the rows agree by {agreed}); shown "
        f"are {levels[shown].n_groups:,}."
    )
    near = [one.n_groups for one in levels if abs((one.agreement or 0) - CLEAR_LEVEL) < NEAR_LINE]
    if near:
        told += (
            f" That on {join_words(near)} is near {CLEAR_LEVEL:.2f}, the line that decides which "
            "level is shown: with other rows it might be another."
        )
    return told


def short_forms(summary: dict[str, Any]) -> list[str]:
    """Say which features stand for every group in a short form, and how well; none if one each."""
    features, told = summary["features"], []
    for group in summary["groups"] if (summary["settings"].get("n_per_group") or 1) > 1 else []:
        chosen = [i for i in group["features"] if features["selected"][i]]
        if not chosen:
            continue
        chosen.sort(key=lambda i: features["rank"][i])
        minus = ["-" if features["sign"][i] < 0 else "" for i in chosen]
        names = [sign + features["name"][i] for sign, i in zip(minus, chosen, strict=True)]
        how = ""
        if group["short_r"] is not None:
            how = f": r = {group['short_r']:.2f} with the full score"
            if (own := group["short_alpha"]) is not None:
                how += f", alpha {own:.2f} where that of all is {group['alpha']:.2f}"
        size = f"{len(chosen)} of {group['size']}"
        told.append(f"Short form of {group['title']}: {', '.join(names)} ({size}){how}.")
    return told


def place(result: Any, i: int) -> str:
    """Say where a feature of a :class:`~groupfs.result.Result` stands."""
    groups, verdict, j = result.groups, result.verdicts[i], int(result.groups.labels[i])
    facts: dict[str, Any] = {"stability": "", "p": ""}
    if j >= 0:
        facts["group"] = groups.title(j)
        if groups.stability is not None:
            facts["stability"] = STABILITY.format(share=write_share(groups.stability[i]))
    if verdict == "between two":
        facts |= {"second": groups.title(groups.second[i]), "strength": groups.second_strength[i]}
        verdict = verdict if j >= 0 else "between two, in none"
    elif verdict == "duplicate of":
        facts["twin"] = result.names[result.duplicate_of[i]]
    elif verdict == "too few rows":
        facts["n"] = int(result.n_values[i])
    elif verdict == "alone" and np.isfinite(p_value := result.relatedness_p_adjusted[i]):
        facts["p"] = f" (adjusted p {p_words(p_value)})"
    return VERDICTS[verdict].format(**facts) + "."
