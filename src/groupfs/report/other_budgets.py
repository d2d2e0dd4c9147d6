"""What the selector would select at other budgets, for the slider, and how much that explains.

Selections grow with the budget: what is selected at k features is among what is selected at more.
So one order of the features tells them all.
"""

import numpy as np

from groupfs.report.json_numbers import Json
from groupfs.report.order_reasons import whole_steps
from groupfs.selection.explained_sentence import (
    count_first,
    count_related,
    enough_features,
    selection_sentence,
)
from groupfs.training.settings import PRESETS
from groupfs.utils.fitted_selector import FittedSelector, by_centrality
from groupfs.utils.types import IntArray

#: Every budget up to the first number is on the slider, and so many above it.
DENSE, SPARSE = 60, 80
#: The largest budget on the slider; nobody chooses so many.
LARGEST = 10_000


def other_budgets(selector: FittedSelector, ranks: IntArray) -> dict[str, list[int]]:
    """Return ``order`` and ``levels``: for k in levels, k selects the first k of the order.

    ``ranks`` are those of :func:`ranks_in_groups`.
    """
    order = selector.feature_order_
    if not takes_in_order(selector):
        return _asked_for(selector, ranks, len(order))
    allowed = selector.select(n_features_to_select=len(order), allocation="explain").support
    order = order[allowed[order]][:LARGEST]
    marks = [enough_features(selector), int(selector.get_support().sum())]
    levels = {*_levels(len(order)), *(k for k in marks if 0 < k <= len(order))}
    return {"levels": sorted(levels), "order": order.tolist()}


def takes_in_order(selector: FittedSelector) -> bool:
    """Return whether budgets take features in the order of what they explain."""
    allocation = selector.allocation or PRESETS[selector.preset]["allocation"]
    by_order = selector.explain is not None or allocation == "explain"
    return by_order and selector.output == "features"


def explained_curve(selector: FittedSelector, budgets: dict[str, list[int]]) -> Json:
    """Return the curve of what the first features explain, and where the selection is on it."""
    order, n_budgets = selector.feature_order_, len(budgets["order"])
    is_first = budgets["order"] == order[:n_budgets].tolist()
    return {
        "sentence": selection_sentence(selector),
        "n_related": count_related(selector),
        "n_enough": enough_features(selector),
        "n_selected": count_first(selector),
        "is_of_budgets": takes_in_order(selector) and is_first,
        "order": order.tolist(),
        "share": [whole_steps(share) for share in selector.explained_.tolist()],
    }


def ranks_in_groups(selector: FittedSelector) -> IntArray:
    """Rank every feature within its group, 1 for the most central; 0 without a group."""
    ranks = np.zeros(selector.n_features_in_, dtype=np.int64)
    for group in selector.groups_:
        ranks[by_centrality(selector, group)] = np.arange(1, len(group) + 1)
    return ranks


def _asked_for(selector: FittedSelector, ranks: IntArray, n_features: int) -> dict[str, list[int]]:
    """Ask the selector for one budget after the other."""
    labels = selector.group_labels_
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


def _levels(most: int) -> list[int]:
    """List budgets: all small ones, then steps of a few percent up to the largest."""
    small = np.arange(1, min(most, DENSE) + 1)
    large = np.geomspace(DENSE, most, SPARSE).round() if most > DENSE else np.empty(0)
    return np.unique(np.concatenate([small, large]).astype(int)).tolist()
