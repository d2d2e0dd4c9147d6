"""The students' table: which nine features each method selects, and in which groups.

Settings are the paper's. ``python -m experiments.student --device cuda --jobs 16``
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments import data, methods, paper
from experiments.pipeline import Options, fit, fit_cells, options, run_fits, run_judging
from experiments.store import Key

NAME = "student"
TABLES = ("student",)
METHODS = (*methods.METHODS, *methods.GROUPFS)

#: the number of its group for each selected feature, None where the method has no groups
Marks = dict[str, int | None]


def cells(opt: Options) -> Iterator[Key]:
    for table in opt.tables:
        for method in opt.methods:
            yield from fit_cells(opt, table, method, [paper.results()["student"]["n_selected"]])


def compute(key: Key, device: str, quick: bool) -> dict[str, Any]:
    X, y, _, names = data.load(key["table"])
    (budget,) = key["budgets"]
    selector = methods.build(key["method"], key["table"], budget, key["seed"], device)
    selector = methods.shortened(selector) if quick else selector
    facts = fit(selector, X, y if key["method"] in methods.SUPERVISED else None, device)
    (selected,) = methods.at_budgets(selector, key["budgets"])
    selection = {
        "budget": budget,
        "selected": selected,
        "features": [names[i] for i in selected],
        "groups": groups_of(selector, selected),
    }
    groups = [[names[i] for i in group] for group in getattr(selector, "groups_", [])]
    return {**facts, "selections": [selection], "all_groups": groups}


def groups_of(selector: Any, selected: list[int]) -> list[int] | None:
    """Number each selected feature's group, from 1; None if the method has no groups.

    GroupFS numbers groups by rank. CompFS's groups may overlap or leave a feature out: a feature
    counts for the learner whose gate is likeliest open, learners numbered as they first appear.
    """
    if hasattr(selector, "group_labels_"):
        return [int(selector.group_labels_[i]) + 1 for i in selected]
    if hasattr(selector, "gate_probabilities_"):
        learners = np.argmax(selector.gate_probabilities_[:, selected], axis=0).tolist()
        numbers = {learner: place for place, learner in enumerate(dict.fromkeys(learners), 1)}
        return [numbers[learner] for learner in learners]
    return None


def marks_of(selection: dict[str, Any]) -> Marks:
    """Mark what a stored selection has."""
    groups = selection["groups"] or [None] * len(selection["features"])
    return dict(zip(selection["features"], groups, strict=True))


def printed_marks(printed: dict[str, Any], method: str) -> Marks:
    """Mark what the paper prints for a method; nothing where it prints none."""
    marks: Marks = dict.fromkeys(printed["selected"].get(method, []))
    for number, features in printed["groups"].get(method, {}).items():
        marks |= dict.fromkeys(features, int(number))
    return marks


def as_printed(method: str) -> str:
    """Name a method as the paper does."""
    return "GroupFS" if method in methods.GROUPFS else method


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing; return the number of cells that failed."""
    opt = options(__doc__, TABLES, METHODS, NAME, argv)
    work = partial(compute, device=opt.device, quick=opt.quick)
    failed = run_fits(NAME, cells(opt), work, opt)
    run_judging(NAME, opt)
    return failed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
