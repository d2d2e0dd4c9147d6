"""Time per model and step of the joint method, beside plain autograd in one run.

Run with ``python -m benchmarks.joint_speed`` (``--device cuda`` on a GPU); prints a table. Seconds
of a step are those that more epochs add to a fit, so that graphs and warm starts do not count; the
plain version is timed without either.

That one is GroupFS as a reader of the paper would write it: one model at a time, the gated batch
formed explicitly, pairwise distances by ``torch.cdist``, the dense Laplacian of the features,
torch's own Adam with its defaults. It shares nothing with the library.
"""

import argparse
import math
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from benchmarks.machine import REPEATS, fastest, machine, seconds
from benchmarks.tables import read
from groupfs import GroupFSPath

#: table, groups and batch size of the paper
SETTINGS = {"two_moons": (12, 100), "heart_disease": (6, 100), "yale": (16, 32), "ar10p": (20, 32)}
SETTINGS |= {"pie10p": (29, 50), "allaml": (26, 50), "nmnist38": (7, 100)}
#: Models of the published method, which are trained to the end.
PLAIN = {"preset": "paper", "n_init": 1, "early_stopping": False, "random_state": 0}
#: Epochs of the shorter of two fits, whose seconds are taken off those of the longer.
FEW_EPOCHS = 2
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


def per_epoch(train: Callable[[int], object], budget: float) -> float:
    """Time an epoch: what more of them add, the fastest of a few repeats of both lengths."""
    short = fastest(partial(train, FEW_EPOCHS))
    epochs, added = 4 * FEW_EPOCHS, 0.0
    while added < budget / REPEATS:
        epochs *= 2
        added = seconds(partial(train, epochs)) - short
    return (fastest(partial(train, epochs)) - short) / (epochs - FEW_EPOCHS)


def measure(name: str, n_models: list[int], budget: float, device: str) -> None:
    """Print how many times faster a step is than the plain one, by the number of models."""
    X = read(name)
    Z = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
    C, batch = SETTINGS[name]
    n_steps = -(-len(Z) // batch)
    columns = torch.as_tensor(Z, dtype=torch.float32, device=device)
    labels = torch.as_tensor(np.arange(Z.shape[1]) % C)
    plain = StraightforwardGroupFS(feature_laplacian(columns), labels, C, 1.0, 1.0)
    slow = per_epoch(lambda epochs: train_epochs(plain, columns, batch, epochs), budget)
    for R in n_models:
        asked = {"sparsities": np.linspace(0.5, 2, R), "n_groups": C, "batch_size": batch, **PLAIN}
        path = partial(GroupFSPath, device=device, **asked)
        ours = per_epoch(lambda n, path=path: path(max_epochs=n).fit(Z), budget) / R
        milliseconds = 1000 * ours / n_steps
        print(f"{name:>14} {R:>6} {slow / ours:>7.1f} {milliseconds:>8.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--models", nargs="+", type=int, default=[1, 8, 48])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per measurement")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    warnings.simplefilter("ignore")  # that gates are shut after few epochs
    print(f"{machine(options.device)}, torch {torch.__version__}, {options.threads} threads")
    print(f"{'table':>14} {'models':>6} {'ratio':>7} {'ms':>8}  per model and step", flush=True)
    for name in options.tables:
        measure(name, options.models, options.budget, options.device)


if __name__ == "__main__":
    main()
