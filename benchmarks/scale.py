"""How whole default fits grow with a table, up to tables larger than memory: seconds and memory.

Tables have planted modules; every fit is a process of its own, so that its peak memory is its own.

- ``python -m benchmarks.scale growth``: 1,000 to 1,000,000 rows of 200 columns and 100 to 100,000
  columns of 1,000 rows, mapped into memory from files, with the fitted exponents.
- ``python -m benchmarks.scale disk``: 1,000,000 x 2,000 numbers from a file of 8 GB, with
  ``max_memory="3GB"``. Rows drift along the file: those in order are not like those at random.
- ``python -m benchmarks.scale wide --device cuda``: 500 x 1,000,000.
- ``python -m benchmarks.scale dask``: 1,000,000 x 5,000 (20 GB) on two workers of one thread and
  3 GB each, which make its chunks anew in every pass; then on one, and whether both are the same.

``--rows`` and ``--columns`` give other sizes. PYTHONPATH says which version of the library is
measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.group_competitors import fitted

#: Rows, columns and max_memory of a fit.
SIZES: dict[str, tuple[int, int, str | None]] = {
    "disk": (1_000_000, 2000, "3GB"),
    "wide": (500, 1_000_000, "40GB"),
    "dask": (1_000_000, 5000, None),
}
GROWTH = {
    "rows": [(10**k, 200) for k in (3, 4, 5, 6)],
    "columns": [(1000, 10**k) for k in (2, 3, 4, 5)],
}
MODULES = 20
#: Columns of a module are a common factor and noise of this many times its size.
NOISE = 1.2
#: Rows that are made at a time.
AT_ONCE = 10_000
WORKER_MEMORY = "3GB"


def modules(d: int) -> np.ndarray:
    """Draw the module of every column."""
    return np.random.default_rng(1).integers(MODULES, size=d)


def block(start: int, stop: int, N: int, labels: np.ndarray) -> np.ndarray:
    """Make rows with one factor per module, whose level drifts along the table."""
    rng = np.random.default_rng([0, start])
    state = np.sin(2 * np.pi * (start / N + np.arange(MODULES) / MODULES)).astype(np.float32)
    factors = rng.standard_normal((stop - start, MODULES), dtype=np.float32) + state
    noise = rng.standard_normal((stop - start, len(labels)), dtype=np.float32)
    return factors[:, labels] + NOISE * noise


def write_table(path: Path, N: int, d: int) -> None:
    """Write a table to a file, in blocks of rows."""
    labels = modules(d)
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(N, d))
    for start in range(0, N, AT_ONCE):
        stop = min(start + AT_ONCE, N)
        table[start:stop] = block(start, stop, N, labels)
    table.flush()


def make_table(what: str, N: int, d: int, path: Path) -> Any:
    """Make a table in memory, or open it."""
    if what == "disk":
        return np.load(path, mmap_mode="r")
    if what == "wide":
        return block(0, N, N, modules(d))
    import dask.array as da

    height = max(1, min(25_000_000 // d, N // 10))  # chunks of 100 MB
    heights = [height] * (N // height) + [N % height] * (N % height > 0)
    return da.map_blocks(
        chunk,
        labels=modules(d),
        n_rows=N,
        chunks=(tuple(heights), (d,)),
        dtype=np.float32,
        meta=np.zeros((0, 0), dtype=np.float32),
    )


def chunk(labels: np.ndarray, n_rows: int, block_info: Any = None) -> np.ndarray:
    """Make the rows of a chunk of dask."""
    (start, stop), _ = block_info[None]["array-location"]
    return block(start, stop, n_rows, labels)


def fit(options: argparse.Namespace) -> dict[str, Any]:
    """Fit, and measure how long it took, how much it held, how well modules were found."""
    N, d = options.rows, options.columns
    X = make_table(options.what, N, d, options.file)
    warm_up = np.random.default_rng(0).standard_normal((60, 20))
    fitted(warm_up, 0, device=options.device)  # loads what a fit needs
    with ExitStack() as stack:
        if options.what == "dask":
            from dask.distributed import Client, LocalCluster

            limits = {"threads_per_worker": 1, "memory_limit": WORKER_MEMORY}
            cluster = LocalCluster(options.workers, dashboard_address=None, **limits)
            stack.enter_context(cluster)
            stack.enter_context(Client(cluster))
        began = time.perf_counter()
        selector = fitted(X, 0, device=options.device, max_memory=options.max_memory)
        seconds = time.perf_counter() - began
    labels = selector.group_labels_
    results = (labels, selector.feature_order_, selector.explained_)
    record = {
        "seconds": seconds,
        "gb": peak_memory(),
        "n_groups": int(selector.n_groups_),
        "kept": int(selector.group_kept_.sum()),
        "ari": float(adjusted_rand_score(modules(d), labels)),
        "digest": hashlib.sha256(b"".join(map(np.ndarray.tobytes, results))).hexdigest()[:16],
    }
    if options.device == "cuda":
        import torch

        record["device_gb"] = torch.cuda.max_memory_allocated() / 1e9
    return record


def peak_memory() -> float:
    """Read this process's peak memory in GB; getrusage counts that of its parent too."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0]) / 1e9


def in_a_process(options: argparse.Namespace, what: str, N: int, d: int, *more: str) -> Any:
    """Fit in a process of its own and print what it took; files are removed afterwards."""
    file = options.folder / "groupfs-scale.npy"
    if what == "disk":
        write_table(file, N, d)
    command = [sys.executable, "-m", "benchmarks.scale", what, "--fit", "--file", str(file)]
    command += ["--rows", str(N), "--columns", str(d), "--device", options.device, *more]
    command += ["--max-memory", options.max_memory] if options.max_memory else []
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    finally:
        file.unlink(missing_ok=True)
    record = json.loads(done.stdout.splitlines()[-1])
    words = "  ".join(f"{k} {v:.4g}" if k != "digest" else v for k, v in record.items())
    print(f"{what}, {N:,} x {d:,} {' '.join(more)}: {words}", flush=True)
    return record


def growth(options: argparse.Namespace) -> None:
    """Fit tables that grow, and print the exponents of a power law through their seconds."""
    for axis, sizes in GROWTH.items():
        seconds = [in_a_process(options, "disk", N, d)["seconds"] for N, d in sizes]
        grown = [size[axis == "columns"] for size in sizes]
        slope = np.polyfit(np.log(grown), np.log(seconds), 1)[0]
        print(f"{axis}: seconds ~ {axis}^{slope:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["growth", *SIZES])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    parser.add_argument("--max-memory")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--workers", type=int, default=2, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=Path("out"), help="of the file")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        print(json.dumps(fit(options)))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.what == "growth":
        options.max_memory = options.max_memory or "4GB"
        return growth(options)
    N, d, memory = SIZES[options.what]
    N, d = options.rows or N, options.columns or d
    options.max_memory = options.max_memory or memory
    record = in_a_process(options, options.what, N, d)
    if options.what == "dask":
        one = in_a_process(options, "dask", N, d, "--workers", "1")
        faster, same = one["seconds"] / record["seconds"], one["digest"] == record["digest"]
        print(f"2 workers {faster:.2f} times as fast as 1; same to the last bit: {same}")


if __name__ == "__main__":
    main()
