"""Prepare a fit: groups to start from, where gates start, weights of the terms."""

import copy
from dataclasses import dataclass, replace

import numpy as np
import torch

from groupfs.data.rows import Rows
from groupfs.data.table import Table
from groupfs.graphs.feature_clusters import as_groups
from groupfs.graphs.feature_graph import walk_tensor
from groupfs.graphs.relatedness import Relatedness
from groupfs.models.candidate_memberships import CandidateMemberships
from groupfs.models.gated_model import GatedModel
from groupfs.models.memberships import DenseMemberships, FixedMemberships
from groupfs.models.objective import Objective
from groupfs.scoring.excess import score_on_rows
from groupfs.training.calibration import measure_start
from groupfs.training.discovery import (
    Discovery,
    Evidence,
    FeatureStart,
    discover,
    evidence_for_known,
)
from groupfs.training.metric_pool import metric_pool
from groupfs.training.row_pool import RowPool
from groupfs.training.settings import Settings
from groupfs.utils.device import DTYPE, memory_for_models
from groupfs.utils.types import FloatArray, IntArray

#: Where gates start if their groups' scores have no say.
HALF_OPEN = 0.5
#: Shuffles that a cluster is compared with before training, and a group that was found: which rows
#: are looked at makes ten times the difference that more shuffles would.
START_SHUFFLES, FINAL_SHUFFLES = 3, 5


@dataclass(frozen=True)
class Problem:
    """A table with its graph, its start and the weights of its objective."""

    table: Table
    settings: Settings
    seeds: list[int]
    device: torch.device
    objective: Objective
    start: FeatureStart
    gate_start: FloatArray  #: (S, C)
    critical_sparsity_weight: float
    pool: RowPool | None = None  #: rows that all epochs see; None draws from all of them
    excess: FloatArray | None = None  #: scores of groups that stay as they are, (C,)
    evidence: Evidence | None = None  #: what speaks for the groups

    @property
    def n_groups(self) -> int:
        return self.start.n_groups

    @property
    def n_candidates(self) -> int | None:
        """Groups that each feature may belong to; None for all."""
        return None if self.start.candidates is None else self.start.candidates.shape[-1]

    def for_training(self) -> "Problem":
        """Leave out what training has no use for, before the problem is sent to workers."""
        return replace(self, evidence=None)

    def on(self, device: torch.device) -> "Problem":
        """Copy the problem with its table and graph to another device."""
        rows, walk, pool = copy.copy(self.table.rows), self.objective.walk, self.pool
        rows.to(device, DTYPE)
        return replace(
            self,
            table=replace(self.table, rows=rows),
            objective=replace(self.objective, walk=None if walk is None else walk.to(device)),
            pool=None if pool is None else pool.to(device),
            device=device,
        )

    def models(self, sparsity_weights: FloatArray) -> GatedModel:
        """Start untrained models: every seed with every sparsity weight."""
        memberships = starting_memberships(self.start, self.seeds, self.pool)
        return GatedModel.start(memberships, self.gate_start, sparsity_weights, self.device, DTYPE)


def prepare(
    table: Table,
    settings: Settings,
    seeds: list[int],
    device: torch.device,
    known_labels: IntArray | None = None,
    n_candidates: int | None = None,
    relatedness: Relatedness | None = None,
) -> Problem:
    """Find what is to be known of a table before training.

    Groups that are known (``known_labels``, (d,)) need no graph and no choice of their number.
    ``n_candidates``, if given, are the groups that each feature may belong to, whatever the memory.
    With ``relatedness`` only features that go with others take part.
    """
    table.rows.to(device, DTYPE)
    if known_labels is not None:
        labels = [known_labels]
        start = FeatureStart(int(known_labels.max()) + 1, labels, known=True, fixed=True)
        evidence = None
        if settings.compares_with_chance:
            evidence = evidence_for_known(table.rows, seeds[0])
        found = Discovery(table, start, None, evidence)
    else:
        memory = model_memory(table.rows, device)
        found = discover(table, settings, seeds, memory, n_candidates, relatedness)
    start, rows = found.start, found.table.rows
    walk = None if found.walk is None else walk_tensor(found.walk, device, DTYPE)
    objective = Objective(
        n_neighbors=settings.n_neighbors,
        steps=settings.diffusion_steps,
        gate_noise=settings.gate_noise,
        through_bandwidth=settings.bandwidth_gradient == "exact",
        walk=walk,
    )
    pool = None
    # rows of features of any kind are always prepared: batches of them cannot be written over
    if settings.metric != "euclidean":
        pool = metric_pool(rows, start, settings, seeds[0], model_memory(rows, device))
    elif (start.fixed and settings.pools_rows) or rows.owner is not None:
        pool = RowPool.of(
            rows,
            start.clusters[0] if start.fixed else None,
            start.n_groups,
            settings.batch_size,
            settings.diffusion_steps,
            seeds[0],
            model_memory(rows, device),
        )
    level = np.full((1, start.n_groups), HALF_OPEN)
    memberships = starting_memberships(start, seeds[:1], pool)
    first = GatedModel.start(memberships, level, np.ones(1), device, DTYPE)
    measured = measure_start(first, objective, pool or rows, settings.batch_size, seeds[0])
    gate_start, excess = _gate_starts(rows, start, settings, seeds)
    if not start.fixed:
        weight = settings.smoothness_weight
        if weight == "auto":
            weight = measured.balanced_smoothness_weight
        objective = replace(objective, smoothness_weight=float(weight))
    return Problem(
        table=found.table,
        settings=settings,
        seeds=seeds,
        device=device,
        objective=objective,
        start=start,
        gate_start=gate_start,
        critical_sparsity_weight=float(measured.critical_sparsity_weight),
        pool=pool,
        excess=excess if start.fixed else None,
        evidence=found.evidence,
    )


def starting_memberships(
    start: FeatureStart, seeds: list[int], pool: RowPool | None = None
) -> DenseMemberships:
    """Make the memberships that models of the first seeds start from, one each."""
    S = len(seeds)
    if pool is not None and pool.holds_products:  # groups are what features are to other models
        labels = start.clusters[0]
        share = np.bincount(labels, minlength=start.n_groups) / len(labels)
        return FixedMemberships(S, None, torch.from_numpy(share[None]))
    if start.fixed:
        return FixedMemberships.from_labels(start.clusters[0], start.n_groups, S)
    if start.candidates is not None:
        return CandidateMemberships.from_candidates(start.candidates[:S], start.n_groups, seeds)
    return DenseMemberships.from_clusters(start.clusters[:S], start.n_groups, seeds)


def model_memory(rows: Rows, device: torch.device) -> int:
    """Find the bytes that the models trained side by side may take."""
    plan = rows.plan
    if plan is None or device.type == "cuda":
        return memory_for_models(device)
    return int(plan.model_bytes)


def _gate_starts(
    rows: Rows, start: FeatureStart, settings: Settings, seeds: list[int]
) -> tuple[FloatArray, FloatArray | None]:
    """Find where the gates of every seed start, (S, C), and the excess of the first one's groups.

    By excess, from 1/4 for groups without any to 3/4 for the group with the most.
    """
    starts = np.full((len(seeds), start.n_groups), HALF_OPEN)
    if settings.gate_start != "excess":
        return starts, None
    first = None
    for s, (labels, seed) in enumerate(zip(start.clusters, seeds, strict=False)):
        scores = score_on_rows(
            rows,
            as_groups(labels, start.n_groups),
            n_neighbors=settings.n_neighbors,
            steps=settings.diffusion_steps,
            n_shuffles=FINAL_SHUFFLES if start.fixed else START_SHUFFLES,
            seed=seed,
            metric=settings.metric,
        )
        first = scores.excess if first is None else first
        excess = np.maximum(scores.excess, 0)
        starts[s:] = 0.25 + 0.5 * excess / max(excess.max(), 1e-12)
    return starts, first
