"""A reason for every feature: why it is selected, or not."""

from groupfs.report.json_numbers import Json
from groupfs.report.order_reasons import order_reason, positions
from groupfs.report.other_budgets import takes_in_order
from groupfs.report.sentences import write_p, write_reliability
from groupfs.selection.ungrouped import Ungrouped
from groupfs.training.settings import PRESETS, groups_to_select
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.fitted_selector import FittedSelector, budget_of
from groupfs.utils.text import write_share
from groupfs.utils.types import BoolArray

CONSTANT = "Constant: it carries no information and is in no group"


def rule_of(selector: FittedSelector) -> int | str:
    """Return what decided on the groups: a number, "significant" or "open"."""
    rule = groups_to_select(selector.get_params(deep=False))
    # where nothing could be compared with chance, gates decide
    return "open" if rule == "significant" and selector.group_pvalues_ is None else rule


def limit_of(selector: FittedSelector) -> str | None:
    """Say why a budget that is spent in the order of the features ends; None if there is none.

    One within some groups skips the features of others: no position in the order tells why.
    """
    budget = budget_of(selector)
    within_groups = selector.n_groups_to_select is not None
    if budget is None or within_groups or not takes_in_order(selector):
        return None
    if selector.explain is None:
        return f"the budget was {budget:,}"
    first = "the first explains" if budget == 1 else f"the first {budget:,} explain"
    return f"{first} {100 * selector.explain:g} %, as asked"


def reasons(
    selector: FittedSelector, groups: list[Json], ungrouped: Ungrouped, curve: Json
) -> tuple[list[str], list[int]]:
    """Write the reasons there are, and for every feature the index of its own among them.

    ``curve`` is what the first features explain.
    """
    taken, allowed = _taken(groups), _allowed(selector)
    labels, support = selector.group_labels_.tolist(), selector.get_support().tolist()
    by_order = _by_order(selector, curve)
    by_fate = {
        (j, kept): _reason(selector, taken, allowed, groups[j], kept)
        for j, kept in dict.fromkeys(zip(labels, support, strict=True))
        if j >= 0
    }
    outside = _outside(selector, ungrouped)
    texts = []
    for i, (j, kept) in enumerate(zip(labels, support, strict=True)):
        if i in by_order:
            where = f"{outside[i]};" if j < 0 else f"In {groups[j]['title']}:"
            texts.append(f"{where} {by_order[i]}")
        else:
            texts.append(f"{outside[i]}." if j < 0 else by_fate[j, kept])
    index = {reason: i for i, reason in enumerate(dict.fromkeys(texts))}
    return list(index), [index[text] for text in texts]


def why_left_out(selector: FittedSelector, groups: list[Json]) -> list[str | None]:
    """Say of every group without a selected feature why it has none; None for the others."""
    taken, allowed, limit = _taken(groups), _allowed(selector), limit_of(selector)
    texts: list[str | None] = []
    for group in groups:
        if group["n_kept"]:
            texts.append(None)
        elif limit is not None:
            texts.append(f"its features come later in the order; {limit}")
        else:
            texts.append(_why_left_out(selector, taken, allowed, group))
    return texts


def _taken(groups: list[Json]) -> list[Json]:
    """Return the groups with selected features."""
    return [group for group in groups if group["n_kept"]]


def _allowed(selector: FittedSelector) -> BoolArray | None:
    """Return which groups a budget must stay within; None if it may take any."""
    if isinstance(selector.n_groups_to_select, str):
        allowed: BoolArray = selector.select(n_features_to_select=None).groups
        return allowed
    return None


def _why_left_out(
    selector: FittedSelector, taken: list[Json], allowed: BoolArray | None, group: Json
) -> str:
    barred = allowed is not None and not allowed[group["rank"] - 1]
    if barred or budget_of(selector) is None:
        return _why_dropped(selector, group)
    return _why_no_share(selector, taken, group)


def _by_order(selector: FittedSelector, curve: Json) -> dict[int, str]:
    """Say of every feature that a budget might take in order when it comes; else nothing."""
    limit = limit_of(selector)
    if limit is None:
        return {}
    position, support = positions(curve), selector.get_support()
    every = selector.select(n_features_to_select=len(position), allocation="explain").features
    return {i: order_reason(curve, position[i], bool(support[i]), limit) for i in every.tolist()}


def _outside(selector: FittedSelector, ungrouped: Ungrouped) -> dict[int, str]:
    """Say of every feature in no group why it is in none, without the full stop."""
    support, p_values = selector.get_support(), selector.relatedness_pvalues_
    adjusted = None if p_values is None else adjust_p_values(p_values)
    texts = dict.fromkeys(ungrouped.constant.tolist(), CONSTANT)
    kinds = {
        "Unrelated: it goes with no other feature beyond chance ({})": ungrouped.unrelated,
        "Loose: it goes with others beyond chance ({}), but is near to no group": ungrouped.loose,
    }
    for words, features in kinds.items():
        for i in features.tolist():
            assert adjusted is not None
            texts[i] = words.format(write_p(adjusted[i]))
            if support[i] and not takes_in_order(selector):
                budget = budget_of(selector)
                few = "the groups have too few" if selector.groups_ else "there are no groups"
                texts[i] += f"; the budget of {budget} takes it, as {few}"
    return texts


def _reason(
    selector: FittedSelector,
    taken: list[Json],
    allowed: BoolArray | None,
    group: Json,
    kept: bool,
) -> str:
    """Say why features of a group are kept or not; ``taken`` are the groups with kept features."""
    if budget_of(selector) is not None:
        return _reason_of_budget(selector, taken, allowed, group, kept)
    if not group["kept"]:
        return f"In {group['title']}: {_why_dropped(selector, group)}."
    why = f"{group['title']}: {_why_kept(selector, group)}."
    if selector.output == "representatives":
        return f"{'It' if kept else group['representative_name']} stands for {why}"
    return f"In {why}"


def _reason_of_budget(
    selector: FittedSelector,
    taken: list[Json],
    allowed: BoolArray | None,
    group: Json,
    kept: bool,
) -> str:
    budget, share, name = budget_of(selector), group["n_kept"], group["title"]
    if not share:
        return f"In {name}: {_why_left_out(selector, taken, allowed, group)}."
    if selector.output == "representatives":
        what = "It" if kept else group["representative_name"]
        return f"{what} stands for {name}, which is within the budget of {budget}."
    part = f"all {share}" if share == group["size"] else f"its {share} most central"
    if share < group["size"] and takes_in_order(selector):
        part = f"{share} of its features, the first in the order"
    among = ", this among them" if kept else ", not this one"
    return f"In {name}: the budget of {budget} takes {part}{among}."


def _why_no_share(selector: FittedSelector, taken: list[Json], group: Json) -> str:
    """Say why a budget leaves a group out, by the rule it is spent by."""
    budget, asked = budget_of(selector), _number_asked_for(selector)
    if asked is not None and group["rank"] > asked:
        return _beyond_the_first(asked, group)
    spread = (selector.allocation or PRESETS[selector.preset]["allocation"]) == "spread"
    if spread and selector.output == "features":
        doubt = _why_passed_over(taken, group, selector.n_groups_to_select is not None)
        if doubt:
            return f"{doubt}, so the budget of {budget} goes to other groups first"
        if any(other["rank"] > group["rank"] for other in taken):
            return f"the budget of {budget} goes to groups with higher scores"
    return f"the budget of {budget} goes to groups before it"


def _why_passed_over(taken: list[Json], group: Json, asked_for: bool) -> str | None:
    """Say what keeps a group from a share of a budget that is spread; None if it may have one.

    Groups that stand out, or have scores above zero, come first: if there are any, some are taken.
    """
    if not asked_for:
        if group["stands_out"] is None and not group["open"]:
            return "gate closed"
        if any(other["stands_out"] for other in taken) and not group["stands_out"]:
            return _no_more_than_chance(group)
    some_above_zero = any(other["score"] > 0 for other in taken)
    return "score not above zero" if some_above_zero and group["score"] <= 0 else None


def _why_kept(selector: FittedSelector, group: Json) -> str:
    rule, is_open, stands_out = rule_of(selector), group["open"], group["stands_out"]
    if not isinstance(rule, str):
        return "the first, and one is asked for" if rule == 1 else f"one of the first {rule}"
    chance = "" if stands_out is None else f"beyond chance ({write_p(group['p_adjusted'])})"
    if rule == "significant":
        measured = group["found_again"] and group["reliability"] is not None
        again = f", {write_reliability(group)}" if measured else ""
        return f"cohesion {chance}{again}"
    if is_open:
        more = {True: f", cohesion {chance}", False: ", though no group is beyond chance", None: ""}
        return f"gate open{more[stands_out]}"
    if stands_out:
        but = f"the first with a cohesion {chance}, as no group has both this and an open gate"
        return f"gate closed, but {but}"
    return "gate closed, but the first in rank, as all gates are closed"


def _why_dropped(selector: FittedSelector, group: Json) -> str:
    rule = rule_of(selector)
    if not isinstance(rule, str):
        return _beyond_the_first(rule, group)
    doubts = ["gate closed"] if rule == "open" and not group["open"] else []
    if group["stands_out"] is False:
        doubts.append(_no_more_than_chance(group))
    if rule == "significant" and group["found_again"] is False:
        share = f"{write_share(group['reliability'])}, no more than chance"
        doubts.append(f"not found again in halves of the rows ({share})")
    return ", ".join(doubts)


def _number_asked_for(selector: FittedSelector) -> int | None:
    asked = selector.n_groups_to_select
    return None if isinstance(asked, str) else asked


def _beyond_the_first(asked: int, group: Json) -> str:
    kept = "only the first is" if asked == 1 else f"the first {asked} are"
    return f"number {group['rank']}, and {kept} kept"


def _no_more_than_chance(group: Json) -> str:
    if group["size"] == 1:
        return "alone in its group, which chance gives as well"
    return f"cohesion not beyond chance ({write_p(group['p_adjusted'])})"
