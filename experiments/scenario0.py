"""A scenario without any label: equal budgets, then as many features as GroupFS itself chooses.

Every method has its own defaults, whatever the table; nothing is picked by accuracy, and the one
supervised method is left out. ``python -m experiments.scenario0 --device cuda --jobs 16``
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from experiments import data, methods
from experiments.pipeline import Options, fit_cells, options, run_fits, run_judging, select
from experiments.store import Key, Store

NAME = "scenario0"
TABLES = (*data.NINE, "student", *data.SCIKIT_LEARN)
#: Ours choose a number of features of their own; the others are given it.
CHOOSING = ("GroupFS", *methods.ALLOCATIONS)
GIVEN = (*(m for m in methods.METHODS if m not in methods.SUPERVISED), "GroupFS paper")
METHODS = (*GIVEN, *CHOOSING)
#: The budgets' names; tables with fewer features than SMALL have shares of them instead.
LEVELS = (50, 100, 200)
SHARES = (0.25, 0.5, 0.75)
SMALL = 300


def budgets(table: str) -> list[int]:
    """Look up the features selected at each level."""
    d = data.load(table).X.shape[1]
    return list(LEVELS) if d >= SMALL else [math.floor(share * d + 0.5) for share in SHARES]


def choosing_cells(opt: Options) -> Iterator[Key]:
    for table in opt.tables:
        for method in opt.methods:
            if method in CHOOSING:
                yield from fit_cells(opt, table, method, [*budgets(table), "own"])


def given_cells(opt: Options) -> Iterator[Key]:
    """Yield cells at the levels, and at the numbers that GroupFS chose."""
    chosen = own_numbers(opt.results / f"{NAME}.npz")
    for table in opt.tables:
        for method in opt.methods:
            if method in GIVEN:
                yield from fit_cells(opt, table, method, budgets(table))
                if method != "ALL":
                    yield from _own_cells(opt, table, method, chosen.get(table, {}))


def own_numbers(path: Path) -> dict[str, dict[int, int]]:
    """Read how many features GroupFS chose, by table and seed."""
    numbers: dict[str, dict[int, int]] = {}
    for record in Store(path):
        key = record["key"]
        if key["method"] == "GroupFS":
            for selection in record["selections"]:
                if selection["budget"] == "own":
                    numbers.setdefault(key["table"], {})[key["seed"]] = len(selection["selected"])
    return numbers


def given_number(method: str, seed: int, chosen: dict[int, int]) -> list[int]:
    """Give a seed of a method GroupFS's numbers: all of them if it has one seed only."""
    if method not in methods.RANDOM:
        return sorted(set(chosen.values()))
    return [chosen[sorted(chosen)[seed % len(chosen)]]]


def _own_cells(opt: Options, table: str, method: str, chosen: dict[int, int]) -> Iterator[Key]:
    if not chosen:
        return
    for seed in opt.seeds(method):
        for key in fit_cells(opt, table, method, given_number(method, seed, chosen)):
            if key["seed"] == seed:
                yield key


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing; return the number of cells that failed."""
    opt = options(__doc__, TABLES, METHODS, NAME, argv)
    compute = partial(select, build=methods.defaults, device=opt.device, quick=opt.quick)
    failed = run_fits(NAME, choosing_cells(opt), compute, opt)
    failed += run_fits(NAME, given_cells(opt), compute, opt)
    run_judging(NAME, opt)
    return failed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
