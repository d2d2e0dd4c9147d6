"""What the report says in words: three sentences, a reason for every feature, settings, code."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from groupfs.training.settings import PRESETS

CONSTANT = "Constant: it carries no information and is in no group."
#: Readers in pandas for the endings of file names; others are left to the reader of the report.
READERS = {
    ".csv": "read_csv",
    ".csv.gz": "read_csv",
    ".parquet": "read_parquet",
    ".feather": "read_feather",
}
#: Longest text of a parameter that is written out.
LONGEST = 200


def sentences(selector: Any, summary: dict[str, Any]) -> list[str]:
    """Three sentences: how many groups, which come first, and how far to trust them."""
    return [_how_many(selector, summary), _which(summary["groups"]), _how_sure(selector, summary)]


def reasons(selector: Any, groups: list[dict[str, Any]]) -> tuple[list[str], list[int]]:
    """The reasons there are, and for every feature the place of its own among them."""
    taken = [group for group in groups if group["n_kept"]]
    fates = list(zip(selector.group_labels_.tolist(), selector.get_support().tolist(), strict=True))
    text = {
        (j, kept): CONSTANT if j < 0 else _reason(selector, taken, groups[j], kept)
        for j, kept in dict.fromkeys(fates)
    }
    written = {reason: place for place, reason in enumerate(dict.fromkeys(text.values()))}
    return list(written), [written[text[fate]] for fate in fates]


def settings(selector: Any) -> dict[str, Any]:
    """The parameters as json can write them; long ones in a word."""
    return {name: _plain(value) for name, value in selector.get_params(deep=False).items()}


def changed(selector: Any) -> dict[str, Any]:
    """The parameters that are not at their defaults."""
    defaults = inspect.signature(type(selector).__init__).parameters
    return {
        name: value
        for name, value in selector.get_params(deep=False).items()
        if not _equal(value, defaults[name].default)
    }


def code(selector: Any, source: str | None, notes: Sequence[str]) -> list[str]:
    """Three lines that do it again."""
    ending = next((e for e in READERS if str(source or "").lower().endswith(e)), None)
    arguments = ", ".join(f"{name}={_written(name, v)}" for name, v in changed(selector).items())
    fit = f"selector = groupfs.{type(selector).__name__}({arguments}).fit(X)"
    if ending is None:
        what = f"the table in {source}" if source else "your table"
        return ["import groupfs", f"X = ...  # {' '.join(what.split())}", fit]
    prepared = "  # then prepared as the notes say" if notes else ""
    return [
        "import groupfs, pandas",
        f"X = pandas.{READERS[ending]}({str(source)!r}){prepared}",
        fit,
    ]


def count(number: int, thing: str) -> str:
    """``1 group``, ``2 groups``, ``7,129 features``."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def in_p(p_value: float) -> str:
    """``p = 0.03``, ``p < 0.001``."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _how_many(selector: Any, summary: dict[str, Any]) -> str:
    table, chosen = summary["table"], summary["selection"]
    n_groups, known = len(summary["groups"]), summary["groups"][0]["is_given"]
    where = f"In {count(table['n_samples'], 'sample')} of {count(table['n_features'], 'feature')}, "
    found = f"{count(n_groups, 'group')} {'was' if n_groups == 1 else 'were'} "
    found += "given" if known else "found"
    of_them = f"{chosen['n_groups']} of them"
    features = count(chosen["n_features"], "feature")
    budget = selector.n_features_to_select
    if budget is not None:
        if chosen["n_features"] < budget:
            spent = f"{chosen['n_features']} {'was' if chosen['n_features'] == 1 else 'were'} spent"
            return (
                f"{where}{found}; of a budget of {count(budget, 'feature')} {spent}, on {of_them}."
            )
        return f"{where}{found}; a budget of {features} was spent on {of_them}."
    kept = f"{of_them}, with {features}, {'is' if chosen['n_groups'] == 1 else 'are'} kept"
    if selector.output == "representatives":
        kept = f"{of_them} {'is' if chosen['n_groups'] == 1 else 'are'} kept, one feature each"
    return f"{where}{found}; {kept}."


def _which(groups: list[dict[str, Any]]) -> str:
    kept = [group for group in groups if group["kept"]]
    first, others = kept[0], kept[1:3]
    tested = "" if first["p_value"] is None else f", {in_p(first['p_value'])}"
    best = " is the only one kept" if len(kept) == 1 else " comes first"
    text = f"{_capital(_around(first))}{best} (score {first['score']:.3g}{tested}, "
    text += count(first["size"], "feature") + ")"
    if others:
        text += ", then " + " and ".join(_around(group) for group in others)
    rest = len(kept) - 1 - len(others)
    return text + (f", and {rest} more." if rest else ".")


def _how_sure(selector: Any, summary: dict[str, Any]) -> str:
    groups = summary["groups"]
    gain = selector.gain_
    if groups[0]["stands_out"] is None:
        text = "Whether the groups stand out from chance was not tested with this ranking"
    elif not any(group["stands_out"] for group in groups):
        least = min(group["p_value"] for group in groups)
        text = (
            f"No group's score stands out from chance (smallest {in_p(least)}; false discovery "
            f"rate {100 * selector.alpha:g}%), so the table may hold no groups at all: take what "
            "is kept as a guess, not as a finding"
        )
    else:
        out = [group for group in groups if group["stands_out"]]
        shut = sum(not group["open"] for group in out)
        chance = "the same groups" if groups[0]["is_given"] else "groups found"
        text = (
            f"{len(out)} of {len(groups)} scores stand{'s' if len(out) == 1 else ''} out from "
            f"those of {chance} in shuffled columns (false discovery rate "
            f"{100 * selector.alpha:g}%)"
        )
        if shut == len(out):
            text += ", but every one of these has a closed gate"
        elif shut:
            text += f", of which {shut} {'has a closed gate' if shut == 1 else 'have closed gates'}"
    if gain <= 0:
        text += "; the trained gates do no better than opening or shutting all of them"
    return text + "."


def _around(group: dict[str, Any]) -> str:
    """The group by the feature in its middle."""
    name = group["title"]
    return name if group["size"] == 1 else f"{name} around {group['representative_name']}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("group ") else text


def _reason(selector: Any, taken: list[dict[str, Any]], group: dict[str, Any], kept: bool) -> str:
    """Why features of a group are kept or not; ``taken`` are the groups with features kept."""
    if selector.n_features_to_select is not None:
        return _reason_of_budget(selector, taken, group, kept)
    if not group["kept"]:
        return f"In {group['title']}: {_why_dropped(selector, group)}."
    why = f"{group['title']}: {_why_kept(selector, group)}."
    if selector.output == "representatives":
        return f"{'It' if kept else group['representative_name']} stands for {why}"
    return f"In {why}"


def _reason_of_budget(
    selector: Any, taken: list[dict[str, Any]], group: dict[str, Any], kept: bool
) -> str:
    budget, share, name = selector.n_features_to_select, group["n_kept"], group["title"]
    if not share:
        return f"In {name}: {_why_no_share(selector, taken, group)}."
    if selector.output == "representatives":
        what = "It" if kept else group["representative_name"]
        return f"{what} stands for {name}, which is within the budget of {budget}."
    part = f"all {share}" if share == group["size"] else f"its {share} most central"
    among = ", this among them" if kept else ", not this one"
    return f"In {name}: the budget of {budget} takes {part}{among}."


def _why_no_share(selector: Any, taken: list[dict[str, Any]], group: dict[str, Any]) -> str:
    """Why a budget leaves a group out, by the rule it is spent by."""
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


def _why_passed_over(
    taken: list[dict[str, Any]], group: dict[str, Any], asked_for: bool
) -> str | None:
    """What keeps a group from a share of a budget that is spread; None if it may have one.

    Groups that stand out, or have scores above zero, come first: if there are any, some are taken.
    """
    if not asked_for:
        if group["stands_out"] is None and not group["open"]:
            return "gate closed"
        if any(other["stands_out"] for other in taken) and not group["stands_out"]:
            return _no_more_than_chance(group)
    some_above_zero = any(other["score"] > 0 for other in taken)
    return "score not above zero" if some_above_zero and group["score"] <= 0 else None


def _why_kept(selector: Any, group: dict[str, Any]) -> str:
    asked = _number_asked_for(selector)
    if asked is not None:
        return "the first, and one is asked for" if asked == 1 else f"one of the first {asked}"
    if selector.n_groups_to_select == "significant" and group["stands_out"]:
        return f"score beyond chance ({in_p(group['p_value'])})"
    if group["open"] and group["stands_out"]:
        return f"gate open, score beyond chance ({in_p(group['p_value'])})"
    if group["open"] and group["stands_out"] is None:
        return "gate open"
    if group["open"]:
        return f"gate open, though no score is beyond chance ({in_p(group['p_value'])})"
    if group["stands_out"]:
        return (
            f"gate closed, but the first with a score beyond chance ({in_p(group['p_value'])}), as "
            "no group has both this and an open gate"
        )
    return "gate closed, but the first in rank, as all gates are closed"


def _why_dropped(selector: Any, group: dict[str, Any]) -> str:
    asked = _number_asked_for(selector)
    if asked is not None:
        return _beyond_the_first(asked, group)
    doubts = [] if group["open"] else ["gate closed"]
    if group["stands_out"] is False:
        doubts.append(_no_more_than_chance(group))
    return ", ".join(doubts)


def _number_asked_for(selector: Any) -> int | None:
    asked = selector.n_groups_to_select
    return None if asked == "significant" else asked


def _beyond_the_first(asked: int, group: dict[str, Any]) -> str:
    kept = "only the first is" if asked == 1 else f"the first {asked} are"
    return f"number {group['rank']}, and {kept} kept"


def _no_more_than_chance(group: dict[str, Any]) -> str:
    if group["size"] == 1:
        return "alone in its group, so it has no score"
    return f"score not beyond chance ({in_p(group['p_value'])})"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    text = " ".join(str(value.tolist() if isinstance(value, np.ndarray) else value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _written(name: str, value: Any) -> str:
    """A parameter as Python; what is too long for a line, by its name."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    short = isinstance(value, bool | int | float | str | list | tuple | dict)
    text = repr(value if short else str(value))
    is_object = not short and name == "random_state"
    return name if is_object or len(text) > LONGEST else text


def _equal(value: Any, default: Any) -> bool:
    if isinstance(value, str | int | float | bool) or value is None:
        return bool(value == default) and isinstance(value, bool) == isinstance(default, bool)
    return False
