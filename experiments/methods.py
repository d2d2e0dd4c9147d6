"""Every method of the tables: set up as the paper sets it up for a table, or by its defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import data, paper
from experiments.protocol import judge, judge_clusters
from experiments.running import Row, machine
from groupfs import FeatureGroups, GroupFS, baselines
from groupfs.groups import OPEN

#: The paper's, with what it does not show: random features, the most variable ones, and ours.
PRINTED = ("LS", "MCFS", "CAE", "DUFS", "MGAGR", "CompFS")
OURS = ("GroupFS default", "FeatureGroups")
OF_PAPER = ("ALL", "RANDOM", "VARIANCE", *PRINTED, *OURS)
WITHOUT_LABELS = (
    *("ALL", "RANDOM", "VARIANCE", "CSS"),
    *("LS", "MCFS", "CAE", "DUFS", "MGAGR", "FeatureGroups"),
)
#: Methods that draw random numbers.
RANDOM = ("RANDOM", "CAE", "DUFS", "CompFS", *OURS)
#: Methods that learn from the classes.
SUPERVISED = ("CompFS",)
#: Methods whose scores depend on how many features are asked for.
REFITTED = ("MCFS", "CAE")
#: The paper trains CAE on this share of the rows.
CAE_ROWS = 0.9
#: Epochs of a short run.
QUICK_EPOCHS = 20


def n_seeds(method: str, quick: bool = False) -> int:
    """Count the seeds that a method is run with."""
    if method not in RANDOM or (quick and method != "RANDOM"):
        return 1
    return 10 if method == "RANDOM" else 3


def cells(table: str, method: str, budgets: Sequence[int | str], quick: bool = False) -> list[Row]:
    """List the fits of a method on a table: one per seed, and per budget where it needs that."""
    budgets = budgets[:1] if method == "ALL" else budgets
    lists = [[budget] for budget in budgets] if method in REFITTED else [list(budgets)]
    return [
        {"table": table, "method": method, "seed": seed, "budgets": some}
        for seed in range(n_seeds(method, quick))
        for some in lists
    ]


def select_and_judge(
    table: str,
    method: str,
    seed: int,
    budgets: list[int | str],
    device: str = "cpu",
    scenario: str | None = None,
    quick: bool = False,
) -> list[Row]:
    """Fit a method and judge what it selects at each budget; ``"own"`` is its own number.

    ``scenario`` takes the paper's settings of that scenario, and None the method's defaults; with a
    scenario selections are judged by k-means alone, as in the paper.
    """
    X, y, Z, _ = data.load(table)
    n_features = None if budgets[0] == "own" else int(budgets[0])
    if scenario is None:
        selector = defaults(method, n_features, seed, device)
    else:
        selector = build(method, table, n_features, seed, device, scenario)
    selector = shortened(selector) if quick else selector
    fit(selector, method, X, y, seed if scenario else None)
    facts: Row = {"machine": machine(device)}
    if hasattr(selector, "group_gates_"):
        n_open = int((selector.group_gates_ > OPEN).sum())
        facts |= {"n_groups": selector.n_groups_, "n_open": n_open, "gain": selector.gain_}
    rows = []
    for budget, selected in zip(budgets, at_budgets(selector, budgets), strict=True):
        by_clusters = None if scenario is None else judge_clusters(Z, y, selected)
        scores = by_clusters or judge(Z, y, selected).as_dict()
        stored = {"features": " ".join(map(str, selected))} if method == "FeatureGroups" else {}
        rows.append({"budget": budget, "n_selected": len(selected), **scores, **facts, **stored})
    return rows


def fit(selector: Any, method: str, X: Any, y: Any, seed: int | None) -> Any:
    """Fit a method; only supervised ones see the classes.

    With a seed CAE sees the rows that the paper trains it on: nine tenths, drawn at random.
    """
    if method == "CAE" and seed is not None:
        rows = np.random.default_rng(seed).permutation(len(X))
        X = X[np.sort(rows[: max(2, round(CAE_ROWS * len(X)))])]
    return selector.fit(X, y if method in SUPERVISED else None)


def build(
    method: str,
    table: str,
    n_features: int | None,
    seed: int,
    device: str = "auto",
    scenario: str = "fixed_budget",
) -> Any:
    """Build the method with the paper's settings for this table, selecting ``n_features``.

    What the paper leaves open: DUFS has the epochs and batches printed for GroupFS on the table;
    MGAGR's groups are equal blocks of columns, and where the paper could not run it (nmnist) its
    settings are those of nmnist38.
    """
    if method == "LS":
        return baselines.LaplacianScore(n_features, kept_neighbors="all", device=device)
    if method == "MCFS":
        return baselines.MCFS(n_features, kept_neighbors="all", device=device)
    if method not in ("CAE", "DUFS", "MGAGR", "CompFS"):
        return defaults(method, n_features, seed, device)
    given = paper.settings(method.lower(), table, scenario)
    if given is None:
        given = paper.settings(method.lower(), "nmnist38", scenario)
    assert given is not None
    if method == "CAE":
        return baselines.ConcreteAutoencoderSelector(
            n_features,
            hidden_width=int(given["hidden_width"]),
            batch_size=int(given["batch_size"]),
            device=device,
            random_state=seed,
        )
    if method == "DUFS":
        return baselines.DUFS(
            n_features,
            loss="sum",
            sparsity_weight=given["lambda"],
            learning_rate=given["learning_rate"],
            **paper.schedule(table),
            device=device,
            random_state=seed,
        )
    if method == "MGAGR":
        return baselines.MGAGR(
            n_features,
            n_groups=int(given["n_groups"]),
            smoothness_weight=given["alpha"],
            sparsity_weight=given["gamma"],
            kernel_width=given["sigma"],
            device=device,
        )
    return baselines.CompFS(
        n_features,
        n_learners=int(given["n_learners"]),
        hidden_width=int(given["hidden_dim"]),
        sparsity_weight=given["beta_s"],
        diversity_weight=given["beta_d"],
        batch_size=int(given["batch_size"]),
        device=device,
        random_state=seed,
    )


def defaults(method: str, n_features: int | None, seed: int, device: str = "auto") -> Any:
    """Build the method as it comes, whatever the table."""
    if method == "ALL":
        return baselines.AllFeatures()
    if method == "RANDOM":
        return baselines.RandomSelector(n_features, random_state=seed)
    if method == "VARIANCE":
        return baselines.VarianceSelector(n_features)
    if method == "CSS":
        return baselines.ColumnSubsetSelector(n_features)
    plain = {"LS": baselines.LaplacianScore, "MCFS": baselines.MCFS, "MGAGR": baselines.MGAGR}
    if method in plain:
        return plain[method](n_features, device=device)
    drawing = {
        "CAE": baselines.ConcreteAutoencoderSelector,
        "DUFS": baselines.DUFS,
        "CompFS": baselines.CompFS,
    }
    if method in drawing:
        return drawing[method](n_features, device=device, random_state=seed)
    common = {"n_features_to_select": n_features, "device": device, "random_state": seed}
    if method == "GroupFS default":
        return GroupFS(**common)
    if method == "FeatureGroups":
        return FeatureGroups(**common)
    known = ", ".join(dict.fromkeys((*OF_PAPER, *WITHOUT_LABELS)))
    raise ValueError(f"method {method!r} is not known; choose from {known}.")


def shortened(selector: Any) -> Any:
    """Set few epochs, for short runs."""
    if "max_epochs" in selector.get_params():
        given = selector.max_epochs
        selector.set_params(max_epochs=min(given or QUICK_EPOCHS, QUICK_EPOCHS))
    return selector


def at_budgets(selector: Any, budgets: Sequence[int | str]) -> list[NDArray[np.int64]]:
    """Select at each budget with a fitted selector; ``"own"`` are all features of kept groups."""
    if isinstance(selector, baselines.AllFeatures):
        return [selector.get_support(indices=True) for _ in budgets]
    if not hasattr(selector, "select"):
        return [np.flatnonzero(selector.ranking_ <= budget) for budget in budgets]
    kept: dict[str, Any] = {"n_features_to_select": None}
    if isinstance(selector, FeatureGroups):
        kept["n_groups_to_select"] = "significant"
    asked = [kept if budget == "own" else {"n_features_to_select": budget} for budget in budgets]
    return [selector.select(**changes).features for changes in asked]
