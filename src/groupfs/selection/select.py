"""Select features from groups, and say why: a pure function of them and of what is asked for."""

import numpy as np

from groupfs.groups import Groups, Request, Selection, Why
from groupfs.selection.budget import spend_budget
from groupfs.selection.keep import keep_groups
from groupfs.utils.types import BoolArray, IntArray

NOTHING_TO_EXPLAIN = (
    "No feature goes with another beyond chance, so the features of the budget are chosen among "
    "unrelated ones: what they explain is chance."
)
NO_SCORES = (
    'No group is kept, so output="scores" gives no column; use output="features" for a budget.'
)
NOTHING_RELATED = (
    "No feature goes with another beyond chance: the table shows no groups, and nothing is "
    "selected. Set n_features_to_select for a budget all the same, or keep_unrelated=True to look "
    "for groups among all features."
)


def select(found: Groups, order: IntArray, asked: Request) -> Selection:
    """Choose groups, and the features they stand for.

    ``order`` are the features that vary, those that explain most of the others first.
    """
    significant = found.stand_out(asked.alpha)
    note: str | None = NOTHING_RELATED
    groups, group_why = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64)
    if len(found):
        groups, group_why, note = keep_groups(found, asked.n_groups, asked.alpha)
    notes = [] if note is None or asked.n_features is not None else [note]
    ranked, labels = np.arange(len(found)), found.labels
    within = ranked[groups] if asked.n_groups else ranked
    budget = asked.n_features
    if asked.output == "representatives":
        chosen = found.representatives[within[:budget] if budget else np.flatnonzero(groups)]
    elif budget is None:
        chosen = np.flatnonzero(np.append(groups, False)[labels])
    elif asked.allocation == "explain":
        allowed = asked.n_groups is None or np.isin(labels[order], within)
        chosen = order[np.broadcast_to(allowed, order.shape)][:budget]
    else:
        shared = _groups_with_a_share(found, asked.n_groups, significant, groups)
        chosen = spend_budget(found, within, shared, budget, asked.allocation)
        if asked.n_groups is None:
            chosen = np.concatenate([chosen, order[labels[order] < 0]])[:budget]
    by_order = budget is not None and asked.n_groups is None and asked.follows_order
    if budget is not None:
        groups = np.isin(ranked, labels[chosen])
        left_out = Why.ALL_LATER if by_order else Why.OUT_OF_BUDGET
        of_budget = np.where(groups, Why.IN_BUDGET, left_out)
        group_why = np.where(np.isin(ranked, within), of_budget, group_why)
        if len(chosen) < budget:
            notes.append(
                f"n_features_to_select={budget}, but the groups to select from give only "
                f"{len(chosen)} features."
            )
        if not len(found) and len(chosen):
            notes.append(NOTHING_TO_EXPLAIN)
    if asked.output == "scores" and not groups.any():
        notes.append(NO_SCORES)
    support = np.zeros(len(labels), dtype=bool)
    support[chosen] = True
    why = _why_features(labels, groups, support, asked, order if by_order else None)
    return Selection(support, groups, why, group_why, asked, notes)


def _why_features(
    labels: IntArray,
    groups: BoolArray,
    support: BoolArray,
    asked: Request,
    order: IntArray | None,
) -> IntArray:
    """Say of every feature why it is selected or not, (d,); ``order`` where a budget follows it."""
    why = np.full(len(labels), Why.IN_NO_GROUP, dtype=np.int64)
    if order is not None:
        why[order] = Why.LATER
        why[support] = Why.CHOSEN
        return why
    inside, of_kept = labels >= 0, np.append(groups, False)[labels]
    why[inside] = Why.AS_GROUP
    if asked.output == "representatives":
        why[of_kept] = np.where(support[of_kept], Why.REPRESENTS, Why.REPRESENTED)
    elif asked.n_features is not None:
        why[of_kept] = np.where(support[of_kept], Why.SHARE, Why.NO_SHARE)
    why[support & ~inside] = Why.SPARE
    return why


def _groups_with_a_share(
    found: Groups,
    n_groups: int | str | None,
    significant: BoolArray | None,
    groups: BoolArray,
) -> BoolArray:
    """Choose the groups a budget is spread over: those asked for, else those that stand out."""
    if n_groups is not None or significant is None:
        return groups
    return significant if significant.any() else found.smoothness > 0
