"""The two random relaxations that make groups and gates learnable, and the noise they take.

Axes: R models side by side, d features, C groups.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Noise(NamedTuple):
    """One draw for all models."""

    gumbel: Tensor  #: for the memberships, (R, d, C)
    gate: Tensor  #: (R, C)


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
