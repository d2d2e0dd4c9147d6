"""Say what other budgets would select, for the slider, and how much that explains.

Selections grow with the budget: what is selected at k features is among what is selected at more.
So one order of the features tells them all.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from groupfs.groups import Selection
from groupfs.report.json_numbers import Json
from groupfs.result import Result
from groupfs.selection.select import select
from groupfs.utils.text import STEPS

#: Every budget up to the first number is on the slider, and so many above it.
DENSE, SPARSE = 60, 80
#: The largest budget on the slider; nobody chooses so many.
LARGEST = 10_000


def select_again(result: Result, **changes: Any) -> Selection:
    """Select as the selector would if something else were asked for."""
    asked = replace(result.selection.asked, **changes)
    return select(result.groups, result.order, asked)


def other_budgets(result: Result) -> dict[str, list[int]]:
    """Return ``order`` and ``levels``: for k in levels, k selects the first k of the order."""
    order, every = result.order, select_again(result, n_features=len(result.order))
    if not result.selection.asked.follows_order:
        return _asked_for(result, min(len(every.features), LARGEST))
    order = order[every.support[order]][:LARGEST]
    marks = [result.n_enough, int(result.support.sum())]
    levels = {*_levels(len(order)), *(k for k in marks if 0 < k <= len(order))}
    return {"levels": sorted(levels), "order": order.tolist()}


def explained_curve(result: Result, budgets: dict[str, list[int]]) -> Json:
    """Return the curve of what the first features explain, and where the selection is on it."""
    order = result.order.tolist()
    is_first = budgets["order"] == order[: len(budgets["order"])]
    return {
        "sentence": result.explained_sentence,
        "what": result.explained_words,
        "n_related": result.n_related,
        "n_enough": result.n_enough,
        "n_selected": result.n_first,
        "is_of_budgets": result.selection.asked.follows_order and is_first,
        "order": order,
        "share": [step / STEPS for step in result.steps],
    }


def _asked_for(result: Result, most: int) -> dict[str, list[int]]:
    """Ask for one budget after the other."""
    labels, ranks = result.groups.labels, result.groups.ranks
    last = np.where(labels < 0, len(result.groups), labels)
    levels = _levels(most)
    order: list[int] = []
    seen = np.zeros(len(labels), dtype=bool)
    for budget in levels:
        chosen = select_again(result, n_features=budget).features
        new = chosen[~seen[chosen]]
        order.extend(new[np.lexsort((ranks[new], last[new]))].tolist())
        seen[new] = True
        assert len(order) == len(chosen), "a larger budget dropped a feature"
    return {"levels": levels, "order": order}


def _levels(most: int) -> list[int]:
    """List budgets: all small ones, then steps of a few percent up to the largest."""
    small = np.arange(1, min(most, DENSE) + 1)
    large = np.geomspace(DENSE, most, SPARSE).round() if most > DENSE else np.empty(0)
    return np.unique(np.concatenate([small, large]).astype(int)).tolist()
