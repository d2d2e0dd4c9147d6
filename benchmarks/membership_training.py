"""What training adds to the groups it starts from: gates only, memberships too, which gradients.

``python -m benchmarks.membership_training`` fits GroupFS on tables whose groups are known, with the
right number of groups given, and prints the adjusted Rand index of

- *start*: the clusters training starts from; gates alone are learned, so they stay (the default);
- *all terms*: memberships are learned with the whole objective, as in the paper;
- *feature term*: memberships are moved by the feature graph alone, with several weights lambda1;
- *all terms, settled*: features that training took away from their neighbours are put back.

Labels of groups are used to judge and for nothing else. A second table has the leave-one-out
nearest-neighbour accuracy of 100 features chosen from the groups of each variant.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from benchmarks.tables import known_groups, load
from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.models.memberships import DenseMemberships
from groupfs.utils.warn import SelectionWarning

#: Weights of the feature term, where it alone moves the memberships.
WEIGHTS = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0)
JUDGED = ("yale", "lung500", "metabric", "nmnist38", "heart_disease")


@contextmanager
def feature_term_alone() -> Iterator[None]:
    """Keep the sample term and the sparsity term from moving features between groups."""
    with mock.patch.object(DenseMemberships, "_add_gate_forces", lambda self, grad, forces: grad):
        yield


def variants() -> dict[str, dict[str, Any]]:
    """Name the parameters of every variant."""
    learned = {"learn_memberships": True, "keep_unrelated": True}
    weighted = {
        f"feature term, {weight:g}": {**learned, "smoothness_weight": weight, "alone": True}
        for weight in WEIGHTS
    }
    return {
        "start": {},
        "all terms": learned,
        "all terms, settled": {"learn_memberships": True},
        **weighted,
    }


def fit(X: Any, alone: bool = False, **parameters: Any) -> GroupFS:
    """Fit one variant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        if not alone:
            return GroupFS(**parameters).fit(X)
        with feature_term_alone():
            return GroupFS(**parameters).fit(X)


def nearest_neighbor_accuracy(X: Any, y: Any) -> float:
    """Measure how often the nearest other sample has the same class."""
    Z = (X - X.mean(0)) / np.maximum(X.std(0), 1e-12)
    nearest = NearestNeighbors(n_neighbors=2).fit(Z).kneighbors(Z, return_distance=False)
    others = np.where(nearest[:, 0] == np.arange(len(Z)), nearest[:, 1], nearest[:, 0])
    return float(np.mean(y[others] == y))


def recovery(seeds: int) -> None:
    """Print the adjusted Rand index of every variant on tables with known groups."""
    tables = {name: known_groups(name) for name in ("bfi", "ability", "holzinger")}
    moons = load_two_moons(random_state=0)
    tables["two moons"] = (moons.data[:, :10], np.repeat([0, 1], 5))
    print(f"{'adjusted Rand index':22s}" + "".join(f"{name:>12s}" for name in tables))
    for name, parameters in variants().items():
        cells = []
        for X, truth in tables.values():
            found = [
                fit(X, n_groups=len(set(truth)), random_state=seed, **parameters).group_labels_
                for seed in range(seeds)
            ]
            cells.append(np.mean([adjusted_rand_score(truth, labels) for labels in found]))
        print(f"{name:22s}" + "".join(f"{value:12.2f}" for value in cells), flush=True)


def selection(seeds: int) -> None:
    """Print the accuracy of 100 features chosen from the groups of every variant."""
    print(f"\n{'1-nn accuracy, 100':22s}" + "".join(f"{name:>14s}" for name in JUDGED))
    chosen = {"n_features_to_select": 100}
    for name, parameters in variants().items():
        if name.startswith("feature term") and name != "feature term, 10":
            continue
        cells = []
        for dataset in JUDGED:
            X, y = load(dataset)
            budget = {"n_features_to_select": min(100, X.shape[1] // 2)}
            fits = [
                fit(X, n_groups=20 if X.shape[1] > 100 else 6, random_state=seed, **parameters)
                for seed in range(seeds)
            ]
            supports = [selector.select(**{**chosen, **budget}).support for selector in fits]
            found = [nearest_neighbor_accuracy(X[:, kept], y) for kept in supports]
            cells.append(100 * np.mean(found))
        print(f"{name:22s}" + "".join(f"{value:14.1f}" for value in cells), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--part", choices=("recovery", "selection"))
    arguments = parser.parse_args()
    if arguments.part != "selection":
        recovery(arguments.seeds)
    if arguments.part != "recovery":
        selection(arguments.seeds)
