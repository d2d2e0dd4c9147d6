"""Models whose groups are fixed: only the gates are learned. With one gate per feature, DUFS.

Axes: R models side by side, B samples of a batch, d features, C groups.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.models.all_groups import GatedModel, NoiseSource, Objective, sample_term
from groupfs.models.losses import group_sparsity
from groupfs.models.relaxations import gates, gates_pullback

#: Keeps the ratio of the terms finite when all gates are shut.
SMALLEST_SHARE = 1e-6


class GateModel(GatedModel):
    r"""Gate means of R models with their gradients.

    The loss is :math:`L_s + \lambda_2 L_{reg}` or, where it is a ratio, :math:`L_s / L_{reg}`.

    Parameters
    ----------
    mu : (R, C)
        Gate means.
    membership : (d, C) or None
        One-hot membership of every feature; None gives every feature its own gate.
    share : (1, C)
        What an open gate costs, times the number of gates: the share of the features behind it, or
        one.
    sparsity_weight : (R,)
        lambda2 of each model.
    stream : (R,) int
        Which stream of noise each model listens to.
    is_ratio : bool
        Whether the loss is the ratio of the two terms.
    """

    def __init__(
        self,
        mu: Tensor,
        membership: Tensor | None,
        share: Tensor,
        sparsity_weight: Tensor,
        stream: Tensor,
        is_ratio: bool = False,
    ) -> None:
        self.mu = mu
        self.membership = membership
        self.share = share
        self.sparsity_weight = sparsity_weight
        self.stream = stream
        self.is_ratio = is_ratio
        mu.grad = torch.zeros_like(mu)

    def parameters(self) -> list[Tensor]:
        return [self.mu]

    def labels(self) -> Tensor:
        if self.membership is None:
            own = torch.arange(self.mu.shape[-1], device=self.mu.device)
        else:
            own = self.membership.argmax(-1)
        return own.expand(len(self), -1)

    def membership_logits(self) -> Tensor:
        M = torch.eye(self.mu.shape[-1]) if self.membership is None else self.membership
        return M.log().expand(len(self), -1, -1)

    def some(self, which: Tensor) -> Self:
        return type(self)(
            self.mu[which].clone(),
            self.membership,
            self.share,
            self.sparsity_weight[which].clone(),
            self.stream[which].clone(),
            self.is_ratio,
        )

    def step(
        self, objective: Objective, X: Tensor, noise: NoiseSource, temperature: Tensor
    ) -> Tensor:
        return self.loss_and_gradient(objective, X, noise.draw_gates(self.mu, self.stream))

    def loss_and_gradient(self, objective: Objective, X: Tensor, noise: Tensor) -> Tensor:
        """Write the gradient; return the terms of the loss, the second of which is zero, (R, 3)."""
        z = gates(self.mu, noise)
        weight = self._per_feature(z)
        smooth, grad_square = sample_term(objective, X, weight.square())
        grad_smooth = gates_pullback(z, self._per_gate(2 * weight * grad_square))
        sparse, grad_sparse = self._sparsity(objective)
        if self.is_ratio:
            share = (sparse + SMALLEST_SHARE).unsqueeze(-1)
            ratio = smooth.unsqueeze(-1) / share
            self.mu.grad = (grad_smooth - ratio * grad_sparse) / share
        else:
            self.mu.grad = grad_smooth + self.sparsity_weight.unsqueeze(-1) * grad_sparse
        return torch.stack([smooth, torch.zeros_like(smooth), sparse], -1)

    def total(self, objective: Objective, terms: Tensor) -> Tensor:
        smooth, _, sparse = terms.unbind(-1)
        if self.is_ratio:
            return smooth / (sparse + SMALLEST_SHARE)
        return smooth + self.sparsity_weight * sparse

    def settled_loss(self, objective: Objective, X: Tensor, open_gates: Tensor | None) -> Tensor:
        z = self.mu.clamp(0, 1) if open_gates is None else open_gates
        smooth, _ = sample_term(objective, X, self._per_feature(z).square())
        if open_gates is None:
            sparse, _ = self._sparsity(objective)
        else:
            sparse = (open_gates * self.share).mean(-1)
        return self.total(objective, torch.stack([smooth, torch.zeros_like(smooth), sparse], -1))

    def _sparsity(self, objective: Objective) -> tuple[Tensor, Tensor]:
        value, grad, _ = group_sparsity(self.mu, self.share, objective.gate_noise)
        return value, grad

    def _per_feature(self, z: Tensor) -> Tensor:
        return z if self.membership is None else z @ self.membership.T

    def _per_gate(self, grad: Tensor) -> Tensor:
        return grad if self.membership is None else grad @ self.membership


def fixed_start(
    labels: NDArray[np.int64],
    gate_start: NDArray[np.float64],
    sparsity_weights: NDArray[np.float64],
    device: torch.device,
    dtype: torch.dtype,
) -> GateModel:
    """S x P models with the groups given by labels (d,), seed-major; gates start at (S, C)."""
    S, C = gate_start.shape
    P = len(sparsity_weights)
    membership = torch.nn.functional.one_hot(torch.tensor(labels), C)
    mu = torch.tensor(gate_start).repeat_interleave(P, 0)
    weights = torch.as_tensor(np.tile(sparsity_weights, S), dtype=dtype)
    return GateModel(
        mu=mu.to(device=device, dtype=dtype),
        membership=membership.to(device=device, dtype=dtype),
        share=membership.double().mean(0, keepdim=True).to(device=device, dtype=dtype),
        sparsity_weight=weights.to(device),
        stream=torch.arange(S, device=device).repeat_interleave(P),
    )
