"""Noise for memberships and gates: one stream per seed, shared by the models of that seed."""

from dataclasses import dataclass

import torch
from torch import Tensor

from groupfs.joint.relaxations import gumbel_noise
from groupfs.utils.counter_rng import CounterNoise


@dataclass(frozen=True)
class Noise:
    """One draw for all models."""

    gumbel: Tensor  #: for the memberships, (R, d, C)
    gate: Tensor  #: (R, C)


class NoiseSource:
    """Draw noise for models, one stream per seed."""

    def __init__(self, seeds: list[int], gate_noise: float, device: torch.device) -> None:
        self.gate_noise = gate_noise
        self.stream = CounterNoise(seeds, device)

    def draw(self, seed_index: Tensor, logits_shape: tuple[int, int], gates: Tensor) -> Noise:
        """Draw the next noise for memberships (d, C) and for gates like ``gates`` (R, C).

        ``seed_index`` (R,) says which stream each model listens to.
        """
        d, k = logits_shape
        uniform = self.stream.uniform(d * k + gates.shape[-1], gates.dtype)
        gumbel = gumbel_noise(uniform[:, : d * k]).view(len(uniform), d, k)
        gate = torch.special.ndtri(uniform[:, d * k :]).mul_(self.gate_noise)
        if len(gates) == len(gumbel) == 1:
            return Noise(gumbel, gate)
        return Noise(gumbel[seed_index], gate[seed_index])
