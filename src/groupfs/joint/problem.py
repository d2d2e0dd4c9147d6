"""Prepare a joint fit: the feature graph, groups to start from, where gates start, weights.

Axes: S seeds, d features, C groups.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.special import ndtr

from groupfs.data.correlations import Correlations
from groupfs.data.table import TableInMemory
from groupfs.joint.batches import Batches
from groupfs.joint.clusters import (
    as_groups,
    cluster_features,
    find_n_groups,
    leading_eigenvectors,
    lowest_distortion,
)
from groupfs.joint.graph import feature_walk, group_smoothness
from groupfs.joint.losses import Objective, feature_smoothness, group_sparsity, walk_tensor
from groupfs.joint.model import GatedModel, gated_smoothness
from groupfs.joint.relaxations import CounterNoise, gates, gates_pullback, membership
from groupfs.joint.settings import Settings
from groupfs.utils.types import FloatArray, IntArray

#: Precision of training.
DTYPE = torch.float32
#: Where gates start if what their groups are worth has no say.
HALF_OPEN = 0.5
#: Shuffles that a cluster is compared with before training.
START_SHUFFLES = 3
#: Candidates for lambda1, as in the paper.
SMOOTHNESS_WEIGHTS = (0.1, 1.0, 10.0, 100.0)
#: Memberships this soft make all gates move together, which is what the critical weight is about.
SOFT_TEMPERATURE = 10.0
#: Draws of batch and noise are averaged until the critical weight is known to this relative error.
PRECISION = 0.01
MIN_DRAWS, MAX_DRAWS = 16, 512
#: Where the samples are no smoother on their graph than chance no weight is critical: this is used.
SMALLEST_WEIGHT = 1e-6


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
    rngs = map(np.random.default_rng, seeds)
    clusters = [cluster_features(eigenvectors, n_groups, rng) for rng in rngs]
    objective = Objective(
        n_neighbors=settings.n_neighbors,
        steps=settings.diffusion_steps,
        gate_noise=settings.gate_noise,
        through_bandwidth=settings.bandwidth_gradient == "exact",
        walk=walk_tensor(walk, device, DTYPE),
    )
    gate_start = np.full((len(seeds), n_groups), HALF_OPEN)
    first = GatedModel.start(clusters[:1], seeds[:1], gate_start[:1], np.ones(1), device, DTYPE)
    critical, balanced = calibrate(first, objective, rows, settings.batch_size, seeds[0])
    weight = settings.smoothness_weight
    weight = balanced if isinstance(weight, str) else float(weight)
    objective = replace(objective, smoothness_weight=weight)
    if not settings.is_published:  # from 1/4 for groups without any smoothness to 3/4
        for mu, labels, seed in zip(gate_start, clusters, seeds, strict=True):
            groups = as_groups(labels, n_groups)
            scores = group_smoothness(rows, groups, settings, seed, START_SHUFFLES).clip(min=0)
            mu[:] = 0.25 + 0.5 * scores / max(scores.max(), 1e-12)
    given = (table, rows, settings, seeds, device, objective)
    return Problem(*given, n_groups, clusters, gate_start, critical, distortion)


def critical_sparsity_weight(push: float, pull: float) -> float:
    r"""Find the lambda2 at which the gradients of L_s and L_reg on the gates cancel.

    .. math:: \lambda_2^* = -\sum_j \partial L_s/\partial\mu_j \Big/ \sum_j
        \partial L_{reg}/\partial\mu_j

    While memberships are soft every feature sees about the same gate and all gates move together:
    below this weight they open, above it they close.
    """
    return max(-push / pull, SMALLEST_WEIGHT)


def balanced_smoothness_weight(smoothness: float, roughness: float) -> float:
    """Find the lambda1 that brings L_f, but for its orthogonality term, nearest in size to L_s."""
    return min(SMOOTHNESS_WEIGHTS, key=lambda weight: abs(weight * roughness - abs(smoothness)))


@torch.no_grad()
def calibrate(
    model: GatedModel, objective: Objective, rows: Batches, batch_size: int, seed: int
) -> tuple[float, float]:
    """Find the critical lambda2 and the balanced lambda1 at a model's start.

    What they are made of is averaged over batches and noise. The push on the gates is nearly
    proportional to a number that gate noise moves a lot, their leverage; knowing its mean leaves
    little to average out.
    """
    sigma, N = objective.gate_noise, rows.shape[0]
    noise, rng = CounterNoise([seed], model.mu.device), np.random.default_rng(seed)
    X = rows.take(torch.arange(min(batch_size, N)))
    draws: list[list[float]] = []
    while len(draws) < MIN_DRAWS or (len(draws) < MAX_DRAWS and _error(draws) > PRECISION):
        draw = model.draw(noise, sigma)
        if batch_size < N:
            X = rows.random(batch_size, rng)
        M, z = membership(model.logits, draw.gumbel, SOFT_TEMPERATURE), gates(model.mu, draw.gate)
        smooth, _, grad_z = gated_smoothness(objective, X, M, z)
        _, pull, _ = group_sparsity(model.mu, M.mean(-2), sigma)
        rough, _, _ = feature_smoothness(M, model.Q, objective.walk, 0.0)
        # mean gate times the share of gates that are neither open nor shut
        leverage = z.mean() * ((z > 0) & (z < 1)).to(z.dtype).mean()
        push = gates_pullback(z, grad_z).sum()
        draws.append(torch.stack([push, leverage, pull.sum(), smooth[0], rough[0]]).tolist())
    mean_push, mean_leverage, mean_pull, smoothness, roughness = np.mean(draws, axis=0)
    expected = _expected_leverage(float(model.mu[0, 0]), sigma, model.mu.shape[1])
    critical = critical_sparsity_weight(mean_push / mean_leverage * expected, mean_pull)
    return float(critical), balanced_smoothness_weight(smoothness, roughness)


def _error(draws: list[list[float]]) -> float:
    """Estimate the relative standard error of the mean push over the mean leverage."""
    push, leverage = np.array(draws)[:, :2].T
    ratio = push.mean() / leverage.mean()
    residual = (push - ratio * leverage).std() / np.sqrt(len(push))
    return float(residual / max(abs(push.mean()), 1e-12))


def _expected_leverage(mu: float, sigma: float, n_gates: int) -> float:
    ends = np.array([-mu, 1 - mu]) / sigma
    low, high = ndtr(ends)
    density_low, density_high = np.exp(-0.5 * ends**2) / np.sqrt(2 * np.pi)
    between = high - low  # how often a gate is neither open nor shut
    partial = mu * between + sigma * (density_low - density_high)  # its mean, zero elsewhere
    whole = partial + 1 - high
    return float(partial / n_gates + (1 - 1 / n_gates) * whole * between)
