"""The paper's second scenario: at most 400 features, and the classes choose among candidates.

Baselines are judged at four budgets, GroupFS at the unions of groups along its path, and the best
accuracy is what is reported: labels are used to choose a model, as in the paper. A choice among
many is worth something by itself; so random features are drawn as often, and as many at a time.
``python -m experiments.scenario2 --device cuda --jobs 16``
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments import data, methods, paper
from experiments.pipeline import (
    Options,
    fit,
    fit_cells,
    forget,
    options,
    run_fits,
    run_judging,
    select,
)
from experiments.protocol import CLUSTERS
from experiments.store import Key, Store, machine
from groupfs import GroupFSPath

NAME = "scenario2"
TABLES = data.NINE
#: A random draw of as many features for every candidate of GroupFS.
MATCHED = "RANDOM matched draws"
METHODS = (*methods.METHODS, *methods.GROUPFS, MATCHED)
BUDGETS, SMALL_BUDGETS = (50, 100, 200, 400), (2, 4, 8, 10)
#: Numbers of groups that are tried, in terms of the paper's.
FACTORS = (0.5, 1, 2)
#: Candidates that one path may give.
MOST_CANDIDATES = 150


def budgets(table: str) -> tuple[int, ...]:
    return SMALL_BUDGETS if table == "heart_disease" else BUDGETS


def numbers_of_groups(table: str) -> list[int]:
    """Take half, once and twice the paper's C."""
    given = paper.settings("groupfs_corrected", table, "adaptive_budget") or {}
    C = given["n_groups"] or methods.MISSING_NMNIST["n_groups"]
    return [max(2, math.floor(factor * C + 0.5)) for factor in FACTORS]


def cells(opt: Options) -> Iterator[Key]:
    for table in opt.tables:
        for method in opt.methods:
            if method == "GroupFS":
                for C in numbers_of_groups(table):
                    yield {"table": table, "method": method, "seed": 0, "n_groups": C}
            elif method == "GroupFS paper":
                for seed in opt.seeds(method):
                    yield {"table": table, "method": method, "seed": seed}
            elif method != MATCHED:
                yield from fit_cells(opt, table, method, budgets(table))


def matched_cells(opt: Options) -> Iterator[Key]:
    """Yield one cell for each of GroupFS's paths; drop draws for paths that have changed."""
    path = opt.results / f"{NAME}.npz"
    sizes = candidate_sizes(path)
    forget(path, lambda r: r["key"]["method"] == MATCHED and r["sizes"] != sizes.get(_which(r)))
    for table, C in sizes:
        if MATCHED in opt.methods and table in opt.tables:
            yield {"table": table, "method": MATCHED, "seed": 0, "n_groups": C}


def candidate_sizes(path: Path) -> dict[tuple[str, int], list[int]]:
    """Count the features of each of GroupFS's candidates, by table and C."""
    return {
        _which(record): [len(selection["selected"]) for selection in record["selections"]]
        for record in Store(path)
        if record["key"]["method"] == "GroupFS"
    }


def compute(key: Key, device: str, quick: bool) -> dict[str, Any]:
    if key["method"] == "GroupFS":
        return _path(key, device, quick)
    if key["method"] == "GroupFS paper":
        return _paper_model(key, device, quick)
    record = select(key, partial(methods.build, scenario="adaptive_budget"), device, quick)
    for selection in record["selections"]:
        selection["choice"] = f"{len(selection['selected'])} features"
    return record


def draw_matched(key: Key, path: Path) -> dict[str, Any]:
    """Draw random features, as many at a time as GroupFS's candidates have."""
    n_features = data.load(key["table"]).X.shape[1]
    rng = np.random.default_rng([key["seed"], key["n_groups"]])
    sizes = candidate_sizes(path)[key["table"], key["n_groups"]]
    draws = [np.sort(rng.permutation(n_features)[:size]).tolist() for size in sizes]
    selections = [
        {"choice": f"C = {key['n_groups']}, draw {place}", "selected": draw}
        for place, draw in enumerate(draws, 1)
    ]
    facts = {"fit_seconds": 0.0, "warnings": [], "machine": machine("cpu")}
    return {**facts, "sizes": sizes, "selections": selections}


def candidates(path: Any, budgets: Sequence[int], most: int) -> list[dict[str, Any]]:
    """List at most ``most`` distinct candidates of a path, with at most ``max(budgets)`` features.

    First what is selected at the budgets, then the unions of the groups in rank order, then those
    of the groups that each model leaves open, models with the largest gain first.
    """
    limit = max(budgets)
    choices: dict[tuple[int, ...], str] = {}
    for budget in budgets:
        selected = path.select(n_features_to_select=budget).features
        choices.setdefault(tuple(selected.tolist()), f"budget {budget}")
    for text, union in nested_unions(path.groups_, path.centrality_, limit):
        choices.setdefault(tuple(union), f"chosen model, {text}")
    models = np.argsort(-path.path_.gain, axis=None, kind="stable")
    for s, p in zip(*np.unravel_index(models, path.path_.gain.shape), strict=True):
        groups = [
            group
            for group, is_open in zip(path.groups_, path.path_.is_open[s, p], strict=True)
            if is_open
        ]
        model = f"sparsity {path.path_.sparsities[p]:.2f}, model {s + 1}"
        for text, union in nested_unions(groups, path.centrality_, limit):
            choices.setdefault(tuple(union), f"{model}, {text}")
    kept = list(choices.items())[:most]
    return [{"choice": text, "selected": list(features)} for features, text in kept]


def nested_unions(
    groups: list[Any], centrality: Any, limit: int
) -> Iterator[tuple[str, list[int]]]:
    """Unite the first group, the first two, and so on; fill the last union up to the limit.

    The group that does not fit gives its most central features, as it does to a budget.
    """
    taken = np.array([], dtype=np.int64)
    for n_groups, group in enumerate(groups, 1):
        if len(taken) + len(group) > limit:
            central = group[np.argsort(-centrality[group], kind="stable")]
            taken = np.concatenate([taken, central])[:limit]
            yield f"filled up to {limit}", sorted(taken.tolist())
            return
        taken = np.concatenate([taken, group])
        yield f"{n_groups} group{'s' if n_groups > 1 else ''}", sorted(taken.tolist())


def _path(key: Key, device: str, quick: bool) -> dict[str, Any]:
    """Train all models of one path, and list their candidates."""
    path = GroupFSPath(n_groups=key["n_groups"], random_state=key["seed"], device=device)
    path = methods.shortened(path) if quick else path
    facts = fit(path, data.load(key["table"]).X, None, device)
    selections = candidates(path, budgets(key["table"]), MOST_CANDIDATES)
    for candidate in selections:
        candidate["choice"] = f"C = {key['n_groups']}, {candidate['choice']}"
    return {**facts, "selections": selections}


def _paper_model(key: Key, device: str, quick: bool) -> dict[str, Any]:
    """Train the paper's model; groups are added in the order of their gates."""
    table, seed = key["table"], key["seed"]
    selector = methods.build("GroupFS paper", table, None, seed, device, "adaptive_budget")
    selector = methods.shortened(selector) if quick else selector
    facts = fit(selector, data.load(table).X, None, device)
    unions = nested_unions(selector.groups_, selector.centrality_, max(budgets(table)))
    selections = [
        {"choice": f"seed {seed}, {name}", "selected": selected} for name, selected in unions
    ]
    return {**facts, "selections": selections}


def _which(record: dict[str, Any]) -> tuple[str, int]:
    return record["key"]["table"], record["key"]["n_groups"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing; return the number of cells that failed."""
    opt = options(__doc__, TABLES, METHODS, NAME, argv)
    work = partial(compute, device=opt.device, quick=opt.quick)
    failed = run_fits(NAME, cells(opt), work, opt)
    drawn = partial(draw_matched, path=opt.results / f"{NAME}.npz")
    failed += run_fits(NAME, list(matched_cells(opt)), drawn, opt)
    run_judging(NAME, opt, CLUSTERS)  # the classes choose by k-means, as in the paper
    return failed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
