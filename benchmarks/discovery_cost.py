"""What finding groups costs: relatedness, replication and significance beside training before.

``python -m benchmarks.discovery_cost SRC`` fits every table twice in one run, each time in its own
process: with this version, timing the steps that find and test groups, and with the older version
in the folder SRC, timing its training. It prints seconds and their ratio; at most 1 is asked for.
Threads are those of the environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]
TABLES = ("bfi", "yale", "nmnist38", "allaml", "sparse cells")
#: Modules and functions that are timed.
OURS = (
    ("groupfs.graphs.relatedness", "measure_relatedness"),
    ("groupfs.training.problem", "discover"),
    ("groupfs.selection.describe", "chance_cohesion"),
    ("groupfs.selection.describe", "_reliability"),
)


def table(name: str) -> Any:
    """Load or draw a table."""
    from benchmarks.tables import known_groups, load

    if name == "bfi":
        return known_groups(name)[0]
    if name != "sparse cells":
        return load(name)[0]
    rng = np.random.default_rng(0)
    programmes = rng.gamma(0.5, size=(20_000, 30))[:, np.arange(3000) % 30]
    counts = rng.poisson(0.05 * programmes * rng.gamma(2.0, 0.5, size=3000))
    return sp.csr_array(np.log1p(counts))


def timed(name: str, steps: list[list[str]]) -> float:
    """Fit a table and add up the seconds that the steps take."""
    import importlib

    seconds = [0.0]

    def watch(function: Any) -> Any:
        def watched(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                seconds[0] += time.perf_counter() - start

        return watched

    from groupfs import GroupFS

    for module, function in steps:
        owner = importlib.import_module(module)
        setattr(owner, function, watch(getattr(owner, function)))
    X = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GroupFS(max_epochs=2, random_state=0).fit(np.random.default_rng(0).standard_normal((99, 9)))
        seconds[0] = 0.0
        GroupFS(random_state=0, device="cpu").fit(X)
    return seconds[0]


def run(source: Path, name: str, steps: list[list[str]]) -> float:
    """Time a version in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
    given = json.dumps([name, steps])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.discovery_cost", "--time", given],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=ROOT,
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", type=Path, help="folder of the older version")
    parser.add_argument("--training", default="groupfs.training.path_runs:train_models")
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--time", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.time:
        print(timed(*json.loads(options.time)))
        return
    print(f"{'table':14s}{'finding groups, s':>20s}{'training before, s':>20s}{'ratio':>8s}")
    for name in options.tables:
        ours = run(ROOT / "src", name, [list(step) for step in OURS])
        before = run(options.source.resolve(), name, [options.training.split(":")])
        print(f"{name:14s}{ours:20.1f}{before:20.1f}{ours / before:8.2f}", flush=True)


if __name__ == "__main__":
    main()
