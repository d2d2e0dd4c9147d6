r"""Seconds of default fits beside what the hardware allows, and beside other methods.

``python -m benchmarks.speed`` prints a line for each table: the seconds of each stage of a fit
(``benchmarks.stages``), their total, the limit, how many times longer than it the fit takes,
seconds of the scores of all rows, the groups found, and the seconds of other methods on the same
table. ``--part`` takes other parts:

- growth: seconds and memory as rows and features grow, and a picture (``benchmarks.growth``).
- busy: several fits at once, as processes and as threads (``benchmarks.busy``).
- import: imports and a first fit in a new process, and of another commit (``--beside COMMIT``).

The limit of n rows and d features is what takes at least as long whoever computes it: that all
pairs of columns are multiplied, in the table and in the shuffled tables that say what chance does,
which have :math:`n_s` rows in all, and that the table is read once:

.. math:: (n + n_s)\, d\, (d - 1) / \text{flops per second} + \text{bytes} / \text{bytes per second}

Both rates are measured in the same run, by a product of float32 matrices and by a copy, with the
threads of the run; the library computes in double precision where it must. A sparse table is
counted as if its zeros were multiplied, and read as it is stored.

Other methods look for as many groups, factors or features as groups were found: Ward
(FeatureAgglomeration), factor analysis (randomized), MCFS and the Laplacian score. They are left
out (-) where a table is sparse, or larger than ``MOST_ROWS`` and ``MOST``: they take minutes there.
"""

import argparse
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import FactorAnalysis
from threadpoolctl import threadpool_limits

from benchmarks import busy, growth
from benchmarks.group_competitors import standardized, timed_fit
from benchmarks.machine import Rates, machine, rates, seconds
from benchmarks.records import written
from benchmarks.releases import export, process_seconds
from benchmarks.simulated_cells import sparse_counts
from benchmarks.stages import NAMES, watched_stages
from benchmarks.tables import read
from benchmarks.wide import wide_table
from groupfs.baselines import MCFS, LaplacianScore

REAL = ("two_moons", "bfi", "heart_disease", "breast cancer", "cells", "yale", "lung500")
REAL += ("metabric", "nmnist38", "allaml")
#: Planted tables by rows and features; those of ``counts:`` are sparse.
PLANTED = ("300x5000", "300x20000", "300x30000")
#: A fit is repeated until so many seconds have been spent; the fastest is shown.
ENOUGH = 30
#: Rows, and features for each of the other methods, of the tables they are given, at most.
MOST_ROWS = 20_000
MOST = {"Ward": 10_000, "factors": 10_000, "MCFS": 10_000, "Laplacian": 30_000}
HEADINGS = (*NAMES, "rest", "total", "limit", "times", "scores", "groups", *MOST)
FIRST_FIT = "import groupfs, numpy; X = numpy.random.default_rng(0).standard_normal((300, 30)); "
FIRST_FIT += "(getattr(groupfs, 'FeatureGroups', None) or groupfs.GroupFS)().fit(X)"


def table(name: str) -> Any:
    """Read a real table, or make a planted one: ``300x5000``, ``counts:200000x30000``."""
    kind, _, size = name.rpartition(":")
    if not size.replace("x", "").isdigit():
        return read(name)
    n, d = map(int, size.split("x"))
    return sparse_counts(n, d, 0) if kind == "counts" else wide_table(n, d, 0).X


def stages(X: Any, device: str, repeats: int) -> tuple[dict[str, float], int, int]:
    """Fit a table; return seconds of the fastest fit by stage, groups, and shuffled rows."""
    found: list[dict[str, float]] = []
    while len(found) < repeats and sum(fit["total"] for fit in found) < ENOUGH:
        with watched_stages() as clock:
            selector, total = timed_fit(X, 0, device=device)
        rest = total - sum(clock.seconds.values())
        selector.set_params(output="scores")
        scores = seconds(partial(selector.transform, X))
        found.append({**clock.seconds, "rest": rest, "total": total, "scores": scores})
    best = min(found, key=lambda fit: fit["total"])
    return best, int(selector.n_groups_), clock.n_shuffled


def competitors(X: Any, n_groups: int, device: str) -> Iterator[tuple[str, float]]:
    """Time the other methods that do not take too long; dense tables alone."""
    if sp.issparse(X):
        return
    Z = standardized(X[:, np.ptp(X, axis=0) > 0])
    C = max(min(n_groups, *Z.shape), 2)
    methods: dict[str, Callable[[], Any]] = {
        "Ward": lambda: FeatureAgglomeration(C).fit(Z),
        "factors": lambda: FactorAnalysis(C, svd_method="randomized", random_state=0).fit(Z),
        "MCFS": lambda: MCFS(C, device=device).fit(X),
        "Laplacian": lambda: LaplacianScore(C, device=device).fit(X),
    }
    for name, method in methods.items():
        if X.shape[0] <= MOST_ROWS and X.shape[1] <= MOST[name]:
            yield name, seconds(method)


def line(name: str, device: str, repeats: int, measured: Rates) -> str:
    """Measure a table, and write what it takes; or the reason why there is none."""
    try:
        X = table(name)
    except (FileNotFoundError, ImportError, ValueError) as reason:
        return f"{name:22s}not measured: {reason}"
    shown, n_groups, n_shuffled = stages(X, device, repeats)
    stored = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    shown["limit"] = measured.limit(*X.shape, n_shuffled, sum(part.nbytes for part in stored))
    shown["times"] = shown["total"] / shown["limit"]
    shown |= {"groups": n_groups, **dict(competitors(X, n_groups, device))}
    words = (written(shown.get(key)) for key in HEADINGS)
    size = f"{name} {X.shape[0]}x{X.shape[1]}" if name in REAL else name
    return f"{size:22s}" + "".join(f"{word:>10s}" for word in words)


def fits(options: argparse.Namespace) -> None:
    """Print seconds of fits by stage, limits, and seconds of other methods."""
    measured = rates(options.device)
    print(measured)
    print(f"{'seconds':22s}" + "".join(f"{heading:>10s}" for heading in HEADINGS), flush=True)
    warnings.simplefilter("ignore")  # those of factors that need more steps
    small = np.random.default_rng(0).standard_normal((60, 20))
    stages(small, options.device, 1), dict(competitors(small, 2, options.device))  # warms up
    for name in options.tables or (*REAL, *PLANTED):
        print(line(name, options.device, options.repeats, measured), flush=True)


def imports(options: argparse.Namespace) -> None:
    """Print seconds of imports and a first fit in new processes, which take turns."""
    with tempfile.TemporaryDirectory() as name:
        here = export(None, Path(name, "here"))
        codes = {"import sklearn.cluster": (here, "import sklearn.cluster")}
        codes["import groupfs, first fit"] = (here, FIRST_FIT)
        if options.beside:
            there = export(options.beside, Path(name, "beside"))
            codes[f"the same, {options.beside}"] = (there, FIRST_FIT)
        runs = range(1 + options.repeats)  # the first compiles the modules
        turns = [[process_seconds(*code) for code in codes.values()] for _ in runs]
    for title, spent in zip(codes, np.min(turns, axis=0), strict=True):
        print(f"{title:32s}{spent:8.2f} s")


PARTS = {"fits": fits, "growth": growth.show, "busy": busy.show, "import": imports}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=PARTS, default="fits")
    parser.add_argument("--tables", nargs="+", help="fits, busy: names, 500x100000, counts:NxD")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, help="at most; else those of the environment")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--beside", help="import: another commit")
    parser.add_argument("--rows", type=int, default=10**7, help="growth: at most")
    parser.add_argument("--features", type=int, default=10**5, help="growth: at most")
    parser.add_argument("--max-memory", default="4GB", help="growth: of a fit")
    parser.add_argument("--out", type=Path, default=Path("out/growth.png"), help="the picture")
    options = parser.parse_args(arguments)
    if options.threads:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)  # of other processes
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    where = f"{machine(options.device)}, threads: {threads}"
    print(f"{where}, load before: {os.getloadavg()[0]:.1f}", flush=True)
    with threadpool_limits(options.threads):
        PARTS[options.part](options)


if __name__ == "__main__":
    main()
