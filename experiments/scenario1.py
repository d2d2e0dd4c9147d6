"""The paper's first scenario: every method selects as many features as the paper's GroupFS did.

Baselines have the paper's settings. ``python -m experiments.scenario1 --device cuda --jobs 16``
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from experiments import data, methods, paper
from experiments.pipeline import Options, fit_cells, options, run_fits, run_judging, select
from experiments.store import Key

NAME = "scenario1"
TABLES = data.NINE
METHODS = (*methods.METHODS, *methods.GROUPFS, *methods.ALLOCATIONS)


def cells(opt: Options) -> Iterator[Key]:
    for table in opt.tables:
        for method in opt.methods:
            yield from fit_cells(opt, table, method, [paper.budget(table)])


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing; return the number of cells that failed."""
    opt = options(__doc__, TABLES, METHODS, NAME, argv)
    compute = partial(select, build=methods.build, device=opt.device, quick=opt.quick)
    failed = run_fits(NAME, cells(opt), compute, opt)
    run_judging(NAME, opt)
    return failed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
