"""Describe one of the trained models: its groups, scored, ranked, with central features."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from groupfs.data.rows import Rows
from groupfs.graphs.feature_clusters import as_groups
from groupfs.models.objective import OPEN
from groupfs.scoring.excess import score_on_rows
from groupfs.scoring.significance import FINAL_SHUFFLES, chance_scores, group_p_values
from groupfs.selection.keep import rank_groups
from groupfs.selection.membership_table import MembershipTable
from groupfs.training.history import EpochRecord
from groupfs.training.problem import Problem
from groupfs.training.run import Trained
from groupfs.utils.device import DTYPE
from groupfs.utils.types import FloatArray, IntArray


@dataclass
class GroupResult:
    """One trained model: its groups from best to worst, indices into the table's own order."""

    groups: list[IntArray]
    membership: FloatArray | sp.csr_array  #: (d, C); sparse where few memberships are kept
    centrality: FloatArray  #: (d,)
    scores: FloatArray  #: (C,)
    p_values: FloatArray | None  #: (C,)
    gates: FloatArray  #: (C,)
    order: IntArray  #: index of each group among the model's own, (C,)
    sparsity_weight: float
    loss: float
    gain: float
    history: list[EpochRecord]


def describe(problem: Problem, trained: Trained, seed: int, weight: int) -> GroupResult:
    """Score, rank and describe the groups of one of the trained models."""
    memberships = memberships_of(problem, trained, seed, weight)
    if not problem.start.known:
        memberships = memberships.merged(problem.table.twins)
    gates = trained.gates[seed, weight]
    labels = memberships.labels()
    groups = as_groups(labels, problem.n_groups)
    sizes = np.array([len(group) for group in groups])
    p_values = None
    if problem.settings.ranking == "excess":
        scores, p_values = _score(problem, groups, sizes)
    elif problem.settings.ranking == "gate":
        scores = gates
    else:
        relative = trained.sparsity_weights / problem.critical_sparsity_weight
        scores = closing_sparsity(trained.gates[seed], relative)
    ranked = rank_groups(scores, gates)
    order = ranked[sizes[ranked] > 0]
    records = trained.records(seed, weight, problem.objective.smoothness_weight)
    return GroupResult(
        groups=[groups[j] for j in order],
        membership=memberships.probabilities(order),
        centrality=centrality(problem.table.rows, labels, problem.n_groups),
        scores=scores[order],
        p_values=None if p_values is None else p_values[order],
        gates=gates[order],
        order=order,
        sparsity_weight=float(trained.sparsity_weights[weight]),
        loss=float(trained.loss[seed, weight]),
        gain=float(trained.gain[seed, weight]),
        history=[{**record, "gates": record["gates"][order]} for record in records],
    )


def memberships_of(problem: Problem, trained: Trained, seed: int, weight: int) -> MembershipTable:
    """Return what one model says of the groups of the features."""
    candidates = problem.start.candidates
    own = None if candidates is None else candidates[seed]
    return MembershipTable(trained.logits[seed, weight], problem.n_groups, own)


def closing_sparsity(gates: FloatArray, sparsities: FloatArray) -> FloatArray:
    """Find the largest sparsity at which each group is open, 0 if none; (P, C), (P,) to (C,)."""
    return np.max(np.where(gates > OPEN, sparsities[:, None], 0.0), axis=0)


def centrality(rows: Rows, labels: IntArray, n_groups: int) -> FloatArray:
    """Correlate every feature with the mean of its group, (d,)."""
    products, norms = rows.group_products(labels, n_groups)
    return products / np.maximum(norms[labels] * np.sqrt(rows.column_norms), 1e-12)


def _score(
    problem: Problem, groups: list[IntArray], sizes: IntArray
) -> tuple[FloatArray, FloatArray | None]:
    """Compute the excess of every group and its p-value; none if all features stand alone."""
    settings, rows, seed = problem.settings, problem.table.rows, problem.seeds[0]
    graph = {"n_neighbors": settings.n_neighbors, "steps": settings.diffusion_steps}
    rated = score_on_rows(rows, groups, n_shuffles=FINAL_SHUFFLES, seed=seed, **graph)
    if not (sizes > 1).any():
        return rated.excess, None
    chance = chance_scores(
        rows,
        problem.n_groups,
        problem.start.clusters[0] if problem.start.known else None,
        n_kept=settings.feature_neighbors,
        seed=seed,
        device=problem.device,
        dtype=DTYPE,
        **graph,
    )
    return rated.excess, group_p_values(rated, sizes, chance)
