"""What the order of all features costs: beside a whole fit, and beside other packages.

``OMP_NUM_THREADS=1 python -m benchmarks.order_cost --peers ENV/bin/python`` measures each method on
each table once, in a process of its own: seconds of the processor without imports and reading,
how many times those of the order, and by how much memory rose (Linux). Peers run in the given
interpreter, which needs fastcan and skfeature-chappers; without it ours stand in where we have one.

- order: smoothness and order of all features, as a fit has it once groups are known. One order
  serves all numbers of features, while the peers select one number (``--features``).
- fit: ``GroupFS(random_state=0)``, with its order. The large table is left out but for
  ``--fit-large``.
- fastcan: the squared canonical correlations with the principal components, as its guide does
  without labels; as many components as features. Their computation counts.
- MCFS: of scikit-feature, on its graph of 5 neighbours by cosine, or ours.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import platform
import pstats
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# groupfs and benchmarks are imported where they are used: the interpreter of the peers has neither.

ROOT = Path(__file__).resolve().parents[1]
LARGE = "planted"
TABLES = ("yale", "allaml", "nmnist", LARGE)
#: Of the large table: samples, features, modules, features of a module, share of a common source.
PLANTED = (10_000, 20_000, 20, 30, 0.7)
#: Functions of which it is said what they spend their seconds on.
OPENED = ("work", "order_features", "_sketch", "_greedy", "_ranked_exactly")

#: A method: gets the table and how many features, returns what is to be timed.
Method = Callable[[NDArray, int], Callable[[], Any]]


def planted() -> NDArray[np.float32]:
    """Draw the large table: modules of features, then noise."""
    N, d, n_modules, size, shared = PLANTED
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, d), dtype=np.float32)
    sources = rng.standard_normal((N, n_modules), dtype=np.float32).repeat(size, axis=1)
    X[:, : n_modules * size] *= np.sqrt(1 - shared)
    X[:, : n_modules * size] += np.sqrt(shared) * sources
    return X


def order(X: NDArray, n_features: int) -> Callable[[], Any]:
    import torch

    from groupfs import GroupFS
    from groupfs.data.open_table import open_table
    from groupfs.scoring.smoothness import feature_smoothness
    from groupfs.selection.feature_order import order_features
    from groupfs.utils.device import DTYPE

    selector = GroupFS()
    rows = open_table(selector, X, True).rows
    rows.to(torch.device("cpu"), DTYPE)
    every, none = np.arange(rows.shape[1]), np.zeros(0, dtype=np.int64)

    def work() -> Any:
        smooth = feature_smoothness(rows, every, selector.n_neighbors, seed=0)
        return order_features(rows, smooth, [every], none)

    return work


def fit(X: NDArray, n_features: int) -> Callable[[], Any]:
    from groupfs import GroupFS

    return lambda: GroupFS(device="cpu", random_state=0).fit(X)


def our_mcfs(X: NDArray, n_features: int) -> Callable[[], Any]:
    from groupfs.baselines import MCFS

    return lambda: MCFS(n_features, graph="cosine", n_neighbors=5, device="cpu").fit(X)


def fastcan(X: NDArray, n_features: int) -> Callable[[], Any]:
    from fastcan import FastCan
    from sklearn.decomposition import PCA

    Z = standardized(X)

    def work() -> Any:
        components = PCA(min(n_features, *Z.shape), random_state=0).fit_transform(Z)
        return FastCan(n_features, verbose=0).fit(Z, components)

    return work


def mcfs(X: NDArray, n_features: int) -> Callable[[], Any]:
    from skfeature.function.sparse_learning_based import MCFS
    from skfeature.utility.construct_W import construct_W

    Z = standardized(X)
    graph = {"metric": "cosine", "neighbor_mode": "knn", "weight_mode": "cosine", "k": 5}
    # a copy, because it scales the rows of the table it is given
    return lambda: MCFS.mcfs(Z, None, n_features, W=construct_W(Z.copy(), **graph))


OURS: dict[str, Method] = {"order": order, "fit": fit, "MCFS, ours": our_mcfs}
PEERS: dict[str, Method] = {"fastcan": fastcan, "MCFS, skfeature": mcfs}


def standardized(X: NDArray) -> NDArray[np.float64]:
    """Standardise the columns that vary; ours do that themselves."""
    Z = X[:, np.ptp(X, axis=0) > 0].astype(np.float64)
    Z -= Z.mean(axis=0)
    Z /= Z.std(axis=0)
    return Z


def measured(work: Callable[[], Any], limit: float) -> dict[str, Any]:
    """Measure seconds of the processor and MB; the process is ended at the limit, if there is one.

    A profile costs nothing to speak of where the calls are few and long.
    """
    held = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    signal.setitimer(signal.ITIMER_PROF, limit)
    profile = cProfile.Profile(time.process_time)
    began = time.process_time()
    profile.runcall(work)
    seconds = time.process_time() - began
    return {
        "seconds": seconds,
        "held": held,
        "rise": memory("VmHWM") - held,
        "steps": steps(profile, 0.01 * seconds),
    }


def steps(profile: cProfile.Profile, least: float) -> dict[str, dict[str, float]]:
    """Read what a few functions spend their seconds on, by function and callee, if not too few."""
    found: dict[str, dict[str, float]] = {name: {} for name in OPENED}
    for (_, _, name), (*_, callers) in pstats.Stats(profile).stats.items():
        for (_, _, caller), (*_, seconds) in callers.items():
            if caller in found and seconds > least:
                found[caller][name] = found[caller].get(name, 0) + seconds
    return found


def memory(kind: str) -> float:
    """Read the memory of this process in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{kind}:")[1].split()[0]) / 1024


def ask(python: str, method: str, table: Path, n_features: int, limit: float) -> dict[str, Any]:
    """Measure a method in a process of its own; a reason where there is nothing to measure."""
    given = json.dumps([method, str(table), n_features, limit])
    path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [python, "-P", __file__, "--measure", given],
        capture_output=True,
        text=True,
        env={**os.environ, **({"PYTHONPATH": path} if method in OURS else {})},
    )
    if done.returncode == -signal.SIGPROF:
        return {"reason": f"> {limit:.0f} s"}
    last = (done.stderr if done.returncode else done.stdout).strip().splitlines()[-1]
    if done.returncode:
        return {"reason": "not installed" if "ModuleNotFoundError" in last else last}
    return json.loads(last)


def compare(name: str, options: argparse.Namespace, folder: Path) -> None:
    """Measure all methods on a table; print each as soon as it is known."""
    from benchmarks.tables import load

    X = planted() if name == LARGE else load(name)[0]
    table = folder / f"{name}.npy"
    np.save(table, X)
    N, d = X.shape
    del X
    print(f"\n{name}, {N:,} x {d:,}", flush=True)
    found = ask(sys.executable, "order", table, options.features, limit=0)
    base = found["seconds"]
    line("order", found, base)
    for function, callees in found["steps"].items():
        if callees:
            print(f"    {function}: {', '.join(f'{name} {s:.2f}' for name, s in callees.items())}")
    if name != LARGE or options.fit_large:
        line("fit", ask(sys.executable, "fit", table, options.features, limit=0), base)
    for method in PEERS:
        python = options.peers or sys.executable
        found = ask(python, method, table, options.features, options.limit)
        line(method, found, base)
        ours = method.replace("skfeature", "ours")
        if found.get("reason") == "not installed" and ours in OURS:
            line(ours, ask(sys.executable, ours, table, options.features, options.limit), base)
    table.unlink()


def line(method: str, found: dict[str, Any], base: float) -> None:
    if "reason" in found:
        print(f"  {method:18s} {found['reason']}", flush=True)
        return
    seconds, held, rise = found["seconds"], found["held"], found["rise"]
    times = f"{seconds / base:7.1f} x"
    print(f"  {method:18s}{seconds:9.2f} s{times}{held:9,.0f} MB + {rise:,.0f} MB", flush=True)


def machine() -> str:
    """Name the processor."""
    found = Path("/proc/cpuinfo").read_text().partition("model name\t: ")[2].partition("\n")[0]
    return found or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--features", type=int, default=200, help="that peers select")
    parser.add_argument("--peers", help="interpreter that has fastcan and skfeature")
    parser.add_argument("--limit", type=float, default=120, help="seconds of a peer")
    parser.add_argument("--fit-large", action="store_true")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        method, table, n_features, limit = json.loads(options.measure)
        warnings.simplefilter("ignore")
        work = {**OURS, **PEERS}[method](np.load(table), n_features)
        print(json.dumps(measured(work, limit)))
        return
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    print(f"{machine()}, threads: {threads}, features that peers select: {options.features}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables:
            compare(name, options, Path(folder))


if __name__ == "__main__":
    main()
