"""What the report says in words: how many groups, which come first, how far to trust them."""

from groupfs.report.json_numbers import Json
from groupfs.utils.fitted_selector import FittedSelector, budget_of
from groupfs.utils.text import write_share


def sentences(selector: FittedSelector, summary: Json, in_no_group: str | None) -> list[str]:
    """Write what was found: how many groups, what is explained, which groups, how sure, and so on.

    ``in_no_group`` is the sentence on features in no group, if there are any.
    """
    explained = summary["explained"]["sentence"]
    if not summary["groups"]:
        return [_no_groups(summary), *([explained] if explained else [])]
    text = [_how_many(selector, summary), explained, _which(summary["groups"])]
    return [sentence for sentence in text if sentence] + how_sure(selector, summary, in_no_group)


def how_sure(selector: FittedSelector, summary: Json, in_no_group: str | None) -> list[str]:
    """Write how far to trust the groups and their number, and what is in none of them."""
    text = [in_no_group]
    if summary["groups"]:
        text = [_how_sure(selector, summary), _how_many_else(selector, summary), in_no_group]
    return [sentence for sentence in text if sentence]


def count(number: int, thing: str) -> str:
    """Count things: ``1 group``, ``2 groups``, ``7,129 features``."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def write_p(p_adjusted: float) -> str:
    """Write an adjusted p-value: ``adjusted p = 0.03``, ``adjusted p < 0.001``."""
    return "adjusted p < 0.001" if p_adjusted < 0.001 else f"adjusted p = {p_adjusted:.2g}"


def write_reliability(group: Json) -> str:
    """Write how well a group is found again: ``97 % found again in halves of the rows``."""
    return f"{write_share(group['reliability'])} found again in halves of the rows"


def _size_of(table: Json) -> str:
    samples, features = count(table["n_samples"], "sample"), count(table["n_features"], "feature")
    return f"In {samples} of {features}, "


def _no_groups(summary: Json) -> str:
    text = f"{_size_of(summary['table'])}no feature goes with another beyond chance: the table "
    n_features = summary["selection"]["n_features"]
    if not n_features:
        return f"{text}shows no groups, and nothing is selected."
    spent = "feature that explains" if n_features == 1 else f"{n_features:,} features that explain"
    return f"{text}shows no groups; the budget was spent on the {spent} most of the others."


def _how_many(selector: FittedSelector, summary: Json) -> str:
    chosen, groups = summary["selection"], summary["groups"]
    budget = budget_of(selector)
    n_spent, n_kept = chosen["n_features"], chosen["n_groups"]
    text = _size_of(summary["table"])
    text += f"{count(len(groups), 'group')} {'was' if len(groups) == 1 else 'were'} "
    text += "given" if groups[0]["is_given"] else "found"
    of_them = "it" if len(groups) == 1 else f"{n_kept} of them"
    if budget is not None and n_spent < budget:
        spent = f"{n_spent} {'was' if n_spent == 1 else 'were'} spent"
        return f"{text}; of a budget of {count(budget, 'feature')} {spent}, on {of_them}."
    if budget is not None:
        outside = n_spent - sum(group["n_kept"] for group in groups)
        if selector.explain is not None:
            share = f"{100 * selector.explain:g} %"
            those = f"the {n_spent:,} features that explain {share} come"
            those = f"the feature that explains {share} comes" if n_spent == 1 else those
            rest = f", and {outside:,} from no group" if outside else ""
            return f"{text}; {those} from {of_them}{rest}."
        rest = f" and on {count(outside, 'feature')} in no group" if outside else ""
        return f"{text}; a budget of {count(n_spent, 'feature')} was spent on {of_them}{rest}."
    if not n_kept:
        return f"{text}; {'it is not' if len(groups) == 1 else 'none of them is'} kept."
    one_each = selector.output == "representatives"
    share = "one feature each" if one_each else f"with {count(n_spent, 'feature')}"
    if n_kept == len(groups):
        are = {1: "is", 2: "both are"}.get(n_kept, "all are")
        return f"{text} and {are} kept, {share}."
    kept = "is kept" if n_kept == 1 else "are kept"
    if one_each:
        return f"{text}; {of_them} {kept}, {share}."
    return f"{text}; {of_them}, {share}, {kept}."


def _which(groups: list[Json]) -> str | None:
    kept = [group for group in groups if group["kept"]]
    if not kept:
        return None
    first, others = kept[0], kept[1:3]
    facts = [f"score {first['score']:.3g}"]
    facts += [] if first["p_adjusted"] is None else [write_p(first["p_adjusted"])]
    if first["reliability"] is not None and len(groups) > 1:  # one group alone is always found
        facts.append(write_reliability(first))
    facts.append(count(first["size"], "feature"))
    best = "is the only one" + ("" if len(groups) == 1 else " kept")
    text = f"{_around(first)} {best if len(kept) == 1 else 'comes first'} ({', '.join(facts)})"
    text = text.replace("group", "Group", 1)
    if others:
        text += ", then " + " and ".join(_around(group) for group in others)
    rest = len(kept) - 1 - len(others)
    return text + (f", and {rest} more." if rest else ".")


def _how_sure(selector: FittedSelector, summary: Json) -> str:
    groups, rate = summary["groups"], f"false discovery rate {100 * selector.alpha:g} %"
    gates_decide = summary["selection"]["rule"] == "open"
    out = [group for group in groups if group["stands_out"]]
    if groups[0]["stands_out"] is None:
        text = "Whether the groups stand out from chance was not tested"
    elif not out:
        least = write_p(min(group["p_adjusted"] for group in groups))
        text = f"No group goes together beyond chance (smallest {least}; {rate}), so the table may "
        text += "hold no groups at all"
        if summary["selection"]["n_features"]:
            text += ": take what is kept as a guess, not as a finding"
    else:
        text = _beyond_chance(groups, out, rate)
        n_shut = sum(not group["open"] for group in out)
        if gates_decide and n_shut == len(out):
            text += "; every one of these has a closed gate"
        elif gates_decide and n_shut:
            gates = "has a closed gate" if n_shut == 1 else "have closed gates"
            text += f"; {n_shut} of these {gates}"
    if gates_decide and selector.gain_ <= 0:
        text += "; the trained gates do no better than opening or shutting all of them"
    return text + "."


def _beyond_chance(groups: list[Json], out: list[Json], rate: str) -> str:
    """Say how many groups go together beyond chance and are found again."""
    which = f"{len(out)} of {len(groups)} groups"
    if len(out) == len(groups):
        which = {1: "the group", 2: "both groups"}.get(len(out), f"all {len(out)} groups")
    chance = "the same groups" if groups[0]["is_given"] else "groups found"
    text = f"The features of {which} go together more than those of {chance} in shuffled columns "
    text += f"({rate})"
    if out[0]["found_again"] is None:
        return text
    n_again = sum(group["found_again"] for group in out)
    if len(out) == 1:
        return f"{text}; it is {'' if n_again else 'not '}found again in halves of the rows"
    every = "both" if len(out) == 2 else "all of these"
    some = {len(out): f"{every} are", 0: "none of these is", 1: "1 of these is"}
    found = some.get(n_again, f"{n_again} of these are")
    return f"{text}; {found} found again in halves of the rows"


def _how_many_else(selector: FittedSelector, summary: Json) -> str | None:
    """Say how far halves of the rows agree on the number of groups, and on which others."""
    found, n_groups = summary["replication"], len(summary["groups"])
    if found is None:
        return None
    best = found["best"]
    if best is None:
        text = "No number of groups is found again in halves of the rows; "
        if not selector.distortion_:
            every = selector.relatedness_pvalues_ is None
            features = "all features" if every else "the features that go with others"
            return f"{text}{features} are taken as one group."
        return f"{text}the distortion of the feature graph decided, so take the number as a guess."
    agreement = found["agreement"][found["n_groups"].index(best)]
    text = (
        f"Halves of the rows have most in common with {best} groups (agreement {agreement:.2f}; 1 "
        "at most, 0 by chance)"
    )
    if n_groups < best:
        text += f", of which {n_groups} {'is' if n_groups == 1 else 'are'} left once every feature "
        text += "is in its nearest group"
    if found["others"]:
        numbers = " and ".join(", ".join(map(str, found["others"])).rsplit(", ", 1))
        text += f"; {numbers} groups replicate as well"
    return f"{text}."


def _around(group: Json) -> str:
    """Name a group by the feature in its middle."""
    name: str = group["title"]
    return name if group["size"] == 1 else f"{name} around {group['representative_name']}"
