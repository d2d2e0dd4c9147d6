"""Everything that is known before training: graph, number of groups, warm start, weights."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from groupfs.data.rows import Rows
from groupfs.data.table import Table
from groupfs.graphs.affinity import FeatureGraph, walk_tensor
from groupfs.graphs.eigenvectors import leading_eigenvectors, smoothness_of
from groupfs.graphs.feature_clusters import (
    choose_n_groups,
    cluster_features,
    clusters_by_number,
    distortion_curve,
    lone_features,
    representative_rows,
)
from groupfs.models.all_groups import GroupModel, Objective, warm_start
from groupfs.models.candidate_groups import (
    CompactModel,
    compact_start,
    memberships_kept,
    nearest_clusters,
)
from groupfs.models.fixed_groups import GateModel, fixed_start
from groupfs.scoring.excess import GroupScores, score_groups, tail_p_values
from groupfs.training.calibration import measure_fixed_start, measure_start
from groupfs.utils.device import DTYPE, memory_for_models
from groupfs.utils.types import FloatArray, IntArray

#: Most groups that are looked for when their number is not given.
MOST_GROUPS = 30
#: Rows on which groups are scored.
SCORED_ROWS = 512
START_SHUFFLES, FINAL_SHUFFLES = 3, 20
#: Chance groups that p-values are based on, at least, and tables they may come from, at most.
CHANCE_GROUPS, CHANCE_TABLES = 40, 7


@dataclass
class Problem:
    """A table with its graph, its warm start and the weights of its objective."""

    table: Table
    settings: dict[str, Any]
    seeds: list[int]
    device: torch.device
    objective: Objective
    n_groups: int
    distortion: dict[int, float]
    clusters: list[IntArray]  #: one clustering of the features per seed
    gate_start: FloatArray  #: (S, C)
    critical_sparsity_weight: float
    candidates: IntArray | None  #: groups each feature may belong to if not all, (S, d, k)

    @property
    def is_fixed(self) -> bool:
        """Whether the groups were known beforehand."""
        return self.settings.get("labels") is not None

    def on(self, device: torch.device) -> Problem:
        """The same problem with its table and graph on another device."""
        rows, walk = copy.copy(self.table.rows), self.objective.walk
        rows.to(device, DTYPE)
        return replace(
            self,
            table=replace(self.table, rows=rows),
            objective=replace(self.objective, walk=None if walk is None else walk.to(device)),
            device=device,
        )

    def model(self, sparsity_weights: FloatArray) -> GroupModel | CompactModel | GateModel:
        """Untrained models: every seed with every sparsity weight."""
        if self.is_fixed:
            return fixed_start(
                self.clusters[0], self.gate_start, sparsity_weights, self.device, DTYPE
            )
        return _warm_start(
            self.clusters,
            self.candidates,
            self.gate_start,
            sparsity_weights,
            self.seeds,
            self.device,
        )

    def score(self, groups: list[IntArray], n_shuffles: int = FINAL_SHUFFLES) -> GroupScores:
        """Score groups of features on their own graphs."""
        return _score(self.table.rows, groups, self.settings, n_shuffles, self.seeds[0])

    def p_values(self, scores: GroupScores, sizes: IntArray) -> FloatArray:
        """How likely groups found in a table without groups score as high, (C,).

        Groups are found by looking for features that go together, so even in pure noise theirs do,
        a little: most of all with few samples. The chance groups here are found the same way, in
        tables whose columns were shuffled. Groups that were known beforehand are compared with
        themselves after shuffling. Single features have no excess and p-value 1.
        """
        chance = self._chance_scores()
        p = np.ones(len(sizes))
        if len(chance) > 1:
            several = sizes > 1
            p[several] = tail_p_values(scores.z[several], chance)
        return p

    def _chance_scores(self) -> FloatArray:
        rng = np.random.default_rng(self.seeds[0])
        found: list[FloatArray] = []
        for _ in range(CHANCE_TABLES):
            rows = self.table.rows.shuffled(rng)
            rows.to(self.device, DTYPE)
            labels = self.clusters[0]
            if not self.is_fixed:
                walk = _feature_walk(rows, self.settings)
                eigenvectors = leading_eigenvectors(walk, self.n_groups)
                labels = cluster_features(eigenvectors, self.n_groups, rng)
            groups = [g for g in as_groups(labels, self.n_groups) if len(g) > 1]
            seed = int(rng.integers(2**31))
            found.append(_score(rows, groups, self.settings, FINAL_SHUFFLES, seed).z)
            if sum(map(len, found)) >= CHANCE_GROUPS:
                break
        return np.concatenate(found)


def prepare(
    table: Table, settings: dict[str, Any], seeds: list[int], device: torch.device
) -> Problem:
    """Build the feature graph, choose C and the weights, and find where training starts.

    Groups that are known (``settings["labels"]``) need no graph and no choice.
    """
    rows, d = table.rows, table.rows.shape[1]
    rows.to(device, DTYPE)
    objective = Objective(
        walk=None,
        n_neighbors=settings["n_neighbors"],
        steps=settings["diffusion_steps"],
        gate_noise=settings["gate_noise"],
        smoothness_weight=0.0,
        through_bandwidth=settings["bandwidth_gradient"] == "exact",
    )
    distortion: dict[int, float] = {}
    candidates, kept = None, None
    known = settings.get("labels")
    if known is not None:
        n_groups = int(known.max()) + 1
        clusters = [known] * len(seeds)
        level = np.full((1, n_groups), 0.5)
        start = measure_fixed_start(
            fixed_start(known, level, np.ones(1), device, DTYPE),
            objective,
            rows,
            settings["batch_size"],
            seeds[0],
        )
    else:
        budget = models_budget(rows, device)
        asked_for = settings["n_groups"]
        # refused before the hours it may take to build the graph
        memberships_kept(d, 3 if asked_for == "auto" else asked_for, len(seeds), budget)
        walk = _feature_walk(rows, settings)
        n_groups, distortion, eigenvectors = _number_of_groups(table, walk, settings)
        kept = settings.get("best_memberships")
        kept = kept or memberships_kept(d, n_groups, len(seeds), budget)
        clusters = [
            cluster_features(eigenvectors, n_groups, np.random.default_rng(seed)) for seed in seeds
        ]
        if kept is not None:
            candidates = np.stack(
                [nearest_clusters(eigenvectors, labels, n_groups, kept) for labels in clusters]
            )
        del eigenvectors
        level = np.full((1, n_groups), 0.5)
        objective = replace(objective, walk=walk_tensor(walk, device, DTYPE))
        first = None if candidates is None else candidates[:1]
        start = measure_start(
            _warm_start(clusters[:1], first, level, np.ones(1), seeds[:1], device),
            objective,
            rows,
            settings["batch_size"],
            seeds[0],
        )
        weight = settings["smoothness_weight"]
        if weight == "auto":
            weight = start.balanced_smoothness_weight
        objective = replace(objective, smoothness_weight=float(weight))
    return Problem(
        table=table,
        settings={**settings, "best_memberships": kept},
        seeds=seeds,
        device=device,
        objective=objective,
        n_groups=n_groups,
        distortion=distortion,
        clusters=clusters,
        gate_start=_gate_starts(rows, clusters, n_groups, settings, seeds),
        critical_sparsity_weight=float(start.critical_sparsity_weight),
        candidates=candidates,
    )


def models_budget(rows: Rows, device: torch.device) -> int:
    """Bytes that the models trained side by side may take."""
    plan = getattr(rows, "plan", None)
    if plan is None or device.type == "cuda":
        return memory_for_models(device)
    return int(plan.model_bytes)


def as_groups(labels: IntArray, n_groups: int) -> list[IntArray]:
    """Index arrays of the groups; some may be empty."""
    return [np.flatnonzero(labels == j) for j in range(n_groups)]


def _feature_walk(rows: Rows, settings: dict[str, Any]) -> Any:
    K = min(settings["n_neighbors"], rows.shape[1] - 1)
    return FeatureGraph(rows, K, settings["feature_neighbors"]).walk


def _number_of_groups(
    table: Table, walk: Any, settings: dict[str, Any]
) -> tuple[int, dict[int, float], FloatArray]:
    """C, E(C) for all C looked at, and the eigenvectors."""
    if settings["n_groups"] != "auto":
        n_groups = int(settings["n_groups"])
        return n_groups, {}, leading_eigenvectors(walk, n_groups)
    d = table.rows.shape[1]
    most = min(MOST_GROUPS + 1, table.n_distinct, d)
    eigenvectors = leading_eigenvectors(walk, max(most, 2))
    seen = representative_rows(eigenvectors)
    clusters = clusters_by_number(seen)
    curve = {C: E * (d / len(seen)) for C, E in distortion_curve(seen, clusters).items()}
    values = smoothness_of(walk, eigenvectors)
    n_groups = choose_n_groups(curve, d, lone_features(clusters), values)
    return n_groups, curve, eigenvectors


def _warm_start(
    clusters: list[IntArray],
    candidates: IntArray | None,
    gate_start: FloatArray,
    sparsity_weights: FloatArray,
    seeds: list[int],
    device: torch.device,
) -> GroupModel | CompactModel:
    """Models that start from clusters, with all memberships or those in the candidates."""
    if candidates is None:
        return warm_start(clusters, gate_start, sparsity_weights, seeds, device, DTYPE)
    return compact_start(candidates, gate_start, sparsity_weights, seeds, device, DTYPE)


def _gate_starts(
    rows: Rows,
    clusters: list[IntArray],
    n_groups: int,
    settings: dict[str, Any],
    seeds: list[int],
) -> FloatArray:
    """Where the gates of every seed start, (S, C)."""
    if settings["gate_start"] != "excess":
        return np.full((len(seeds), n_groups), 0.5)
    return np.stack(
        [
            _gates_from_excess(rows, labels, n_groups, settings, seed)
            for labels, seed in zip(clusters, seeds, strict=True)
        ]
    )


def _gates_from_excess(
    rows: Rows, labels: IntArray, n_groups: int, settings: dict[str, Any], seed: int
) -> FloatArray:
    """Gate means from 1/4 for groups without excess to 3/4 for the group with the most."""
    scores = _score(rows, as_groups(labels, n_groups), settings, START_SHUFFLES, seed)
    excess = np.maximum(scores.excess, 0)
    return 0.25 + 0.5 * excess / max(excess.max(), 1e-12)


def _score(
    rows: Rows,
    groups: list[IntArray],
    settings: dict[str, Any],
    n_shuffles: int,
    seed: int,
) -> GroupScores:
    return score_groups(
        rows.some(SCORED_ROWS, np.random.default_rng(seed)),
        groups,
        n_neighbors=settings["n_neighbors"],
        steps=settings["diffusion_steps"],
        n_shuffles=n_shuffles,
        seed=seed,
    )
