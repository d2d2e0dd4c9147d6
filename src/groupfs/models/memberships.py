"""Which group every feature belongs to: learned over all groups, over a few candidates, or fixed.

Axes: R models side by side, S seeds, d features, C groups, k candidates.
The loss sees memberships M through a few products only, so one model serves all kinds of them;
:mod:`groupfs.models.candidate_memberships` has the kind for very many features.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from groupfs.models.losses import feature_smoothness
from groupfs.models.objective import Objective
from groupfs.models.relaxations import membership, membership_pullback
from groupfs.utils.types import IntArray

#: Probability that a start from clusters gives a feature's own cluster.
P_MAIN = 0.7


@dataclass(frozen=True)
class GateForces:
    """What gates have to do with the gradient on the memberships."""

    gates: Tensor  #: z, (R, C)
    grad_weight: Tensor  #: gradient of L_s on the weights of the features, (R, d)
    is_open: Tensor  #: probability that a gate is open, (R, C)
    sparsity_weight: Tensor  #: lambda2, (R, 1)


class DenseMemberships:
    """Memberships in all groups, learned.

    Parameters
    ----------
    logits : (R, d, C)
        Log-probabilities, up to a constant per feature.
    Q : (R, C, C)
        Projection of the feature term.
    """

    def __init__(self, logits: Tensor, Q: Tensor) -> None:
        self.logits = logits
        self.Q = Q

    @classmethod
    def from_clusters(cls, clusters: list[IntArray], C: int, seeds: list[int]) -> Self:
        """Start from one clustering of the features per seed, one model each."""
        lead = math.log(P_MAIN * (C - 1) / (1 - P_MAIN))
        one_hot = [torch.nn.functional.one_hot(torch.tensor(labels), C) for labels in clusters]
        logits = torch.stack([lead * labels.double() for labels in one_hot])
        return cls(logits, starting_projections(clusters, C, seeds))

    def parameters(self) -> list[Tensor]:
        """Return what is trained, models on the first axis."""
        return [self.logits, self.Q]

    def select(self, index: Tensor) -> Self:
        """Copy the memberships of some of the models."""
        return type(self)(self.logits[index].clone(), self.Q[index].clone())

    def to(self, device: torch.device, dtype: torch.dtype) -> Self:
        """Copy the memberships to a device."""
        return type(self)(self.logits.to(device, dtype), self.Q.to(device, dtype))

    def labels(self) -> Tensor:
        """Return the group of every feature in every model, (R, d)."""
        return self.logits.argmax(-1)

    @property
    def logits_shape(self) -> tuple[int, int]:
        """Shape of the membership noise of one model, (d, C or k)."""
        return self.logits.shape[-2], self.logits.shape[-1]

    def relax(self, gumbel: Tensor, temperature: Tensor | float) -> Tensor:
        """Draw soft memberships M, (R, d, C or k)."""
        return membership(self.logits, gumbel, temperature)

    def settle(self) -> tuple[Self, Tensor]:
        """Put every feature into its most likely group; return these memberships and their M."""
        C = self.logits.shape[-1]
        return self, torch.nn.functional.one_hot(self.labels(), C).to(self.logits.dtype)

    def feature_weights(self, M: Tensor, z: Tensor) -> Tensor:
        """Compute the weight of every feature, M z, from gates (R, C); (R, d)."""
        return (M @ z.unsqueeze(-1)).squeeze(-1)

    def per_group(self, M: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Sum values of features (R, d) by group; return them and the shares of groups, (R, C)."""
        return (M.mT @ values.unsqueeze(-1)).squeeze(-1), M.mean(-2)

    def feature_term(
        self, objective: Objective, M: Tensor, orthogonality: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute L_f, (R,), and its gradients on M and on the projection (R, C, C)."""
        assert objective.walk is not None
        return feature_smoothness(M, self.Q, objective.walk, orthogonality)

    def backward(
        self, objective: Objective, M: Tensor, forces: GateForces, temperature: Tensor | float
    ) -> Tensor:
        """Write the gradients of the whole loss on the parameters; return L_f, (R,)."""
        lambda1 = objective.smoothness_weight
        value, grad_M, grad_Q = self.feature_term(objective, M, 1 / lambda1)
        grad_M = self._add_gate_forces(grad_M.mul_(lambda1), forces)
        self.logits.grad = membership_pullback(M, grad_M, temperature)
        self.Q.grad = grad_Q.mul_(lambda1)
        return value

    def _add_gate_forces(self, grad_M: Tensor, forces: GateForces) -> Tensor:
        """Add the gradients of L_s and of the weighted L_reg on the memberships, in place."""
        share_cost = forces.is_open / math.prod(self.logits_shape) * forces.sparsity_weight
        grad_M.add_(share_cost.unsqueeze(-2))
        return grad_M.addcmul_(forces.grad_weight.unsqueeze(-1), forces.gates.unsqueeze(-2))


class FixedMemberships(DenseMemberships):
    """Groups that are known: nothing is learned but gates.

    Parameters
    ----------
    n_models : int
        R.
    matrix : (d, C) or None
        One-hot membership of every feature; None gives every feature a gate of its own.
    share : (1, C)
        What an open gate costs, times the number of gates: the share of the features behind it, or
        one.
    """

    def __init__(self, n_models: int, matrix: Tensor | None, share: Tensor) -> None:
        self.n_models, self.matrix, self.share = n_models, matrix, share
        if matrix is not None:
            self.logits = matrix.log().expand(n_models, -1, -1)

    @classmethod
    def from_labels(cls, labels: IntArray, C: int, n_models: int) -> Self:
        """Start from the known group of every feature, (d,)."""
        matrix = torch.nn.functional.one_hot(torch.tensor(labels), C).double()
        return cls(n_models, matrix, matrix.mean(0, keepdim=True))

    def parameters(self) -> list[Tensor]:
        return []

    def select(self, index: Tensor) -> Self:
        return type(self)(len(index), self.matrix, self.share)

    def to(self, device: torch.device, dtype: torch.dtype) -> Self:
        matrix = None if self.matrix is None else self.matrix.to(device, dtype)
        return type(self)(self.n_models, matrix, self.share.to(device, dtype))

    def labels(self) -> Tensor:
        if self.matrix is not None:
            return super().labels()
        return torch.arange(self.share.shape[-1], device=self.share.device).expand(
            self.n_models, -1
        )

    @property
    def logits_shape(self) -> tuple[int, int]:
        return 0, 0

    def relax(self, gumbel: Tensor, temperature: Tensor | float) -> Tensor:
        return self.share

    def settle(self) -> tuple[Self, Tensor]:
        return self, self.share

    def feature_weights(self, M: Tensor, z: Tensor) -> Tensor:
        return z if self.matrix is None else z @ self.matrix.T

    def per_group(self, M: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return (values if self.matrix is None else values @ self.matrix), self.share

    def feature_term(
        self, objective: Objective, M: Tensor, orthogonality: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        none = self.share.new_zeros(self.n_models)
        return none, none, none

    def backward(
        self, objective: Objective, M: Tensor, forces: GateForces, temperature: Tensor | float
    ) -> Tensor:
        return self.share.new_zeros(self.n_models)


def starting_projections(clusters: list[IntArray], C: int, seeds: list[int]) -> Tensor:
    """Draw random orthonormal rows, each divided by the size of its cluster, (S, C, C)."""
    found = []
    for labels, seed in zip(clusters, seeds, strict=True):
        square, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((C, C)))
        sizes = np.maximum(np.bincount(labels, minlength=C), 1)
        found.append(torch.from_numpy(square / sizes[:, None]))
    return torch.stack(found)
