"""Time per model and epoch beside the plain autograd version, same process, threads and batches.

Run with ``python -m benchmarks.yardstick``; prints a table of ratios.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from benchmarks.straightforward import StraightforwardGroupFS, feature_laplacian, train_epochs
from benchmarks.tables import load
from groupfs._device import DTYPE
from groupfs._rows import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.graphs import FeatureGraph, walk_tensor
from groupfs.model import NoiseSource, Objective, warm_start
from groupfs.presets import DENSE_FEATURES, KEPT_NEIGHBORS
from groupfs.spectral import cluster_features, embed, leading_eigenvectors
from groupfs.trainer import Schedule, train

CPU = torch.device("cpu")
#: table, groups and batch size of the paper
SETTINGS = {
    "two_moons": (12, 100),
    "heart_disease": (6, 100),
    "yale": (16, 32),
    "lung500": (22, 32),
    "nmnist38": (7, 100),
    "allaml": (26, 50),
}


def standardised(name: str) -> np.ndarray:
    X = load_two_moons(random_state=0).data if name == "two_moons" else load(name)[0]
    return (X - X.mean(0)) / X.std(0)


def seconds_per_epoch(run, n_epochs: int, repeats: int = 3) -> float:
    """The fastest of a few runs, after one to warm up."""
    run(1)
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run(n_epochs)
        times.append((time.perf_counter() - began) / n_epochs)
    return min(times)


def compare(name: str, n_models: int, batch: str, budget: float) -> tuple[float, float]:
    """Milliseconds per model and epoch: the plain version, and ours with n_models side by side."""
    n_groups, batch_size = SETTINGS[name]
    Z = standardised(name)
    d = Z.shape[1]
    if batch == "full":
        batch_size = len(Z)
    rows = DenseRows(Z)
    rows.to(CPU, DTYPE)
    walk = FeatureGraph(rows, 7, KEPT_NEIGHBORS if d > DENSE_FEATURES else None).walk
    labels = cluster_features(embed(leading_eigenvectors(walk, n_groups), n_groups), n_groups)

    X = torch.as_tensor(Z, dtype=DTYPE)
    laplacian = feature_laplacian(X)

    def plain(n_epochs: int) -> None:
        model = StraightforwardGroupFS(laplacian, torch.as_tensor(labels), n_groups, 1.0, 1.0)
        train_epochs(model, X, batch_size, n_epochs)

    objective = Objective(walk_tensor(walk, CPU, DTYPE), 7, 2, 0.5, 1.0, False)
    start = np.full((1, n_groups), 0.5)

    def ours(n_epochs: int) -> None:
        model = warm_start([labels], start, np.linspace(0.5, 2, n_models), [0], CPU, DTYPE)
        schedule = Schedule(n_epochs, batch_size, 1e-3, 10.0, 0.01, stop_early=False)
        train(model, objective, rows, schedule, NoiseSource([0], 0.5, CPU), batch_seed=0)

    results = []
    for run in (plain, ours):
        run(1)
        began = time.perf_counter()
        run(1)
        n_epochs = max(2, int(budget / (time.perf_counter() - began)))
        results.append(1000 * seconds_per_epoch(run, n_epochs))
    return results[0], results[1] / n_models


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(SETTINGS))
    parser.add_argument("--models", default="1,8")
    parser.add_argument("--batch", choices=["paper", "full"], default="paper")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=1.0, help="seconds per measurement")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{'table':>14} {'models':>6} {'plain ms':>9} {'ours ms':>9} {'ratio':>6}")
    for name in options.tables.split(","):
        for n_models in map(int, options.models.split(",")):
            plain, ours = compare(name, n_models, options.batch, options.budget)
            print(f"{name:>14} {n_models:>6} {plain:>9.2f} {ours:>9.2f} {plain / ours:>6.1f}")


if __name__ == "__main__":
    main()
