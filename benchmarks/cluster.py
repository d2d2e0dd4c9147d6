"""A dask array larger than memory, fitted on workers: seconds, memory, and whether all agree.

``python -m benchmarks.cluster`` has workers make 20 GB (``--gb``) of 200 columns, anew in every
pass. It fits with two workers, with one, and with two of which one is killed on the way; each has
one thread and may hold 3 GB. Up to ``MOST_HERE`` GB the same rows are also fitted in one process,
streamed and as a whole. It prints for each fit

- its seconds, those of processors on workers, and those of making the array and nothing else,
- GB held at most by the client, which schedules as well, and by a worker,
- how many workers were started anew, because they were killed or held too much,
- groups, their adjusted Rand index with the planted ones, and with those of the first fit,
- which of labels, order and support are the same as those of the first fit.
"""

import argparse
import os
import signal
import threading
import time
from contextlib import ExitStack
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.group_competitors import fitted, timed_fit
from benchmarks.machine import in_a_process, machine, peak_memory, seconds
from benchmarks.questionnaires import signed_loadings
from benchmarks.records import Record, written
from benchmarks.wide import LOADINGS, planted_groups

#: Workers of each fit; none are this process alone.
FITS = {"two workers": 2, "one worker": 1, "one of two killed": 2, "streamed here": 0, "whole": 0}
#: What a worker may hold, features, rows of a block, and GB of the largest table fitted here, too.
WORKER_MEMORY, N_FEATURES, AT_ONCE, MOST_HERE = "3GB", 200, 2**15, 4
SHOWN = ("seconds", "busy", "making", "client", "worker", "anew", "groups", "planted", "first")


def planted_array(n: int, groups: NDArray) -> Any:
    """Describe an array whose blocks are made where they are needed."""
    loadings = signed_loadings(np.random.default_rng(1), len(groups), *LOADINGS)
    chunks = da.core.normalize_chunks((AT_ONCE, len(groups)), (n, len(groups)))
    make = partial(block, groups, loadings)
    return da.map_blocks(make, chunks=chunks, meta=np.zeros((0, 0)))


def block(groups: NDArray, loadings: NDArray, block_info: Any = None) -> NDArray[np.float64]:
    """Make the rows of a block, each time the same."""
    (start, stop), _ = block_info[None]["array-location"]
    mixing = loadings * (groups == np.arange(groups.max() + 1)[:, None])
    rng = np.random.default_rng([0, start])
    factors, own = (rng.standard_normal((stop - start, m)) for m in mixing.shape)
    return factors @ mixing + own * np.sqrt(1 - (mixing**2).sum(axis=0))


def fit(kind: str, n: int, after: float) -> tuple[Record, dict[str, NDArray]]:
    """Fit, say what it took, and what was found; a worker is killed after so many seconds."""
    fitted(np.random.default_rng(0).standard_normal((60, 20)), 0)  # warms up
    groups = planted_groups(np.random.default_rng(0), N_FEATURES)
    X, workers = planted_array(n, groups), FITS[kind]
    with ExitStack() as stack:
        if workers:
            limits = {"threads_per_worker": 1, "memory_limit": WORKER_MEMORY, "silence_logs": 50}
            cluster = stack.enter_context(LocalCluster(workers, dashboard_address=None, **limits))
            client = stack.enter_context(Client(cluster))
            started = client.run(os.getpid).values()
        else:
            X = X.compute()
        if "killed" in kind:
            threading.Timer(after, os.kill, (min(started), signal.SIGKILL)).start()
        most = 2 * X.nbytes + 10**9 if "streamed" in kind else None
        selector, spent = timed_fit(X, 0, max_memory=most)
        record: Record = {"seconds": spent, "client": peak_memory()}
        if workers:
            client.wait_for_workers(workers)
            record["busy"] = sum(client.run(time.process_time).values())
            record["worker"] = max(client.run(peak_memory).values())
            record["anew"] = len({*client.run(os.getpid).values()} - {*started})
            record["making"] = seconds(X[:, 0].sum().compute)
    labels, order, support = selector.group_labels_, selector.feature_order_, selector.get_support()
    record["planted"] = float(adjusted_rand_score(groups, labels))
    record["groups"] = int(selector.n_groups_)
    return record, {"labels": labels, "order": order, "support": support}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gb", type=float, default=20.0)
    parser.add_argument("--fits", nargs="+", choices=FITS, help="some")
    options = parser.parse_args(arguments)
    n = round(options.gb * 1e9 / 8 / N_FEATURES)
    print(
        f"{machine()}, load before: {os.getloadavg()[0]:.1f}; {n:,} x {N_FEATURES}, {options.gb} GB"
    )
    print(f"{'':18s}" + "".join(f"{heading:>9s}" for heading in SHOWN) + "  same", flush=True)
    first, after = None, 0.0
    for kind in options.fits or FITS:
        if FITS[kind] or options.gb <= MOST_HERE:
            record, found = in_a_process(fit, kind, n, after)
            first, after = first or found, after or record["seconds"] / 3
            record["first"] = float(adjusted_rand_score(first["labels"], found["labels"]))
            words = [f"{written(record.get(key)):>9s}" for key in SHOWN]
            same = [key for key, array in found.items() if np.array_equal(first[key], array)]
            print(f"{kind:18s}{''.join(words)}  {', '.join(same) or '-'}", flush=True)


if __name__ == "__main__":
    main()
