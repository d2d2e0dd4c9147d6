"""The sections of the paper's two scenarios, beside its numbers, and of the time they take."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from experiments import data, methods, paper, render, scenario1, scenario2
from experiments.aggregate import BEST_DRAW, COMPARED, best_choice, by_budget, measured
from experiments.pipeline import rows
from experiments.store import Store


def scenario1_section(results: Path) -> str:
    judged = rows(scenario1.NAME, results)
    if not judged:
        return ""
    parts = ["## Scenario 1: the paper's budgets", render.origin(scenario1.NAME, results)]
    for measure, title in (("accuracy", "Accuracy"), ("ari", "Adjusted Rand index")):
        scores = render.in_order(by_budget(judged, measure), scenario1.TABLES)
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
            allocations = render.ours_alone(scores, ["GroupFS", *methods.ALLOCATIONS])
    neighbor = render.in_order(by_budget(judged, "neighbor"), scenario1.TABLES)
    parts += [
        "### Accuracy of the nearest neighbour (1-nn), in percent",
        render.ours_alone(neighbor, COMPARED),
        "### Other ways to spend the budget: accuracy",
        allocations,
    ]
    return "\n\n".join(parts)


def scenario2_section(results: Path) -> str:
    judged = rows(scenario2.NAME, results)
    if not judged:
        return ""
    scores = render.in_order(best_choice(judged), scenario2.TABLES)
    printed = paper.results()["scenario2_accuracy"]
    names = [*COMPARED, BEST_DRAW, scenario2.MATCHED]
    candidates = [
        [name, *(str(s[name].n_candidates) if name in s else render.NONE for s in scores.values())]
        for name in measured(scores, names)
    ]
    choices = [f"{t}: {s['GroupFS'].choice}" for t, s in scores.items() if "GroupFS" in s]
    parts = [
        "## Scenario 2: at most 400 features, chosen by accuracy",
        render.origin(scenario2.NAME, results),
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
