"""R models side by side: memberships, gates, their loss and its gradients.

Axes: R models side by side, B samples of a batch, d features, C groups.
The models are S seeds times P sparsity weights, seed-major: models that differ only in the weight
share their noise, so a model does not depend on which others are trained beside it.
"""

from typing import Self

import numpy as np
import torch
from torch import Tensor

from groupfs.joint.losses import group_sparsity, sample_term
from groupfs.joint.memberships import DenseMemberships, GateForces
from groupfs.joint.noise import Noise, NoiseSource
from groupfs.joint.objective import Objective
from groupfs.joint.relaxations import gates, gates_pullback
from groupfs.utils.types import FloatArray


class GatedModel:
    r"""R models with the loss :math:`L_s + \lambda_1 L_f + \lambda_2 L_{reg}`.

    Parameters
    ----------
    memberships : DenseMemberships
        Of every feature in the groups, learned or fixed.
    mu : (R, C)
        Gate means.
    sparsity_weight : (R,)
        lambda2 of each model.
    seed_index : (R,) int
        Which stream of noise each model listens to.
    """

    def __init__(
        self, memberships: DenseMemberships, mu: Tensor, sparsity_weight: Tensor, seed_index: Tensor
    ) -> None:
        self.memberships = memberships
        self.mu = mu
        self.sparsity_weight = sparsity_weight
        self.seed_index = seed_index
        for parameter in self.parameters():
            parameter.grad = torch.zeros_like(parameter)

    @classmethod
    def start(
        cls,
        memberships: DenseMemberships,
        gate_start: FloatArray,
        sparsity_weights: FloatArray,
        device: torch.device,
        dtype: torch.dtype,
    ) -> Self:
        """Start every seed, with memberships and gates (S, C), at every sparsity weight (P,)."""
        S, P = len(gate_start), len(sparsity_weights)
        seed_index = torch.arange(S, device=device).repeat_interleave(P)
        return cls(
            memberships.to(device, dtype).select(seed_index),
            torch.tensor(gate_start).to(device, dtype)[seed_index],
            torch.as_tensor(np.tile(sparsity_weights, S), dtype=dtype, device=device),
            seed_index,
        )

    def __len__(self) -> int:
        return len(self.mu)

    def parameters(self) -> list[Tensor]:
        """Return everything that is trained."""
        return [*self.memberships.parameters(), self.mu]

    def labels(self) -> Tensor:
        """Return the group of every feature in every model, (R, d)."""
        return self.memberships.labels()

    def select(self, index: Tensor) -> Self:
        """Copy some of the models."""
        own = (self.mu, self.sparsity_weight, self.seed_index)
        return type(self)(self.memberships.select(index), *(part[index].clone() for part in own))

    def copy_from(self, other: "GatedModel", index: Tensor, other_index: Tensor) -> None:
        """Overwrite some of the models with some of another's."""
        for own, theirs in zip(self.parameters(), other.parameters(), strict=True):
            own[index] = theirs[other_index]

    def draw(self, noise: NoiseSource) -> Noise:
        """Draw the next noise for all models."""
        return noise.draw(self.seed_index, self.memberships.logits_shape, self.mu)

    def loss_and_gradient(
        self, objective: Objective, X: Tensor, noise: Noise, temperature: Tensor | float
    ) -> Tensor:
        """Write the gradients; return the three terms of the loss, unweighted, (R, 3)."""
        M = self.memberships.relax(noise.gumbel, temperature)
        z = gates(self.mu, noise.gate)
        smooth, grad_weight, grad_z, share = self._sample_forces(objective, X, M, z)
        sparse, grad_mu, is_open = group_sparsity(self.mu, share, objective.gate_noise)
        forces = GateForces(z, grad_weight, is_open, self.sparsity_weight.unsqueeze(-1))
        coherent = self.memberships.backward(objective, M, forces, temperature)
        self.mu.grad = self._gate_gradient(smooth, sparse, gates_pullback(z, grad_z), grad_mu)
        return torch.stack([smooth, coherent, sparse], -1)

    def starting_forces(
        self, objective: Objective, X: Tensor, noise: Noise, temperature: float
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Compute what the weights of the terms are calibrated on.

        Gradients of L_s and L_reg on the gates, (R, C) each, L_s, and L_f without its
        orthogonality, (R,) each.
        """
        M = self.memberships.relax(noise.gumbel, temperature)
        z = gates(self.mu, noise.gate)
        smooth, _, grad_z, share = self._sample_forces(objective, X, M, z)
        _, pull, _ = group_sparsity(self.mu, share, objective.gate_noise)
        rough, _, _ = self.memberships.feature_term(objective, M, 0.0)
        return gates_pullback(z, grad_z), pull, smooth, rough

    def total(self, objective: Objective, terms: Tensor) -> Tensor:
        """Combine the three terms into the loss, (R, 3) to (R,)."""
        smooth, coherent, sparse = terms.unbind(-1)
        return smooth + objective.smoothness_weight * coherent + self.sparsity_weight * sparse

    def noiseless_loss(
        self, objective: Objective, X: Tensor, open_gates: Tensor | None = None
    ) -> Tensor:
        """Compute the loss without noise and with every feature in its one group, (R,).

        ``open_gates`` (R, C) in place of the learned gates gives the loss of another model with the
        same groups: all ones, all zeros.
        """
        memberships, M = self.memberships, self.memberships.harden()
        z = self.mu.clamp(0, 1) if open_gates is None else open_gates
        weight = memberships.feature_weights(M, z)
        smooth, _ = sample_term(objective, X, weight.square())
        _, share = memberships.per_group(M, weight)
        sparse, _, _ = group_sparsity(self.mu, share, objective.gate_noise)
        if open_gates is not None:
            sparse = (open_gates * share).mean(-1)
        beta = 1 / objective.smoothness_weight if objective.smoothness_weight else 0.0
        coherent, _, _ = memberships.feature_term(objective, M, beta)
        return self.total(objective, torch.stack([smooth, coherent, sparse], -1))

    def gain_and_loss(self, objective: Objective, X: Tensor) -> tuple[Tensor, Tensor]:
        """Compute by how much models beat all gates open and all shut, and their loss, (R,) each.

        The plain loss cannot compare sparsity weights: it falls with the weight itself.
        """
        everything = self.noiseless_loss(objective, X, torch.ones_like(self.mu))
        nothing = self.noiseless_loss(objective, X, torch.zeros_like(self.mu))
        loss = self.noiseless_loss(objective, X)
        return torch.minimum(everything, nothing) - loss, loss

    def _sample_forces(
        self, objective: Objective, X: Tensor, M: Tensor, z: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Compute L_s, its gradients on weights (R, d) and gates (R, C), and the groups' shares."""
        weight = self.memberships.feature_weights(M, z)
        smooth, grad_square = sample_term(objective, X, weight.square())
        grad_weight = 2 * weight * grad_square
        grad_z, share = self.memberships.per_group(M, grad_weight)
        return smooth, grad_weight, grad_z, share

    def _gate_gradient(
        self, smooth: Tensor, sparse: Tensor, grad_smooth: Tensor, grad_sparse: Tensor
    ) -> Tensor:
        """Combine the gradients of L_s and L_reg on the gates, (R, C)."""
        return grad_smooth.add_(self.sparsity_weight.unsqueeze(-1) * grad_sparse)
