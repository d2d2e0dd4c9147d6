"""Several fits at once, as processes and as threads: what they cost beside one alone.

The cost is the seconds of a batch over those of one fit alone times fits / cores, or times one
where there are more cores than fits; 1 is the best there can be.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import lru_cache, partial
from multiprocessing import get_context

from benchmarks.group_competitors import fitted
from benchmarks.machine import fastest
from benchmarks.tables import read

TABLES = ("two_moons", "bfi", "breast cancer", "yale")
AT_ONCE = (2, 4)
POOLS = {
    "processes": partial(ProcessPoolExecutor, mp_context=get_context("spawn")),
    "threads": ThreadPoolExecutor,
}
table = lru_cache(read)


def fit(name: str) -> None:
    """Fit a table, which is read once by every process."""
    fitted(table(name), 0)


def show(options: argparse.Namespace) -> None:
    """Print seconds of fits alone and of batches, and their cost."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{cores} cores\n{'':16s}{'fits':>6s}{'seconds':>10s}{'cost':>8s}", flush=True)
    for name in options.tables or TABLES:
        alone = fastest(partial(fit, name), options.repeats)
        print(f"{name:16s}{1:6d}{alone:10.3f}", flush=True)
        for kind, pool_of in POOLS.items():
            for n in AT_ONCE:
                with pool_of(n, initializer=fit, initargs=(name,)) as pool:
                    batch = lambda: list(pool.map(fit, [name] * n))  # noqa: B023, E731
                    spent = fastest(batch, options.repeats)
                cost = spent / (alone * max(1, n / cores))
                print(f"  {kind:14s}{n:6d}{spent:10.3f}{cost:8.2f}", flush=True)
