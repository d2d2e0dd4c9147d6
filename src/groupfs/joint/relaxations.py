"""The two random relaxations that make groups and gates learnable, and the noise they take.

Axes: R models side by side, d features, C groups. M are memberships, z gates, mu gate means.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Noise(NamedTuple):
    """One draw for all models."""

    gumbel: Tensor  #: for M, (R, d, C)
    gate: Tensor  #: epsilon, for z, (R, C)


def gumbel_noise(uniform: Tensor) -> Tensor:
    """Make standard Gumbel noise from numbers strictly between 0 and 1."""
    return uniform.log().neg_().log_().neg_()


def membership(logits: Tensor, gumbel: Tensor | float, temperature: Tensor | float) -> Tensor:
    """Relax memberships to M = softmax((log(pi) + gumbel) / T), (R, d, C): rows sum to one."""
    return torch.softmax((logits + gumbel) / temperature, dim=-1)


def membership_pullback(M: Tensor, grad: Tensor, temperature: Tensor | float) -> Tensor:
    """Turn the gradient on M into that on the logits, log(pi)."""
    inner = (grad * M).sum(-1, keepdim=True)
    return (grad - inner).mul_(M).div_(temperature)


def gates(mu: Tensor, noise: Tensor | float) -> Tensor:
    """Open stochastic gates z = clip(mu + noise, 0, 1), (R, C)."""
    return (mu + noise).clamp(0, 1)


def gates_pullback(z: Tensor, grad: Tensor) -> Tensor:
    """Turn the gradient on z into that on mu: none passes a gate that is open or shut."""
    return grad * ((z > 0) & (z < 1))
