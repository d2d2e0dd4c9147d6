"""Select features from described groups: a pure function of them and of what is asked for.

It imports what needs torch when it is called: estimators name its types, and can be made without.
"""

from dataclasses import dataclass, field

import numpy as np

from groupfs.selection.budget import spend_budget
from groupfs.selection.keep import keep_groups
from groupfs.utils.types import BoolArray, FloatArray, IntArray

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


@dataclass(frozen=True)
class RankedGroups:
    """Groups from best to worst, in the user's order of the columns."""

    groups: list[IntArray]
    labels: IntArray  #: group of every feature, -1 for none, (d,)
    centrality: FloatArray  #: (d,)
    representatives: IntArray  #: most central feature of every group, (C,)
    scores: FloatArray  #: (C,)
    gates: FloatArray  #: (C,)
    p_values: FloatArray | None  #: (C,)
    order: IntArray  #: features that vary, those that explain most of the others first
    replicates: BoolArray | None = None  #: which groups are found again in halves of the rows, (C,)


@dataclass(frozen=True)
class Request:
    """What is asked for: groups, features, and how a budget is spent."""

    n_features: int | None  #: None takes the features of the groups that are kept
    n_groups: int | str | None  #: a number, "significant", "open", or None for the usual rule
    usual_rule: str  #: "significant" or "open"
    allocation: str
    output: str
    alpha: float


@dataclass(frozen=True)
class Selection:
    """Selected features and groups."""

    support: BoolArray  #: (d,)
    groups: BoolArray  #: (C,)
    notes: list[str] = field(default_factory=list)  #: sentences on rules that had to be relaxed

    @property
    def features(self) -> IntArray:
        """Indices of the selected features."""
        return np.flatnonzero(self.support)


def select(found: RankedGroups, wanted: Request) -> Selection:
    """Choose groups, and the features they stand for."""
    from groupfs.models.objective import OPEN
    from groupfs.scoring.significance import discoveries

    significant = None
    if found.p_values is not None:
        significant = discoveries(found.p_values, wanted.alpha)
    rule = wanted.n_groups or wanted.usual_rule
    if found.groups:
        groups, note = keep_groups(rule, found.gates > OPEN, significant, found.replicates)
    else:
        groups, note = np.zeros(0, dtype=bool), NOTHING_RELATED
    notes = [] if note is None or wanted.n_features is not None else [note]
    ranked = np.arange(len(found.groups))
    within = ranked[groups] if wanted.n_groups else ranked
    budget = wanted.n_features
    if wanted.output == "representatives":
        chosen = found.representatives[within[:budget] if budget else np.flatnonzero(groups)]
    elif budget is None:
        chosen = np.flatnonzero(np.append(groups, False)[found.labels])
    elif wanted.allocation == "explain":
        allowed = wanted.n_groups is None or np.isin(found.labels[found.order], within)
        chosen = found.order[np.broadcast_to(allowed, found.order.shape)][:budget]
    else:
        shared = _groups_with_a_share(found, wanted.n_groups, significant, groups)
        chosen = spend_budget(
            found.groups, found.centrality, within, shared, found.scores, budget, wanted.allocation
        )
        if wanted.n_groups is None:
            spare = found.order[found.labels[found.order] < 0]
            chosen = np.concatenate([chosen, spare])[:budget]
    if budget is not None:
        groups = np.isin(ranked, found.labels[chosen])
        if len(chosen) < budget:
            notes.append(
                f"n_features_to_select={budget}, but the groups to select from give only "
                f"{len(chosen)} features."
            )
        if not found.groups:
            notes.append(NOTHING_TO_EXPLAIN)
    if wanted.output == "scores" and not groups.any():
        notes.append(NO_SCORES)
    support = np.zeros(len(found.labels), dtype=bool)
    support[chosen] = True
    return Selection(support, groups, notes)


def _groups_with_a_share(
    found: RankedGroups,
    n_groups: int | str | None,
    significant: BoolArray | None,
    groups: BoolArray,
) -> BoolArray:
    """Choose the groups a budget is spread over: those asked for, else those that stand out."""
    if n_groups is not None or significant is None:
        return groups
    return significant if significant.any() else found.scores > 0
