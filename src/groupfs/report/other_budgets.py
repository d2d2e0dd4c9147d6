"""What the selector would select at other budgets, asked of the selector itself.

Selections grow with the budget: what is selected at k features is among what is selected at more.
So one order of the features tells them all.
"""

import numpy as np

from groupfs.selection.ungrouped import ungrouped_features
from groupfs.utils.fitted_selector import FittedSelector, by_centrality
from groupfs.utils.types import IntArray

#: Every budget up to the first number is asked for, and so many above it.
DENSE, SPARSE = 60, 80
#: The largest budget asked for; nobody chooses so many.
LARGEST = 10_000


def other_budgets(selector: FittedSelector, ranks: IntArray) -> dict[str, list[int]]:
    """Return ``order`` and ``levels``: for k in levels, k selects the first k of the order.

    ``ranks`` are those of :func:`ranks_in_groups`.
    """
    labels = selector.group_labels_
    outside = ungrouped_features(selector)
    n_features = len(labels) - len(outside.constant)
    last = np.where(labels < 0, selector.n_groups_, labels)
    most = len(selector.select(n_features_to_select=n_features).features)
    levels = _levels(min(most, LARGEST))
    order: list[int] = []
    seen = np.zeros(selector.n_features_in_, dtype=bool)
    for budget in levels:
        chosen = selector.select(n_features_to_select=budget).features
        new = chosen[~seen[chosen]]
        order.extend(new[np.lexsort((ranks[new], last[new]))].tolist())
        seen[new] = True
        assert len(order) == len(chosen), "a larger budget dropped a feature"
    return {"levels": levels, "order": order}


def ranks_in_groups(selector: FittedSelector) -> IntArray:
    """Rank every feature within its group, 1 for the most central; 0 without a group."""
    ranks = np.zeros(selector.n_features_in_, dtype=np.int64)
    for group in selector.groups_:
        ranks[by_centrality(selector, group)] = np.arange(1, len(group) + 1)
    return ranks


def _levels(most: int) -> list[int]:
    """List budgets to ask for: all small ones, then steps of a few percent up to the largest."""
    small = np.arange(1, min(most, DENSE) + 1)
    large = np.geomspace(DENSE, most, SPARSE).round() if most > DENSE else np.empty(0)
    return np.unique(np.concatenate([small, large]).astype(int)).tolist()
