"""Tables larger than memory, with planted modules: seconds of each stage, peak memory, truth.

``python -m benchmarks.large disk`` writes 1,000,000 x 2,000 numbers in single precision to a file
(8 GB, in --folder, removed afterwards unless --keep), fits it mapped into memory with
``max_memory="3GB"`` in a process of its own, and compares its groups with those of a fit in memory
of 10,000 of its rows. ``python -m benchmarks.large sparse --device cuda`` makes 200,000 x 30,000
counts, sparse, and fits them; beside the seconds stands what the device could do at best, measured
in the same run: products of matrices and copies. ``python -m benchmarks.large wide --device cuda``
fits 500 x 1,000,000, ranked by gates: p-values would need several graphs more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.metrics import adjusted_rand_score

from benchmarks.stages import watched
from groupfs import GroupFS

#: Columns of a module are a common factor and noise of this many times its size.
NOISE = 1.2
#: Share of genes in no module; share of the cells in which a module is active; log rates.
WITHOUT, ACTIVE, LOG_RATE, LOG_SPREAD, LOG_FOLD = 0.2, 0.2, -4.0, 0.7, 2.2
SUBSAMPLE = 10_000


def modules(n_columns: int, n_modules: int, share_without: float) -> np.ndarray:
    """Draw the module of every column, -1 for none."""
    rng = np.random.default_rng(1)
    labels = rng.integers(n_modules, size=n_columns)
    labels[rng.random(n_columns) < share_without] = -1
    return labels


def write_table(path: Path, N: int, d: int, n_modules: int) -> None:
    """Write rows with one factor per module, sorted by a hidden state, in blocks of 10,000."""
    labels = modules(d, n_modules, 0.0)
    rng = np.random.default_rng(0)
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(N, d))
    for start in range(0, N, 10_000):
        n = min(10_000, N - start)
        # states that drift along the file: rows in order are not like rows at random
        state = np.sin(2 * np.pi * (start / N + np.arange(n_modules) / n_modules))
        factors = rng.standard_normal((n, n_modules), dtype=np.float32) + state.astype(np.float32)
        noise = rng.standard_normal((n, d), dtype=np.float32)
        table[start : start + n] = factors[:, labels] + NOISE * noise
    table.flush()


def make_counts(N: int, d: int, n_modules: int, device: str) -> sp.csr_array:
    """Make log1p of counts whose rates rise where a gene's module is active."""
    labels = modules(d, n_modules, WITHOUT)
    generator = torch.Generator(device).manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, device=device)

    own = torch.as_tensor(np.where(labels < 0, n_modules, labels), device=device)
    log_rate, fold = LOG_RATE + LOG_SPREAD * normal(d), LOG_FOLD + 0.3 * normal(d)
    parts = []
    for start in range(0, N, 4096):
        n = min(4096, N - start)
        active = torch.rand((n, n_modules), generator=generator, device=device) < ACTIVE
        activity = active * (1 + 0.3 * normal(n, n_modules))
        activity = torch.cat([activity, torch.zeros((n, 1), device=device)], 1)
        depth = 0.3 * normal(n, 1)
        rate = (log_rate + depth + activity[:, own] * fold).exp_()
        counts = torch.poisson(rate, generator=generator).log1p_()
        row, column = counts.nonzero(as_tuple=True)
        values = counts[row, column].cpu().numpy()
        ends = np.cumsum(np.bincount(row.cpu().numpy(), minlength=n))
        indices = (column.to(torch.int32).cpu().numpy(), np.append(0, ends))
        parts.append(sp.csr_array((values, *indices), shape=(n, d)))
    return sp.csr_array(sp.vstack(parts, format="csr"))


class Sliced:
    """An array as one would meet it in a file: a shape, and rows when sliced."""

    def __init__(self, X: np.ndarray) -> None:
        self._X, self.shape = X, X.shape

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._X[rows]


def fit(
    X: object, labels: np.ndarray, device: str, max_memory: str | None, **settings: str
) -> dict[str, object]:
    """Fit, and measure how long it took, how much it held, how well modules were found."""
    selector = GroupFS(random_state=0, device=device, max_memory=max_memory, verbose=1, **settings)
    began = time.perf_counter()
    with watched() as stages:
        selector.fit(X)
    seconds = time.perf_counter() - began
    planted = labels >= 0
    found = {
        "seconds": seconds,
        "stages": stages,
        "epochs": selector.n_iter_,
        "n_groups": selector.n_groups_,
        "kept": int(selector.group_selected_.sum()),
        "ari": adjusted_rand_score(labels[planted], selector.group_labels_[planted]),
        "peak_resident_gb": peak_memory(),
        "groups": selector.group_labels_.tolist(),
    }
    if device == "cuda":
        found["peak_device_gb"] = torch.cuda.max_memory_allocated() / 1e9
    return found


def peak_memory() -> float:
    """Read this process's peak memory in GB; getrusage counts that of its parent too."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0]) / 1e9


def measure_roof() -> dict[str, float]:
    """Measure what the GPU does at best: products in single precision, copies."""
    a = torch.randn(8192, 8192, device="cuda")
    flops = 2 * 8192**3 / _best_time(lambda: a @ a)
    big = torch.empty(2**30, device="cuda")
    other = torch.empty_like(big)
    return {
        "tflops": flops / 1e12,
        "gb_per_s": 2 * 4 * 2**30 / _best_time(lambda: other.copy_(big)) / 1e9,
    }


def _best_time(work: Callable) -> float:
    best = np.inf
    for _ in range(5):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return best


def run_disk(options: argparse.Namespace) -> None:
    path = options.folder / "groupfs-large.npy"
    if not path.exists():
        began = time.perf_counter()
        write_table(path, options.rows, options.columns, options.modules)
        print(f"wrote {path.stat().st_size / 1e9:.1f} GB in {time.perf_counter() - began:.0f} s")
    command = [sys.executable, "-m", "benchmarks.large", "fit", "--folder", str(options.folder)]
    command += ["--modules", str(options.modules), "--max-memory", options.max_memory]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        X = np.load(path, mmap_mode="r")
        rows = np.sort(
            np.random.default_rng(2).choice(len(X), min(len(X), SUBSAMPLE), replace=False)
        )
        selector = GroupFS(random_state=0).fit(np.array(X[rows]))
        found["ari_with_subsample"] = adjusted_rand_score(
            found.pop("groups"), selector.group_labels_
        )
        report(found, options)
    finally:
        if not options.keep:
            path.unlink()


def run_fit(options: argparse.Namespace) -> None:
    X = np.load(options.folder / "groupfs-large.npy", mmap_mode="r")
    labels = modules(X.shape[1], options.modules, 0.0)
    print(json.dumps(fit(X, labels, "cpu", options.max_memory)))


def run_sparse(options: argparse.Namespace) -> None:
    N, d = options.rows, options.columns
    X = make_counts(N, d, options.modules, options.device)
    print(f"{N:,} x {d:,}, {X.nnz / N / d:.1%} filled, {X.nnz * 8 / 1e9:.1f} GB")
    if options.device == "cuda":
        GroupFS(max_epochs=2, random_state=0, device="cuda").fit(
            np.random.default_rng(0).standard_normal((200, 50))
        )
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    labels = modules(d, options.modules, WITHOUT)
    found = fit(X, labels, options.device, options.max_memory)
    found.pop("groups")
    if options.device == "cuda":
        torch.cuda.empty_cache()
        roof = measure_roof()
        found["roof"] = roof
        found["least_seconds_of_products"] = 2 * N * d**2 / roof["tflops"] / 1e12
    report({"entries": int(X.nnz), **found}, options)


def run_wide(options: argparse.Namespace) -> None:
    rng = np.random.default_rng(0)
    labels = modules(options.columns, options.modules, 0.0)
    X = rng.standard_normal((options.rows, options.columns), dtype=np.float32)
    X += rng.standard_normal((options.rows, options.modules), dtype=np.float32)[:, labels]
    by_gates = {"ranking": "gate", "gate_start": "uniform"}
    found = fit(Sliced(X), labels, options.device, options.max_memory, **by_gates)
    found.pop("groups")
    report(found, options)


def report(found: dict[str, object], options: argparse.Namespace) -> None:
    print(json.dumps(found, indent=1))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["disk", "sparse", "wide", "fit"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    parser.add_argument("--modules", type=int, default=20)
    parser.add_argument("--max-memory")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folder", type=Path, default=Path("out"))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.what == "disk":
        options.rows, options.columns = options.rows or 1_000_000, options.columns or 2000
        options.max_memory = options.max_memory or "3GB"
        run_disk(options)
    elif options.what == "sparse":
        options.rows, options.columns = options.rows or 200_000, options.columns or 30_000
        run_sparse(options)
    elif options.what == "wide":
        options.rows, options.columns = options.rows or 500, options.columns or 1_000_000
        options.max_memory = options.max_memory or "40GB"
        run_wide(options)
    else:
        run_fit(options)


if __name__ == "__main__":
    main()
