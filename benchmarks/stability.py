"""Whether groups stay as they are when what does not matter changes, and with fewer rows.

A table is fitted once, and again with another seed, its columns or its rows in another order, ten
unrelated columns more, one gap, or 90 % of its rows. The first three give the same groups by
construction, so that two of each are enough, however many there are of the others. The groups of
the columns of the first fit are compared by the Rand index; features in no group are one more.
"""

import argparse
from collections.abc import Iterable
from typing import Any

import numpy as np
from joblib import delayed
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.group_competitors import fitted
from benchmarks.questionnaires import questionnaire
from benchmarks.records import Record, attempt, averaged, mean
from benchmarks.tables import BUNDLED, KNOWN, read

PUBLISHED = ("student", "heart_disease", "yale", "lung500", "allaml", "nmnist38", "metabric")
NAMES = (*KNOWN, *BUNDLED, *PUBLISHED, "cells", "questionnaires")
N_QUESTIONNAIRES = 20
#: Unrelated columns that are added; share of the rows that is left; times of what is exact.
N_ADDED, LEFT, EXACT_TIMES = 10, 0.9, 2
FEWER_ROWS = "90 % of the rows"

EXACT = ("seed", "columns permuted", "rows permuted")
CHANGES = (*EXACT, "unrelated columns", "one gap", FEWER_ROWS)


def changed(X: NDArray, change: str, rng: Generator) -> tuple[NDArray, NDArray]:
    """Change a table, and say where in it the columns of the first are; seeds change elsewhere."""
    n, d = X.shape
    if change == "columns permuted":
        order = rng.permutation(d)
        return X[:, order], np.argsort(order)
    if change == "rows permuted":
        X = X[rng.permutation(n)]
    elif change == "unrelated columns":
        X = np.column_stack([X, rng.standard_normal((n, N_ADDED))])
    elif change == "one gap":
        X = X.copy()
        X[rng.integers(n), rng.integers(d)] = np.nan
    elif change == FEWER_ROWS:
        X = X[np.sort(rng.choice(n, round(LEFT * n), replace=False))]
    return X, np.arange(d)


def measure(name: str, number: int, change: str, n: int) -> list[Record]:
    """Fit a table once, and n times changed."""
    X = questionnaire("two-level", number).X if name == "questionnaires" else read(name)
    first = fitted(X, 0)

    def compared(k: int) -> Record:
        rng = np.random.default_rng([k, 5, CHANGES.index(change)])
        X_again, places = changed(X, change, rng)
        again = fitted(X_again, k + 1 if change == "seed" else 0)
        ari = float(adjusted_rand_score(first.group_labels_, again.group_labels_[places]))
        return {"ari": ari, "groups": int(again.n_groups_), "before": int(first.n_groups_)}

    facts = {"table": name, "number": number, "change": change}
    return [attempt({**facts, "draw": k}, lambda k=k: compared(k)) for k in range(n)]


def calls(n: int, options: argparse.Namespace) -> Iterable[Any]:
    """Plan n fits of each change of the tables that are asked for."""
    for name in options.names or NAMES:
        for number in range(N_QUESTIONNAIRES if name == "questionnaires" else 1):
            for change in CHANGES:
                times = min(n, EXACT_TIMES) if change in EXACT else n
                yield delayed(measure)(name, number, change, times)


def tables(records: list[Record]) -> dict[str, list[Record]]:
    """Average how alike groups are, by table and by change."""
    return {
        "Groups of a changed table": averaged(records, averages, "table"),
        "By change": averaged(records, by_change, "change"),
    }


def averages(records: list[Record]) -> Record:
    """Take what should change nothing together, and fewer rows on their own."""
    same = by_change([r for r in records if r["change"] != FEWER_ROWS])
    fewer = {f"Rand, {FEWER_ROWS}": mean(r["ari"] for r in records if r["change"] == FEWER_ROWS)}
    return {"groups": mean(r["before"] for r in records), **same, **fewer}


def by_change(records: list[Record]) -> Record:
    """Average Rand indices with the first fit, and take the worst."""
    return {
        "fits": len(records),
        "Rand": mean(r["ari"] for r in records),
        "lowest": min((r["ari"] for r in records), default=None),
        "groups off at most": max((abs(r["groups"] - r["before"]) for r in records), default=None),
    }
