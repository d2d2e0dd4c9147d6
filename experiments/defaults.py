"""Where two defaults of GroupFS come from: the sparsity, and how a budget is spent.

Run with ``python -m experiments.defaults``. For every table and seed, models are trained at several
sparsities; recorded are the features of the groups that are open and stand out (its own choice) and
those of several ways to spend three budgets. Labels judge, and nothing else. A value counts only if
it is also the best on the other tables: ``compare`` leaves each table out in turn.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import data
from experiments.protocol import judge
from experiments.scenario0 import budgets
from experiments.store import RESULTS, Key, Store, machine, run
from groupfs import GroupFS
from groupfs.data.open_table import open_table
from groupfs.scoring.significance import discoveries
from groupfs.selection.budget import spend_budget
from groupfs.selection.describe import GroupResult, describe
from groupfs.training.problem import prepare
from groupfs.training.run import train_models
from groupfs.utils.device import resolve_device
from groupfs.utils.seeds import derive_seeds

NAME = "defaults"
TABLES = (*(t for t in data.NINE if t != "nmnist"), "student", *data.SCIKIT_LEARN)
SPARSITIES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SEEDS = range(3)


def compute(key: Key, device: str) -> dict[str, Any]:
    """Judge all selections of one table and seed."""
    table = data.load(key["table"])
    estimator = GroupFS(random_state=key["seed"], keep_unrelated=True)
    checked = open_table(estimator, table.X, standardize=True)
    seeds = derive_seeds(np.random.RandomState(key["seed"]), estimator.n_init)
    problem = prepare(checked, estimator._settings(checked), seeds, resolve_device(device))
    trained = train_models(problem, np.array(SPARSITIES) * problem.critical_sparsity_weight)
    entries = []
    for weight, sparsity in enumerate(SPARSITIES):
        result = describe(problem, trained, trained.best_seed(weight), weight)
        for what, chosen in selections(result, budgets(key["table"])).items():
            selected = np.sort(checked.columns[chosen])
            scores = judge(table.Z, table.y, selected).as_dict()
            way = {"sparsity": sparsity, "way": what[0], "budget": what[1]}
            entries.append({**way, **scores, "selected": selected.tolist()})
    return {"entries": entries, "n_groups": problem.n_groups, **machine(device)}


def selections(
    result: GroupResult, numbers: list[int]
) -> dict[tuple[str, int | None], NDArray[np.int64]]:
    """List its own choice, if any group stands out, and budgets spent in several ways."""
    assert result.p_values is not None
    stands_out = discoveries(result.p_values, 0.01)
    kept = stands_out & (result.gates > 0.5)
    found: dict[tuple[str, int | None], NDArray[np.int64]] = {}
    if kept.any():
        found["own", None] = np.concatenate([result.groups[j] for j in np.flatnonzero(kept)])
    ranked = np.arange(len(result.groups))
    share = stands_out if stands_out.any() else result.scores > 0
    weights = np.maximum(result.scores, 0)
    for budget in numbers:
        spend = partial(spend_budget, result.groups, result.centrality, ranked, share)
        found["whole", budget] = spend(weights, budget, "whole")
        found["by score", budget] = spend(weights, budget, "spread")
        found["by root of score", budget] = spend(np.sqrt(weights), budget, "spread")
        found["equally", budget] = spend(np.ones_like(weights), budget, "spread")
    return found


@dataclass(frozen=True)
class Comparison:
    """Mean accuracies of one way to select, by sparsity."""

    way: str
    tables: list[str]  #: those that have a selection at every sparsity
    accuracy: dict[float, float]
    best_without: list[float]  #: the best sparsity when each table is left out in turn


def compare(records: Iterable[dict[str, Any]]) -> list[Comparison]:
    """Average accuracy over tables, seeds and budgets, for every way and sparsity."""
    by_way: dict[str, dict[float, dict[str, list[float]]]] = {}
    for record in records:
        for entry in record["entries"]:
            sparsities = by_way.setdefault(entry["way"], {})
            tables = sparsities.setdefault(entry["sparsity"], {})
            tables.setdefault(record["key"]["table"], []).append(entry["accuracy"])
    return [_compared(way, sparsities) for way, sparsities in by_way.items()]


def _compared(way: str, sparsities: dict[float, dict[str, list[float]]]) -> Comparison:
    tables = sorted(set.intersection(*(set(found) for found in sparsities.values())))
    values = np.array([[np.mean(found[t]) for t in tables] for found in sparsities.values()])
    best = [
        list(sparsities)[int(np.delete(values, j, axis=1).mean(1).argmax())]
        for j in range(len(tables))
    ]
    means = dict(zip(sparsities, values.mean(1).tolist(), strict=True))
    return Comparison(way, tables, means, best)


def report(store: Store) -> None:
    """Print mean accuracies by sparsity, and what is best without each table."""
    for found in compare(store):
        print(f"\n{found.way}: mean accuracy over {len(found.tables)} tables")
        for sparsity, mean in found.accuracy.items():
            print(f"  sparsity {sparsity}: {mean:.1f}")
        print(f"  best without each table in turn: {', '.join(map(str, found.best_without))}")


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
