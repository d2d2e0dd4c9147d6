"""The yardstick: GroupFS as a reader of the paper would write it, in plain autograd.

One model at a time, the gated batch formed explicitly, pairwise distances by ``torch.cdist``, the
dense Laplacian of the features, torch's own Adam with its defaults. Nothing is shared with the
library.
"""

import math

import torch
from torch import Tensor

#: Noise of gates, steps of the walk, learning rate, first and last temperature.
SIGMA, STEPS, LEARNING_RATE, HOTTEST, COLDEST = 0.5, 2, 1e-3, 10.0, 0.01


def self_tuning_affinity(points: Tensor, n_neighbors: int = 7) -> Tensor:
    """Compute affinities with the bandwidth of each point's neighbour, taken as given."""
    distances = torch.cdist(points, points)
    bandwidth = distances.kthvalue(n_neighbors + 1, dim=1).values.detach()
    return torch.exp(-(distances**2) / (bandwidth[:, None] * bandwidth[None, :] + 1e-12))


def feature_laplacian(X: Tensor) -> Tensor:
    affinity = self_tuning_affinity(X.T)
    scale = affinity.sum(1).rsqrt()
    identity = torch.eye(len(affinity), device=X.device)
    return identity - scale[:, None] * affinity * scale[None, :]


class StraightforwardGroupFS(torch.nn.Module):
    """One model; ``labels`` are the clusters it starts from."""

    def __init__(
        self, laplacian: Tensor, labels: Tensor, n_groups: int, lambda1: float, lambda2: float
    ) -> None:
        super().__init__()
        lead = math.log(0.7 * (n_groups - 1) / 0.3)
        device = laplacian.device
        one_hot = torch.nn.functional.one_hot(labels, n_groups).float().to(device)
        orthonormal, _ = torch.linalg.qr(torch.randn(n_groups, n_groups, device=device))
        self.logits = torch.nn.Parameter(lead * one_hot)
        self.mu = torch.nn.Parameter(torch.full((n_groups,), 0.5, device=device))
        self.Q = torch.nn.Parameter(orthonormal / one_hot.sum(0)[:, None])
        self.laplacian = laplacian
        self.lambda1, self.lambda2 = lambda1, lambda2

    def forward(self, X: Tensor, temperature: float) -> Tensor:
        (d, C), B = self.logits.shape, len(X)
        M = torch.nn.functional.gumbel_softmax(self.logits, tau=temperature, dim=1)
        z = (self.mu + SIGMA * torch.randn_like(self.mu)).clamp(0, 1)
        gated = X * (M @ z)
        affinity = self_tuning_affinity(gated)
        P = affinity / affinity.sum(1, keepdim=True)
        diffusion = torch.linalg.matrix_power(P, STEPS)
        sample_term = -torch.trace(gated.T @ diffusion @ gated) / (B * d)
        F = M @ self.Q
        F = F - F.mean(0)
        F = F / F.norm(dim=0)
        rough = torch.trace(F.T @ self.laplacian @ F)
        overlap = ((F.T @ F - torch.eye(C, device=X.device)) ** 2).sum()
        feature_term = (rough + overlap / self.lambda1) / (d * C)
        is_open = torch.special.ndtr(self.mu / SIGMA)
        sparsity_term = (is_open * M.mean(0)).mean()
        return sample_term + self.lambda1 * feature_term + self.lambda2 * sparsity_term


def train_epochs(model: StraightforwardGroupFS, X: Tensor, batch_size: int, n_epochs: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for epoch in range(n_epochs):
        fall = (HOTTEST - COLDEST) * epoch / n_epochs
        temperature = max(COLDEST, HOTTEST - fall)
        for batch in torch.randperm(len(X), device=X.device).split(batch_size):
            if len(batch) <= 8:  # too few for seven neighbours
                continue
            optimizer.zero_grad()
            model(X[batch], temperature).backward()
            optimizer.step()
