"""Words for what was found: one reason for every decision.

:class:`groupfs.result.Result` fills them in, and so do the scripts of the report: a reason reads
the same in a frame, in a file and on the page.
"""

from groupfs.groups import Why
from groupfs.utils.text import write_p

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


def p_words(p_value: float | None) -> str:
    """Write a p-value behind what it is of: ``= 0.03``, ``< 0.001``."""
    text = write_p(p_value)
    return text if text.startswith("<") else f"= {text}"


def in_no_group_words(kind: str, number: int) -> str:
    """Say how many features are in no group for one reason: ``4 are unrelated``."""
    return f"{number:,} {IN_NO_GROUP[kind][number != 1]}"
