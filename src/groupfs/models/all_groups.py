"""The parameters of R models stacked on a leading axis, how they start, and their loss.

Axes: R models side by side, B samples of a batch, d features, C groups.
The models are S seeds times P sparsity weights, seed-major: models that differ only in the weight
share their noise, so a model does not depend on which others are trained beside it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.models.losses import feature_smoothness, group_sparsity, sample_smoothness
from groupfs.models.relaxations import (
    gates,
    gates_pullback,
    gumbel_noise,
    membership,
    membership_pullback,
)
from groupfs.utils.counter_rng import CounterNoise

#: Probability that the warm start gives a feature's own cluster.
P_MAIN = 0.7
#: A group is open if its gate mean is above this.
OPEN = 0.5
#: Numbers of the sample graphs that are worked on at a time; on the CPU about a cache full.
CHUNK_ENTRIES = {"cpu": 2**21, "cuda": 2**28}


@dataclass(frozen=True)
class Objective:
    """What the models minimise, apart from their sparsity weights."""

    walk: Tensor | None  #: feature graph, (d, d) dense or CSR; None if groups are fixed
    n_neighbors: int  #: K
    steps: int  #: t
    gate_noise: float  #: sigma
    smoothness_weight: float  #: lambda1
    through_bandwidth: bool
    median_factor: float | None = None  #: None: self-tuning graph of the samples


@dataclass(frozen=True)
class Noise:
    """One draw for all models."""

    gumbel: Tensor  #: (R, d, C), or k where features have k candidate groups
    gate: Tensor  #: (R, C)


class NoiseSource:
    """Draws noise for models, one stream per seed."""

    def __init__(self, seeds: list[int], gate_noise: float, device: torch.device) -> None:
        self.gate_noise = gate_noise
        self.stream = CounterNoise(seeds, device)

    def draw(self, logits: Tensor, stream: Tensor, n_gates: int | None = None) -> Noise:
        """The next noise for logits (R, d, C); ``stream`` (R,) says whose.

        There are as many gates as logits of a feature, unless these are of its candidates only.
        """
        _, d, k = logits.shape
        uniform = self.stream.uniform(d * k + (n_gates or k), logits.dtype)
        gumbel = gumbel_noise(uniform[:, : d * k]).view(-1, d, k)
        gate = torch.special.ndtri(uniform[:, d * k :]).mul_(self.gate_noise)
        if len(logits) == 1 == len(gumbel):
            return Noise(gumbel, gate)
        return Noise(gumbel[stream], gate[stream])

    def draw_gates(self, mu: Tensor, stream: Tensor) -> Tensor:
        """The next noise for the gates alone, (R, C)."""
        uniform = self.stream.uniform(mu.shape[-1], mu.dtype)
        return torch.special.ndtri(uniform).mul_(self.gate_noise)[stream]


class GatedModel(ABC):
    """What the trainer needs of R models side by side: gates, parameters with gradients, a loss."""

    mu: Tensor  #: gate means, (R, C)
    sparsity_weight: Tensor  #: lambda2 of each model, (R,)
    stream: Tensor  #: which stream of noise each model listens to, (R,)

    def __len__(self) -> int:
        return len(self.mu)

    def put(self, which: Tensor, others: GatedModel, theirs: Tensor) -> None:
        """Overwrite some of the models with some of others."""
        for ours, other in zip(self.parameters(), others.parameters(), strict=True):
            ours[which] = other[theirs]

    def gain(self, objective: Objective, X: Tensor) -> Tensor:
        """How much better the models are than with all gates open or all shut, whichever is better.

        The plain loss cannot compare sparsity weights: it falls with the weight itself.
        """
        everything = self.settled_loss(objective, X, torch.ones_like(self.mu))
        nothing = self.settled_loss(objective, X, torch.zeros_like(self.mu))
        return torch.minimum(everything, nothing) - self.settled_loss(objective, X, None)

    @abstractmethod
    def parameters(self) -> list[Tensor]:
        """Everything that is trained."""

    @abstractmethod
    def labels(self) -> Tensor:
        """The group of every feature in every model, (R, d)."""

    @abstractmethod
    def membership_logits(self) -> Tensor:
        """Log-probabilities of the memberships, up to a constant per feature, (R, d, C or k)."""

    @abstractmethod
    def some(self, which: Tensor) -> Self:
        """A copy of some of the models."""

    @abstractmethod
    def step(
        self, objective: Objective, X: Tensor, noise: NoiseSource, temperature: Tensor
    ) -> Tensor:
        """Draw noise, write the gradients; return the three terms of the loss, (R, 3)."""

    @abstractmethod
    def total(self, objective: Objective, terms: Tensor) -> Tensor:
        """The loss from its three terms, (R, 3) to (R,)."""

    @abstractmethod
    def settled_loss(self, objective: Objective, X: Tensor, open_gates: Tensor | None) -> Tensor:
        """The loss without noise, (R,); ``open_gates`` (R, C), if given, replace the learned."""


class GroupModel(GatedModel):
    """Parameters of R models with their gradients.

    Parameters
    ----------
    logits : (R, d, C)
        Log-probabilities of the memberships, up to a constant per feature.
    mu : (R, C)
        Gate means.
    Q : (R, C, C)
        Projection.
    sparsity_weight : (R,)
        lambda2 of each model.
    stream : (R,) int
        Which stream of noise each model listens to.
    """

    def __init__(
        self, logits: Tensor, mu: Tensor, Q: Tensor, sparsity_weight: Tensor, stream: Tensor
    ) -> None:
        self.logits = logits
        self.mu = mu
        self.Q = Q
        self.sparsity_weight = sparsity_weight
        self.stream = stream
        for parameter in self.parameters():
            parameter.grad = torch.zeros_like(parameter)

    def some(self, which: Tensor) -> Self:
        parts = (*self.parameters(), self.sparsity_weight, self.stream)
        return type(self)(*(part[which].clone() for part in parts))

    def parameters(self) -> list[Tensor]:
        return [self.logits, self.mu, self.Q]

    def labels(self) -> Tensor:
        return self.logits.argmax(-1)

    def membership_logits(self) -> Tensor:
        return self.logits

    def draw(self, noise: NoiseSource) -> Noise:
        """The next noise for all models."""
        return noise.draw(self.logits, self.stream)

    def step(
        self, objective: Objective, X: Tensor, noise: NoiseSource, temperature: Tensor
    ) -> Tensor:
        return self.loss_and_gradient(objective, X, self.draw(noise), temperature)

    def total(self, objective: Objective, terms: Tensor) -> Tensor:
        smooth, coherent, sparse = terms.unbind(-1)
        return smooth + objective.smoothness_weight * coherent + self.sparsity_weight * sparse

    def loss_and_gradient(
        self, objective: Objective, X: Tensor, noise: Noise, temperature: Tensor | float
    ) -> Tensor:
        """Write the gradients; return the three terms of the loss, unweighted, (R, 3)."""
        assert objective.walk is not None
        lambda1 = objective.smoothness_weight
        lambda2 = self.sparsity_weight.unsqueeze(-1)
        M = membership(self.logits, noise.gumbel, temperature)
        z = gates(self.mu, noise.gate)
        weight = (M @ z.unsqueeze(-1)).squeeze(-1)

        smooth, grad_square = sample_term(objective, X, weight.square())
        grad_weight = 2 * weight * grad_square
        coherent, grad_M, grad_Q = feature_smoothness(M, self.Q, objective.walk, 1 / lambda1)
        sparse, grad_mu, grad_share = group_sparsity(self.mu, M, objective.gate_noise)

        grad_M = grad_M.mul_(lambda1).add_(grad_share * lambda2.unsqueeze(-1))
        grad_M = grad_M.addcmul_(grad_weight.unsqueeze(-1), z.unsqueeze(-2))
        grad_z = (M.mT @ grad_weight.unsqueeze(-1)).squeeze(-1)
        self.logits.grad = membership_pullback(M, grad_M, temperature)
        self.mu.grad = gates_pullback(z, grad_z).add_(lambda2 * grad_mu)
        self.Q.grad = grad_Q.mul_(lambda1)
        return torch.stack([smooth, coherent, sparse], -1)

    def starting_forces(
        self, objective: Objective, X: Tensor, noise: Noise, temperature: float
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What the weights of the terms are calibrated on.

        Gradients of L_s and L_reg on the gates, (R, C) each, L_s, and L_f without its
        orthogonality, (R,) each.
        """
        assert objective.walk is not None
        M = membership(self.logits, noise.gumbel, temperature)
        z = gates(self.mu, noise.gate)
        weight = (M @ z.unsqueeze(-1)).squeeze(-1)
        smooth, grad_square = sample_term(objective, X, weight.square())
        grad_z = M.mT @ (2 * weight * grad_square).unsqueeze(-1)
        _, pull, _ = group_sparsity(self.mu, M, objective.gate_noise)
        rough, _, _ = feature_smoothness(M, self.Q, objective.walk, 0.0)
        return gates_pullback(z, grad_z.squeeze(-1)), pull, smooth, rough

    def settled_loss(self, objective: Objective, X: Tensor, open_gates: Tensor | None) -> Tensor:
        """The loss without noise and with every feature in its one group, (R,).

        ``open_gates`` (R, C) in place of the learned gates gives the loss of another model with the
        same groups: all ones, all zeros.
        """
        assert objective.walk is not None
        C = self.logits.shape[-1]
        M = torch.nn.functional.one_hot(self.logits.argmax(-1), C).to(self.logits.dtype)
        z = self.mu.clamp(0, 1) if open_gates is None else open_gates
        is_open = torch.special.ndtr(self.mu / objective.gate_noise)
        if open_gates is not None:
            is_open = open_gates
        weight = (M @ z.unsqueeze(-1)).squeeze(-1)
        smooth, _ = sample_term(objective, X, weight.square())
        coherent, _, _ = feature_smoothness(
            M, self.Q, objective.walk, 1 / objective.smoothness_weight
        )
        sparse = (is_open * M.mean(-2)).mean(-1)
        return smooth + objective.smoothness_weight * coherent + self.sparsity_weight * sparse


def sample_term(objective: Objective, X: Tensor, squared_weight: Tensor) -> tuple[Tensor, Tensor]:
    """L_s and its gradient, a few models at a time so that their graphs stay in cache or memory."""
    B, d = X.shape
    size = max(1, CHUNK_ENTRIES.get(X.device.type, 2**24) // (B * max(B, d)))
    pieces = [
        sample_smoothness(
            X,
            chunk,
            objective.n_neighbors,
            objective.steps,
            objective.through_bandwidth,
            objective.median_factor,
        )
        for chunk in squared_weight.split(size)
    ]
    if len(pieces) == 1:
        return pieces[0]
    values, gradients = zip(*pieces, strict=True)
    return torch.cat(values), torch.cat(gradients)


def warm_start(
    clusters: list[NDArray[np.int64]],
    gate_start: NDArray[np.float64],
    sparsity_weights: NDArray[np.float64],
    seeds: list[int],
    device: torch.device,
    dtype: torch.dtype,
) -> GroupModel:
    """S x P models that start from clusters of the features, one clustering per seed."""
    C = gate_start.shape[-1]
    P = len(sparsity_weights)
    logits = torch.stack([_membership_logits(labels, C) for labels in clusters])
    Q = torch.stack(
        [projection(labels, C, seed) for labels, seed in zip(clusters, seeds, strict=True)]
    )
    mu = torch.tensor(gate_start)

    def on_device(values: Tensor) -> Tensor:
        return values.repeat_interleave(P, 0).to(device=device, dtype=dtype)

    weights = torch.as_tensor(np.tile(sparsity_weights, len(seeds)), dtype=dtype, device=device)
    stream = torch.arange(len(seeds), device=device).repeat_interleave(P)
    return GroupModel(on_device(logits), on_device(mu), on_device(Q), weights, stream)


def projection(labels: NDArray[np.int64], C: int, seed: int) -> Tensor:
    """Random orthonormal, each row divided by the size of its cluster."""
    square, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((C, C)))
    sizes = np.maximum(np.bincount(labels, minlength=C), 1)
    return torch.from_numpy(square / sizes[:, None])


def _membership_logits(labels: NDArray[np.int64], C: int) -> Tensor:
    lead = math.log(P_MAIN * (C - 1) / (1 - P_MAIN))
    return lead * torch.nn.functional.one_hot(torch.tensor(labels), C).double()
