"""The section of scenario 0: methods compared at equal budgets by two measures."""

from __future__ import annotations

from pathlib import Path

from experiments import methods, render, scenario0
from experiments.aggregate import COMPARED, Scores, at_levels, compare, measured
from experiments.pipeline import rows

#: Measures that methods are ranked and tested by, and their names in the tables.
RANKED = {"accuracy": "k-means", "neighbor": "1-nn"}
NAMES = [method for method in COMPARED if method in scenario0.METHODS]


def scenario0_section(results: Path) -> str:
    judged = rows(scenario0.NAME, results)
    if not judged:
        return ""
    budgets = {table: scenario0.budgets(table) for table in {row["table"] for row in judged}}
    by_measure = {m: at_levels(judged, budgets, m) for m in (*RANKED, "explained")}
    parts = [
        "## Scenario 0: no label anywhere",
        render.origin(scenario0.NAME, results),
        "Accuracy of k-means and of the nearest neighbour (1-nn), variance explained, all in "
        "percent; mean ranks, 1 is best; p of Wilcoxon's test of GroupFS against the method. Best "
        "by 1-nn first.",
    ]
    levels = {
        level: {
            m: render.in_order(scores[level], scenario0.TABLES) for m, scores in by_measure.items()
        }
        for level in by_measure["accuracy"]
    }
    parts += [part for level, scores in levels.items() for part in _level(level, scores)]
    return "\n\n".join([*parts, *_allocations(levels)])


def _level(level: str, scores: dict[str, Scores]) -> list[str]:
    """Write the comparison at one level, then the values by table."""
    title = f"{level} features" if level != "own" else "As many features as GroupFS chooses"
    names = measured(scores["accuracy"], NAMES)
    everywhere = [name for name in names if _is_everywhere(name, scores)]
    ranked = {name: compare(scores[m], everywhere) for m, name in RANKED.items()}
    explained = compare(scores["explained"], everywhere).mean
    parts = [f"### {title}", render.comparison(ranked, explained, by="1-nn")]
    parts += [_somewhere(name, scores) for name in names if name not in everywhere]
    for measure, name in RANKED.items():
        by_table = render.ours_alone(scores[measure], [*NAMES, *methods.ALLOCATIONS])
        parts += [f"Accuracy of {name} by table:", by_table]
    if level == "own":
        ours = {t: s["GroupFS"] for t, s in scores["accuracy"].items() if "GroupFS" in s}
        chosen = ", ".join(f"{t} {s.n_selected:.0f}" for t, s in ours.items())
        parts += [f"Features that GroupFS chooses, mean over seeds: {chosen}."]
    return [part for part in parts if part]


def _is_everywhere(name: str, scores: dict[str, Scores]) -> bool:
    return all(name in of_table for of_table in scores["accuracy"].values())


def _somewhere(name: str, scores: dict[str, Scores]) -> str:
    """Compare a method that has not been run on every table with GroupFS, on those it has."""
    told = []
    for measure, words in RANKED.items():
        test = compare(scores[measure], [name, "GroupFS"])
        if test.mean:
            p = render.p_value(test.p_value[name])
            told += [f"{words} {test.mean[name]:.1f}, GroupFS {test.mean['GroupFS']:.1f} (p {p})"]
            n_tables = len(test.tables)
    return f"{name} on the {n_tables} tables it was run on: {'; '.join(told)}." if told else ""


def _allocations(levels: dict[str, dict[str, Scores]]) -> list[str]:
    """Write what becomes of GroupFS when a budget is spent in the other ways."""
    head, columns = [""], []
    for level, scores in levels.items():
        for measure, words in RANKED.items():
            head.append(f"{level}, {words}")
            columns.append(compare(scores[measure], ["GroupFS", *methods.ALLOCATIONS]))
    lines = [
        [name, *(f"{c.mean[name]:.1f}{_mark(c.p_value.get(name))}" for c in columns)]
        for name in ("GroupFS", *methods.ALLOCATIONS)
        if all(name in column.mean for column in columns)
    ]
    about = (
        "Means over all tables; * where Wilcoxon's test against GroupFS has p < 0.05, ** p < 0.01."
    )
    return (
        ["### Other ways to spend a budget", about, render.markdown(head, lines)] if lines else []
    )


def _mark(p_value: float | None) -> str:
    if p_value is None or not p_value < 0.05:
        return ""
    return " **" if p_value < 0.01 else " *"
