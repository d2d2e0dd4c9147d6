"""Words for what was found: one reason for every decision, and sentences on the whole.

Everything is a function of plain facts. The scripts of the report fill in the same templates, so
that a reason reads the same in a frame, in a file and on the page.
"""

from collections.abc import Mapping

from groupfs.groups import Why
from groupfs.utils.text import STEPS, count, write_p, write_share

#: Why a group is kept or not, and why a feature is selected or not, without the full stop.
REASONS = {
    Why.BEYOND_CHANCE: "coheres (adjusted p {p}{replication})",
    Why.NOT_BEYOND_CHANCE: "does not cohere beyond chance (adjusted p {p})",
    Why.NOT_REPLICATED: "not found again in parts of the rows{replication}",
    Why.AMONG_FIRST: "number {rank} of the {asked} asked for",
    Why.AFTER_FIRST: "number {rank}, but only {asked} asked for",
    Why.GATE_OPEN: "gate open",
    Why.GATE_CLOSED: "gate closed",
    Why.FIRST_OF_CLOSED: "gate closed, but the first in rank",
    Why.IN_BUDGET: "the budget of {budget} takes {n} of its {size}",
    Why.OUT_OF_BUDGET: "the budget of {budget} goes to other groups",
    Why.ALL_LATER: "its features come later in the order; {limit}",
    Why.AS_GROUP: "{why}",
    Why.REPRESENTS: "represents it; {why}",
    Why.REPRESENTED: "{representative} represents it; {why}",
    Why.CHOSEN: "chosen {nth}, explains {gain}",
    Why.LATER: "comes {nth} in the order; {limit}",
    Why.SHARE: "among the {n} of {size} that the budget of {budget} takes",
    Why.NO_SHARE: "not among the {n} of {size} that the budget of {budget} takes",
    Why.SPARE: "the budget of {budget} takes it, as the groups have too few",
    Why.IN_NO_GROUP: "",
}
#: What a feature that is chosen in order adds: first of all, on top of others, or nothing.
GAINS = {
    "first": "{share}",
    "more": "{share} on top of those before it",
    "nothing": "nothing, as those before it explain all",
}
#: Why no more features are chosen in order; the last is of the page's slider.
LIMITS = {
    "budget": "the budget is {budget}",
    "explain": "the first {budget} explain {share}, as asked",
    "slider": "the slider is at {budget}",
}
#: Where a feature is that the reason is of, and what stands between both.
PLACES = {
    "group": "In {group}: ",
    "constant": "Constant",
    "unrelated": "Unrelated to every other feature (adjusted p {p})",
    "between": "Between groups: related to others (adjusted p {p}), but near to no group",
}
#: Why features are in no group, of one and of many.
IN_NO_GROUP = {
    "unrelated": ("is unrelated", "are unrelated"),
    "between": ("is related, but between groups", "are related, but between groups"),
    "constant": ("is constant", "are constant"),
}
#: What replication is.
REPLICATION = (
    "mean overlap (Jaccard index) of the group with the most alike group found in halves of the "
    "rows: 1 where the same features come back every time"
)


def written(place: str, reason: str) -> str:
    """Join where a feature is and the reason it has, as one sentence."""
    between = "; " if reason and not place.endswith(": ") else ""
    return f"{place}{between}{reason}."


def gain_words(before: int, after: int, is_first: bool) -> str:
    """Say what a feature explains on top of those before it, from shares in whole steps."""
    if before == STEPS:
        return GAINS["nothing"]
    share = write_share((after - before) / STEPS)
    return GAINS["first" if is_first else "more"].format(share=share)


def p_words(p_value: float | None) -> str:
    """Write a p-value behind what it is of: ``= 0.03``, ``< 0.001``."""
    text = write_p(p_value)
    return text if text.startswith("<") else f"= {text}"


def in_no_group_words(kind: str, number: int) -> str:
    """Say how many features are in no group for one reason: ``4 are unrelated``."""
    return f"{number:,} {IN_NO_GROUP[kind][number != 1]}"


def in_no_group_sentence(counts: Mapping[str, int]) -> str | None:
    """Say how many features are in no group, and why; None if there are none."""
    there = [(kind, counts[kind]) for kind in IN_NO_GROUP if counts[kind]]
    if not there:
        return None
    (kind, number), *others = there
    words = [f"{count(number, 'feature')} {IN_NO_GROUP[kind][number != 1]}"]
    words += [in_no_group_words(kind, number) for kind, number in others]
    return f"In no group: {', '.join(words)}."


def kept_sentence(n_kept: int, n_groups: int, n_selected: int, n_features: int) -> str:
    """Say how much is kept, without the full stop."""
    kept = f"{n_kept} of {count(n_groups, 'group')} kept" if n_groups else "No groups"
    return f"{kept}, {n_selected:,} of {count(n_features, 'feature')} selected"


def explained_sentence(n_first: int, n_features: int, share: float, related: str) -> str:
    """Say how much of the variance the first features of the order explain."""
    explain = "explains" if n_first == 1 else "explain"
    return (
        f"{n_first:,} of {count(n_features, 'feature')} {explain} {write_share(share)} of the "
        f"variance of the {related}."
    )
