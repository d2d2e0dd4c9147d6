"""What was found and what is selected, as plain lists and dicts; the table itself is not needed."""

from collections.abc import Sequence

from sklearn.utils.validation import check_is_fitted

from groupfs.models.objective import OPEN
from groupfs.report.json_numbers import Json, tidy, tidy_list
from groupfs.report.other_budgets import explained_curve, other_budgets, ranks_in_groups
from groupfs.report.reasons import limit_of, reasons, rule_of, why_left_out
from groupfs.selection.ungrouped import ungrouped_features
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.fitted_selector import FittedSelector, budget_of, feature_names, group_names
from groupfs.utils.types import IntArray


def describe_found(selector: FittedSelector, names: Sequence[object] | None = None) -> Json:
    """List groups, features with the reason of each, the selection, and what it explains.

    These are parts of a summary under the names they have there.
    """
    check_is_fitted(selector)
    columns = _names(selector, names)
    ranks = ranks_in_groups(selector)
    budgets = other_budgets(selector, ranks)
    curve = explained_curve(selector, budgets)
    groups = _groups(selector, columns)
    ungrouped = ungrouped_features(selector)
    texts, text_of = reasons(selector, groups, ungrouped, curve)
    left_out = why_left_out(selector, groups)
    return {
        "groups": [{**g, "left_out": why} for g, why in zip(groups, left_out, strict=True)],
        "ungrouped": {
            "unrelated": ungrouped.unrelated.tolist(),
            "loose": ungrouped.loose.tolist(),
            "constant": ungrouped.constant.tolist(),
        },
        "features": {**_features(selector, ranks), "name": columns, "reason": text_of},
        "reasons": texts,
        "selection": {
            "n_features": int(selector.get_support().sum()),
            "n_groups": int(selector.group_selected_.sum()),
            "rule": rule_of(selector),
            "output": selector.output,
            "budget": budget_of(selector),
            "limit": limit_of(selector),
            **budgets,
        },
        "explained": curve,
    }


def _names(selector: FittedSelector, given: Sequence[object] | None) -> list[str]:
    names = [str(name) for name in (feature_names(selector) if given is None else given)]
    if len(names) != selector.n_features_in_:
        raise ValueError(
            f"feature_names has {len(names)} names, but the selector was fitted on "
            f"{selector.n_features_in_} features; give one name per column."
        )
    return names


def _features(selector: FittedSelector, ranks: IntArray) -> Json:
    """List what is known of every feature, one list per property."""
    p_values = selector.relatedness_pvalues_
    related: list[float | None] = [None] * selector.n_features_in_
    if p_values is not None:
        related = tidy_list(adjust_p_values(p_values), 3)
    return {
        "group": [None if j < 0 else int(j) for j in selector.group_labels_],
        "rank": [int(rank) or None for rank in ranks],
        "centrality": tidy_list(selector.centrality_, 4),
        "sign": selector.group_signs_.tolist(),
        "score": tidy_list(selector.feature_scores_, 4),
        "relatedness_p_adjusted": related,
        "kept": selector.get_support().astype(int).tolist(),
    }


def _groups(selector: FittedSelector, names: list[str]) -> list[Json]:
    """List every group as a record, most important first."""
    p_values, reliability = selector.group_pvalues_, selector.group_reliability_
    adjusted = None if p_values is None else adjust_p_values(p_values)
    found_again = selector._group_replicates
    given = group_names(selector)
    support = selector.get_support()
    return [
        {
            "rank": j + 1,
            "name": given[j] if given else f"group {j + 1}",
            "title": f'group "{given[j]}"' if given else f"group {j + 1}",
            "is_given": given is not None,
            "size": len(group),
            "score": tidy(selector.group_scores_[j], 6),
            "p_adjusted": None if adjusted is None else tidy(adjusted[j], 4),
            "stands_out": None if adjusted is None else bool(adjusted[j] <= selector.alpha),
            "reliability": None if reliability is None else tidy(reliability[j], 3),
            "found_again": None if found_again is None else bool(found_again[j]),
            "gate": tidy(selector.group_gates_[j], 3),
            "open": bool(selector.group_gates_[j] > OPEN),
            "kept": bool(selector.group_selected_[j]),
            "n_kept": int(support[group].sum()),
            "representative": int(selector.representatives_[j]),
            "representative_name": names[selector.representatives_[j]],
            "features": group.tolist(),
        }
        for j, group in enumerate(selector.groups_)
    ]
