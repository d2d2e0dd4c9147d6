"""Memberships of very many features, each of which may belong to a few candidate groups only.

Axes: R models side by side, S seeds, d features, C groups, k candidates.
Where memberships of d features in C groups would not fit, every feature keeps those in its own
cluster of the start and the k - 1 clusters nearest to it; all others are zero, and stay so.
"""

import math
from typing import Self

import torch
from torch import Tensor

from groupfs.models.candidate_losses import candidate_feature_smoothness, per_group_sums
from groupfs.models.memberships import (
    P_MAIN,
    DenseMemberships,
    GateForces,
    starting_projections,
)
from groupfs.models.objective import Objective
from groupfs.utils.types import IntArray


class CandidateMemberships(DenseMemberships):
    """Memberships in k candidate groups of each feature.

    Parameters
    ----------
    logits : (R, d, k)
        Log-probabilities of the memberships in the candidates, up to a constant per feature.
    Q : (R, C, C)
        Projection of the feature term.
    candidates : list of R tensors (d, k)
        Groups that each feature may belong to; models of one seed share them.
    """

    def __init__(self, logits: Tensor, Q: Tensor, candidates: list[Tensor]) -> None:
        super().__init__(logits, Q)
        self.candidates = candidates

    @classmethod
    def from_candidates(cls, candidates: IntArray, C: int, seeds: list[int]) -> Self:
        """Start from the first of the candidates (S, d, k), the cluster of every feature."""
        S, d, k = candidates.shape
        logits = torch.zeros(S, d, k)
        logits[..., 0] = math.log(P_MAIN * (k - 1) / (1 - P_MAIN))
        projections = starting_projections([own[:, 0] for own in candidates], C, seeds)
        return cls(logits, projections, list(torch.as_tensor(candidates)))

    def select(self, index: Tensor) -> Self:
        candidates = [self.candidates[r] for r in index.tolist()]
        return type(self)(self.logits[index].clone(), self.Q[index].clone(), candidates)

    def to(self, device: torch.device, dtype: torch.dtype) -> Self:
        candidates = [own.to(device) for own in self.candidates]
        return type(self)(self.logits.to(device, dtype), self.Q.to(device, dtype), candidates)

    def labels(self) -> Tensor:
        best = self.logits.argmax(-1, keepdim=True)
        found = [own.gather(1, b) for own, b in zip(self.candidates, best, strict=True)]
        return torch.stack(found).squeeze(-1)

    def settle(self) -> tuple[Self, Tensor]:
        labels = list(self.labels().unsqueeze(-1))
        return type(self)(self.logits, self.Q, labels), torch.ones_like(self.logits[..., :1])

    def feature_weights(self, M: Tensor, z: Tensor) -> Tensor:
        each = zip(M, self.candidates, z, strict=True)
        return torch.stack([(m * gates[own]).sum(-1) for m, own, gates in each])

    def per_group(self, M: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        both = torch.stack([values, torch.full_like(values, 1 / values.shape[-1])], -1)
        C = self.Q.shape[-1]
        each = zip(M, self.candidates, both, strict=True)
        sums = torch.stack([per_group_sums(m, own, C, v) for m, own, v in each])
        return sums[..., 0], sums[..., 1]

    def feature_term(
        self, objective: Objective, M: Tensor, orthogonality: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        assert objective.walk is not None
        found = [
            candidate_feature_smoothness(m, own, q, objective.walk, orthogonality)
            for m, own, q in zip(M, self.candidates, self.Q, strict=True)
        ]
        value, grad_M, grad_Q = zip(*found, strict=True)
        return torch.stack(value), torch.stack(grad_M), torch.stack(grad_Q)

    def _add_gate_forces(self, grad_M: Tensor, forces: GateForces) -> Tensor:
        C, d = forces.is_open.shape[-1], self.logits.shape[-2]
        share_cost = forces.is_open / C * forces.sparsity_weight / d
        for r, own in enumerate(self.candidates):
            push = forces.grad_weight[r].unsqueeze(-1)
            grad_M[r].addcmul_(push, forces.gates[r][own]).add_(share_cost[r][own])
        return grad_M
