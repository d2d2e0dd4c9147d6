"""Wide tables with planted groups among noise: what is kept of them.

Groups have 5 to 400 features, half of them 25 or fewer, with loadings of .4 to .8, a third of them
reversed; 40 % of the features are noise. ``benchmarks.speed`` says what such fits take.
"""

import argparse
from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from joblib import delayed
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.group_competitors import timed_fit
from benchmarks.machine import in_a_process, peak_memory
from benchmarks.planted_tables import PlantedTable
from benchmarks.questionnaires import items, signed_loadings
from benchmarks.records import Record, attempt, averaged, means

SIZES, ROWS = (1000, 4000, 10_000, 20_000, 30_000), (300, 100)
NOISE = 0.4
#: Median and spread of the lognormal sizes of groups, their bounds, and loadings.
MEDIAN, SIGMA, BOUNDS, LOADINGS = 25, 1.0, (5, 400), (0.4, 0.8)
#: What is averaged, and what it is called.
SHOWN = {"groups planted": "groups", "groups found": "found", "groups kept": "kept"}
SHOWN |= {"kept, matched": "matched", "planted, matched": "matched_share", "Rand, kept": "ari"}
SHOWN |= {"planted lost": "lost", "noise kept": "noise_kept"}
SHOWN |= {"seconds": "seconds", "peak memory, GB": "memory"}


def wide_table(rows: int, features: int, number: int) -> PlantedTable:
    """Draw a wide table; its columns are in no order."""
    rng = np.random.default_rng([number, 4, rows, features])
    groups = planted_groups(rng, features)
    factors = rng.standard_normal((rows, groups.max() + 1))
    X = items(rng, factors, groups, signed_loadings(rng, features, *LOADINGS))
    return PlantedTable(X, groups, {"table": number, "rows": rows, "features": features})


def planted_groups(rng: Generator, n_features: int) -> NDArray[np.int64]:
    """Draw the group of every feature, -1 for noise; the last group takes what is left."""
    n_noise = round(NOISE * n_features)
    sizes: list[int] = []
    left = n_features - n_noise
    while left:
        size = int(np.clip(round(rng.lognormal(np.log(MEDIAN), SIGMA)), *BOUNDS))
        size = left if left - size < BOUNDS[0] else size
        sizes.append(min(size, BOUNDS[1]))
        left -= sizes[-1]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return rng.permutation(np.append(groups, np.full(n_noise, -1)))


def measure(rows: int, features: int, number: int) -> list[Record]:
    """Fit a wide table in a process of its own, and compare what is kept with planted groups."""
    told = {"table": number, "rows": rows, "features": features}
    return [attempt(told, partial(in_a_process, compared, rows, features, number))]


def compared(rows: int, features: int, number: int) -> Record:
    """Fit a wide table, and compare the groups that are kept with planted ones."""
    table = wide_table(rows, features, number)
    selector, seconds = timed_fit(table.X, number)
    labels = selector.group_labels_
    kept = np.append(selector.group_kept_, False)[labels]  # the last is for -1, in no group
    found = {"groups": table.n_groups, "found": int(selector.n_groups_)}
    found |= {"seconds": seconds, "memory": peak_memory()}
    return found | scores(table.groups, labels, kept)


def scores(groups: NDArray, labels: NDArray, kept: NDArray[np.bool_]) -> Record:
    """Compare features of kept groups with planted groups.

    A kept group matches a planted one if each has most of the features of the other. ``ari`` is of
    planted features in kept groups alone; None where there are none.
    """
    planted, both = groups >= 0, kept & (groups >= 0)
    counts = np.zeros((groups.max() + 1, max(labels.max() + 1, 1)), dtype=np.int64)
    np.add.at(counts, (groups[both], labels[both]), 1)
    planted_sizes = np.bincount(groups[planted], minlength=counts.shape[0])
    kept_sizes = np.bincount(labels[kept], minlength=counts.shape[1])
    matches = (2 * counts > planted_sizes[:, None]) & (2 * counts > kept_sizes)
    return {
        "kept": int((kept_sizes > 0).sum()),
        "matched": int(matches.sum()),
        "matched_share": float(matches.sum() / len(planted_sizes)),
        "ari": float(adjusted_rand_score(groups[both], labels[both])) if both.any() else None,
        "lost": float(1 - kept[planted].mean()),
        "noise_kept": float(kept[~planted].mean()) if not planted.all() else None,
    }


def calls(n: int, options: argparse.Namespace) -> Iterable[Any]:
    """Plan the fits of n tables of each size."""
    planned = product(options.sizes or SIZES, options.rows or ROWS, range(n))
    return (delayed(measure)(rows, features, number) for features, rows, number in planned)


def tables(records: list[Record]) -> dict[str, list[Record]]:
    """Average what is kept, by rows and features."""
    return {"Wide tables": averaged(records, partial(means, shown=SHOWN), "rows", "features")}
