"""A dask array larger than the machine that fits it: made, surveyed and multiplied on its workers.

Run with ``python -m benchmarks.dask_table``; a smaller table, which would be read into memory
otherwise, with ``--rows 100000 --features 1000 --max-memory 2GB``. The table, 1,000,000 x 5,000 in
single precision (20 GB) unless told otherwise, is never stored: workers make its chunks anew in
every pass, each from its own seed. 20 modules of features share a factor each, a fifth of them with
the sign turned; the other features are noise. Workers are processes of this machine with one thread
and 3 GB each. ``GroupFS`` is fitted with its defaults, every fit in a process of its own. For one
worker, for two, and for two of which one is killed half way, it prints

- seconds of the fit and of its passes over the table, and how many passes these were: tasks
  ``measure_rows`` in dask's task stream per chunk,
- how the modules were found: adjusted Rand index, noise features that were put into groups,
- the peak memory of the client, which also runs the scheduler,
- bytes that were sent to the client, and between workers: what workers logged as written to no
  other worker, and to others, in dask's own ``transfer_outgoing_log`` (its ``compressed``, since
  ``total`` is only an estimate; the log of a worker that was killed is lost),
- whether all results are those of two workers to the last bit.

The last line compares the groups with those of a fit in memory of the first 20,000 rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster, get_task_stream
from sklearn.metrics import adjusted_rand_score

from benchmarks.large import peak_memory
from groupfs import GroupFS
from groupfs.data.block_sources import DaskSource

MODULES, MEMORY, IN_MEMORY_ROWS = 20, "3GB", 20_000
#: Numbers of a chunk (100 MB).
CHUNK_NUMBERS = 25_000_000
#: Deviation of whole numbers between -128 and 127.
NOISE = 73.9


def planted_modules(n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the module of every feature, -1 for none, and how far it follows it, (d,) each."""
    rng = np.random.default_rng(1)
    size = max(4, n_features // 125)
    labels = np.full(n_features, -1)
    labels[: MODULES * size] = rng.permutation(np.repeat(np.arange(MODULES), size))
    loadings = rng.uniform(0.6, 1.2, n_features) * rng.choice([1, 1, 1, 1, -1], n_features)
    return labels, loadings


def make_chunk(
    labels: np.ndarray, loadings: np.ndarray, block_info: dict[Any, Any] | None = None
) -> np.ndarray:
    """Make the rows of a chunk; noise of single bytes costs less than the work on it."""
    assert block_info is not None
    (start, stop), _ = block_info[None]["array-location"]
    rng = np.random.default_rng([7, start])
    size = (stop - start) * len(labels)
    noise = rng.bit_generator.random_raw(-(-size // 8)).view(np.int8)[:size]
    X = noise.reshape(stop - start, len(labels)).astype(np.float32)
    factors = rng.standard_normal((stop - start, MODULES), dtype=np.float32)
    inside = slice((labels >= 0).sum())
    X[:, inside] += factors[:, labels[inside]] * (NOISE * loadings[inside]).astype(np.float32)
    return X


def planted_table(n_rows: int, n_features: int) -> da.Array:
    labels, loadings = planted_modules(n_features)
    height = max(1, min(CHUNK_NUMBERS // n_features, n_rows // 10))
    heights = [height] * (n_rows // height) + [n_rows % height] * (n_rows % height > 0)
    return da.map_blocks(
        make_chunk,
        labels,
        loadings,
        chunks=(tuple(heights), (n_features,)),
        dtype=np.float32,
        meta=np.zeros((0, 0), dtype=np.float32),
    )


def run_on_workers(options: argparse.Namespace) -> dict[str, Any]:
    """Fit on workers, and measure what it took."""
    X = planted_table(options.rows, options.features)
    with (
        LocalCluster(
            n_workers=options.workers,
            processes=True,
            threads_per_worker=1,
            memory_limit=MEMORY,
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(warm_up)
        if options.kill_after is not None:
            _, pid = next(iter(client.run(os.getpid).items()))
            threading.Timer(options.kill_after, os.kill, (pid, signal.SIGKILL)).start()
        in_passes = watch_passes()
        began = time.perf_counter()
        with get_task_stream(client) as stream:
            selector = GroupFS(
                max_memory=options.max_memory, verbose=options.verbose, random_state=0
            ).fit(X)
        seconds = time.perf_counter() - began
        n_measured = sum("measure_rows" in str(task["key"]) for task in stream.data)
        sent = client.run(bytes_sent)
    to_client, between = np.sum(list(sent.values()), axis=0).tolist()
    return {
        "seconds": round(seconds, 1),
        "seconds_in_passes": round(sum(in_passes), 1),
        "passes": round(n_measured / X.numblocks[0], 2),
        "peak_client_gb": round(peak_memory(), 2),
        "sent_to_client": to_client,
        "between_workers": between,
        "share_of_table": to_client / X.nbytes,
        **found_in(selector, options.features),
    }


def watch_passes() -> list[float]:
    """Return a list to which the seconds of every pass will be added."""
    seconds: list[float] = []
    run_there = DaskSource.run_there

    def watched(source: DaskSource, *args: Any) -> Any:
        began = time.perf_counter()
        found = run_there(source, *args)
        seconds.append(time.perf_counter() - began)
        return found

    DaskSource.run_there = watched  # type: ignore[method-assign]
    return seconds


def warm_up() -> None:
    """Load what a pass needs before the clock starts."""
    import groupfs.data.streamed_rows  # noqa: F401


def bytes_sent(dask_worker: Any) -> tuple[int, int]:
    """Add up what this worker has sent to the client, through the scheduler, and to workers."""
    totals = [0, 0]
    for entry in dask_worker.transfer_outgoing_log:
        totals[entry["who"] is not None] += entry["compressed"]
    return totals[0], totals[1]


def run_in_memory(options: argparse.Namespace) -> dict[str, Any]:
    X = planted_table(options.rows, options.features)[:IN_MEMORY_ROWS].compute()
    return found_in(GroupFS(random_state=0).fit(X), options.features)


def found_in(selector: GroupFS, n_features: int) -> dict[str, Any]:
    """Compare groups with the planted modules; a digest stands for all that was found."""
    labels, _ = planted_modules(n_features)
    inside, found = labels >= 0, selector.group_labels_
    results = (found, selector.group_gates_, selector.group_pvalues_, selector.centrality_)
    results += (selector.feature_order_, selector.explained_)
    digest = hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in results))
    return {
        "n_groups": int(selector.n_groups_),
        "ari": round(float(adjusted_rand_score(labels[inside], found[inside])), 4),
        "noise_in_groups": int((found[~inside] >= 0).sum()),
        "left_out_of_modules": int((found[inside] < 0).sum()),
        "digest": digest.hexdigest(),
        "groups": found.tolist(),
    }


def in_a_process(options: argparse.Namespace, *what: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.dask_table", *what]
    command += ["--rows", str(options.rows), "--features", str(options.features)]
    command += ["--verbose"] if options.verbose else []
    command += ["--max-memory", options.max_memory] if options.max_memory else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def report(name: str, found: dict[str, Any], reference: dict[str, Any]) -> None:
    print(
        f"{name}: {found['seconds']:.0f} s, of them {found['seconds_in_passes']:.0f} s in "
        f"{found['passes']:g} passes; {found['n_groups']} "
        f"groups, ARI {found['ari']:.3f}, {found['noise_in_groups']} noise features in groups, "
        f"{found['left_out_of_modules']} features of modules in none; client at most "
        f"{found['peak_client_gb']:.2f} GB, was sent {found['sent_to_client'] / 1e6:.0f} MB "
        f"({found['share_of_table']:.2%} of the table), between workers "
        f"{found['between_workers'] / 1e6:.0f} MB; same to the last bit: "
        f"{found['digest'] == reference['digest']}",
        flush=True,
    )


def compare(options: argparse.Namespace) -> None:
    gigabytes = 4 * options.rows * options.features / 1e9
    print(f"{options.rows:,} x {options.features:,}, {gigabytes:.1f} GB", flush=True)
    two = in_a_process(options, "fit", "--workers", "2")
    report("2 workers", two, two)
    half = str(two["seconds"] / 2)
    lost = in_a_process(options, "fit", "--workers", "2", "--kill-after", half)
    report("2 workers, one killed", lost, two)
    one = in_a_process(options, "fit", "--workers", "1")
    report("1 worker", one, two)
    faster = [one[name] / two[name] for name in ("seconds", "seconds_in_passes")]
    print(f"2 workers {faster[0]:.2f} times as fast as 1, in passes {faster[1]:.2f}", flush=True)
    here = in_a_process(options, "memory")
    agreement = adjusted_rand_score(here["groups"], two["groups"])
    same_left_out = [g < 0 for g in here["groups"]] == [g < 0 for g in two["groups"]]
    print(
        f"in memory, first {min(IN_MEMORY_ROWS, options.rows):,} rows: {here['n_groups']} groups, "
        f"ARI {here['ari']:.3f}, {here['noise_in_groups']} noise features in groups; agreement "
        f"with the groups above {agreement:.4f}, same features in groups: {same_left_out}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["compare", "fit", "memory"], default="compare")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill-after", type=float)
    parser.add_argument("--max-memory", help="small tables stay on the workers with 2GB")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.what == "compare":
        compare(options)
    else:
        run = run_on_workers if options.what == "fit" else run_in_memory
        print(json.dumps(run(options)))


if __name__ == "__main__":
    main()
