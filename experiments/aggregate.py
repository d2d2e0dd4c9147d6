"""From judged selections to the numbers of the tables; nothing is computed from data here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from experiments import methods
from experiments.scenario0 import LEVELS, given_number

Row = dict[str, Any]
#: Methods that are ranked; ours with other allocations are not.
COMPARED = (*methods.METHODS, *methods.GROUPFS)
#: Best of the random draws, where the classes choose: what choosing alone is worth.
BEST_DRAW = "RANDOM best draw"


class Score(NamedTuple):
    """Mean over the method's seeds, in percent; not a number if one of them was not judged."""

    mean: float
    std: float  #: mean of the deviations over the seeds of k-means
    n_selected: float
    n_candidates: int = 1
    choice: str = ""


#: scores by table and method
Scores = dict[str, dict[str, Score]]


def by_budget(rows: Iterable[Row], measure: str = "accuracy") -> Scores:
    """Gather scores where there is one budget per table."""
    return _nested({place: _score(some, measure) for place, some in _grouped(rows).items()})


def best_choice(rows: Iterable[Row]) -> Scores:
    """Take the best candidate of every method; seeds of one budget are averaged first."""
    best: dict[tuple[str, str], Score] = {}
    for (table, method), some in _grouped(rows).items():
        best[table, method] = _best(some, "choice")
        if method == "RANDOM":
            draws = [{**row, "choice": f"seed {row['seed']}, {row['choice']}"} for row in some]
            best[table, BEST_DRAW] = _best(draws, "choice")
    return _nested(best)


def at_levels(
    rows: Iterable[Row], budgets: dict[str, Sequence[int]], measure: str = "accuracy"
) -> dict[str, Scores]:
    """Gather scores at every level of scenario 0, at last GroupFS's own number of features.

    Parameters
    ----------
    rows
        Judged selections.
    budgets
        Of every table, one per level.
    measure
        Which of the scores.
    """
    grouped = _grouped(rows)
    chosen: dict[str, dict[int, int]] = {}
    for (table, method), some in grouped.items():
        if method == "GroupFS":
            chosen[table] = {r["seed"]: r["n_selected"] for r in some if r["budget"] == "own"}
    levels: dict[str, Scores] = {str(level): {} for level in (*LEVELS, "own")}
    for (table, method), some in grouped.items():
        for level, budget in zip(LEVELS, budgets[table], strict=True):
            at = [row for row in some if row["budget"] == budget or method == "ALL"]
            if at:
                levels[str(level)].setdefault(table, {})[method] = _score(at, measure)
        if own := _own(some, method, chosen.get(table, {})):
            levels["own"].setdefault(table, {})[method] = _score(own, measure)
    return levels


class Comparison(NamedTuple):
    """How methods compare over the tables that all of them have."""

    tables: list[str]
    mean: dict[str, float]  #: mean over tables
    rank: dict[str, float]  #: mean over tables, 1 is best
    p_value: dict[str, float]  #: Wilcoxon's signed-rank test against GroupFS, two-sided
    friedman: float  #: p-value of Friedman's test over all methods


def measured(scores: Scores, names: Sequence[str]) -> list[str]:
    """List the methods that have been run on any of the tables."""
    return [name for name in names if any(name in of_table for of_table in scores.values())]


def compare(scores: Scores, names: Sequence[str], against: str = "GroupFS") -> Comparison:
    """Compare the methods that have been run, on the tables that all of these have."""
    names = measured(scores, names)
    tables = [t for t, of_table in scores.items() if all(_has(of_table, name) for name in names)]
    values = np.array([[scores[table][name].mean for name in names] for table in tables])
    values = np.round(values.reshape(len(tables), len(names)), 6)  # equal selections are ties
    if not values.size:
        return Comparison([], {}, {}, {}, math.nan)
    by_name = dict(zip(names, values.T, strict=True))
    rivals = [name for name in names if name != against] if against in names else []
    ranks = rankdata(-values, axis=1)
    enough = len(tables) > 1 and len(names) > 2
    return Comparison(
        tables,
        dict(zip(names, values.mean(0).tolist(), strict=True)),
        dict(zip(names, ranks.mean(0).tolist(), strict=True)),
        {name: _wilcoxon(by_name[against], by_name[name]) for name in rivals},
        float(friedmanchisquare(*values.T).pvalue) if enough else math.nan,
    )


def rank_of(of_table: dict[str, Score], method: str, among: Sequence[str]) -> int | None:
    """Rank a method among those that a table has; equal first decimals share a rank."""
    if method not in of_table:
        return None
    ours = round(of_table[method].mean, 1)
    return 1 + sum(round(of_table[name].mean, 1) > ours for name in among if name in of_table)


def _has(of_table: dict[str, Score], name: str) -> bool:
    return name in of_table and not math.isnan(of_table[name].mean)


def _score(rows: Sequence[Row], measure: str) -> Score:
    return Score(
        float(np.mean([row[measure] for row in rows])),
        float(np.mean([row.get(f"{measure}_std", math.nan) for row in rows])),
        float(np.mean([row["n_selected"] for row in rows])),
    )


def _best(rows: Sequence[Row], name: str) -> Score:
    choices: dict[str, list[Row]] = {}
    for row in rows:
        choices.setdefault(row[name], []).append(row)
    scores = {choice: _score(some, "accuracy") for choice, some in choices.items()}
    best = max(scores, key=lambda choice: scores[choice].mean)
    return scores[best]._replace(n_candidates=len(scores), choice=best)


def _own(rows: Sequence[Row], method: str, chosen: dict[int, int]) -> list[Row]:
    """Take rows at the numbers GroupFS chose; methods with one seed count once for each."""
    if method == "ALL":
        return list(rows)
    own = [row for row in rows if row["budget"] == "own"]
    if own or not chosen:
        return own
    if method in methods.RANDOM:
        return [r for r in rows if r["budget"] in given_number(method, r["seed"], chosen)]
    return [r for number in chosen.values() for r in rows if r["budget"] == number]


def _grouped(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Group rows by table and method; what several cells selected counts once for a seed."""
    distinct: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        name = tuple(row.get(k) for k in ("table", "method", "seed", "n_groups", "budget"))
        distinct[(*name, row.get("choice"))] = row
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in distinct.values():
        grouped.setdefault((row["table"], row["method"]), []).append(row)
    return grouped


def _nested(scores: dict[tuple[str, str], Score]) -> Scores:
    nested: Scores = {}
    for (table, method), score in scores.items():
        nested.setdefault(table, {})[method] = score
    return nested


def _wilcoxon(a: Any, b: Any) -> float:
    return float(wilcoxon(a, b).pvalue) if np.any(a != b) else math.nan
