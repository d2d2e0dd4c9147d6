"""This version beside an older one in one run: seconds of default fits, of paths, and from cold.

``python -m benchmarks.releases COMMIT`` fits every table with the source folders of the commit and
of the working tree, copied when the run begins. Each version has a process of its own for each
table; after a small fit to warm up, old and new take turns, so that noise of the machine hits both,
and the median counts. ``--paths`` fits ``GroupFSPath`` once each, too. "cold" are the seconds from
the start of a process to a first fit of two_moons, imports included. The ratio is how many times
faster this version is. Tables are drawn or read once, so older versions need not know them. Threads
are those of the environment.

``python -m benchmarks.releases --guard`` (``make bench``) takes a few minutes: eight timings beside
the last release, the fastest of up to three turns each. The status is 1 if one of them takes more
than 1.3 times as long as before or breaks.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.discovery_cost import table
from benchmarks.order_cost import machine
from benchmarks.tables import TablesMissing
from benchmarks.versions import ROOT, Version, WorkerFailed, export
from groupfs.datasets import load_two_moons

#: What the guard compares with as long as there is no tag.
LAST_RELEASE = "17cde88"
#: How many times faster than before default fits are to be.
TARGETS = {
    "two_moons": 5.0,
    "bfi": 5.0,
    "heart_disease": 3.0,
    "yale": 3.0,
    "metabric": 3.0,
    "nmnist38": 3.0,
    "allaml": 2.0,
    "sparse cells": 2.0,
}
PATH_TARGET = 1.0
#: What the guard times: a table and what is done with it.
GUARDED = (
    ("two_moons", "fit"),
    ("bfi", "fit"),
    ("heart_disease", "fit"),
    ("yale", "fit"),
    ("allaml", "fit"),
    ("two_moons", "path"),
    ("two_moons", "dask"),
    ("two_moons", "import"),
)
#: The guard fails if a timing is this many times longer. Turns of a timing are to end in time (s),
#: but one turn may be the bad luck of a moment, so that what seems slower is looked at again.
SLOWER, GUARD_SECONDS = 1.3, 25.0


def measure(versions: list[Version], file: Path, what: str, more: Callable[..., bool]) -> Any:
    """Let versions take turns as long as there is to be ``more``; return the seconds of each."""
    taken: list[list[float]] = [[] for _ in versions]
    with ExitStack() as stack:
        if what in ("import", "cold"):
            asks = [lambda what, version=version: version.once(what, file) for version in versions]
            for ask in asks:
                ask(what)  # compiles the modules, and brings them into memory
        else:
            asks = [stack.enter_context(version.worker(file)) for version in versions]
        while more(*taken):
            pairs = list(zip(taken, asks, strict=True))
            for seconds, ask in pairs if len(taken[0]) % 2 == 0 else pairs[::-1]:
                seconds.append(ask(what))
    return taken


def turns(n: int) -> Callable[..., bool]:
    """Ask for n turns."""
    return lambda old, new: len(old) < n


def guarded_turns(n: int) -> Callable[..., bool]:
    """Ask for n turns at most: those that end in time, and more where this version seems slower."""

    def more(old: list[float], new: list[float]) -> bool:
        if not old or len(old) >= n:
            return not old
        in_time = sum(old) + sum(new) + old[-1] + new[-1] <= GUARD_SECONDS
        return in_time or min(new) > SLOWER * min(old)

    return more


def write_table(name: str, folder: Path) -> Path:
    """Write a table to a file that any version can read, if it is not there yet."""
    file = folder / f"{name}.npz"
    if not file.exists():
        X = load_two_moons(random_state=0).data if name == "two_moons" else table(name)
        if sp.issparse(X):
            np.savez(file, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape)
        else:
            np.savez(file, X=X)
    return file


def last_release() -> str:
    """Name the newest tag, or the commit that stands in for one."""
    command = ["git", "-C", str(ROOT), "describe", "--tags", "--abbrev=0"]
    found = subprocess.run(command, capture_output=True, text=True)
    return LAST_RELEASE if found.returncode else found.stdout.strip()


def plan(options: argparse.Namespace) -> Iterator[tuple[str, str, float, Callable[..., bool]]]:
    """List what is timed: table, what, the ratio that is asked for if any, and how many turns."""
    if options.guard:
        for name, what in GUARDED:
            yield name, what, 1 / SLOWER, guarded_turns(options.repeats)
        return
    for name in options.tables:
        yield name, "fit", TARGETS[name], turns(options.repeats)
        if options.paths:
            yield name, "path", PATH_TARGET, turns(1)
    yield "two_moons", "cold", 0.0, turns(options.repeats)


def compare(versions: list[Version], options: argparse.Namespace, folder: Path) -> list[Any]:
    """Time what is planned; print each line as soon as it is known."""
    records: list[dict[str, Any]] = []
    for name, what, target, more in plan(options):
        label = what if what in ("import", "cold") else f"{name}, {what}"
        record: dict[str, Any] = {"table": name, "what": what, "target": target}
        try:
            seconds = measure(versions, write_table(name, folder), what, more)
        except TablesMissing as reason:  # says nothing about either version
            record |= {"ok": True, "failure": str(reason)}
            print(f"{label:22s}not measured, {reason}", flush=True)
        except (WorkerFailed, BrokenPipeError) as reason:
            record |= {"ok": False, "failure": str(reason)}
            print(f"{label:22s}{reason}", flush=True)
        else:
            old, new = map(min if options.guard else statistics.median, seconds)
            record |= {"old": old, "new": new, "ratio": old / new, "seconds": seconds}
            record["ok"] = old / new >= target
            mark = "" if record["ok"] else "  slower" if options.guard else "  not yet"
            figures = f"{old:10.2f}{new:10.2f}{old / new:8.2f}"
            asked = f"{target:.2f}" if target else "-"
            print(f"{label:22s}{figures}{asked:>8s}{len(seconds[0]):7d}{mark}", flush=True)
        records.append(record)
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit", nargs="?", help="the older version; else the last release")
    parser.add_argument("--tables", nargs="+", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--paths", action="store_true", help="time GroupFSPath, too")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--guard", action="store_true", help="a few timings; status 1 if slower")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    commit = options.commit or last_release()
    threads = os.environ.get("OMP_NUM_THREADS", f"all {os.cpu_count()}")
    load = os.getloadavg()[0]
    print(f"{machine()}, threads: {threads}, load before: {load:.1f}; beside {commit}")
    print(
        f"{'':22s}{'old, s':>10s}{'new, s':>10s}{'ratio':>8s}{'asked':>8s}{'turns':>7s}", flush=True
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        versions = [export(commit, folder / "old"), export(None, folder / "new")]
        records = compare(versions, options, folder)
    if options.json:
        about = {"commit": commit, "machine": machine(), "threads": threads, "load": load}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**about, "timings": records}, indent=1) + "\n")
    if options.guard and not all(record["ok"] for record in records):
        sys.exit(1)


if __name__ == "__main__":
    main()
