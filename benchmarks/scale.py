"""How time and peak memory grow as N, d, C, R and B double, each alone, with the fitted exponent.

Run with ``python -m benchmarks.scale``; every point is a process of its own, so that its peak
memory is its own. Training takes a fixed number of steps. The search for the features' neighbours
is reported apart: it is exact, and quadratic in d, up to 20,000 features. ``--wide`` times one
default fit of 500 samples and 50,000 features instead; ``--fits`` whole fits of tables in files,
from a thousand to a million rows and a hundred to 100,000 columns (``benchmarks.growth``).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.growth import measure_fit, measure_growth
from groupfs import GroupFS
from groupfs.data.open_table import open_table
from groupfs.data.rows import Rows
from groupfs.graphs.eigenvectors import leading_eigenvectors
from groupfs.graphs.feature_clusters import as_groups, cluster_features
from groupfs.graphs.feature_graph import feature_walk, walk_tensor
from groupfs.models.gated_model import GatedModel
from groupfs.models.memberships import DenseMemberships
from groupfs.models.noise import NoiseSource
from groupfs.models.objective import Objective
from groupfs.scoring.excess import score_groups
from groupfs.training.loop import train
from groupfs.training.step import Schedule
from groupfs.utils.device import DTYPE

CPU = torch.device("cpu")
BASE = {"N": 500, "d": 2000, "C": 16, "R": 4, "B": 128}
GRID = {
    "N": [500, 1000, 2000, 4000, 8000],
    "d": [1000, 2000, 4000, 8000, 16000],
    "C": [8, 16, 32, 64],
    "R": [1, 2, 4, 8, 16],
    "B": [32, 64, 128, 256, 512],
}
STEPS = 32


def planted(N: int, d: int, C: int) -> np.ndarray:
    """Make columns in C modules, half signal and half noise."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((N, C))
    return factors[:, rng.integers(C, size=d)] + rng.standard_normal((N, d))


def measure(N: int, d: int, C: int, R: int, B: int) -> dict[str, float]:
    """Measure the seconds of each stage and peak memory in GB."""
    run_steps(*prepared(planted(40, 20, 2), 2, 1), 20)  # the first optimiser loads half of torch
    seconds, clock = {}, time.perf_counter()

    def lap(stage: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        seconds[stage], clock = now - clock, now

    X = planted(N, d, C)
    clock = time.perf_counter()
    rows = open_table(GroupFS(), X, True).rows
    rows.to(CPU, DTYPE)
    lap("read")
    walk = feature_walk(rows, 7, 50)
    lap("neighbours")
    labels = cluster_features(leading_eigenvectors(walk, C), C)
    lap("warm start")
    n_steps = run_steps(rows, walk, labels, C, R, B)
    lap("train")
    seconds["train"] *= STEPS / n_steps
    batch = rows.take(torch.arange(min(N, 512)))
    score_groups(batch, as_groups(labels, C), n_neighbors=7, steps=2, n_shuffles=3, seed=0)
    lap("score")
    rest = sum(value for stage, value in seconds.items() if stage != "neighbours")
    return {**seconds, "all but neighbours": rest, "GB": peak_memory()}


def prepared(X: np.ndarray, C: int, R: int) -> tuple[object, ...]:
    rows = open_table(GroupFS(), X, True).rows
    rows.to(CPU, DTYPE)
    walk = feature_walk(rows, 7, None)
    return rows, walk, cluster_features(leading_eigenvectors(walk, C), C), C, R


def run_steps(rows: Rows, walk, labels: np.ndarray, C: int, R: int, B: int) -> int:
    """Train R models for about STEPS steps; return how many."""
    objective = Objective(7, 2, 0.5, True, walk_tensor(walk, CPU, DTYPE), smoothness_weight=1.0)
    memberships = DenseMemberships.from_clusters([labels], C, [0])
    start, weights = np.full((1, C), 0.5), np.linspace(0.5, 2, R)
    model = GatedModel.start(memberships, start, weights, CPU, DTYPE)
    per_epoch = -(-rows.shape[0] // B)
    epochs = -(-STEPS // per_epoch)
    schedule = Schedule(epochs, B, 0.02, 1.0, 0.01, stop_early=False)
    train(model, objective, rows, schedule, NoiseSource([0], 0.5, CPU), batch_seed=0)
    return epochs * per_epoch


def wide_fit() -> None:
    """Print seconds, groups and peak memory of one default fit of 500 x 50,000."""
    X = planted(500, 50_000, 20).astype(np.float32)
    began = time.perf_counter()
    selector = GroupFS(n_groups=20, random_state=0, verbose=1).fit(X)
    print(
        f"500 x 50,000: {time.perf_counter() - began:.0f} s, {selector.n_groups_} groups, "
        f"{selector.group_selected_.sum()} kept, peak memory {peak_memory():.2f} GB"
    )


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def in_own_process(point: dict[str, int], threads: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.scale", "--point", json.dumps(point)]
    done = subprocess.run(
        [*command, "--threads", str(threads)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def exponent(sizes: list[int], values: list[float]) -> float:
    """Fit log value over log size in the upper half of the sizes, where costs show."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(values[half:]), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--axes", default="N,d,C,R,B")
    parser.add_argument("--wide", action="store_true", help="time one fit of 500 x 50,000")
    parser.add_argument("--fits", action="store_true", help="whole fits, from files")
    parser.add_argument("--device", default="cpu", help="of whole fits")
    parser.add_argument("--max-memory", default="4GB", help="of whole fits")
    parser.add_argument("--fit-file", help="fit one file and print what it took")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--point", help="measure one point, given as json, and print it")
    parser.add_argument("--out", type=Path, default=Path("out/scale.json"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.fit_file:
        print(json.dumps(measure_fit(options.fit_file, options.device, options.max_memory)))
        return
    if options.fits:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        measure_growth(options.device, options.max_memory, options.threads, options.out)
        return
    if options.wide:
        wide_fit()
        return
    if options.point:
        print(json.dumps(measure(**{**BASE, **json.loads(options.point)})))
        return
    results = []
    for axis in options.axes.split(","):
        found = []
        for size in GRID[axis]:
            found.append(in_own_process({axis: size}, options.threads))
            results.append({**BASE, axis: size, "axis": axis, **found[-1]})
            values = "  ".join(f"{k} {v:.3f}" for k, v in found[-1].items())
            print(f"{axis} = {size:>6}: {values}", flush=True)
        slopes = {
            stage: exponent(GRID[axis], [f[stage] for f in found])
            for stage in ("neighbours", "train", "all but neighbours", "GB")
        }
        laws = ", ".join(f"{stage} ~ {axis}^{slope:.2f}" for stage, slope in slopes.items())
        print(f"{axis}: {laws}", flush=True)
        results.append({"axis": axis, "exponents": slopes})
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"threads": options.threads, "results": results}, indent=1))


if __name__ == "__main__":
    main()
