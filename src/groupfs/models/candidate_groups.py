"""Models of very many features, each of which may belong to a few candidate groups only.

Axes: R models side by side, S seeds, B samples of a batch, d features, C groups, k candidates.
Where memberships of d features in C groups would not fit, every feature keeps those in its own
cluster of the warm start and the k - 1 clusters nearest to it; all others are zero, and stay so.
"""

from __future__ import annotations

import math
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.graphs.feature_clusters import embed, sums_by_cluster
from groupfs.models.all_groups import (
    P_MAIN,
    GatedModel,
    Noise,
    NoiseSource,
    Objective,
    projection,
    sample_term,
)
from groupfs.models.candidate_losses import WALK_COLUMNS, compact_feature_smoothness, per_group_sums
from groupfs.models.losses import group_sparsity
from groupfs.models.relaxations import gates, gates_pullback, membership, membership_pullback
from groupfs.utils.text import format_bytes

#: Bytes that a membership takes in training: itself, gradient, moments, noise, temporary copies;
#: where few are kept of each feature, also which; then a feature takes some of its own, once.
DENSE_BYTES, COMPACT_BYTES, FEATURE_BYTES = 64, 96, 2 * 4 * WALK_COLUMNS
#: With fewer candidates features could hardly move between groups.
FEWEST = 3
#: Features whose distances to all clusters are worked out at a time, times clusters.
BLOCK_ENTRIES = 2**21


class CompactModel(GatedModel):
    """Parameters of R models with their gradients.

    Parameters
    ----------
    logits : (R, d, k)
        Log-probabilities of the memberships in the candidates, up to a constant per feature.
    mu : (R, C)
        Gate means.
    Q : (R, C, C)
        Projection.
    sparsity_weight : (R,)
        lambda2 of each model.
    stream : (R,) int
        The seed of each model: whose noise it listens to, and whose candidates are its own.
    candidates : (S, d, k) int
        Groups that each feature may belong to.
    """

    def __init__(
        self,
        logits: Tensor,
        mu: Tensor,
        Q: Tensor,
        sparsity_weight: Tensor,
        stream: Tensor,
        candidates: Tensor,
    ) -> None:
        self.logits = logits
        self.mu = mu
        self.Q = Q
        self.sparsity_weight = sparsity_weight
        self.stream = stream
        self.candidates = candidates
        self.own = [candidates[seed] for seed in stream.tolist()]  # (d, k) of each model
        for parameter in self.parameters():
            parameter.grad = torch.zeros_like(parameter)

    def some(self, which: Tensor) -> Self:
        parts = (*self.parameters(), self.sparsity_weight, self.stream)
        logits, mu, Q, weight, stream = (part[which].clone() for part in parts)
        return type(self)(logits, mu, Q, weight, stream, self.candidates)

    def parameters(self) -> list[Tensor]:
        return [self.logits, self.mu, self.Q]

    def labels(self) -> Tensor:
        best = self.logits.argmax(-1, keepdim=True)
        found = [own.gather(1, place) for own, place in zip(self.own, best, strict=True)]
        return torch.stack(found).squeeze(-1)

    def membership_logits(self) -> Tensor:
        """Of the memberships in the candidates, (R, d, k)."""
        return self.logits

    def draw(self, noise: NoiseSource) -> Noise:
        """The next noise: for memberships in the candidates (R, d, k) and for gates (R, C)."""
        return noise.draw(self.logits, self.stream, self.mu.shape[-1])

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
        lambda1 = objective.smoothness_weight
        lambda2 = self.sparsity_weight.unsqueeze(-1)
        M = membership(self.logits, noise.gumbel, temperature)
        z = gates(self.mu, noise.gate)
        smooth, grad_weight, grad_z, share = _sample_term(objective, X, M, self.own, z)
        sparse, grad_mu, grad_share = group_sparsity(
            self.mu, share.unsqueeze(-2), objective.gate_noise
        )
        coherent, grad_M, grad_Q = _feature_term(objective, M, self.own, self.Q, 1 / lambda1)
        self.Q.grad = grad_Q.mul_(lambda1)
        grad_share = grad_share.squeeze(-2) * lambda2 / self.logits.shape[-2]
        grad_M.mul_(lambda1)
        for r, own in enumerate(self.own):
            grad_M[r].addcmul_(grad_weight[r].unsqueeze(-1), z[r][own]).add_(grad_share[r][own])
        self.logits.grad = membership_pullback(M, grad_M, temperature)
        self.mu.grad = gates_pullback(z, grad_z).add_(lambda2 * grad_mu)
        return torch.stack([smooth, coherent, sparse], -1)

    def starting_forces(
        self, objective: Objective, X: Tensor, noise: Noise, temperature: float
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        M = membership(self.logits, noise.gumbel, temperature)
        z = gates(self.mu, noise.gate)
        smooth, _, grad_z, share = _sample_term(objective, X, M, self.own, z)
        _, pull, _ = group_sparsity(self.mu, share.unsqueeze(-2), objective.gate_noise)
        rough, _, _ = _feature_term(objective, M, self.own, self.Q, 0.0)
        return gates_pullback(z, grad_z), pull, smooth, rough

    def settled_loss(self, objective: Objective, X: Tensor, open_gates: Tensor | None) -> Tensor:
        """The loss without noise and with every feature in its one group, (R,)."""
        labels = list(self.labels().unsqueeze(-1))
        M = torch.ones_like(self.logits[..., :1])
        z = self.mu.clamp(0, 1) if open_gates is None else open_gates
        is_open = torch.special.ndtr(self.mu / objective.gate_noise)
        if open_gates is not None:
            is_open = open_gates
        smooth, _, _, share = _sample_term(objective, X, M, labels, z)
        beta = 1 / objective.smoothness_weight
        coherent, _, _ = _feature_term(objective, M, labels, self.Q, beta)
        sparse = (is_open * share).mean(-1)
        return self.total(objective, torch.stack([smooth, coherent, sparse], -1))


def compact_start(
    candidates: NDArray[np.int64],
    gate_start: NDArray[np.float64],
    sparsity_weights: NDArray[np.float64],
    seeds: list[int],
    device: torch.device,
    dtype: torch.dtype,
) -> CompactModel:
    """S x P models that start from clusters of the features, the first of the candidates (S, d, k).

    The counterpart of :func:`groupfs.models.all_groups.warm_start`.
    """
    P, C = len(sparsity_weights), gate_start.shape[-1]
    _, d, k = candidates.shape
    logits = torch.zeros(len(seeds) * P, d, k, dtype=dtype, device=device)
    logits[..., 0] = math.log(P_MAIN * (k - 1) / (1 - P_MAIN))
    Q = torch.stack(
        [projection(own[:, 0], C, seed) for own, seed in zip(candidates, seeds, strict=True)]
    )

    def on_device(values: Tensor) -> Tensor:
        return values.repeat_interleave(P, 0).to(device=device, dtype=dtype)

    weights = torch.as_tensor(np.tile(sparsity_weights, len(seeds)), dtype=dtype, device=device)
    stream = torch.arange(len(seeds), device=device).repeat_interleave(P)
    return CompactModel(
        logits,
        on_device(torch.as_tensor(gate_start)),
        on_device(Q),
        weights,
        stream,
        torch.as_tensor(candidates, device=device),
    )


def nearest_clusters(
    eigenvectors: NDArray[np.float64], labels: NDArray[np.int64], n_groups: int, k: int
) -> NDArray[np.int64]:
    """The own cluster of every feature and the k - 1 whose centers are nearest to it, (d, k).

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.models.candidate_groups import nearest_clusters
    >>> points = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.4, 1.0]])
    >>> nearest_clusters(points, np.array([0, 1, 2]), 3, 2)[2]
    array([2, 1])
    """
    d = len(labels)
    size = max(1, BLOCK_ENTRIES // n_groups)
    blocks = [slice(start, min(start + size, d)) for start in range(0, d, size)]
    centers = np.zeros((n_groups, n_groups))
    for rows in blocks:
        centers += sums_by_cluster(embed(eigenvectors[rows], n_groups), labels[rows], n_groups)
    centers /= np.maximum(np.bincount(labels, minlength=n_groups), 1)[:, None]
    found = np.empty((d, k), dtype=np.int64)
    for rows in blocks:
        nearness = embed(eigenvectors[rows], n_groups) @ centers.T
        nearness -= 0.5 * np.square(centers).sum(1)
        np.put_along_axis(nearness, labels[rows, None], np.inf, axis=1)
        best = np.argpartition(-nearness, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(nearness, best, axis=1), axis=1, kind="stable")
        found[rows] = np.take_along_axis(best, order, axis=1)
    return found


def memberships_kept(d: int, C: int, R: int, budget_bytes: int) -> int | None:
    """How many memberships of each feature fit; None where all do.

    Examples
    --------
    >>> from groupfs.models.candidate_groups import memberships_kept
    >>> memberships_kept(20_000, 30, 2, 2**31) is None
    True
    >>> memberships_kept(1_000_000, 100, 2, 2**31)
    9
    """
    needed = memory_of_models(d, C, R, None)
    if needed <= budget_bytes:
        return None
    fewest = min(FEWEST, C)
    kept = (budget_bytes // d - FEATURE_BYTES) // (COMPACT_BYTES * R)
    if kept < fewest:
        least = memory_of_models(d, C, R, fewest)
        raise ValueError(
            f"{d} features in {C} groups need {format_bytes(needed)} of memory for {R} "
            f"model{'s' if R > 1 else ''} side by side, and {format_bytes(least)} if each feature "
            f"keeps the {fewest} groups nearest to it, but {format_bytes(budget_bytes)} are "
            f"available; {'choose n_init=1, ' if R > 1 else ''}raise max_memory or leave out "
            "columns."
        )
    return min(kept, C)


def memory_of_models(d: int, C: int, R: int, best_memberships: int | None) -> int:
    """Bytes that R models take in training with all or the best memberships of each feature."""
    if best_memberships is None:
        return DENSE_BYTES * d * C * R
    return (COMPACT_BYTES * best_memberships * R + FEATURE_BYTES) * d


def _sample_term(
    objective: Objective, X: Tensor, M: Tensor, candidates: list[Tensor], z: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """L_s, its gradients on weights (R, d) and gates (R, C), and the share of each group (R, C)."""
    each = list(zip(M, candidates, strict=True))
    weight = torch.stack([(m * g[own]).sum(-1) for (m, own), g in zip(each, z, strict=True)])
    smooth, grad_square = sample_term(objective, X, weight.square())
    grad_weight = 2 * weight * grad_square
    values = torch.stack([grad_weight, torch.full_like(weight, 1 / weight.shape[-1])], -1)
    sums = torch.stack(
        [per_group_sums(m, own, z.shape[-1], v) for (m, own), v in zip(each, values, strict=True)]
    )
    return smooth, grad_weight, sums[..., 0], sums[..., 1]


def _feature_term(
    objective: Objective, M: Tensor, candidates: list[Tensor], Q: Tensor, orthogonality: float
) -> tuple[Tensor, Tensor, Tensor]:
    """L_f, its gradients on memberships (R, d, k) and on the projection (R, C, C)."""
    assert objective.walk is not None
    found = [
        compact_feature_smoothness(m, own, q, objective.walk, orthogonality)
        for m, own, q in zip(M, candidates, Q, strict=True)
    ]
    value, grad_M, grad_Q = zip(*found, strict=True)
    return torch.stack(value), torch.stack(grad_M), torch.stack(grad_Q)
