"""What the report says in words: three sentences, and a reason for every feature."""

from groupfs.report.json_numbers import Json
from groupfs.utils.fitted_selector import FittedSelector

CONSTANT = "Constant: it carries no information and is in no group."


def sentences(selector: FittedSelector, summary: Json) -> list[str]:
    """Write three sentences: how many groups, which come first, and how far to trust them."""
    return [_how_many(selector, summary), _which(summary["groups"]), _how_sure(selector, summary)]


def reasons(selector: FittedSelector, groups: list[Json]) -> tuple[list[str], list[int]]:
    """Write the reasons there are, and for every feature the index of its own among them."""
    taken = [group for group in groups if group["n_kept"]]
    fates = list(zip(selector.group_labels_.tolist(), selector.get_support().tolist(), strict=True))
    text = {
        (j, kept): CONSTANT if j < 0 else _reason(selector, taken, groups[j], kept)
        for j, kept in dict.fromkeys(fates)
    }
    index = {reason: i for i, reason in enumerate(dict.fromkeys(text.values()))}
    return list(index), [index[text[fate]] for fate in fates]


def count(number: int, thing: str) -> str:
    """Count things: ``1 group``, ``2 groups``, ``7,129 features``."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def _in_p(p_value: float) -> str:
    """Write a p-value: ``p = 0.03``, ``p < 0.001``."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _how_many(selector: FittedSelector, summary: Json) -> str:
    table, chosen, groups = summary["table"], summary["selection"], summary["groups"]
    budget, n_spent = selector.n_features_to_select, chosen["n_features"]
    text = f"In {count(table['n_samples'], 'sample')} of {count(table['n_features'], 'feature')}, "
    text += f"{count(len(groups), 'group')} {'was' if len(groups) == 1 else 'were'} "
    text += "given; " if groups[0]["is_given"] else "found; "
    of_them = f"{chosen['n_groups']} of them"
    if budget is not None and n_spent < budget:
        spent = f"{n_spent} {'was' if n_spent == 1 else 'were'} spent"
        return f"{text}of a budget of {count(budget, 'feature')} {spent}, on {of_them}."
    if budget is not None:
        return f"{text}a budget of {count(n_spent, 'feature')} was spent on {of_them}."
    kept = "is kept" if chosen["n_groups"] == 1 else "are kept"
    if selector.output == "representatives":
        return f"{text}{of_them} {kept}, one feature each."
    return f"{text}{of_them}, with {count(n_spent, 'feature')}, {kept}."


def _which(groups: list[Json]) -> str:
    kept = [group for group in groups if group["kept"]]
    first, others = kept[0], kept[1:3]
    tested = "" if first["p_value"] is None else f", {_in_p(first['p_value'])}"
    best = "is the only one kept" if len(kept) == 1 else "comes first"
    text = f"{_around(first)} {best} (score {first['score']:.3g}{tested}, "
    text = text.replace("group", "Group", 1) + count(first["size"], "feature") + ")"
    if others:
        text += ", then " + " and ".join(_around(group) for group in others)
    rest = len(kept) - 1 - len(others)
    return text + (f", and {rest} more." if rest else ".")


def _how_sure(selector: FittedSelector, summary: Json) -> str:
    groups, rate = summary["groups"], f"false discovery rate {100 * selector.alpha:g}%"
    out = [group for group in groups if group["stands_out"]]
    if groups[0]["stands_out"] is None:
        text = "Whether the groups stand out from chance was not tested with this ranking"
    elif not out:
        least = min(group["p_value"] for group in groups)
        text = (
            f"No group's score stands out from chance (smallest {_in_p(least)}; {rate}), so the "
            "table may hold no groups at all: take what is kept as a guess, not as a finding"
        )
    else:
        n_shut = sum(not group["open"] for group in out)
        chance = "the same groups" if groups[0]["is_given"] else "groups found"
        text = (
            f"{len(out)} of {len(groups)} scores stand{'s' if len(out) == 1 else ''} out from "
            f"those of {chance} in shuffled columns ({rate})"
        )
        if n_shut == len(out):
            text += ", but every one of these has a closed gate"
        elif n_shut:
            gates = "has a closed gate" if n_shut == 1 else "have closed gates"
            text += f", of which {n_shut} {gates}"
    if selector.gain_ <= 0:
        text += "; the trained gates do no better than opening or shutting all of them"
    return text + "."


def _around(group: Json) -> str:
    """Name a group by the feature in its middle."""
    name: str = group["title"]
    return name if group["size"] == 1 else f"{name} around {group['representative_name']}"


def _reason(selector: FittedSelector, taken: list[Json], group: Json, kept: bool) -> str:
    """Say why features of a group are kept or not; ``taken`` are the groups with kept features."""
    if selector.n_features_to_select is not None:
        return _reason_of_budget(selector, taken, group, kept)
    if not group["kept"]:
        return f"In {group['title']}: {_why_dropped(selector, group)}."
    why = f"{group['title']}: {_why_kept(selector, group)}."
    if selector.output == "representatives":
        return f"{'It' if kept else group['representative_name']} stands for {why}"
    return f"In {why}"


def _reason_of_budget(selector: FittedSelector, taken: list[Json], group: Json, kept: bool) -> str:
    budget, share, name = selector.n_features_to_select, group["n_kept"], group["title"]
    if not share:
        return f"In {name}: {_why_no_share(selector, taken, group)}."
    if selector.output == "representatives":
        what = "It" if kept else group["representative_name"]
        return f"{what} stands for {name}, which is within the budget of {budget}."
    part = f"all {share}" if share == group["size"] else f"its {share} most central"
    among = ", this among them" if kept else ", not this one"
    return f"In {name}: the budget of {budget} takes {part}{among}."


def _why_no_share(selector: FittedSelector, taken: list[Json], group: Json) -> str:
    """Say why a budget leaves a group out, by the rule it is spent by."""
    from groupfs.training.settings import PRESETS  # late: pages are rendered without it

    budget, asked = selector.n_features_to_select, _number_asked_for(selector)
    if asked is not None and group["rank"] > asked:
        return _beyond_the_first(asked, group)
    spread = (selector.allocation or PRESETS[selector.preset]["allocation"]) == "spread"
    if spread and selector.output == "features":
        doubt = _why_passed_over(taken, group, asked is not None)
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
    asked, is_open, stands_out = _number_asked_for(selector), group["open"], group["stands_out"]
    if asked is not None:
        return "the first, and one is asked for" if asked == 1 else f"one of the first {asked}"
    chance = "" if stands_out is None else f"beyond chance ({_in_p(group['p_value'])})"
    if selector.n_groups_to_select == "significant" and stands_out:
        return f"score {chance}"
    if is_open:
        more = {True: f", score {chance}", False: f", though no score is {chance}", None: ""}
        return f"gate open{more[stands_out]}"
    if stands_out:
        but = f"the first with a score {chance}, as no group has both this and an open gate"
        return f"gate closed, but {but}"
    return "gate closed, but the first in rank, as all gates are closed"


def _why_dropped(selector: FittedSelector, group: Json) -> str:
    asked = _number_asked_for(selector)
    if asked is not None:
        return _beyond_the_first(asked, group)
    doubts = [] if group["open"] else ["gate closed"]
    if group["stands_out"] is False:
        doubts.append(_no_more_than_chance(group))
    return ", ".join(doubts)


def _number_asked_for(selector: FittedSelector) -> int | None:
    asked = selector.n_groups_to_select
    return None if isinstance(asked, str) else asked


def _beyond_the_first(asked: int, group: Json) -> str:
    kept = "only the first is" if asked == 1 else f"the first {asked} are"
    return f"number {group['rank']}, and {kept} kept"


def _no_more_than_chance(group: Json) -> str:
    if group["size"] == 1:
        return "alone in its group, so it has no score"
    return f"score not beyond chance ({_in_p(group['p_value'])})"
