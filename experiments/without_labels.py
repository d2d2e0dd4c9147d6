"""No label anywhere: equal budgets for every method, then as many features as FeatureGroups keeps.

Every method has its own defaults, whatever the table; nothing is picked by accuracy, and the one
supervised method is left out. Thirteen tables: the paper's nine, the students', and scikit-learn's
digits, wine and breast cancer. Judged by k-means, by the nearest neighbour (1-nn), and by the share
of the variance of all columns that is explained.
Needs the published data (``GROUPFS_DATA``); about an hour with ``--device cuda --jobs 16``. With
``--ours --join FOLDER`` FeatureGroups alone is computed, and rows of other methods are those of a
folder. What FeatureGroups selected stands in its rows, from which ``--check`` judges it again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from experiments import data, methods, running
from experiments.protocol import judge

TABLES = (*data.NINE, "student", *data.SCIKIT_LEARN)
QUICK_TABLES = ("wine",)
OURS = ("FeatureGroups",)
#: Features at each level; tables with fewer than SMALL have shares of theirs instead.
LEVELS, SHARES, SMALL = (50, 100, 200), (0.25, 0.5, 0.75), 300
MEASURES = ("accuracy", "neighbor", "explained")
#: Fits that would take hours.
LEFT_OUT = {("CAE", "nmnist")}


def budgets(n_features: int) -> list[int]:
    """List the features selected at each level."""
    if n_features >= SMALL:
        return list(LEVELS)
    return [math.floor(share * n_features + 0.5) for share in SHARES]


def our_cells(tables: Sequence[str], quick: bool) -> list[running.Row]:
    return [
        cell
        for table in tables
        for method in OURS
        for cell in methods.cells(table, method, [*_budgets(table), "own"], quick)
    ]


def other_cells(ours: pd.DataFrame, tables: Sequence[str], quick: bool) -> list[running.Row]:
    """List fits at the levels, and at the numbers that the seeds of FeatureGroups kept."""
    own = ours[(ours["method"] == "FeatureGroups") & (ours["budget"] == "own")]
    cells = []
    for table in tables:
        kept = own[own["table"] == table].sort_values("seed")["n_selected"].tolist()
        for method in methods.WITHOUT_LABELS:
            if method in OURS or (method, table) in LEFT_OUT:
                continue
            for cell in methods.cells(table, method, _budgets(table), quick):
                more = [] if method == "ALL" or method in methods.REFITTED else sorted(kept)
                if method in methods.RANDOM and more:
                    more = [kept[cell["seed"] % len(kept)]]
                cells.append({**cell, "budgets": list(dict.fromkeys([*cell["budgets"], *more]))})
            if method in methods.REFITTED:
                for number in sorted(set(kept)):
                    cells += methods.cells(table, method, [number], quick)
    return cells


def at_levels(rows: pd.DataFrame, sizes: dict[str, int]) -> pd.DataFrame:
    """Average what was judged over the seeds: a line per level, table and method."""
    rows = rows.assign(budget=rows["budget"].astype(str).str.removesuffix(".0"))
    own = rows[(rows["method"] == "FeatureGroups") & (rows["budget"] == "own")]
    kept = own.groupby("table")["n_selected"].apply(lambda n: {str(int(k)) for k in n})
    found = []
    for (table, method), some in rows.groupby(["table", "method"], sort=False):
        wanted = {
            str(level): {str(budget)}
            for level, budget in zip(LEVELS, budgets(sizes[str(table)]), strict=True)
        }
        wanted["own"] = {"own"} if method in OURS else kept[table]
        for level, numbers in wanted.items():
            at = some if method == "ALL" else some[some["budget"].isin(numbers)]
            if len(at):
                place = {"level": level, "table": table, "method": method}
                found.append({**place, **at[list(MEASURES)].mean(), "n": at["n_selected"].mean()})
    return pd.DataFrame(found)


def table_of(found: pd.DataFrame, measures: Sequence[str] = MEASURES) -> str:
    """Write methods down, levels across: means over tables, and Wilcoxon's test against ours."""
    levels = [*map(str, LEVELS), "own"]
    best = found[found["level"] == "100"].groupby("method")["neighbor"].mean()
    lines = []
    for method in best.sort_values(ascending=False).index:
        line = [str(method)]
        for level in levels:
            at = found[found["level"] == level]
            pair = at.pivot(index="table", columns="method")
            n_all = at["table"].nunique()
            if method not in pair["accuracy"] or pair["accuracy"][method].count() < n_all / 2:
                line.append(running.NONE)
                continue
            means, marks = [], ""
            for measure in measures:
                values = pair[measure][method].dropna()
                means.append(f"{values.mean():.1f}")
            for measure in MEASURES[:2] if measures == MEASURES else ():
                marks += _mark(pair[measure][method], pair[measure]["FeatureGroups"])
            few = f" ({len(values)} tables)" if len(values) < n_all else ""
            line.append(" / ".join(means) + (f" {marks}" if marks else "") + few)
        lines.append(line)
    head = ["", *(f"{level} features" for level in levels[:-1]), "as many as FeatureGroups keeps"]
    return running.markdown(head, lines)


def judged_again(folder: Path) -> float:
    """Judge the stored selections again, and return the largest difference of any figure."""
    rows = pd.read_csv(folder / "fits.csv", dtype={"features": str}).dropna(subset="features")
    largest = 0.0
    for table, some in rows.groupby("table"):
        _, y, Z, _ = data.load(str(table))
        for row in some.to_dict("records"):
            selected = np.array(row["features"].split(), dtype=np.int64)
            again = judge(Z, y, selected).as_dict()
            largest = max(largest, *(abs(again[name] - row[name]) for name in MEASURES))
    return largest


def _mark(values: pd.Series, ours: pd.Series) -> str:
    """Mark a difference from ours with p < 0.05 by a star, k-means first, then 1-nn."""
    both = pd.concat([values, ours], axis=1).dropna().round(6).to_numpy()
    if np.all(both[:, 0] == both[:, 1]):
        return ""
    return "*" if wilcoxon(both[:, 0], both[:, 1]).pvalue < 0.05 else "·"


def _budgets(table: str) -> list[int]:
    return budgets(data.load(table).X.shape[1])


def main(argv: Sequence[str] | None = None) -> None:
    given = running.options(
        __file__,
        __doc__,
        device={"default": "cpu", "choices": ["cpu", "cuda"]},
        tables={"nargs": "+", "default": list(TABLES), "choices": TABLES, "metavar": "TABLE"},
        ours={"action": "store_true", "help": "compute FeatureGroups alone"},
        check={"type": Path, "metavar": "FOLDER", "help": "judge its stored selections again"},
    ).parse_args(argv)
    if given.check:
        return print(f"largest difference: {judged_again(given.check):.2g} points")
    tables = QUICK_TABLES if given.quick else given.tables
    work = partial(methods.select_and_judge, device=given.device, quick=given.quick)
    others = running.compute([], work, given) if given.ours and given.join else pd.DataFrame()
    given.join = None if given.ours else given.join
    rows = running.compute(our_cells(tables, given.quick), work, given)
    if given.ours and len(others):
        wanted = set(methods.WITHOUT_LABELS) - set(OURS)
        others = others[others["method"].isin(wanted) & others["table"].isin(tables)]
        rows = pd.concat([others, rows], ignore_index=True)
    elif not given.join:
        others = running.compute(other_cells(rows, tables, given.quick), work, given)
        rows = pd.concat([rows, others], ignore_index=True)
    sizes = {table: data.load(table).X.shape[1] for table in rows["table"].unique()}
    about = (
        "Accuracy of k-means / of the nearest neighbour / variance explained, in percent, means "
        "over tables. Two marks, for k-means and for 1-nn, where a method differs from "
        "FeatureGroups: a star if Wilcoxon's test has p < 0.05 (not corrected for the number of "
        "methods), a dot if not."
    )
    found = at_levels(rows, sizes)
    parts = [running.command(rows, "without_labels"), about, table_of(found)]
    running.write(given, rows, parts, table_of(found, MEASURES[:2]))


if __name__ == "__main__":
    main()
