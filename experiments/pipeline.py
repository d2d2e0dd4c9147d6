"""What the scenarios share: methods select, without labels; then every selection is judged.

Two stores result. NAME has one record per fit with what it selected, and nothing in it depends on a
label (but for CompFS, which is supervised). NAME_judged has one record per distinct selection with
what it was judged by.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments import data, methods
from experiments.protocol import CLUSTERS, Judgement, judge, judge_clusters
from experiments.store import RESULTS, Key, Store, machine, run

#: Where short runs leave their results, out of the way of the real ones.
QUICK_RESULTS = Path(__file__).parents[1] / "out" / "quick"
QUICK_TABLES = ("heart_disease", "lung500")
SCORES = tuple(field.name for field in fields(Judgement))


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    tables: tuple[str, ...]
    methods: tuple[str, ...]
    device: str
    jobs: int
    quick: bool
    results: Path

    def seeds(self, method: str) -> range:
        return range(methods.n_seeds(method, self.quick))


def options(
    about: str | None,
    tables: Sequence[str],
    known: Sequence[str],
    name: str,
    argv: Sequence[str] | None = None,
) -> Options:
    """Read the command line; ``--again`` forgets the cells of some methods at once."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--tables", "--datasets", help=f"some of: {','.join(tables)}")
    parser.add_argument("--methods", help=f"some of: {','.join(known)}")
    parser.add_argument("--again", default="", help="methods to compute again")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--jobs", type=int, default=1, help="processes; on cuda only for judging")
    parser.add_argument("--quick", action="store_true", help="two small tables, few epochs")
    parser.add_argument("--results", type=Path, help="folder to write to")
    given = parser.parse_args(argv)
    few = [t for t in tables if t in QUICK_TABLES] or list(tables)
    opt = Options(
        tables=_listed(given.tables, tables, few if given.quick else tables),
        methods=_listed(given.methods, known, known),
        device=given.device,
        jobs=given.jobs,
        quick=given.quick,
        results=given.results or (QUICK_RESULTS if given.quick else RESULTS),
    )
    if given.again:
        forget(
            opt.results / f"{name}.npz",
            lambda record: (
                record["key"]["method"] in _listed(given.again, known, ())
                and record["key"]["table"] in opt.tables
            ),
        )
    return opt


def fit_cells(opt: Options, table: str, method: str, budgets: Sequence[int | str]) -> Iterator[Key]:
    """Yield fits of a method on a table: one per seed, and per budget where it needs that."""
    budgets = budgets[:1] if method == "ALL" else budgets
    lists = [[b] for b in budgets] if method in methods.REFITTED else [list(budgets)]
    for seed in opt.seeds(method):
        for some in lists:
            yield {"table": table, "method": method, "seed": seed, "budgets": some}


def select(key: Key, build: methods.Build, device: str, quick: bool) -> dict[str, Any]:
    """Fit one method and say what it selects at the cell's budgets."""
    X, y, *_ = data.load(key["table"])
    first = key["budgets"][0]
    n_features = None if first in ("own", 0) else first  # none at all is no number to ask for
    selector = build(key["method"], key["table"], n_features, key["seed"], device)
    selector = methods.shortened(selector) if quick else selector
    facts = fit(selector, X, y if key["method"] in methods.SUPERVISED else None, device)
    at_budgets = methods.at_budgets(selector, key["budgets"])
    return {
        **facts,
        "selections": [
            {"budget": budget, "selected": selected}
            for budget, selected in zip(key["budgets"], at_budgets, strict=True)
        ],
    }


def fit(selector: Any, X: Any, y: Any, device: str) -> dict[str, Any]:
    """Fit, and record what there is to say: settings, seconds, warnings, what it found."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        selector.fit(X, y)
        seconds = time.perf_counter() - began
    figures = {
        name: getattr(selector, f"{name}_")
        for name in ("n_groups", "sparsity_weight", "smoothness_weight", "gain")
        if hasattr(selector, f"{name}_")
    }
    return {
        "settings": {k: v for k, v in selector.get_params().items() if _is_plain(v)},
        "found": {k: float(v) for k, v in figures.items()},
        "warnings": sorted({str(w.message) for w in caught}),
        "fit_seconds": round(seconds, 3),
        "machine": machine(device),
    }


def run_fits(
    name: str, cells: Iterable[Key], compute: Callable[[Key], dict[str, Any]], opt: Options
) -> int:
    """Compute the cells that are missing. Those that fail are named, counted and not kept."""
    jobs = 1 if opt.device == "cuda" else opt.jobs
    store = run(name, cells, partial(_guarded, compute), opt.results, jobs)
    failed = [record for record in store if "failed" in record]
    for record in failed:
        print(f"failed: {record['key']}: {record['failed']}")
    if failed:
        forget(store.path, lambda record: "failed" in record)
    return len(failed)


def run_judging(name: str, opt: Options, scores: Sequence[str] = SCORES) -> None:
    """Judge every selection that lacks any of the scores."""
    path = opt.results / f"{name}.npz"
    stamp = path.stat().st_mtime_ns
    keys = [{"table": t, "selection": s} for t, s in _by_digest(path, stamp)]
    keys = [key for key in keys if key["table"] in opt.tables]
    run(f"{name}_judged", keys, partial(_judge, path, stamp, scores), opt.results, opt.jobs, scores)


def rows(name: str, results: Path = RESULTS) -> list[dict[str, Any]]:
    """Make one row per judged selection: the cell, what was selected, how well it does.

    A score that the selection has not been judged by is not a number.
    """
    judged = {
        (record["key"]["table"], record["key"]["selection"]): record
        for record in Store(results / f"{name}_judged.npz")
    }
    joined = []
    for record in Store(results / f"{name}.npz"):
        key = {k: v for k, v in record["key"].items() if k != "budgets"}
        for selection in record["selections"]:
            place = key["table"], digest(selection["selected"])
            if place in judged:
                scores = {k: judged[place].get(k, math.nan) for k in SCORES}
                cost = {"fit_seconds": record["fit_seconds"], "device": record["machine"]["device"]}
                n_selected = {"n_selected": len(selection["selected"])}
                joined.append({**key, **selection, **n_selected, **scores, **cost})
    return joined


def digest(selected: Iterable[int]) -> str:
    """Give a set of features a short name."""
    text = ",".join(map(str, sorted(int(i) for i in selected)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def forget(path: Path, unwanted: Callable[[dict[str, Any]], bool]) -> None:
    """Drop finished cells, so that they are computed again."""
    store = Store(path)
    kept = [record for record in store if not unwanted(record)]
    if len(kept) < len(store.records):
        store.rewrite(kept)


def _guarded(compute: Callable[[Key], dict[str, Any]], key: Key) -> dict[str, Any]:
    try:
        return compute(key)
    except Exception as error:  # one method's failure must not stop a night's run
        return {"failed": f"{type(error).__name__}: {error}"}


def _judge(path: Path, stamp: int, wanted: Sequence[str], key: Key) -> dict[str, Any]:
    table = data.load(key["table"])
    selected = _by_digest(path, stamp)[key["table"], key["selection"]]
    args = table.Z, table.y, np.array(selected)
    by_clusters = set(wanted) <= set(CLUSTERS)
    scores = judge_clusters(*args) if by_clusters else judge(*args).as_dict()
    return {**scores, "n_selected": len(selected), "machine": machine("cpu")}


@cache
def _by_digest(path: Path, stamp: int) -> dict[tuple[str, str], list[int]]:
    """List distinct selections of a file by table; ``stamp`` says which state of it."""
    by_digest = {
        (record["key"]["table"], digest(selection["selected"])): selection["selected"]
        for record in Store(path)
        for selection in record["selections"]
    }
    return dict(sorted(by_digest.items()))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _listed(given: str | None, known: Sequence[str], otherwise: Sequence[str]) -> tuple[str, ...]:
    if given is None:
        return tuple(otherwise)
    names = tuple(name.strip() for name in given.split(","))
    for name in names:
        if name not in known:
            raise SystemExit(f"{name!r} is not known here; choose from {', '.join(known)}")
    return names
