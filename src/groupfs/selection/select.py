"""Keep groups and select features from them, and say why: a pure function of what is asked for.

Axes: d features, C groups. Nothing but numpy here.
"""

from numbers import Integral
from typing import Any

import numpy as np

from groupfs.groups import LEAST_FOUND, OPEN, Groups, Request, Selection
from groupfs.selection.short_form import short_form
from groupfs.sentences import Why
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import SAME_SHARE, join_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray

NOTHING_TO_EXPLAIN = (
    "No feature is related to another beyond chance, so the features of the budget are chosen "
    "among unrelated ones: what they explain is chance."
)
BEYOND_GROUPS = (
    "n_features_to_select={n}, but only {inside} features are in groups, so {outside} from no "
    "group are selected as well; choose at most {inside} to leave these out."
)
WITHOUT_ANY = (
    "n_features_to_select={n} leaves {without} of the {kept} kept groups without a feature "
    "({which}); choose at least {kept} to have one of each."
)
NO_SCORES = (
    'No group is kept, so output="scores" gives no column; use output="features" for a budget.'
)
NOTHING_RELATED = (
    "No feature is related to another beyond chance: the table shows no groups, and nothing is "
    "selected. Set n_features_to_select for a budget all the same, or keep_unrelated=True to look "
    "for groups among all features."
)
ALL_CLOSED = (
    "All gates are closed, so what is kept is the group ranked first; choose a lower sparsity, or "
    "fewer and shorter steps (max_epochs, learning_rate)."
)
ALL_THE_SAME = (
    "so nothing is selected. Ask for a number of groups or features (n_groups_to_select, "
    "n_features_to_select) to have the first of them all the same"
)
NONE_STANDS_OUT = f"No group stands out from chance, {ALL_THE_SAME}, or raise alpha."
NO_GROUP_KEPT = (
    "No group stands out from chance and is found again in halves of the rows, so trust none; "
    "selected are the {n} features that explain 95 % of the variance of the related ones."
)
NOT_FOUND_AGAIN = (
    f"No group that stands out from chance is found again in halves of the rows, {ALL_THE_SAME}."
)


def select(found: Groups, order: IntArray, asked: Request) -> Selection:
    """Choose groups, and the features they stand for.

    ``order`` are the features that vary, those that explain most of the others first.
    """
    groups, group_why, note = keep_groups(found, asked.n_groups, asked.alpha)
    budget, ranked, labels = asked.n_features, np.arange(len(found)), found.labels
    goes_on = asked.among_related and len(found)  # without a group that is kept
    notes = [note] if note and (budget is None or asked.is_default and not goes_on) else []
    within = ranked[groups] if asked.n_groups else ranked
    short = None
    if asked.n_per_group is not None:
        chosen, short = _short_forms(found, within if budget else ranked[groups], asked.n_per_group)
        chosen = chosen[:budget]
    elif budget is None:
        chosen = np.flatnonzero(np.append(groups, False)[labels])
    elif asked.takes_whole:
        n_whole = 1 + int(np.searchsorted(found.sizes[within].cumsum(), budget))
        chosen = np.flatnonzero(np.isin(labels, within[:n_whole]))
    else:
        allowed = asked.n_groups is None or np.isin(labels[order], within)
        chosen = order[np.broadcast_to(allowed, order.shape)][:budget]
    if asked.is_default:
        if groups.any() or not goes_on:  # what is not kept is not selected
            chosen = chosen[np.append(groups, False)[labels[chosen]]]
        else:
            notes.append(NO_GROUP_KEPT.format(n=len(chosen)))
    elif budget is not None:
        if asked.takes_whole:
            groups = np.isin(ranked, labels[chosen])
            of_budget = np.where(groups, Why.TAKEN_WHOLE, Why.OUT_OF_BUDGET)
            group_why = np.where(np.isin(ranked, within), of_budget, group_why)
        if len(chosen) < budget:
            notes.append(
                f"n_features_to_select={budget}, but the groups to select from give only "
                f"{len(chosen)} features."
            )
        without = np.setdiff1d(ranked[groups], labels[chosen])
        if asked.n_per_group is not None and len(without):
            which = join_names([found.title(j) for j in without], 4)
            facts = {"without": len(without), "kept": int(groups.sum()), "which": which}
            notes.append(WITHOUT_ANY.format(n=budget, **facts))
        outside = int((labels[chosen] < 0).sum())
        if not len(found) and len(chosen):
            notes.append(NOTHING_TO_EXPLAIN)
        elif outside and asked.explain is None:
            inside = int((labels >= 0).sum())
            notes.append(BEYOND_GROUPS.format(n=budget, outside=outside, inside=inside))
    if asked.output == "scores" and not groups.any():
        notes.append(NO_SCORES)
    support = np.zeros(len(labels), dtype=bool)
    support[chosen] = True
    by_order = budget is not None and asked.n_groups is None and asked.follows_order
    why = _why_features(labels, groups, support, asked, order if by_order else None)
    return Selection(support, groups, why, group_why, asked, notes, short)


def _short_forms(found: Groups, groups: IntArray, k: int) -> tuple[IntArray, FloatArray]:
    """Choose k features of some groups, and tell how well they keep their scores, (C, 2).

    A single one is the most central; of groups whose correlations are not kept so are several.
    """
    figures = np.full((len(found), 2), np.nan)
    within = [] if found.items is None else found.items["within"]
    chosen = [found.representatives[:0]]
    for j in groups.tolist():
        central, R = found.by_centrality(j), within[j] if within else np.zeros((0, 0))
        if len(R):
            of, members = short_form(R, found.centrality[found.members[j]], k), found.members[j]
            figures[j] = of.correlation, of.alpha
            central = members[of.items]
        chosen.append(found.representatives[[j]] if k == 1 else central[:k])
    return np.concatenate(chosen), figures


def keep_groups(
    found: Groups, rule: int | str | None, alpha: float
) -> tuple[BoolArray, IntArray, str | None]:
    """Choose the groups to keep, (C,), with a :class:`Why` of each, and a note where none is.

    ``rule`` is a number of groups. Else gates decide, where there are any (the first group is kept
    if none is open), or what stands out from chance and is found again in halves of the rows, where
    that was looked at.
    """
    if not len(found):
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64), NOTHING_RELATED
    if rule is not None and not isinstance(rule, str):
        first = np.arange(len(found)) < int(rule)
        return first, np.where(first, Why.AMONG_FIRST, Why.AFTER_FIRST), None
    if found.gates is not None:
        kept = found.gates > OPEN
        why = np.where(kept, Why.GATE_OPEN, Why.GATE_CLOSED)
        if kept.any():
            return kept, why, None
        kept[0], why[0] = True, Why.FIRST_OF_CLOSED
        return kept, why, ALL_CLOSED
    significant = found.stand_out(alpha)
    assert significant is not None  # without gates groups are tested
    kept = significant if found.replicates is None else significant & found.replicates
    doubt = np.where(significant, Why.NOT_REPLICATED, Why.NOT_BEYOND_CHANCE)
    if found.replication is not None:
        doubt[significant & (found.replication >= LEAST_FOUND)] = Why.IN_SOME_ROWS
    if found.in_blocks is not None:
        n_holds, n_blocks = found.n_blocks
        in_few = kept & (2 * n_holds <= n_blocks)
        kept, doubt[in_few] = kept & ~in_few, Why.IN_FEW_BLOCKS
    note = NOT_FOUND_AGAIN if significant.any() else NONE_STANDS_OUT
    return kept, np.where(kept, Why.BEYOND_CHANCE, doubt), None if kept.any() else note


def _why_features(
    labels: IntArray, groups: BoolArray, support: BoolArray, asked: Request, order: IntArray | None
) -> IntArray:
    """Say of every feature why it is selected or not, (d,); ``order`` where a budget follows it."""
    why = np.full(len(labels), Why.IN_NO_GROUP, dtype=np.int64)
    inside, of_kept = labels >= 0, np.append(groups, False)[labels]
    if order is not None:
        why[order] = Why.LATER
        why[support] = Why.CHOSEN
        if asked.is_default and (groups.any() or not asked.among_related):
            why[~of_kept] = np.where(inside, Why.AS_GROUP, Why.IN_NO_GROUP)[~of_kept]
        return why
    why[inside] = Why.AS_GROUP
    if asked.n_per_group is not None:
        if asked.n_features is not None:
            taken = np.isin(labels, labels[support])
            why[of_kept & ~taken], of_kept = Why.OUT_OF_BUDGET, taken
        one = asked.n_per_group == 1
        kept, not_kept = (
            (Why.REPRESENTS, Why.REPRESENTED) if one else (Why.KEEPS_SCORE, Why.NOT_NEEDED)
        )
        why[of_kept] = np.where(support[of_kept], kept, not_kept)
    elif asked.n_features is not None and not asked.takes_whole:
        why[of_kept] = np.where(support[of_kept], Why.SHARE, Why.NO_SHARE)
    return why


def features_asked_for(
    n_features: float | None, explain: float | None, explained: FloatArray
) -> int | None:
    """Count the features of a budget, of a share of the features, or that explain a share.

    ``explained`` is the share that the first 1, 2, ... features explain. None stands for the
    features of the groups that are kept.
    """
    if explain is not None:
        return 1 + int(np.searchsorted(explained, explain - SAME_SHARE))
    if n_features is None:
        return None
    is_share = not isinstance(n_features, Integral)
    return max(1, int(n_features * len(explained) + SAME_SHARE)) if is_share else int(n_features)


def refuse_too_many(wanted: float | None, n_features: int) -> None:
    """Refuse a budget of more features than vary."""
    if wanted is not None and wanted > n_features:
        raise ParameterError(
            f"n_features_to_select={wanted} but X has {n_features} features that vary; choose "
            f"at most {n_features}.",
            "n_features_to_select",
        )


def refuse_conflicts(values: dict[str, Any]) -> None:
    """Refuse a share of variance to explain beside what would set the number in another way."""
    if values.get("explain") in (None, "auto"):
        return
    for name in ("n_features_to_select", "n_groups_to_select", "n_per_group"):
        if values[name] is not None:
            raise ParameterError(
                f"explain={values['explain']} and {name}={values[name]!r} are both given; explain "
                f"chooses as many features of all groups as it takes, so leave {name} out.",
                "explain",
            )
