"""Default fits with more or fewer threads, whatever a fit would choose itself.

``python -m benchmarks.threads --threads 1 2`` prints the seconds of a fit for each number of
threads of torch, numpy and scipy, all in one process.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from benchmarks.discovery_cost import table
from groupfs import GroupFS
from groupfs.utils import threads


def planted(n_samples: int, n_features: int) -> np.ndarray:
    """Make 20 groups of columns, a factor and noise each."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((n_samples, 20))[:, np.arange(n_features) % 20]
    return factors + 1.5 * rng.standard_normal((n_samples, n_features))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--tables", nargs="+", default=["yale", "allaml", "10000x5000"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threads.LARGE_TABLE = 0  # every table may have as many as are set
    for name in options.tables:
        size = name.split("x")
        X = planted(int(size[0]), int(size[1])) if len(size) == 2 else table(name)
        for n in options.threads:
            threads.MOST_THREADS = n
            torch.set_num_threads(n)
            with threadpool_limits(n):
                began = time.perf_counter()
                GroupFS(random_state=0, device="cpu").fit(X)
            print(f"{name:14s}{n:3d} threads {time.perf_counter() - began:7.2f} s", flush=True)


if __name__ == "__main__":
    main()
