"""Prepare a joint fit: the feature graph, groups to start from, where gates start, weights.

Axes: S seeds, d features, C groups.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from groupfs.data.correlations import Correlations
from groupfs.data.table import TableInMemory
from groupfs.joint.batches import Batches
from groupfs.joint.calibration import calibrate
from groupfs.joint.clusters import as_groups, cluster_features, leading_eigenvectors
from groupfs.joint.graph import feature_walk, group_smoothness
from groupfs.joint.losses import Objective, walk_tensor
from groupfs.joint.model import GatedModel
from groupfs.joint.number_of_groups import find_n_groups, lowest_distortion
from groupfs.joint.settings import Settings
from groupfs.utils.types import FloatArray, IntArray

#: Precision of training.
DTYPE = torch.float32
#: Where gates start if what their groups are worth has no say.
HALF_OPEN = 0.5
#: Shuffles that a cluster is compared with before training.
START_SHUFFLES = 3


@dataclass(frozen=True)
class Problem:
    """A table with its graph, its start and the weights of its objective."""

    table: TableInMemory
    rows: Batches
    settings: Settings
    seeds: list[int]
    device: torch.device
    objective: Objective
    n_groups: int
    clusters: list[IntArray]  #: one clustering of the features per seed, (d,) each
    gate_start: FloatArray  #: mu at the start, (S, C)
    critical_sparsity_weight: float  #: the critical lambda2
    distortion: dict[int, float]  #: E(C) for every C looked at; empty if C was given

    def models(self, sparsity_weights: FloatArray) -> GatedModel:
        """Start untrained models: every seed with every lambda2."""
        start = (self.clusters, self.seeds, self.gate_start)
        return GatedModel.start(*start, sparsity_weights, self.device, DTYPE)


def prepare(
    table: TableInMemory, settings: Settings, seeds: list[int], device: torch.device
) -> Problem:
    """Find what is to be known of a table before training."""
    rows, d = Batches(table.rows, device, DTYPE), table.rows.shape[1]
    # by torch on the CPU, too: models are the same to the last bit wherever numpy comes from
    table.rows.multiply_on(device if device.type == "cuda" else torch.device("cpu"))
    walk = feature_walk(Correlations(table.rows), settings.n_neighbors, settings.feature_neighbors)
    if not isinstance(settings.n_groups, str):
        n_groups, distortion = settings.n_groups, dict[int, float]()
        eigenvectors = leading_eigenvectors(walk, min(n_groups, d))
    elif settings.is_published:
        n_groups, distortion, eigenvectors = lowest_distortion(walk)
    else:
        n_groups, distortion, eigenvectors = find_n_groups(walk, int(table.twins.max()) + 1)
    rngs = [np.random.default_rng(seed) for seed in seeds]
    clusters = [cluster_features(eigenvectors, n_groups, rng) for rng in rngs]
    objective = Objective(
        n_neighbors=settings.n_neighbors,
        steps=settings.diffusion_steps,
        gate_noise=settings.gate_noise,
        through_bandwidth=settings.bandwidth_gradient == "exact",
        walk=walk_tensor(walk, device, DTYPE),
    )
    gate_start = np.full((len(seeds), n_groups), HALF_OPEN)
    one = (clusters[:1], seeds[:1], gate_start[:1], np.ones(1))
    first = GatedModel.start(*one, device, DTYPE)
    critical, balanced = calibrate(first, objective, rows, settings.batch_size, seeds[0])
    weight = settings.smoothness_weight
    weight = balanced if isinstance(weight, str) else weight
    objective = replace(objective, smoothness_weight=float(weight))
    if not settings.is_published:  # from 1/4 for groups without any smoothness to 3/4
        for mu, labels, seed in zip(gate_start, clusters, seeds, strict=True):
            groups = as_groups(labels, n_groups)
            scores = group_smoothness(rows, groups, settings, seed, START_SHUFFLES).clip(min=0)
            mu[:] = 0.25 + 0.5 * scores / max(scores.max(), 1e-12)
    given = (table, rows, settings, seeds, device, objective)
    return Problem(*given, n_groups, clusters, gate_start, critical, distortion)
