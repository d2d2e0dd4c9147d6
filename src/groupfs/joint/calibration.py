"""Weights of the objective from the data alone: critical sparsity weight, balance of terms."""

import numpy as np
import torch
from scipy.special import ndtr

from groupfs.joint.batches import Batches
from groupfs.joint.counter_rng import CounterNoise
from groupfs.joint.losses import Objective, feature_smoothness, group_sparsity
from groupfs.joint.model import GatedModel, gated_smoothness
from groupfs.joint.relaxations import gates, gates_pullback, membership

#: Candidates for lambda1, as in the paper.
SMOOTHNESS_WEIGHTS = (0.1, 1.0, 10.0, 100.0)
#: Memberships this soft make all gates move together, which is what the critical weight is about.
SOFT_TEMPERATURE = 10.0
#: Draws of batch and noise are averaged until the critical weight is known to this relative error.
PRECISION = 0.01
MIN_DRAWS, MAX_DRAWS = 16, 512
#: Where the samples are no smoother on their graph than chance no weight is critical: this is used.
SMALLEST_WEIGHT = 1e-6


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
    sigma = objective.gate_noise
    noise, N = CounterNoise([seed], model.mu.device), rows.shape[0]
    rng = np.random.default_rng(seed)
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
