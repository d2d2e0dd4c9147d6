"""Which geometry of the samples finds a group on a curved set: two circles, a Swiss roll.

A table has 1,000 samples and 40 features. Six of them are random directions of the coordinates of
two circles (or of a Swiss roll) with noise on top, and make the true group; the others are noise in
groups of six and four. Groups are given, so that only their scores differ. Two more tables have the
circles with a hundredth of all values twenty times as large, and with every sample as a whole
brighter or darker than the others.

*First* is the share of draws in which the true group has the highest score; the *margin* is how far
its score lies above the best of the noise, in standard deviations of the scores of noise groups,
median over draws. "known graph" is a graph of 15 nearest neighbours by all 40 columns, given as a
precomputed metric.

Run with ``python -m experiments.sample_geometry``; it prints the tables and writes
``results/sample_geometry.csv``. ``--time`` times one fit with each metric instead.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are loaded

import numpy as np
from sklearn.datasets import make_circles, make_swiss_roll
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from experiments.store import RESULTS
from groupfs import GroupFS

N_SAMPLES, N_FEATURES, N_TRUE = 1000, 40, 6
TABLES = ("circles", "roll", "circles, outliers", "circles, brightness")
#: Standard deviation of the noise on the features of the true group, whose own is one.
NOISE = (1.0, 2.0)
KNOWN_GRAPH = "known graph"
METRICS = ("euclidean", "cosine", "rank", "geodesic", "diffusion", KNOWN_GRAPH)
NEIGHBORS = 15
GROUPS = {
    "true": list(range(N_TRUE)),
    **{f"noise {i}": list(range(i, min(i + N_TRUE, N_FEATURES))) for i in range(6, 40, N_TRUE)},
}


def make_table(table: str, noise: float, seed: int) -> np.ndarray:
    """Draw a table; the first six columns are the true group."""
    rng = np.random.default_rng(seed)
    if table == "roll":
        points, _ = make_swiss_roll(N_SAMPLES, random_state=seed)
    else:
        points, _ = make_circles(N_SAMPLES, factor=0.5, noise=0.05, random_state=seed)
    directions = rng.standard_normal((points.shape[1], N_TRUE))
    true = StandardScaler().fit_transform(points) @ directions
    true = true / true.std(0) + noise * rng.standard_normal((N_SAMPLES, N_TRUE))
    others = rng.standard_normal((N_SAMPLES, N_FEATURES - N_TRUE))
    X = np.hstack([true / true.std(0), others])
    if table == "circles, outliers":
        X = np.where(rng.random(X.shape) < 0.01, 20 * X, X)
    if table == "circles, brightness":
        X = X * rng.lognormal(sigma=1, size=(N_SAMPLES, 1))
    return X


def fitted(X: np.ndarray, metric: str, **parameters: Any) -> GroupFS:
    """Fit the gates of the known groups; scores do not depend on how long."""
    chosen: Any = metric
    if metric == KNOWN_GRAPH:
        chosen = NearestNeighbors(n_neighbors=NEIGHBORS).fit(StandardScaler().fit_transform(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no group is kept
        return GroupFS(groups=GROUPS, metric=chosen, random_state=0, **parameters).fit(X)


def scores(X: np.ndarray, metric: str) -> dict[str, float]:
    """Score the groups, by name."""
    selector = fitted(X, metric, max_epochs=1)
    return dict(zip(selector.group_names_ or [], selector.group_scores_, strict=True))


def compute(n_draws: int) -> Iterator[dict[str, Any]]:
    """Yield a record for every table, noise, metric and draw."""
    for table in TABLES:
        for noise in NOISE:
            for seed in range(n_draws):
                X = make_table(table, noise, seed)
                for metric in METRICS:
                    found = scores(X, metric)
                    others = np.array([found[name] for name in found if name != "true"])
                    yield {
                        "table": table,
                        "noise": noise,
                        "metric": metric,
                        "draw": seed,
                        "score": round(found["true"], 5),
                        "best_noise": round(float(others.max()), 5),
                        "spread": round(float(others.std(ddof=1)), 5),
                    }


def print_table(records: list[dict[str, Any]]) -> None:
    """Print a line for every table and noise: share first and margin by metric."""
    print(f"{'':28}" + "".join(f"{metric:>14}" for metric in METRICS))
    for table in TABLES:
        for noise in NOISE:
            cells = []
            for metric in METRICS:
                wanted = (table, noise, metric)
                own = [r for r in records if (r["table"], r["noise"], r["metric"]) == wanted]
                gaps = np.array([r["score"] - r["best_noise"] for r in own])
                margin = np.median(gaps / [r["spread"] for r in own])
                cells.append(f"{(gaps > 0).mean():>6.2f} {margin:>7.1f}")
            print(f"{table:<20}{noise:>8}" + "".join(cells))


def print_times(repeats: int = 5) -> None:
    """Print how long a whole fit takes with each metric, over that with the euclidean one."""
    X = make_table("circles", 1.0, 0)
    fitted(X, "euclidean")  # what is loaded on the way
    seconds: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for _ in range(repeats):
        for metric in METRICS:
            began = time.perf_counter()
            fitted(X, metric)
            seconds[metric].append(time.perf_counter() - began)
    usual = np.median(seconds["euclidean"])
    for metric, values in seconds.items():
        print(f"{metric:<14}{np.median(values):8.2f} s {np.median(values) / usual:6.1f} times")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--time", action="store_true", help="time one fit with each metric")
    arguments = parser.parse_args(argv)
    if arguments.time:
        print_times()
        return
    records = list(compute(arguments.draws))
    with open(RESULTS / "sample_geometry.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    print_table(records)


if __name__ == "__main__":
    main()
