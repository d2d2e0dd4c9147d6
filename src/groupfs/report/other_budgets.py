"""What the selector would select at other budgets, asked of the selector itself.

Selections grow with the budget: what is selected at k features is among what is selected at more.
So one order of the features tells them all.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from groupfs.utils.types import IntArray

#: Every budget up to the first number is asked for, and so many above it.
DENSE, SPARSE = 60, 80
#: The largest budget asked for; nobody chooses so many.
LARGEST = 10_000


def other_budgets(selector: Any, places: IntArray) -> dict[str, list[int]]:
    """``order`` and ``levels``: for k in levels, the first k of the order are what k selects."""
    most = len(selected_at(selector, int((selector.group_labels_ >= 0).sum())))
    levels = budget_levels(min(most, LARGEST))
    order: list[int] = []
    seen = np.zeros(selector.n_features_in_, dtype=bool)
    for budget in levels:
        chosen = selected_at(selector, budget)
        new = chosen[~seen[chosen]]
        order.extend(new[np.lexsort((places[new], selector.group_labels_[new]))].tolist())
        seen[new] = True
        assert len(order) == len(chosen), "a larger budget dropped a feature"
    return {"levels": levels, "order": order}


def selected_at(selector: Any, n_features: int) -> IntArray:
    """What a fitted selector selects with ``n_features_to_select=n_features``."""
    return _selected(selector, n_features, selector.n_groups_to_select)


def selected_groups(selector: Any, n_groups: int) -> IntArray:
    """What it selects with ``n_groups_to_select=n_groups`` and no budget of features."""
    return _selected(selector, None, n_groups)


def budget_levels(most: int) -> list[int]:
    """Budgets to ask for: all small ones, then steps of a few percent, the largest at the end."""
    small = np.arange(1, min(most, DENSE) + 1)
    large = np.geomspace(DENSE, most, SPARSE).round() if most > DENSE else np.empty(0)
    return np.unique(np.concatenate([small, large]).astype(int)).tolist()


def places_in_groups(selector: Any) -> IntArray:
    """Place of every feature in its group, 1 for the most central; 0 for constant columns."""
    places = np.zeros(selector.n_features_in_, dtype=np.int64)
    for group in selector.groups_:
        by_centrality = group[np.argsort(-selector.centrality_[group], kind="stable")]
        places[by_centrality] = np.arange(1, len(group) + 1)
    return places


def _selected(selector: Any, n_features: int | None, n_groups: int | None) -> IntArray:
    trial = copy.copy(selector)
    trial.n_features_to_select, trial.n_groups_to_select = n_features, n_groups
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        trial._select()
    return np.flatnonzero(trial.get_support())
