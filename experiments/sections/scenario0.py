"""The section of scenario 0: methods compared at equal budgets by two measures."""

from __future__ import annotations

from pathlib import Path

from experiments import methods, render, scenario0
from experiments.aggregate import COMPARED, Scores, at_levels, compare
from experiments.pipeline import rows
from experiments.sections.shared import in_order, origin

#: Measures that methods are ranked and tested by, and their names in the tables.
RANKED = {"accuracy": "k-means", "neighbor": "1-nn"}
NAMES = [method for method in COMPARED if method in scenario0.METHODS]


def scenario0_section(results: Path) -> str:
    found = rows(scenario0.NAME, results)
    if not found:
        return ""
    budgets = {table: scenario0.budgets(table) for table in {row["table"] for row in found}}
    measured = {m: at_levels(found, budgets, m) for m in (*RANKED, "explained")}
    parts = [
        "## Scenario 0: no label anywhere",
        origin(scenario0.NAME, results),
        "Accuracy of k-means and of the nearest neighbour (1-nn), variance explained, all in "
        "percent; mean ranks, 1 is best; p of Wilcoxon's test of GroupFS against the method. Best "
        "by 1-nn first.",
    ]
    for level in measured["accuracy"]:
        scores = {m: in_order(levels[level], scenario0.TABLES) for m, levels in measured.items()}
        parts += _level(level, scores)
    return "\n\n".join(parts)


def _level(level: str, scores: dict[str, Scores]) -> list[str]:
    """Write the comparison at one level, then the values by table."""
    title = f"{level} features" if level != "own" else "As many features as GroupFS chooses"
    ranked = {name: compare(scores[m], NAMES) for m, name in RANKED.items()}
    explained = compare(scores["explained"], NAMES).mean
    parts = [f"### {title}", render.comparison(ranked, explained, by="1-nn")]
    for measure, name in RANKED.items():
        by_table = render.ours_alone(scores[measure], [*NAMES, *methods.ABLATIONS])
        parts += [f"Accuracy of {name} by table:", by_table]
    if level == "own":
        ours = {t: s["GroupFS"] for t, s in scores["accuracy"].items() if "GroupFS" in s}
        chosen = ", ".join(f"{t} {s.n_selected:.0f}" for t, s in ours.items())
        parts += [f"Features that GroupFS chooses, mean over seeds: {chosen}."]
    return parts
