"""What the order of all features costs: seconds beside those of the whole fit.

``OMP_NUM_THREADS=1 python -m benchmarks.selection`` fits each table once, in a process of its own,
and prints seconds of the processor without imports and reading, and those of the steps that measure
smoothness and order the features, read from a profile.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import time
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from benchmarks.group_competitors import fitted
from benchmarks.tables import load, machine

#: Steps of a fit that put the features into order.
STEPS = ("feature_smoothness", "order_features")
#: Of the large table: samples, features, modules, features of a module, share of a common source.
PLANTED = (10_000, 20_000, 20, 30, 0.7)


def planted() -> NDArray[np.float32]:
    """Draw the large table: modules of features, then noise."""
    N, d, n_modules, size, shared = PLANTED
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, d), dtype=np.float32)
    sources = rng.standard_normal((N, n_modules), dtype=np.float32).repeat(size, axis=1)
    X[:, : n_modules * size] *= np.sqrt(1 - shared)
    X[:, : n_modules * size] += np.sqrt(shared) * sources
    return X


def measure(name: str) -> None:
    """Fit a table and print what that and its order took.

    A profile costs nothing to speak of where the calls are few and long.
    """
    X = planted() if name == "planted" else load(name)[0]
    fitted(np.random.default_rng(0).standard_normal((60, 20)), 0)  # loads what a fit needs
    profile = cProfile.Profile(time.process_time)
    began = time.process_time()
    profile.runcall(fitted, X, 0)
    seconds = time.process_time() - began
    calls = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    order = sum(total for (_, _, step), (_, _, _, total, _) in calls if step in STEPS)
    size = f"{X.shape[0]:,} x {X.shape[1]:,}"
    print(f"{name:10s}{size:>16s}{order:10.2f}{seconds:10.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=("yale", "allaml", "nmnist", "planted"))
    options = parser.parse_args()
    print(f"{machine()}, threads: {os.environ.get('OMP_NUM_THREADS', 'all')}")
    print(f"{'':26s}{'order, s':>10s}{'fit, s':>10s}", flush=True)
    for name in options.tables:
        process = get_context("spawn").Process(target=measure, args=(name,))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
