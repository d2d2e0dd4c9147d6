"""The two random relaxations that make groups and gates learnable, and the noise they take.

Axes: R models side by side, d features, C groups. M are memberships, z gates, mu gate means.

Noise is a function of seed, step and place: a counter is mixed (the finaliser of SplitMix64), so
that a model's noise depends neither on the device, as with torch's generators, nor on the models
beside it.
"""

from typing import NamedTuple

import torch
from torch import Tensor

#: 2^64 over the golden ratio, and the two multipliers of SplitMix64, as signed 64-bit integers.
GOLDEN = 0x9E3779B97F4A7C15 - 2**64
MIX_1, MIX_2 = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64
#: An odd number that sets the counters of successive steps far apart.
STRIDE = 0xD1B54A32D192ED03 - 2**64


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
    return (grad - (grad * M).sum(-1, keepdim=True)).mul_(M).div_(temperature)


def gates(mu: Tensor, noise: Tensor | float) -> Tensor:
    """Open stochastic gates z = clip(mu + noise, 0, 1), (R, C)."""
    return (mu + noise).clamp(0, 1)


def gates_pullback(z: Tensor, grad: Tensor) -> Tensor:
    """Turn the gradient on z into that on mu: none passes a gate that is open or shut."""
    return grad * ((z > 0) & (z < 1))


class CounterNoise:
    """A stream of uniform numbers per seed, on a device."""

    def __init__(self, seeds: list[int], device: torch.device) -> None:
        keys = torch.tensor(seeds, dtype=torch.int64).mul_(GOLDEN)
        self.keys = _mix(keys).unsqueeze(-1).to(device)
        self.step = torch.zeros((), dtype=torch.int64, device=device)
        self.counter = torch.zeros(0, dtype=torch.int64, device=device)

    def uniform(self, n: int, dtype: torch.dtype) -> Tensor:
        """Draw the next ``n`` numbers of every stream, strictly between 0 and 1, (S, n)."""
        if len(self.counter) != n:
            self.counter = torch.arange(1, n + 1, device=self.step.device).mul_(GOLDEN)
        self.step += 1  # in place: on a GPU a step may be recorded and replayed
        bits = _mix(self.counter + (self.keys + self.step * STRIDE))
        # 23 of them: with more, the largest number would round to 1 in single precision
        bits = bits.bitwise_right_shift_(41).bitwise_and_(2**23 - 1)
        return bits.to(dtype).add_(0.5).mul_(2**-23)


def _mix(x: Tensor) -> Tensor:
    """Scramble 64-bit integers so that neighbours become unlike, in place."""
    x ^= (x >> 30) & (2**34 - 1)
    x *= MIX_1
    x ^= (x >> 27) & (2**37 - 1)
    x *= MIX_2
    x ^= (x >> 31) & (2**33 - 1)
    return x
