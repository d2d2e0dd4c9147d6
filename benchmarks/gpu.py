"""Default fits and paths on a GPU: seconds, seconds of each stage, and what bounds them.

``python -m benchmarks.gpu`` fits the tables of the paper twice each, takes the second time, and
fits a third time under torch's profiler: how long the GPU computes, how many kernels it is sent,
and which share of the time it waits for the processor. A fit is said to be bound by

- *the GPU* if that computes for more than half of the time;
- *launches* if sending its kernels, at what a launch of a small one takes here, would take more
  than half of the time;
- *the processor* otherwise: eigenvectors, k-means, greedy choices of small tables.

Beside it stands the distance to that bound: seconds over what the bound alone would take.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.large import measure_roof
from benchmarks.stages import watched
from benchmarks.tables import load
from groupfs import GroupFS, GroupFSPath
from groupfs.datasets import load_two_moons

TABLES = (
    "two_moons",
    "heart_disease",
    "student",
    "lung500",
    "yale",
    "ar10p",
    "pie10p",
    "allaml",
    "metabric",
    "nmnist38",
    "nmnist",
)


def table(name: str) -> Any:
    return load_two_moons(random_state=0).data if name == "two_moons" else load(name)[0]


def seconds_of(make: Any, X: Any) -> tuple[float, dict[str, float]]:
    """Fit, and return the seconds of the whole and of its stages."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    with watched() as stages:
        make().fit(X)
    torch.cuda.synchronize()
    return time.perf_counter() - began, stages


def gpu_of(make: Any, X: Any) -> tuple[float, int]:
    """Fit under torch's profiler; return the seconds that the GPU computes, and its kernels."""
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        make().fit(X)
        torch.cuda.synchronize()
    assert recorded.profiler is not None
    events = recorded.profiler.kineto_results.events()
    times = [e.duration_ns() for e in events if e.device_type() == torch.autograd.DeviceType.CUDA]
    return sum(times) / 1e9, len(times)


def launch_seconds() -> float:
    """Measure what sending one small kernel takes."""
    x = torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(10_000):
        x.add_(1)
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / 10_000


def bound(seconds: float, busy: float, kernels: int, launch: float) -> tuple[str, float]:
    """Name what a fit waits for, and how many times longer it takes than that alone."""
    sending = kernels * launch
    if busy >= seconds / 2:
        return "GPU", seconds / busy
    if sending >= seconds / 2:
        return "launches", seconds / sending
    return "processor", seconds / max(seconds - busy, 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    launch, roof = launch_seconds(), measure_roof()
    print(torch.cuda.get_device_name(), f"launch {launch * 1e6:.1f} us", roof, flush=True)
    found = []
    for name in options.tables:
        X = table(name)
        if options.json:
            options.json.write_text(json.dumps({"launch": launch, "roof": roof, "fits": found}))
        for kind in (GroupFS, GroupFSPath):

            def make(kind: Any = kind) -> Any:
                return kind(random_state=0, device="cuda")

            seconds_of(make, X)
            seconds, stages = seconds_of(make, X)
            busy, kernels = gpu_of(make, X)
            what, distance = bound(seconds, busy, kernels, launch)
            said = "  ".join(f"{stage} {spent:.2f}" for stage, spent in stages.items() if spent)
            print(
                f"{name:14s}{kind.__name__:12s}{seconds:7.2f} s  GPU {busy:6.3f} s"
                f"{kernels:8d} kernels  bound by {what} ({distance:.1f} x)  {said}",
                flush=True,
            )
            found.append([name, kind.__name__, seconds, busy, kernels, what, distance, stages])
    if options.json:
        options.json.write_text(json.dumps({"launch": launch, "roof": roof, "fits": found}))


if __name__ == "__main__":
    main()
