"""Describe one of the trained models: its groups, scored, ranked, with central features."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from groupfs.graphs.feature_clusters import as_groups
from groupfs.graphs.replication import replicates
from groupfs.graphs.similarity import Correlations
from groupfs.models.objective import OPEN
from groupfs.scoring.cohesion import (
    correlations_with_groups,
    group_components,
    in_memory,
    mean_cohesion,
)
from groupfs.scoring.excess import score_on_rows
from groupfs.scoring.significance import chance_cohesion, group_p_values
from groupfs.selection.keep import rank_groups
from groupfs.selection.membership_table import MembershipTable
from groupfs.training.discovery import Evidence, settled
from groupfs.training.history import EpochRecord
from groupfs.training.problem import FINAL_SHUFFLES, Problem
from groupfs.training.run import Trained
from groupfs.utils.types import BoolArray, FloatArray, IntArray


@dataclass
class GroupResult:
    """One trained model: its groups from best to worst, indices into the table's own order."""

    groups: list[IntArray]
    membership: FloatArray | sp.csr_array  #: (d, C); sparse where few memberships are kept
    centrality: FloatArray  #: (d,)
    signs: IntArray  #: -1 for features that run against their group, 0 for those in none, (d,)
    scores: FloatArray  #: (C,)
    p_values: FloatArray | None  #: (C,)
    reliability: FloatArray | None  #: how well a group is found again in halves of the rows, (C,)
    replicates: BoolArray | None  #: which groups are found again more often than by chance, (C,)
    gates: FloatArray  #: (C,)
    order: IntArray  #: index of each group among the model's own, (C,)
    sparsity_weight: float
    loss: float
    gain: float
    history: list[EpochRecord]


def describe(problem: Problem, trained: Trained, seed: int, weight: int) -> GroupResult:
    """Score, rank and describe the groups of one of the trained models."""
    memberships = memberships_of(problem, trained, seed, weight)
    if not problem.start.fixed:
        memberships = memberships.merged(problem.table.twins)
    gates = trained.gates[seed, weight]
    labels = _labels(problem, memberships)
    groups = as_groups(labels, problem.n_groups)
    sizes = np.array([len(group) for group in groups])
    settings, evidence, rows = problem.settings, problem.evidence, problem.table.rows
    if settings.signed:
        central, _ = correlations_with_groups(rows, labels, problem.n_groups, signed=True)
        cohesion = None
        signs = np.where(central < 0, -1, 1) * (labels >= 0)
    else:
        components = group_components(rows, groups)
        central, signs, cohesion = components.centrality, components.signs, components.cohesion
    p_values = None
    if evidence is not None:
        cohesion = mean_cohesion(rows, groups) if cohesion is None else cohesion
        p_values = _p_values(problem, evidence, cohesion, sizes)
    reliability, again = _reliability(problem, evidence, labels)
    scores = _scores(problem, trained, groups, seed, weight)
    ranked = rank_groups(scores, gates)
    order = ranked[sizes[ranked] > 0]
    records = trained.records(seed, weight, problem.objective.smoothness_weight)
    return GroupResult(
        groups=[groups[j] for j in order],
        membership=memberships.probabilities(order),
        centrality=central,
        signs=signs,
        scores=scores[order],
        p_values=None if p_values is None else p_values[order],
        reliability=None if reliability is None else reliability[order],
        replicates=None if again is None else again[order],
        gates=gates[order],
        order=order,
        sparsity_weight=float(trained.sparsity_weights[weight]),
        loss=float(trained.loss[seed, weight]),
        gain=float(trained.gain[seed, weight]),
        history=[{**record, "gates": record["gates"][order]} for record in records],
    )


def _labels(problem: Problem, memberships: MembershipTable) -> IntArray:
    """Find the group of every feature, (d,); -1 for those that training took to a strange one."""
    labels = memberships.labels()
    evidence = problem.evidence
    if problem.start.fixed or evidence is None or evidence.relatedness is None:
        return labels
    correlations = Correlations(in_memory(problem.table.rows))
    return settled(correlations, labels, problem.n_groups, problem.settings)


def memberships_of(problem: Problem, trained: Trained, seed: int, weight: int) -> MembershipTable:
    """Return what one model says of the groups of the features."""
    candidates = problem.start.candidates
    own = None if candidates is None else candidates[seed]
    return MembershipTable(trained.logits[seed, weight], problem.n_groups, own)


def closing_sparsity(gates: FloatArray, sparsities: FloatArray) -> FloatArray:
    """Find the largest sparsity at which each group is open, 0 if none; (P, C), (P,) to (C,)."""
    return np.max(np.where(gates > OPEN, sparsities[:, None], 0.0), axis=0)


def _scores(
    problem: Problem, trained: Trained, groups: list[IntArray], seed: int, weight: int
) -> FloatArray:
    """Compute what groups are ranked by, (C,)."""
    settings = problem.settings
    if settings.ranking == "gate":
        return trained.gates[seed, weight]
    if settings.ranking == "path":
        relative = trained.sparsity_weights / problem.critical_sparsity_weight
        return closing_sparsity(trained.gates[seed], relative)
    if problem.excess is not None:
        return problem.excess
    return score_on_rows(
        problem.table.rows,
        groups,
        n_neighbors=settings.n_neighbors,
        steps=settings.diffusion_steps,
        n_shuffles=FINAL_SHUFFLES,
        seed=problem.seeds[0],
        metric=settings.metric,
    ).excess


def _p_values(
    problem: Problem, evidence: Evidence, cohesion: FloatArray, sizes: IntArray
) -> FloatArray | None:
    """Compare cohesion with that of chance groups, (C,); None if all features stand alone."""
    if not (sizes > 1).any():
        return None
    settings = problem.settings
    chance = chance_cohesion(
        evidence.chance,
        evidence.n_chosen,
        problem.n_groups,
        problem.start.clusters[0] if problem.start.known else None,
        n_neighbors=settings.n_neighbors,
        n_kept=settings.feature_neighbors,
        signed=settings.signed,
    )
    return group_p_values(cohesion, sizes, chance)


def _reliability(
    problem: Problem, evidence: Evidence | None, labels: IntArray
) -> tuple[FloatArray | None, BoolArray | None]:
    """Measure how well groups are found again in halves of the rows, and decide which are.

    Where no number of groups replicates, groups are not asked to; nor is a group none of whose
    features were looked at in halves, whose reliability is NaN.
    """
    if evidence is None or evidence.halves is None or evidence.halved is None:
        return None, None
    place = dict(zip(problem.table.columns.tolist(), labels.tolist(), strict=True))
    halved = np.array([place.get(column, -1) for column in evidence.halved.tolist()])
    found, by_chance = evidence.halves.reliability(halved, problem.n_groups)
    seen = np.bincount(halved[halved >= 0], minlength=problem.n_groups) > 0
    measured = np.where(seen, found, np.nan)
    replication = evidence.replication
    if replication is not None and replication.best is None:
        return measured, None
    return measured, replicates(found, by_chance) | ~seen
