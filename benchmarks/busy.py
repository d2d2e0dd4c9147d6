"""Fits beside each other: several at once as processes and as threads, also on a busy machine.

``python -m benchmarks.busy`` times one default fit alone, then 2 and 4 at once. Processes are
started and warmed up before the clock starts, and so are threads; a barrier lets them begin
together, and seconds count from the first beginning to the last end, the median of a few turns.
Then all of it again beside one loop of pure Python on every core.

n fits at once may take 1.3 times what one takes alone, and n / cores times that where they are more
than the cores. Beside busy loops, alone means one fit beside the same loops. Threads within a fit
are those of the environment. ``--json FILE`` keeps the figures.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.discovery_cost import table
from benchmarks.order_cost import machine

TABLES = ("bfi", "yale", "two_moons")
#: How much longer fits may take for being beside each other.
ALLOWED = 1.3
#: Turns until it ends, or until the process that started it has ended.
SPIN = """
import os
while os.getppid() == {parent}:
    for _ in range(1_000_000):
        pass
"""
#: When a fit began and when it ended, by a clock that processes of a machine share.
Span = tuple[float, float]

#: What a worker keeps: its table, and where it waits for the others.
kept: dict[str, Any] = {}


def prepare(name: str, epochs: int | None, barrier: Any) -> None:
    """Read the table of a worker and warm up."""
    from groupfs.datasets import load_two_moons

    warnings.simplefilter("ignore")
    kept["X"] = load_two_moons(random_state=0).data if name == "two_moons" else table(name)
    kept["parameters"] = {} if epochs is None else {"max_epochs": epochs}
    kept["barrier"] = barrier
    warm_up()


def warm_up() -> None:
    from groupfs import GroupFS

    rng = np.random.default_rng(0)
    small = rng.standard_normal((99, 3)).repeat(4, axis=1) + rng.standard_normal((99, 12))
    GroupFS(max_epochs=2, random_state=0, device="cpu").fit(small)


def fit(barrier: Any) -> Span:
    """Wait for the others, then fit."""
    from groupfs import GroupFS

    selector = GroupFS(random_state=0, device="cpu", **kept["parameters"])
    barrier.wait()
    began = time.perf_counter()
    selector.fit(kept["X"])
    return began, time.perf_counter()


def fit_in_process(_: int) -> Span:
    return fit(kept["barrier"])


def fit_in_threads(n: int) -> list[Span]:
    """Fit in n threads of this process."""
    barrier = threading.Barrier(n)

    def work(_: int) -> Span:
        warm_up()  # threads that a fit starts belong to the thread that it runs in
        return fit(barrier)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(work, range(n)))


def seconds_of(name: str, n: int, kind: str, options: argparse.Namespace) -> float:
    """Time n fits at once, processes or threads: the median of a few turns."""
    n_processes = n if kind == "processes" else 1
    context = multiprocessing.get_context("spawn")
    given = (name, options.epochs, context.Barrier(n_processes))
    with ProcessPoolExecutor(n_processes, context, prepare, given) as pool:

        def turn() -> float:
            if kind == "threads":
                spans = pool.submit(fit_in_threads, n).result()
            else:  # none begins before all have, so every process gets one
                spans = list(pool.map(fit_in_process, range(n)))
            begins, ends = zip(*spans, strict=True)
            return max(ends) - min(begins)

        return statistics.median(turn() for _ in range(options.repeats))


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core busy meanwhile."""
    command = [sys.executable, "-c", SPIN.format(parent=os.getpid())]
    loops = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def compare(name: str, beside: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time one fit alone and several at once; print each as soon as it is known."""
    alone = seconds_of(name, 1, "processes", options)
    print(f"{name:12s}{beside:12s}{'alone':14s}{alone:9.2f}", flush=True)
    about: dict[str, Any] = {"table": name, "beside": beside}
    records = [about | {"n": 1, "kind": "alone", "seconds": alone}]
    for kind in ("processes", "threads"):
        for n in options.at_once:
            seconds = seconds_of(name, n, kind, options)
            allowed = ALLOWED * max(1, n / (os.cpu_count() or 1)) * alone
            ok = seconds <= allowed
            records.append(about | {"n": n, "kind": kind, "seconds": seconds})
            records[-1] |= {"allowed": allowed, "ratio": seconds / allowed, "ok": ok}
            figures = f"{seconds:9.2f}{allowed:9.2f}{seconds / allowed:8.2f}"
            label = f"{n} {kind}"
            print(f"{name:12s}{beside:12s}{label:14s}{figures}  {'ok' if ok else 'too slow'}")
            sys.stdout.flush()
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--at-once", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epochs", type=int, help="fewer than by default, to try this out")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    threads = os.environ.get("OMP_NUM_THREADS", f"all {os.cpu_count()}")
    print(f"{machine()}, {os.cpu_count()} cores, threads of a fit: {threads}")
    header = f"{'table':12s}{'beside':12s}{'fits at once':14s}{'wall, s':>9s}{'allowed':>9s}"
    print(f"{header}{'ratio':>8s}", flush=True)
    records: list[dict[str, Any]] = []
    surroundings: dict[str, Callable[[], Any]] = {"nothing": nullcontext, "busy loops": busy_cores}
    for beside, surround in surroundings.items():
        with surround():
            for name in options.tables:
                records += compare(name, beside, options)
    if options.json:
        about = {"machine": machine(), "cores": os.cpu_count(), "threads": threads}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**about, "timings": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
