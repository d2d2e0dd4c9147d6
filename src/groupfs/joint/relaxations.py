"""The two random relaxations that make groups and gates learnable, and the noise they take.

Axes: R models side by side, S seeds, d features, C groups.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from groupfs.utils.counter_rng import CounterNoise


class Noise(NamedTuple):
    """One draw for all models."""

    gumbel: Tensor  #: for the memberships, (R, d, C)
    gate: Tensor  #: (R, C)


class NoiseSource:
    """Draw noise for models, one stream per seed, shared by the models of that seed."""

    def __init__(self, seeds: list[int], gate_noise: float, device: torch.device) -> None:
        self.gate_noise = gate_noise
        self.stream = CounterNoise(seeds, device)

    def draw(self, seed_index: Tensor, logits_shape: tuple[int, ...], gates: Tensor) -> Noise:
        """Draw the next noise for memberships (d, C) and for gates like ``gates`` (R, C).

        ``seed_index`` (R,) says which stream each model listens to.
        """
        d, k = logits_shape
        uniform = self.stream.uniform(d * k + gates.shape[-1], gates.dtype)
        gumbel = gumbel_noise(uniform[:, : d * k]).view(len(uniform), d, k)
        gate = torch.special.ndtri(uniform[:, d * k :]).mul_(self.gate_noise)
        return Noise(gumbel[seed_index], gate[seed_index])


def gumbel_noise(uniform: Tensor) -> Tensor:
    """Make standard Gumbel noise from numbers strictly between 0 and 1."""
    return uniform.log().neg_().log_().neg_()


def membership(logits: Tensor, gumbel: Tensor | float, temperature: Tensor | float) -> Tensor:
    """Relax the membership of every feature, (R, d, C): rows sum to one."""
    return torch.softmax((logits + gumbel) / temperature, dim=-1)


def membership_pullback(M: Tensor, grad: Tensor, temperature: Tensor | float) -> Tensor:
    """Turn the gradient on the membership into that on the logits."""
    inner = (grad * M).sum(-1, keepdim=True)
    return (grad - inner).mul_(M).div_(temperature)


def gates(mu: Tensor, noise: Tensor | float) -> Tensor:
    """Open stochastic gates in [0, 1], (R, C)."""
    return (mu + noise).clamp(0, 1)


def gates_pullback(z: Tensor, grad: Tensor) -> Tensor:
    """Turn the gradient on gates into that on their means: none passes an open or shut gate."""
    return grad * ((z > 0) & (z < 1))
