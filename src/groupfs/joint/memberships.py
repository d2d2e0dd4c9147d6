"""Which group every feature belongs to: learned, or one gate for every feature.

Axes: R models side by side, S seeds, d features, C groups.
The loss sees memberships M through a few products only, so one model serves both kinds of them.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from groupfs.joint.losses import feature_smoothness
from groupfs.joint.objective import Objective
from groupfs.joint.relaxations import membership, membership_pullback
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
        """Shape of the membership noise of one model, (d, C)."""
        return self.logits.shape[-2], self.logits.shape[-1]

    def relax(self, gumbel: Tensor, temperature: Tensor | float) -> Tensor:
        """Draw soft memberships M, (R, d, C)."""
        return membership(self.logits, gumbel, temperature)

    def harden(self) -> Tensor:
        """Put every feature into its most likely group, (R, d, C)."""
        C = self.logits.shape[-1]
        return torch.nn.functional.one_hot(self.labels(), C).to(self.logits.dtype)

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
        share_cost = forces.is_open / math.prod(self.logits_shape) * forces.sparsity_weight
        grad_M.mul_(lambda1).add_(share_cost.unsqueeze(-2))
        grad_M.addcmul_(forces.grad_weight.unsqueeze(-1), forces.gates.unsqueeze(-2))
        self.logits.grad = membership_pullback(M, grad_M, temperature)
        self.Q.grad = grad_Q.mul_(lambda1)
        return value


class GatePerFeature(DenseMemberships):
    """Every feature a group of its own, with a gate of its own: nothing else is learned.

    Parameters
    ----------
    n_models, n_features : int
        R and d, which is C here.
    like : Tensor or None
        Whose device and precision to take.
    """

    def __init__(self, n_models: int, n_features: int, like: Tensor | None = None) -> None:
        self.n_models = n_models
        like = torch.ones(1) if like is None else like
        self.share = like.new_ones((1, n_features))  # what an open gate costs, times C

    def parameters(self) -> list[Tensor]:
        return []

    def select(self, index: Tensor) -> Self:
        return type(self)(len(index), self.share.shape[-1], self.share)

    def to(self, device: torch.device, dtype: torch.dtype) -> Self:
        return type(self)(self.n_models, self.share.shape[-1], self.share.to(device, dtype))

    def labels(self) -> Tensor:
        own = torch.arange(self.share.shape[-1], device=self.share.device)
        return own.expand(self.n_models, -1)

    @property
    def logits_shape(self) -> tuple[int, int]:
        return 0, 0

    def relax(self, gumbel: Tensor, temperature: Tensor | float) -> Tensor:
        return self.share

    def harden(self) -> Tensor:
        return self.share

    def feature_weights(self, M: Tensor, z: Tensor) -> Tensor:
        return z

    def per_group(self, M: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return values, self.share

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
    projections = []
    for labels, seed in zip(clusters, seeds, strict=True):
        square, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((C, C)))
        sizes = np.maximum(np.bincount(labels, minlength=C), 1)
        projections.append(torch.from_numpy(square / sizes[:, None]))
    return torch.stack(projections)
