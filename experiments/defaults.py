"""Where the defaults of a budget come from: what counts, how much, and what groups have to say.

Run with ``python -m experiments.defaults``. For every table and seed one fit is ordered in several
ways, and the first features of each order are judged at several budgets; so are several choices
without a budget. Labels judge, and nothing else. What is best on all tables may be so by chance:
``compare`` also says what is best when each table is left out in turn.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments import data
from experiments.protocol import judge
from experiments.store import RESULTS, Key, Store, machine, run
from groupfs import GroupFS
from groupfs.data.table import Table
from groupfs.graphs.relatedness import Relatedness
from groupfs.scoring.smoothness import feature_smoothness
from groupfs.selection.column_factor import factor_columns
from groupfs.selection.coverage import Coverage
from groupfs.selection.feature_order import order_features
from groupfs.utils.types import BoolArray, FloatArray, IntArray

NAME = "defaults"
TABLES = (*(t for t in data.NINE if t != "nmnist"), "student", *data.SCIKIT_LEARN)
SEEDS = range(3)
#: The way that is the default.
DEFAULT = "features in groups first"
BUDGETS, SHARES = (20, 35, 50, 75, 100, 150, 200, 300), (0.15, 0.25, 0.35, 0.5, 0.6, 0.75, 0.85)


class KeptTable(GroupFS):
    """A selector that keeps its table, to order the features in other ways."""

    def _order(self, table: Table, relatedness: Relatedness | None, seed: int, metric: Any) -> None:
        super()._order(table, relatedness, seed, metric)
        self.table_, self.seed_ = table, seed
        varies = np.zeros(self.n_features_in_, dtype=bool)
        varies[table.columns] = True
        self.related_ = varies.copy()
        if relatedness is not None and relatedness.related.any():
            self.related_[table.columns] = relatedness.related


def compute(key: Key, device: str) -> dict[str, Any]:
    """Judge all selections of one table and seed."""
    table = data.load(key["table"])
    fitted = KeptTable(random_state=key["seed"], device=device).fit(table.X)
    entries = []
    for way, order in orders(fitted):
        for budget in budgets(table.X.shape[1]):
            entries.append({"way": way, "budget": budget, "selected": order[:budget].tolist()})
    for way, chosen in own_choices(fitted).items():
        entries.append({"way": way, "budget": None, "selected": np.flatnonzero(chosen).tolist()})
    for entry in entries:
        scores = judge(table.Z, table.y, np.array(entry["selected"], dtype=int)).as_dict()
        entry |= {name: scores[name] for name in ("accuracy", "neighbor")}
        del entry["selected"]  # a fit and the code give them again
    return {"entries": entries, **machine(device)}


def budgets(n_features: int) -> list[int]:
    if n_features >= max(BUDGETS):
        return list(BUDGETS)
    return sorted({int(share * n_features + 0.5) for share in SHARES})


def orders(fitted: KeptTable) -> Iterator[tuple[str, IntArray]]:
    """Order the features in every way that is compared."""
    table, labels = fitted.table_, fitted.group_labels_
    columns, d = table.columns, fitted.n_features_in_
    related, grouped, none = fitted.related_, labels >= 0, np.zeros(d, dtype=bool)
    kept = fitted.select(n_features_to_select=None).support
    central = none.copy()
    central[fitted.representatives_[fitted.group_selected_]] = True

    def order(weights: FloatArray, *stages: BoolArray) -> IntArray:
        taken, parts = none.copy(), []
        for stage in stages:
            parts.append(np.flatnonzero((stage & ~taken)[columns]))
            taken |= stage
        left = np.array([f for f in fitted.feature_order_ if not taken[f]], dtype=int)
        last = np.argsort(columns)[np.searchsorted(np.sort(columns), left)]
        weights = weights[columns] if weights[columns].any() else taken[columns].astype(float)
        return columns[order_features(table.rows, weights, parts, last).order]

    def smoothness(n_neighbors: int, among: BoolArray) -> FloatArray:
        found = np.zeros(d)
        index = np.flatnonzero(among[columns])
        found[columns] = feature_smoothness(table.rows, index, n_neighbors, fitted.seed_)
        return np.where(among, found, 0)

    usual = smoothness(fitted.n_neighbors, related)
    everything = np.isin(np.arange(d), columns)
    of_all = smoothness(fitted.n_neighbors, everything)
    yield DEFAULT, order(usual, grouped, related)
    yield "groups have no say", order(usual, related)
    yield "features of kept groups first", order(usual, kept, related)
    yield "kept groups first, they alone count", order(np.where(kept, usual, 0), kept, related)
    yield "one feature of each kept group first", order(usual, central, grouped, related)
    yield "equal weights", order(related.astype(float), grouped, related)
    yield (
        "all features, smooth ones count",
        order(of_all, everything),
    )
    yield "all features, equal weights", order(everything.astype(float), everything)
    for n_neighbors in (15, 30):
        weights = smoothness(min(n_neighbors, table.rows.shape[0] - 1), related)
        yield f"smooth by {n_neighbors} neighbours", order(weights, grouped, related)
    F = factor_columns(table.rows).F
    coverage = Coverage(F, torch.as_tensor(usual[columns], device=F.device))
    index = np.flatnonzero(related[columns])
    yield "coverage alone", columns[coverage.order(index, len(index))]
    for allocation in ("spread", "whole"):
        yield allocation, _by_budget(fitted, allocation)


def own_choices(fitted: KeptTable) -> dict[str, BoolArray]:
    """Choose features without a budget, in every way that is compared."""
    gates = fitted.select(n_features_to_select=None, n_groups_to_select="open").support
    return {
        "own: kept groups": fitted.select(n_features_to_select=None).support,
        "own: groups with open gates": gates,
        "own: related features": fitted.related_,
        "own: all features": np.isin(np.arange(fitted.n_features_in_), fitted.table_.columns),
    }


def _by_budget(fitted: KeptTable, allocation: str) -> IntArray:
    """Put what larger and larger budgets select into one order."""
    order: list[int] = []
    for budget in budgets(fitted.n_features_in_):
        if budget <= len(fitted.feature_order_):
            chosen = fitted.select(n_features_to_select=budget, allocation=allocation).features
            order += [feature for feature in chosen.tolist() if feature not in order]
    return np.array(order)


@dataclass(frozen=True)
class Comparison:
    """Mean accuracies of one way to select."""

    way: str
    accuracy: float  #: of k-means, mean over tables
    neighbor: float  #: of the nearest neighbour, mean over tables
    best_without: int  #: times it is best in the sum of both when one table is left out


def compare(records: Iterable[dict[str, Any]]) -> list[Comparison]:
    """Average over budgets, seeds and tables, for every way; budgets and own choices apart."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for record in records:
        for entry in record["entries"]:
            by_table = found.setdefault(entry["way"], {})
            scores = [entry["accuracy"], entry["neighbor"]]
            by_table.setdefault(record["key"]["table"], []).append(scores)
    own = [way for way in found if way.startswith("own: ")]
    spent = [way for way in found if way not in own]
    return [*_compared({w: found[w] for w in spent}), *_compared({w: found[w] for w in own})]


def _compared(found: dict[str, dict[str, list[list[float]]]]) -> list[Comparison]:
    if not found:
        return []
    tables = sorted(set.intersection(*(set(by_table) for by_table in found.values())))
    values = np.array([[np.mean(found[way][t], axis=0) for t in tables] for way in found])
    both = values.sum(2)
    best = [int(np.delete(both, j, axis=1).mean(1).argmax()) for j in range(len(tables))]
    return [
        Comparison(way, *values[i].mean(0).tolist(), best.count(i)) for i, way in enumerate(found)
    ]


def report(store: Store) -> None:
    """Print mean accuracies, and what is best without each table."""
    for one in compare(store):
        times = f", best without one table {one.best_without} times" if one.best_without else ""
        print(f"{one.way}: k-means {one.accuracy:.1f}, 1-nn {one.neighbor:.1f}{times}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    cells = [{"table": table, "seed": seed} for table in given.tables.split(",") for seed in SEEDS]
    report(run(NAME, cells, partial(compute, device=given.device), given.results, given.jobs))


if __name__ == "__main__":
    main()
