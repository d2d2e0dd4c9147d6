"""Time per model and step, and to a fitted model, beside the plain autograd version in one run.

Run with ``python -m benchmarks.speed`` (``--device cuda`` on a GPU); prints a table, writes json.
On CUDA the step's arithmetic and memory traffic are set beside the device's measured ceilings.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from benchmarks.straightforward import StraightforwardGroupFS, feature_laplacian, train_epochs
from benchmarks.tables import load
from groupfs import GroupFS, GroupFSPath
from groupfs.data.rows import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.graphs.eigenvectors import leading_eigenvectors
from groupfs.graphs.feature_clusters import cluster_features
from groupfs.graphs.feature_graph import feature_walk, walk_tensor
from groupfs.models.gated_model import GatedModel
from groupfs.models.memberships import DenseMemberships
from groupfs.models.noise import NoiseSource
from groupfs.models.objective import Objective
from groupfs.training.settings import DENSE_FEATURES, KEPT_NEIGHBORS
from groupfs.training.step import Schedule, TrainStep
from groupfs.utils.device import DTYPE

#: table, groups and batch size of the paper
SETTINGS = {
    "two_moons": (12, 100),
    "heart_disease": (6, 100),
    "yale": (16, 32),
    "ar10p": (20, 32),
    "pie10p": (29, 50),
    "allaml": (26, 50),
    "nmnist38": (7, 100),
}
#: Arrays of the sample graphs, and of the memberships, that one step reads or writes.
GRAPH_PASSES, MEMBERSHIP_PASSES = 26, 30


def table(name: str) -> np.ndarray:
    return load_two_moons(random_state=0).data if name == "two_moons" else load(name)[0]


def seconds_per_call(run: Callable[[], object], budget: float, device: torch.device) -> float:
    """Take the fastest of three repeats of about ``budget`` seconds, after warming up."""

    def timed(n: int) -> float:
        wait(device)
        began = time.perf_counter()
        for _ in range(n):
            run()
        wait(device)
        return (time.perf_counter() - began) / n

    timed(3)
    n = max(1, int(budget / 3 / timed(3)))
    return min(timed(n) for _ in range(3))


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


class Case:
    """One table with its graph and warm start, as both versions need it."""

    def __init__(self, name: str, batch: str, device: torch.device) -> None:
        X = table(name)
        Z = (X - X.mean(0)) / X.std(0)
        self.C, self.B = SETTINGS[name]
        if batch == "full":
            self.B = len(Z)
        self.d, self.device = Z.shape[1], device
        self.rows = DenseRows(Z)
        self.rows.to(device, DTYPE)
        kept = KEPT_NEIGHBORS if self.d > DENSE_FEATURES else None
        self.walk = feature_walk(self.rows, 7, kept)
        self.labels = cluster_features(leading_eigenvectors(self.walk, self.C), self.C)
        self.X = torch.as_tensor(Z, dtype=DTYPE, device=device)

    def plain_step(self) -> Callable[[], None]:
        laplacian = feature_laplacian(self.X)
        model = StraightforwardGroupFS(laplacian, torch.as_tensor(self.labels), self.C, 1.0, 1.0)
        batch = self.X[: self.B]
        return lambda: train_epochs(model, batch, self.B, 1)

    def our_step(self, n_models: int) -> Callable[[], None]:
        start = np.full((1, self.C), 0.5)
        weights = np.linspace(0.5, 2, n_models)
        memberships = DenseMemberships.from_clusters([self.labels], self.C, [0])
        model = GatedModel.start(memberships, start, weights, self.device, DTYPE)
        walk = walk_tensor(self.walk, self.device, DTYPE)
        objective = Objective(7, 2, 0.5, False, walk, smoothness_weight=1.0)
        schedule = Schedule(1, self.B, 1e-3, 10.0, 0.01, stop_early=False)
        with torch.no_grad():
            noise = NoiseSource([0], 0.5, self.device)
            step = TrainStep(model, objective, self.rows, schedule, noise)
            self.rows.take(torch.arange(self.B), out=step.X)

        def run() -> None:
            with torch.no_grad():
                step.run()

        return run

    def flops(self) -> float:
        """Count the multiplications and additions of one model's step."""
        B, d, C = self.B, self.d, self.C
        sample = 14 * B * B * d if d < B else 4 * B * B * d + 6 * B**3
        n_edges = self.walk.nnz if hasattr(self.walk, "nnz") else d * d
        return sample + 10 * d * C * C + 2 * n_edges * C

    def traffic(self) -> float:
        """Count the bytes of one model's step, if operations read and write arrays once."""
        graphs, memberships = self.B * self.B, self.d * self.C
        gated = 4 * self.B * self.d
        return 4 * (GRAPH_PASSES * graphs + MEMBERSHIP_PASSES * memberships + gated)


def ceilings(device: torch.device) -> dict[str, float]:
    """Measure copy bandwidth (read plus written) and single-precision matrix rate."""
    source = torch.randn(2**28, device=device)
    target = torch.empty_like(source)
    copy = seconds_per_call(lambda: target.copy_(source), 0.3, device)
    A = torch.randn(8192, 8192, device=device)
    product = seconds_per_call(lambda: A @ A, 0.5, device)
    return {"GB/s": 2 * 4 * source.numel() / copy / 1e9, "GFLOP/s": 2 * 8192**3 / product / 1e9}


def fit_seconds(name: str, device: torch.device) -> dict[str, float]:
    """Time a default fit and a default path, graph building included."""
    X, seconds = table(name), {}
    for label, estimator in (("fit", GroupFS), ("path", GroupFSPath)):
        if label == "path" and device.type == "cpu":
            continue  # minutes; scale.py shows how cost grows with the number of models
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            began = time.perf_counter()
            estimator(device=device, random_state=0).fit(X)
            seconds[label] = time.perf_counter() - began
    return seconds


def measure(options: argparse.Namespace) -> dict[str, object]:
    device = torch.device(options.device)
    limits = ceilings(device) if device.type == "cuda" else {}
    rows: list[dict[str, object]] = []
    print(f"{'table':>14} {'models':>6} {'ratio':>7} {'ms':>8}  per model and step", flush=True)
    for name in options.tables.split(","):
        case = Case(name, options.batch, device)
        plain = 1000 * seconds_per_call(case.plain_step(), options.budget, device)
        for n_models in map(int, options.models.split(",")):
            ours = 1000 * seconds_per_call(case.our_step(n_models), options.budget, device)
            per_model = ours / n_models
            row = {
                "table": name,
                "models": n_models,
                "plain_ms": plain,
                "ours_ms": per_model,
                "ratio": plain / per_model,
            }
            note = ""
            if limits:
                row["GFLOP/s"] = case.flops() / per_model / 1e6
                row["GB/s"] = case.traffic() / per_model / 1e6
                note = "  " + ", ".join(
                    f"{row[k]:,.0f} {k} ({100 * row[k] / limits[k]:.0f} %)" for k in limits
                )
            rows.append(row)
            print(
                f"{name:>14} {n_models:>6} {row['ratio']:>7.1f} {per_model:>8.3f}{note}", flush=True
            )
        if options.fit:
            seconds = fit_seconds(name, device)
            rows.append({"table": name, "seconds": seconds})
            times = ", ".join(f"{k} {v:.2f} s" for k, v in seconds.items())
            print(f"{name:>14} to a fitted model: {times}", flush=True)
    return {
        "settings": vars(options),
        "torch": torch.__version__,
        "machine": torch.cuda.get_device_name() if limits else platform.machine(),
        "ceilings": limits,
        "rows": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(SETTINGS))
    parser.add_argument("--models", default="1,8,48")
    parser.add_argument("--batch", choices=["paper", "full"], default="paper")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=1.5, help="seconds per measurement")
    parser.add_argument("--fit", action="store_true", help="also time whole fits")
    parser.add_argument("--out", type=Path, default=Path("out/speed.json"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    result = measure(options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1, default=str))


if __name__ == "__main__":
    main()
