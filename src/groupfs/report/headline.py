"""The first words of a report: how many groups were found and kept, and what is selected."""

from groupfs.report.json_numbers import Json
from groupfs.report.sentences import count
from groupfs.utils.fitted_selector import FittedSelector, budget_of


def headline(selector: FittedSelector, summary: Json) -> str:
    """Say how many groups were found and kept: ``16 groups found, 12 kept``."""
    groups, n_kept = summary["groups"], summary["selection"]["n_groups"]
    if not groups:
        return "No groups found"
    found = f"{count(len(groups), 'group')} {'given' if groups[0]['is_given'] else 'found'}"
    is_budget = budget_of(selector) is not None
    if len(groups) == 1:
        where = "in the selection" if is_budget else "kept"
        return f"{found} and {where}" if n_kept else f"{found}, but not {where}"
    every = "both" if len(groups) == 2 else "all"
    kept = {0: "none", len(groups): every}.get(n_kept, f"{n_kept:,}")
    return f"{found}, {kept} {'in the selection' if is_budget else 'kept'}"


def selected_sentence(selector: FittedSelector, summary: Json) -> str:
    """Say how many features are selected, and by what: ``12 of 25 features are selected ...``."""
    chosen, n_features = summary["selection"], summary["table"]["n_features"]
    n_selected, n_groups = chosen["n_features"], chosen["n_groups"]
    if not n_selected:
        return "Nothing is selected."
    verb = "is" if n_selected == 1 else "are"
    text = f"{n_selected:,} of {count(n_features, 'feature')} {verb} selected"
    if n_selected == n_features:
        every = {1: "The only feature is", 2: "Both features are"}
        text = every.get(n_features, f"All {n_features:,} features are") + " selected"
    if n_selected == n_features and chosen["budget"] is None:
        return f"{text}."
    if selector.explain is not None:
        few = "it explains" if n_selected == 1 else "together they explain"
        return f"{text}: {few} {100 * selector.explain:g} % of what the features say, as asked."
    if chosen["budget"] is not None:
        spent = "as asked" if n_selected == chosen["budget"] else f"of {chosen['budget']:,} asked"
        return f"{text}, {spent}."
    if selector.output == "representatives":
        return f"{text}, one for {'the group' if n_groups == 1 else 'each group'} kept."
    return f"{text}: those of the {'group' if n_groups == 1 else 'groups'} kept."
