"""From a trained model to its groups: labels, probabilities, central features, ranks.

Axes: d features, C groups.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from groupfs.discovery.clusters import as_groups
from groupfs.discovery.describe_groups import N_SHUFFLES, place_groups
from groupfs.groups import Groups
from groupfs.joint.problem import Problem, group_smoothness
from groupfs.joint.training import Trained
from groupfs.utils.types import FloatArray, IntArray


@dataclass(frozen=True)
class LearnedGroups:
    """The groups of one trained model, best first."""

    groups: Groups
    order: IntArray  #: number of each group in the model, (C,)
    membership: FloatArray  #: probabilities, 0 for constant columns, (n_features, C)
    gates: FloatArray  #: gate means, (C,)
    history: list[dict[str, Any]]


def learned_groups(problem: Problem, trained: Trained, seed: int, weight: int) -> LearnedGroups:
    """Describe the groups of one of the trained models, ranked as its settings ask for."""
    table, settings = problem.table, problem.settings
    logits = merge_duplicates(trained.logits[seed, weight].astype(np.float64), table.twins)
    labels: IntArray = logits.argmax(1)
    groups = as_groups(labels, problem.n_groups)
    gates = trained.gates[seed, weight]
    central, _ = table.similarity.with_sums(labels, problem.n_groups)
    scores = gates
    if not settings.ranks_by_gates:
        scores = group_smoothness(table, groups, settings, problem.seeds[0], N_SHUFFLES)
    ranked = np.lexsort((-gates, -scores))
    order = np.array([j for j in ranked if len(groups[j])], dtype=np.int64)
    share = scipy.special.softmax(logits, axis=1)[:, order]
    membership = np.zeros((len(table.names), len(order)))
    membership[table.columns] = share / share.sum(1, keepdims=True)
    records = trained.records(seed, weight, problem.objective.smoothness_weight)
    signs = np.where(central < 0, -1, 1)
    return LearnedGroups(
        groups=place_groups(table, [groups[j] for j in order], central, signs, scores[order]),
        order=order,
        membership=membership,
        gates=gates[order],
        history=[{**record, "gates": record["gates"][order]} for record in records],
    )


def merge_duplicates(logits: FloatArray, duplicates: IntArray) -> FloatArray:
    """Give equal columns the mean of their logits, so that they share a group, (d, C).

    ``duplicates`` (d,) has one number for equal columns.
    """
    counts = np.bincount(duplicates)
    sums = np.zeros((len(counts), logits.shape[1]))
    np.add.at(sums, duplicates, logits)
    merged: FloatArray = (sums / counts[:, None])[duplicates]
    return merged
