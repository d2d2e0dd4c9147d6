"""Prepare a fit: feature graph, number of groups, where models start, weights of the terms."""

import copy
from dataclasses import dataclass, replace

import numpy as np
import torch

from groupfs.data.memory_plan import n_candidates_that_fit
from groupfs.data.rows import Rows
from groupfs.data.table import Table
from groupfs.graphs.eigenvectors import leading_eigenvectors
from groupfs.graphs.feature_clusters import as_groups, cluster_features, nearest_clusters
from groupfs.graphs.feature_graph import feature_walk, walk_tensor
from groupfs.graphs.number_of_groups import find_n_groups
from groupfs.models.candidate_memberships import CandidateMemberships
from groupfs.models.gated_model import GatedModel
from groupfs.models.memberships import DenseMemberships, FixedMemberships
from groupfs.models.objective import Objective
from groupfs.scoring.excess import score_on_rows
from groupfs.training.calibration import measure_start
from groupfs.training.settings import Settings
from groupfs.utils.device import DTYPE, memory_for_models
from groupfs.utils.types import FloatArray, IntArray

#: Where gates start if their groups' scores have no say.
HALF_OPEN = 0.5
#: Shuffles that a cluster is compared with before training.
START_SHUFFLES = 3


@dataclass(frozen=True)
class FeatureStart:
    """Where the memberships of the features start, known or found."""

    n_groups: int
    clusters: list[IntArray]  #: one clustering of the features per seed
    known: bool = False  #: whether the groups were known beforehand
    candidates: IntArray | None = None  #: groups each feature may belong to if not all, (S, d, k)
    distortion: dict[int, float] | None = None  #: E(C) for every C looked at

    def memberships(self, seeds: list[int]) -> DenseMemberships:
        """Make the memberships that models of the first seeds start from, one each."""
        S = len(seeds)
        if self.known:
            return FixedMemberships.from_labels(self.clusters[0], self.n_groups, S)
        if self.candidates is not None:
            return CandidateMemberships.from_candidates(self.candidates[:S], self.n_groups, seeds)
        return DenseMemberships.from_clusters(self.clusters[:S], self.n_groups, seeds)


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

    @property
    def n_groups(self) -> int:
        return self.start.n_groups

    @property
    def n_candidates(self) -> int | None:
        """Groups that each feature may belong to; None for all."""
        return None if self.start.candidates is None else self.start.candidates.shape[-1]

    def on(self, device: torch.device) -> "Problem":
        """Copy the problem with its table and graph to another device."""
        rows, walk = copy.copy(self.table.rows), self.objective.walk
        rows.to(device, DTYPE)
        return replace(
            self,
            table=replace(self.table, rows=rows),
            objective=replace(self.objective, walk=None if walk is None else walk.to(device)),
            device=device,
        )

    def models(self, sparsity_weights: FloatArray) -> GatedModel:
        """Start untrained models: every seed with every sparsity weight."""
        memberships = self.start.memberships(self.seeds)
        return GatedModel.start(memberships, self.gate_start, sparsity_weights, self.device, DTYPE)


def prepare(
    table: Table,
    settings: Settings,
    seeds: list[int],
    device: torch.device,
    known_labels: IntArray | None = None,
    n_candidates: int | None = None,
) -> Problem:
    """Find what is to be known of a table before training.

    Groups that are known (``known_labels``, (d,)) need no graph and no choice of their number.
    ``n_candidates``, if given, are the groups that each feature may belong to, whatever the memory.
    """
    rows = table.rows
    rows.to(device, DTYPE)
    objective = Objective(
        n_neighbors=settings.n_neighbors,
        steps=settings.diffusion_steps,
        gate_noise=settings.gate_noise,
        through_bandwidth=settings.bandwidth_gradient == "exact",
    )
    if known_labels is not None:
        start = FeatureStart(int(known_labels.max()) + 1, [known_labels] * len(seeds), known=True)
    else:
        start, objective = _discover(table, settings, seeds, device, objective, n_candidates)
    level = np.full((1, start.n_groups), HALF_OPEN)
    first = GatedModel.start(start.memberships(seeds[:1]), level, np.ones(1), device, DTYPE)
    measured = measure_start(first, objective, rows, settings.batch_size, seeds[0])
    if not start.known:
        weight = settings.smoothness_weight
        if weight == "auto":
            weight = measured.balanced_smoothness_weight
        objective = replace(objective, smoothness_weight=float(weight))
    return Problem(
        table=table,
        settings=settings,
        seeds=seeds,
        device=device,
        objective=objective,
        start=start,
        gate_start=_gate_starts(rows, start, settings, seeds),
        critical_sparsity_weight=float(measured.critical_sparsity_weight),
    )


def model_memory(rows: Rows, device: torch.device) -> int:
    """Find the bytes that the models trained side by side may take."""
    plan = rows.plan
    if plan is None or device.type == "cuda":
        return memory_for_models(device)
    return int(plan.model_bytes)


def _discover(
    table: Table,
    settings: Settings,
    seeds: list[int],
    device: torch.device,
    objective: Objective,
    n_candidates: int | None,
) -> tuple[FeatureStart, Objective]:
    """Build the feature graph, find the number of groups and one clustering per seed."""
    rows, d = table.rows, table.rows.shape[1]
    memory = model_memory(rows, device)
    # refused before the hours it may take to build the graph
    at_least = 3 if isinstance(settings.n_groups, str) else settings.n_groups
    n_candidates_that_fit(d, at_least, len(seeds), memory)
    walk = feature_walk(rows, settings.n_neighbors, settings.feature_neighbors)
    if isinstance(settings.n_groups, str):
        n_groups, distortion, eigenvectors = find_n_groups(walk, table.n_distinct)
    else:
        n_groups, distortion = settings.n_groups, {}
        eigenvectors = leading_eigenvectors(walk, n_groups)
    n_candidates = n_candidates or n_candidates_that_fit(d, n_groups, len(seeds), memory)
    clusters = [
        cluster_features(eigenvectors, n_groups, np.random.default_rng(seed)) for seed in seeds
    ]
    candidates = None
    if n_candidates is not None:
        candidates = np.stack(
            [nearest_clusters(eigenvectors, labels, n_groups, n_candidates) for labels in clusters]
        )
    start = FeatureStart(n_groups, clusters, candidates=candidates, distortion=distortion)
    return start, replace(objective, walk=walk_tensor(walk, device, DTYPE))


def _gate_starts(
    rows: Rows, start: FeatureStart, settings: Settings, seeds: list[int]
) -> FloatArray:
    """Find where the gates of every seed start, (S, C).

    By excess, from 1/4 for groups without any to 3/4 for the group with the most.
    """
    starts = np.full((len(seeds), start.n_groups), HALF_OPEN)
    if settings.gate_start != "excess":
        return starts
    for s, (labels, seed) in enumerate(zip(start.clusters, seeds, strict=True)):
        scores = score_on_rows(
            rows,
            as_groups(labels, start.n_groups),
            n_neighbors=settings.n_neighbors,
            steps=settings.diffusion_steps,
            n_shuffles=START_SHUFFLES,
            seed=seed,
        )
        excess = np.maximum(scores.excess, 0)
        starts[s] = 0.25 + 0.5 * excess / max(excess.max(), 1e-12)
    return starts
