"""Weights of the objective from the data alone: critical sparsity weight, balance of terms."""

import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import ndtr, ndtri
from scipy.stats import qmc
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.models.gated_model import GatedModel
from groupfs.models.group_products import Samples
from groupfs.models.memberships import FixedMemberships
from groupfs.models.noise import Noise, NoiseSource
from groupfs.models.objective import Objective
from groupfs.models.relaxations import gates, gates_pullback
from groupfs.training.row_pool import RowPool
from groupfs.utils.types import FloatArray

#: Candidates for the weight of the feature term, as in the paper.
SMOOTHNESS_WEIGHTS = (0.1, 1.0, 10.0, 100.0)
#: Memberships this soft make all gates move together, which is what the critical weight is about.
SOFT_TEMPERATURE = 10.0
#: Draws of batch and noise are averaged until the critical weight is known to this relative error.
PRECISION = 0.01
MIN_DRAWS, MAX_DRAWS = 16, 512
#: Points of gate noise on a batch where groups and rows stay as they are. Rounds are doubled until
#: the critical weight changes little.
POINTS_PER_BATCH, MOST_ROUNDS, SMALL_CHANGE = 8, 8, 0.05
#: Where the samples are no smoother on their graph than chance no weight is critical: this is used.
SMALLEST_WEIGHT = 1e-6


@dataclass(frozen=True)
class Start:
    """Averages over batches and noise at the start of training."""

    push: float  #: sum over gates of the gradient of L_s
    pull: float  #: sum over gates of the gradient of L_reg
    smoothness: float  #: L_s
    roughness: float  #: L_f without its orthogonality term

    @property
    def critical_sparsity_weight(self) -> float:
        r"""The sparsity weight at which the two gradients on the gates cancel.

        .. math:: \lambda_2^* = -\sum_j \partial L_s/\partial\mu_j \Big/ \sum_j
            \partial L_{reg}/\partial\mu_j

        While memberships are soft every feature sees about the same gate and all gates move
        together: below this weight they open, above it they close.
        """
        return max(-self.push / self.pull, SMALLEST_WEIGHT)

    @property
    def balanced_smoothness_weight(self) -> float:
        """The weight at which the roughness of the groups is nearest in size to the sample term."""
        size = abs(self.smoothness)
        return min(SMOOTHNESS_WEIGHTS, key=lambda weight: abs(weight * self.roughness - size))


@torch.no_grad()
def measure_start(
    model: GatedModel, objective: Objective, rows: Rows | RowPool, batch_size: int, seed: int
) -> Start:
    """Average over batches and noise at the start of the first of the models.

    The push on the gates is nearly proportional to a number that gate noise moves a lot, their
    leverage; knowing its mean leaves little to average out.
    """
    first = model.select(torch.zeros(1, dtype=torch.int64, device=model.mu.device))
    known = first.memberships if isinstance(first.memberships, FixedMemberships) else None
    if isinstance(rows, RowPool) and known is not None:
        return _measure_on_pool(first, known, objective, rows, seed)
    noise = NoiseSource([seed], objective.gate_noise, first.mu.device)
    batches: Iterator[Samples]
    if isinstance(rows, RowPool):
        batches = itertools.cycle(rows)
    else:
        batches = _batches(rows, batch_size, seed)
    draws: list[list[float]] = []
    while len(draws) < MIN_DRAWS or (len(draws) < MAX_DRAWS and _error(draws) > PRECISION):
        draw = first.draw(noise)
        push, pull, smooth, rough = first.starting_forces(
            objective, next(batches), draw, SOFT_TEMPERATURE
        )
        z = gates(first.mu, draw.gate)
        leverage = _soft_leverage(z) if known is None else _own_leverage(z, known).sum()
        terms = torch.stack([push.sum(), leverage, pull.sum(), smooth[0], rough[0]])
        draws.append(terms.tolist())
    mean_push, mean_leverage, mean_pull, smoothness, roughness = np.mean(draws, axis=0)
    mu, sigma = float(first.mu[0, 0]), objective.gate_noise
    if known is None:
        push_of_mean = mean_push / mean_leverage * _expected_leverage(mu, sigma, model.mu.shape[1])
    else:
        partial, _ = _expected_gate(mu, sigma)
        push_of_mean = mean_push / mean_leverage * partial * float(known.share.sum())
        mean_pull = draws[0][2]  # it is the same in every draw
    return Start(push_of_mean, mean_pull, smoothness, roughness)


def _measure_on_pool(
    first: GatedModel, known: FixedMemberships, objective: Objective, pool: RowPool, seed: int
) -> Start:
    """Average over gate noise where groups and rows stay as they are.

    A Sobol sequence fills the space of the gates' noise more evenly than random draws: up to 64
    points do as well as several hundred. A few go to each batch in turn.
    """
    C, sigma = first.mu.shape[1], objective.gate_noise
    points = _even_points(C, seed)
    models = first.select(torch.zeros(POINTS_PER_BATCH, dtype=torch.int64, device=first.mu.device))
    terms: list[FloatArray] = []
    ratio = np.inf
    for i, batch in enumerate(itertools.islice(itertools.cycle(pool), MOST_ROUNDS)):
        uniform = points(POINTS_PER_BATCH).clip(1e-7, 1 - 1e-7)
        gate = torch.from_numpy(sigma * ndtri(uniform)).to(first.mu)
        push, pull, smooth, _ = models.starting_forces(
            objective, batch, Noise(gate, gate), SOFT_TEMPERATURE
        )
        z = gates(models.mu, gate)
        found = torch.stack([push.sum(-1), _own_leverage(z, known), pull.sum(-1), smooth], -1)
        terms.append(found.mean(0).cpu().double().numpy())
        if (i + 1).bit_count() == 1 and i:  # after 2, 4, 8, ... rounds
            before, ratio = ratio, np.divide(*np.mean(terms, axis=0)[:2])
            if abs(ratio - before) <= SMALL_CHANGE * abs(ratio):
                break
    _, _, mean_pull, smoothness = np.mean(terms, axis=0)
    partial, _ = _expected_gate(float(first.mu[0, 0]), sigma)
    return Start(float(ratio * partial * known.share.sum()), mean_pull, smoothness, 0.0)


def _soft_leverage(z: Tensor) -> Tensor:
    """Multiply the mean gate by the share of gates that are neither open nor shut."""
    return z.mean() * ((z > 0) & (z < 1)).to(z.dtype).mean()


def _own_leverage(z: Tensor, known: FixedMemberships) -> Tensor:
    """Sum what gates neither open nor shut let through to the features of their groups, (R,)."""
    return gates_pullback(z, z * known.share).sum(-1)


def _even_points(n_dimensions: int, seed: int) -> Callable[[int], FloatArray]:
    """Return what draws points of the unit cube, the next n of them, (n, C)."""
    rng = np.random.default_rng(seed)
    if n_dimensions > qmc.Sobol.MAXDIM:
        return lambda n: rng.random((n, n_dimensions))
    # the generator's name in the arguments changed with scipy 1.15
    name = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"
    return qmc.Sobol(n_dimensions, scramble=True, **{name: rng}).random


def _batches(rows: Rows | RowPool, batch_size: int, seed: int) -> Iterator[Samples]:
    """Yield random batches without end, or the whole table where it is no larger than one."""
    if isinstance(rows, RowPool):
        yield from itertools.cycle(rows)
        return
    N = rows.shape[0]
    rng = np.random.default_rng(seed)
    X = rows.take(torch.arange(N)) if batch_size >= N else None
    while True:
        yield X if X is not None else rows.random_rows(batch_size, rng)


def _error(draws: list[list[float]]) -> float:
    """Estimate the relative standard error of the mean push over the mean leverage."""
    push, leverage = np.array(draws)[:, :2].T
    ratio = push.mean() / leverage.mean()
    residual = (push - ratio * leverage).std() / np.sqrt(len(push))
    return float(residual / max(abs(push.mean()), 1e-12))


def _expected_leverage(mu: float, sigma: float, n_gates: int) -> float:
    """Average :func:`_soft_leverage` over gate noise."""
    partial, between = _expected_gate(mu, sigma)
    whole = partial + 1 - ndtr((1 - mu) / sigma)
    return float(partial / n_gates + (1 - 1 / n_gates) * whole * between)


def _expected_gate(mu: float, sigma: float) -> tuple[float, float]:
    """Average a gate where it is neither open nor shut (zero elsewhere), and how often it is."""
    low, high = -mu / sigma, (1 - mu) / sigma
    between = float(ndtr(high) - ndtr(low))
    return mu * between + sigma * (_density(low) - _density(high)), between


def _density(x: float) -> float:
    return float(np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi))
