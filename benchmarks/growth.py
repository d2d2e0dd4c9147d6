"""How whole default fits grow with rows and columns: seconds, memory, exponents, a picture.

``python -m benchmarks.scale --fits`` runs it. Tables with planted modules are written to a file and
fitted mapped into memory, each in a process of its own, under a limit of memory that makes the
large ones be read in pieces. Seconds are those of ``fit``; memory is the peak of the process
and, on a GPU, of the device.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.large import peak_memory
from groupfs import GroupFS

ROWS = (10**3, 10**4, 10**5, 10**6)
COLUMNS = (10**2, 10**3, 10**4, 10**5)
#: The other size while one grows.
FIXED_COLUMNS, FIXED_ROWS = 200, 1000
MODULES, NOISE = 10, 1.0
#: Rows that are made at a time.
AT_ONCE = 10_000


def write(path: Path, N: int, d: int) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(MODULES, size=d)
    table = np.lib.format.open_memmap(path, "w+", np.float32, (N, d))
    for start in range(0, N, AT_ONCE):
        n = min(AT_ONCE, N - start)
        factors = rng.standard_normal((n, MODULES), dtype=np.float32)
        noise = rng.standard_normal((n, d), dtype=np.float32)
        table[start : start + n] = factors[:, labels] + NOISE * noise
    table.flush()


def measure_fit(path: str, device: str, max_memory: str) -> dict[str, float]:
    """Measure one fit: seconds, peak memory in GB, groups found."""
    warm_up = np.random.default_rng(0).standard_normal((60, 20))
    GroupFS(3, max_epochs=1, random_state=0, device=device).fit(warm_up)  # loads half of torch
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    before = peak_memory()
    X = np.load(path, mmap_mode="r")
    began = time.perf_counter()
    selector = GroupFS(random_state=0, device=device, max_memory=max_memory).fit(X)
    found = {"seconds": time.perf_counter() - began, "n_groups": selector.n_groups_}
    found["gb"], found["gb_before"] = peak_memory(), before
    if device == "cuda":
        found["device_gb"] = torch.cuda.max_memory_allocated() / 1e9
    return found


def measure_growth(device: str, max_memory: str, threads: int, out: Path) -> None:
    """Measure all sizes, one after another; write figures and a picture."""
    results: dict[str, list[dict[str, float]]] = {"rows": [], "columns": []}
    sizes = [("rows", N, FIXED_COLUMNS) for N in ROWS]
    sizes += [("columns", FIXED_ROWS, d) for d in COLUMNS]
    for axis, N, d in sizes:
        with tempfile.TemporaryDirectory(dir=out.parent) as folder:
            path = Path(folder) / "table.npy"
            write(path, N, d)
            command = [sys.executable, "-m", "benchmarks.scale", "--fit-file", str(path)]
            command += ["--device", device, "--max-memory", max_memory, "--threads", str(threads)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        point = {"N": N, "d": d, **json.loads(done.stdout.splitlines()[-1])}
        results[axis].append(point)
        print("  ".join(f"{name} {value:,.4g}" for name, value in point.items()), flush=True)
        out.write_text(
            json.dumps({"device": device, "max_memory": max_memory, **results}, indent=1)
        )
    for axis, name in (("rows", "N"), ("columns", "d")):
        print(f"{axis}: seconds ~ {name}^{slope(results[axis], name, 'seconds'):.2f}")
    draw(results, out.with_suffix(".png"))


def slope(points: list[dict[str, float]], size: str, what: str) -> float:
    """Fit the exponent of a power law through the points."""
    x, y = (np.log([point[name] for point in points]) for name in (size, what))
    return float(np.polyfit(x, y, 1)[0])


def draw(results: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Draw seconds and memory over rows and over columns, on logarithmic axes."""
    import matplotlib.pyplot as plt

    measures = {"seconds": "seconds", "gb": "peak memory of the process (GB)"}
    if "device_gb" in results["rows"][0]:
        measures["device_gb"] = "peak memory of the GPU (GB)"
    fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for ax, (axis, size) in zip(axes, (("rows", "N"), ("columns", "d")), strict=True):
        points = results[axis]
        for name, label in measures.items():
            exponent = slope(points, size, name)
            x = [point[size] for point in points]
            y = [point[name] for point in points]
            ax.loglog(x, y, "o-", label=f"{label}: {size}$^{{{exponent:.2f}}}$")
        other = f"{FIXED_COLUMNS:,} columns" if axis == "rows" else f"{FIXED_ROWS:,} rows"
        ax.set_xlabel(f"{axis}, at {other}")
        ax.grid(alpha=0.3)
        ax.legend(frameon=False)
    fig.savefig(path, dpi=120)
