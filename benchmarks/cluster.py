"""One path without a cluster, with one dask worker, with two, and with one of two killed half way.

Run with ``OMP_NUM_THREADS=1 python -m benchmarks.cluster``. Workers are processes of this machine
with one thread each and have groupfs loaded before the clock starts; a worker that is killed is
started anew by dask and loads it again. Says whether all results are the same to the last bit.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from dask.distributed import Client, LocalCluster
from joblib import parallel_config

from groupfs import GroupFSPath


def planted(n_samples: int, n_features: int, n_groups: int) -> np.ndarray:
    """Make columns in groups, half signal and half noise."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((n_samples, n_groups))
    noise = rng.standard_normal((n_samples, n_features))
    return factors[:, np.arange(n_features) % n_groups] + noise


def fit(X: np.ndarray, settings: dict[str, Any]) -> tuple[float, GroupFSPath]:
    began = time.perf_counter()
    path = GroupFSPath(**settings).fit(X)
    return time.perf_counter() - began, path


@contextlib.contextmanager
def workers(n_workers: int) -> Iterator[Client]:
    """Start a cluster on this machine that has loaded what it needs."""
    with (
        LocalCluster(
            n_workers=n_workers, processes=True, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(warm_up)
        yield client


def warm_up() -> None:
    GroupFSPath(2, sparsities=[1.0], max_epochs=2, random_state=0).fit(planted(40, 8, 2))


def on_cluster(
    X: np.ndarray, settings: dict[str, Any], n_workers: int, kill_after: float | None = None
) -> tuple[float, GroupFSPath]:
    """Fit on workers; with ``kill_after`` seconds, one of them is killed on the way."""
    with workers(n_workers) as client, parallel_config(backend="dask"):
        if kill_after is not None:
            _, pid = next(iter(client.run(os.getpid).items()))
            threading.Timer(kill_after, os.kill, (pid, signal.SIGKILL)).start()
        return fit(X, settings)


def same(one: GroupFSPath, other: GroupFSPath) -> bool:
    """Tell whether two paths are the same to the last bit, with their resamples."""
    pairs = [(asdict(one.path_), asdict(other.path_))]
    pairs += [(asdict(one.stability_), asdict(other.stability_))]
    pairs += [({"membership": one.membership_}, {"membership": other.membership_})]
    return all(np.array_equal(a[key], b[key]) for a, b in pairs for key in a if key in ARRAYS)


ARRAYS = ("gates", "gain", "loss", "terms", "kept", "scores", "labels", "selected", "membership")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--features", type=int, default=120)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--resamples", type=int, default=12)
    given = parser.parse_args()
    X = planted(given.samples, given.features, 10)
    settings = {
        "n_groups": 10,
        "n_resamples": given.resamples,
        "max_epochs": given.epochs,
        "random_state": 0,
    }
    print(f"{given.samples} x {given.features}, 48 models, {given.resamples} resamples")
    warm_up()
    seconds, alone = fit(X, settings)
    print(f"{'no cluster':<28}{seconds:8.1f} s", flush=True)
    first, path = on_cluster(X, settings, 1)
    print(f"{'1 worker':<28}{first:8.1f} s   identical: {same(path, alone)}", flush=True)
    second, path = on_cluster(X, settings, 2)
    speedup = f"{first / second:.2f} times as fast as 1 worker"
    print(
        f"{'2 workers':<28}{second:8.1f} s   identical: {same(path, alone)}   {speedup}", flush=True
    )
    third, path = on_cluster(X, settings, 2, kill_after=second / 2)
    print(
        f"{'2 workers, one killed':<28}{third:8.1f} s   identical: {same(path, alone)}", flush=True
    )


if __name__ == "__main__":
    main()
