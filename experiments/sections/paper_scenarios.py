"""The sections of the paper's two scenarios, beside its numbers, and of the time they take."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from experiments import data, methods, paper, render, scenario1, scenario2
from experiments.aggregate import BEST_DRAW, COMPARED, best_choice, by_budget, measured
from experiments.pipeline import rows
from experiments.sections.shared import in_order, origin
from experiments.store import Store


def scenario1_section(results: Path) -> str:
    found = rows(scenario1.NAME, results)
    if not found:
        return ""
    parts = ["## Scenario 1: the paper's budgets", origin(scenario1.NAME, results)]
    for measure, title in (("accuracy", "Accuracy"), ("ari", "Adjusted Rand index")):
        scores = in_order(by_budget(found, measure), scenario1.TABLES)
        printed = paper.results()[f"scenario1_{measure}"]
        budgets = ", ".join(f"{table} {paper.budget(table)}" for table in scores)
        parts += [
            f"### {title}, in percent (the paper's in brackets)",
            render.beside_the_paper(scores, printed, COMPARED, COMPARED),
            *(render.against_the_paper(scores, printed, COMPARED, m) for m in methods.GROUPFS),
            render.means(scores, COMPARED),
        ]
        if measure == "accuracy":
            parts[2:2] = [f"Features selected: {budgets}."]
            parts_of_ours = render.ours_alone(scores, [*methods.ABLATIONS, "GroupFS"])
    neighbor = in_order(by_budget(found, "neighbor"), scenario1.TABLES)
    parts += [
        "### Accuracy of the nearest neighbour (1-nn), in percent",
        render.ours_alone(neighbor, COMPARED),
        "### What each part adds: accuracy",
        parts_of_ours,
        _moved(results),
    ]
    return "\n\n".join(parts)


def scenario2_section(results: Path) -> str:
    found = rows(scenario2.NAME, results)
    if not found:
        return ""
    scores = in_order(best_choice(found), scenario2.TABLES)
    printed = paper.results()["scenario2_accuracy"]
    names = [*COMPARED, BEST_DRAW, scenario2.MATCHED]
    candidates = [
        [name, *(str(s[name].n_candidates) if name in s else render.NONE for s in scores.values())]
        for name in measured(scores, names)
    ]
    choices = [f"{t}: {s['GroupFS'].choice}" for t, s in scores.items() if "GroupFS" in s]
    parts = [
        "## Scenario 2: at most 400 features, chosen by accuracy",
        origin(scenario2.NAME, results),
        "Accuracy in percent [features] (the paper's in brackets).",
        render.beside_the_paper(scores, printed, names, COMPARED, with_n=True),
        *(render.against_the_paper(scores, printed, COMPARED, m) for m in methods.GROUPFS),
        render.means(scores, names),
        "Candidates that the classes chose from:",
        render.markdown(["", *scores], candidates),
        "What they chose for GroupFS: " + "; ".join(choices) + ".",
    ]
    return "\n\n".join(parts)


def times_section(results: Path) -> str:
    """Add up the seconds of GroupFS's cells in the paper's scenarios, by table."""
    seconds: Counter[tuple[str, str]] = Counter()
    for name in (scenario1.NAME, scenario2.NAME):
        for record in Store(results / f"{name}.npz"):
            if record["key"]["method"] == "GroupFS":
                seconds[record["key"]["table"], name] += record["seconds"]
    if not seconds:
        return ""
    names = [scenario1.NAME, scenario2.NAME]
    tables = [t for t in data.NINE if any((t, name) in seconds for name in names)]
    lines = [[t, *(f"{seconds[t, name]:.1f}" for name in names)] for t in tables]
    lines += [["all", *(f"{sum(seconds[t, name] for t in tables):.1f}" for name in names)]]
    about = "Three seeds in the first, three paths of 48 models and their candidates in the second."
    text = render.markdown(["seconds", *names], lines)
    return f"## Time that GroupFS takes\n\n{about}\n\n{text}"


def _moved(results: Path) -> str:
    """Say how many features left the cluster they started in, mean over seeds."""
    shares: dict[str, list[float]] = {}
    for record in Store(results / f"{scenario1.NAME}.npz"):
        if record["key"]["method"] == "memberships too":
            shares.setdefault(record["key"]["table"], []).append(record["found"]["share_moved"])
    told = ", ".join(f"{t} {np.mean(s):.1%}" for t, s in in_order(shares, data.NINE).items())
    return (
        f"Features that leave the cluster they start in where memberships are learned too: {told}."
    )
