"""GroupFS as published on the real tables: with the printed lambda2, and along a sweep of it.

Models with some gates open and some shut live within one or two per cent of the critical weight,
which the paper's grids cross in steps of 0.5 to 4 %. So C, lambda1, epochs and batches are as
printed, and lambda2 goes in steps of a quarter per cent from 0.97 to 1.08 of critical, beside the
printed ones. ``table1``, ``table2``, ``table_student`` and ``figure4`` use the same models.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import data, paper
from experiments.methods import QUICK_EPOCHS
from groupfs import GroupFS
from groupfs.groups import OPEN
from groupfs.joint.problem import prepare
from groupfs.joint.training import merge_duplicates, train_models

#: Relative to the critical weight.
SWEPT = np.round(np.arange(0.97, 1.08001, 0.0025), 4)
QUICK_SWEPT = SWEPT[::11]
N_SEEDS = 2
SCENARIOS = ("fixed_budget", "adaptive_budget")


class Model(NamedTuple):
    """One trained model."""

    seed: int
    sparsity: float  #: lambda2 relative to the critical weight
    lambda2: float
    printed: str  #: the scenario whose printed lambda2 it has, or ""
    loss: float
    gain: float
    gates: NDArray[np.float64]  #: (C,)
    labels: NDArray[np.int64]  #: group of every feature, -1 for constant ones, (d,)

    @property
    def groups(self) -> list[NDArray[np.int64]]:
        """The groups that have features, by their gates."""
        found = [np.flatnonzero(self.labels == j) for j in np.argsort(-self.gates, kind="stable")]
        return [group for group in found if len(group)]

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Which of the groups have open gates."""
        return np.array([self.gates[self.labels[group[0]]] > OPEN for group in self.groups])

    @property
    def n_open(self) -> int:
        return int(self.is_open.sum())

    @property
    def is_mixed(self) -> bool:
        return 0 < self.n_open < len(self.groups)

    def facts(self) -> dict[str, Any]:
        names = ("seed", "sparsity", "lambda2", "printed", "loss", "gain", "n_open", "is_mixed")
        return {name: getattr(self, name) for name in names} | {"n_groups": len(self.groups)}


def sweep(table: str, device: str, n_seeds: int = N_SEEDS, quick: bool = False) -> list[Model]:
    """Train GroupFS at all lambda2 side by side; models are sorted by lambda2, then by seed."""
    given = paper.groupfs(table)
    schedule = paper.schedule(table)
    if quick:
        schedule["max_epochs"] = QUICK_EPOCHS
    estimator = GroupFS(
        preset="paper",
        n_groups=given["n_groups"],
        smoothness_weight=given["lambda1"],
        **schedule,
        n_init=n_seeds,
        random_state=0,
        device=device,
    )
    problem = prepare(*estimator._open(data.load(table).X))
    critical = problem.critical_sparsity_weight
    printed = {paper.groupfs(table, scenario)["lambda2"]: scenario for scenario in SCENARIOS[::-1]}
    swept = (QUICK_SWEPT if quick else SWEPT) * critical
    weights = np.unique([*swept, *printed])
    trained = train_models(problem, weights / critical)
    n_features, columns = len(problem.table.names), problem.table.columns
    models = []
    for p, weight in enumerate(weights):
        for s in range(n_seeds):
            logits = trained.logits[s, p].astype(np.float64)
            labels = np.full(n_features, -1)
            labels[columns] = merge_duplicates(logits, problem.table.twins).argmax(1)
            figures = float(trained.loss[s, p]), float(trained.gain[s, p]), trained.gates[s, p]
            place = s, float(weight / critical), float(weight), printed.get(weight, "")
            models.append(Model(*place, *figures, labels))
    return models


def lowest_loss(models: list[Model]) -> Model | None:
    """Take the model with the lowest loss of those that are neither open nor shut, as published."""
    return min((m for m in models if m.is_mixed), key=lambda m: m.loss, default=None)


def largest_gain(models: list[Model]) -> Model | None:
    """Take the model with the largest gain of those that are neither open nor shut."""
    return max((m for m in models if m.is_mixed), key=lambda m: m.gain, default=None)


def covering(model: Model, budget: int) -> NDArray[np.int64]:
    """Select whole groups by their gates until the budget is covered."""
    taken = np.array([], dtype=np.int64)
    for group in model.groups:
        if len(taken) < budget:
            taken = np.concatenate([taken, group])
    return np.sort(taken)


def unions(model: Model, limit: int) -> Iterator[NDArray[np.int64]]:
    """Unite the first group by gates, the first two, and so on, up to so many features."""
    taken = np.array([], dtype=np.int64)
    for group in model.groups:
        taken = np.concatenate([taken, group])
        if len(taken) > limit:
            return
        yield np.sort(taken)


def save(models: dict[str, list[Model]], folder: Path) -> None:
    """Keep models for another script, which takes them if it is told so (``--sweep``)."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, found in models.items():
        columns = {name: np.array([getattr(m, name) for m in found]) for name in Model._fields}
        np.savez_compressed(folder / f"{table}.npz", **columns)


def load(table: str, folder: Path) -> list[Model]:
    with np.load(folder / f"{table}.npz") as file:
        columns = [file[name] for name in Model._fields]
    rows = zip(*(c if c.ndim > 1 else c.tolist() for c in columns), strict=True)
    return [Model(*row) for row in rows]
