r"""R models side by side: memberships, gates, their loss and its gradients.

Axes: R models side by side, S seeds, B samples of a batch, d features, C groups.
The models are S seeds times P sparsity weights, seed-major: models that differ only in the weight
share their noise, so a model does not depend on which others are trained beside it.
"""

import math
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from groupfs.groups import OPEN
from groupfs.joint import relaxations as relaxed
from groupfs.joint.losses import Objective, feature_smoothness, group_sparsity, sample_term
from groupfs.utils.types import FloatArray, IntArray

#: Probability that a start from clusters gives a feature's own cluster.
P_MAIN = 0.7


class GatedModel:
    r"""R models with the loss :math:`L_s + \lambda_1 L_f + \lambda_2 L_{reg}`.

    ``logits`` (R, d, C) are :math:`\log\pi`, log-probabilities of the memberships up to a constant
    per feature, Q (R, C, C) the projection of the feature term, :math:`F = MQ`, ``mu`` (R, C) gate
    means :math:`\mu`, ``sparsity_weight`` (R,) :math:`\lambda_2` of each model, ``seed_index`` (R,)
    which stream of noise it listens to.
    """

    def __init__(
        self, logits: Tensor, Q: Tensor, mu: Tensor, sparsity_weight: Tensor, seed_index: Tensor
    ) -> None:
        self.logits, self.Q, self.mu = logits, Q, mu
        self.sparsity_weight, self.seed_index = sparsity_weight, seed_index
        for parameter in self.parameters():
            parameter.grad = torch.zeros_like(parameter)

    @classmethod
    def start(
        cls,
        clusters: list[IntArray],
        seeds: list[int],
        gate_start: FloatArray,
        sparsity_weights: FloatArray,
        device: torch.device,
        dtype: torch.dtype,
    ) -> Self:
        """Start every seed, with its clusters and mu (S, C), at every lambda2 (P,)."""
        (S, C), P = gate_start.shape, len(sparsity_weights)
        lead = math.log(P_MAIN * (C - 1) / (1 - P_MAIN))
        projections = []
        for labels, seed in zip(clusters, seeds, strict=True):
            # random orthonormal rows, each divided by the size of its cluster
            square, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((C, C)))
            sizes = np.maximum(np.bincount(labels, minlength=C), 1)
            projections.append(square / sizes[:, None])
        starts = (lead * np.eye(C)[np.stack(clusters)], np.stack(projections), gate_start)
        seed_index = torch.arange(S, device=device).repeat_interleave(P)
        logits, Q, mu = (torch.as_tensor(part).to(device, dtype)[seed_index] for part in starts)
        weights = torch.as_tensor(np.tile(sparsity_weights, S), dtype=dtype, device=device)
        return cls(logits, Q, mu, weights, seed_index)

    def __len__(self) -> int:
        return len(self.mu)

    def parameters(self) -> list[Tensor]:
        """Return everything that is trained: log(pi), Q and mu."""
        return [self.logits, self.Q, self.mu]

    def labels(self) -> Tensor:
        """Return the group of every feature, the argmax of its logits, in every model, (R, d)."""
        return self.logits.argmax(-1)

    def select(self, index: Tensor) -> Self:
        """Copy some of the models."""
        parts = (*self.parameters(), self.sparsity_weight, self.seed_index)
        return type(self)(*(part[index].clone() for part in parts))

    def draw(self, stream: relaxed.CounterNoise, gate_noise: float) -> relaxed.Noise:
        """Draw the next noise for all models, the same for those that share a seed."""
        d, k = self.logits.shape[1:]
        uniform = stream.uniform(d * k + self.mu.shape[-1], self.mu.dtype)
        gumbel = relaxed.gumbel_noise(uniform[:, : d * k]).view(len(uniform), d, k)
        gate = torch.special.ndtri(uniform[:, d * k :]).mul_(gate_noise)
        return relaxed.Noise(gumbel[self.seed_index], gate[self.seed_index])

    def loss_and_gradient(
        self, objective: Objective, X: Tensor, noise: relaxed.Noise, temperature: Tensor | float
    ) -> Tensor:
        """Write the gradients; return the terms L_s, L_f and L_reg, unweighted, (R, 3)."""
        lambda1, lambda2 = objective.smoothness_weight, self.sparsity_weight.unsqueeze(-1)
        M = relaxed.membership(self.logits, noise.gumbel, temperature)
        z = relaxed.gates(self.mu, noise.gate)
        smooth, grad_weight, grad_z = gated_smoothness(objective, X, M, z)
        sparse, grad_mu, is_open = group_sparsity(self.mu, M.mean(-2), objective.gate_noise)
        coherent, grad_M, grad_Q = feature_smoothness(M, self.Q, objective.walk, 1 / lambda1)
        share_cost = is_open / math.prod(M.shape[1:]) * lambda2
        grad_M.mul_(lambda1).add_(share_cost.unsqueeze(-2))
        grad_M.addcmul_(grad_weight.unsqueeze(-1), z.unsqueeze(-2))
        self.logits.grad = relaxed.membership_pullback(M, grad_M, temperature)
        self.Q.grad = grad_Q.mul_(lambda1)
        self.mu.grad = relaxed.gates_pullback(z, grad_z).add_(lambda2 * grad_mu)
        return torch.stack([smooth, coherent, sparse], -1)

    def total(self, objective: Objective, terms: Tensor) -> Tensor:
        """Combine the terms into L = L_s + lambda1 L_f + lambda2 L_reg, (R, 3) to (R,)."""
        smooth, coherent, sparse = terms.unbind(-1)
        return smooth + objective.smoothness_weight * coherent + self.sparsity_weight * sparse

    def noiseless_loss(
        self, objective: Objective, X: Tensor, open_gates: Tensor | None = None
    ) -> Tensor:
        """Compute L without noise and with every feature in its one group, (R,).

        ``open_gates`` (R, C), such as all ones, are in place of the learned z.
        """
        M = one_hot(self.labels(), self.mu.shape[-1]).to(self.mu.dtype)
        z = self.mu.clamp(0, 1) if open_gates is None else open_gates
        smooth, _ = sample_term(objective, X, feature_weights(M, z).square())
        sparse, _, _ = group_sparsity(self.mu, M.mean(-2), objective.gate_noise)
        if open_gates is not None:
            sparse = (open_gates * M.mean(-2)).mean(-1)
        beta = 1 / objective.smoothness_weight
        coherent, _, _ = feature_smoothness(M, self.Q, objective.walk, beta)
        return self.total(objective, torch.stack([smooth, coherent, sparse], -1))

    def gain_and_loss(self, objective: Objective, X: Tensor) -> tuple[Tensor, Tensor]:
        """Compute by how much models beat all gates open and all shut, and their L, (R,) each.

        The gain is that of the decided gates, 1 where open and 0 where shut: gates that are half
        open pay for it, however right they are.
        """
        decided = (self.mu > OPEN).to(self.mu.dtype)
        choices = (torch.ones_like(self.mu), torch.zeros_like(self.mu), decided, None)
        everything, nothing, some, plain = (self.noiseless_loss(objective, X, z) for z in choices)
        return torch.minimum(everything, nothing) - some, plain


def feature_weights(M: Tensor, z: Tensor) -> Tensor:
    """Compute the weight of every feature, z-hat = M z, from gates (R, C); (R, d)."""
    return (M @ z.unsqueeze(-1)).squeeze(-1)


def gated_smoothness(
    objective: Objective, X: Tensor, M: Tensor, z: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute L_s of gated samples, and its gradients on z-hat (R, d) and z (R, C)."""
    weight = feature_weights(M, z)
    smooth, grad_square = sample_term(objective, X, weight.square())
    grad_weight = 2 * weight * grad_square
    return smooth, grad_weight, (M.mT @ grad_weight.unsqueeze(-1)).squeeze(-1)
