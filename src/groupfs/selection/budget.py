"""Say how many features a budget is, and choose those it is spent on: whole groups, or shares.

Axes: d features, C groups. Nothing but numpy here.
"""

from numbers import Integral
from typing import Any

import numpy as np

from groupfs.groups import Groups
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import SAME_SHARE
from groupfs.utils.types import BoolArray, FloatArray, IntArray


def spend_budget(
    groups: Groups, ranked: IntArray, kept: BoolArray, n_features: int, allocation: str
) -> IntArray:
    """Choose ``n_features`` features of the groups ``ranked``, from best to worst.

    ``"whole"`` takes groups in rank order, whole, and the most central features of the last one.
    ``"spread"`` shares the budget among the groups ``kept`` in proportion to their smoothness, most
    central features first; what they cannot hold goes to the next groups in rank order.
    """
    quota = groups.sizes
    if allocation == "spread":
        weights = np.where(kept, np.maximum(groups.smoothness, 0), 0)
        weights = weights if weights.any() else kept.astype(float)
        quota = _proportional(weights, groups.sizes, n_features)
    by_centrality = {j: groups.by_centrality(j) for j in ranked.tolist()}
    taken = [features[: quota[j]] for j, features in by_centrality.items()]
    left = [features[quota[j] :] for j, features in by_centrality.items()]
    return np.concatenate([np.zeros(0, dtype=np.int64), *taken, *left])[:n_features]


def _proportional(weights: FloatArray, capacity: IntArray, total: int) -> IntArray:
    """Give seats by the largest weight per seat already held, none to unweighted groups.

    Every weighted group gets one seat before any gets a second, as long as there are enough.
    """
    seats = np.zeros(len(weights), dtype=np.int64)
    for _ in range(min(total, int(capacity[weights > 0].sum()))):
        claim = np.where(seats > 0, weights / (seats + 1), weights + weights.max())
        claim[(seats >= capacity) | (weights <= 0)] = -1
        seats[claim.argmax()] += 1
    return seats


def features_asked_for(
    n_features: float | None, explain: float | None, explained: FloatArray
) -> int | None:
    """Count the features of a budget, of a share of the features, or that explain a share.

    ``explained`` is the share that the first 1, 2, ... features explain. None stands for the
    features of the groups that are kept.
    """
    if explain is not None:
        return 1 + int(np.searchsorted(explained, explain - SAME_SHARE))
    if n_features is None:
        return None
    is_share = not isinstance(n_features, Integral)
    return max(1, int(n_features * len(explained) + SAME_SHARE)) if is_share else int(n_features)


def refuse_too_many(wanted: float | None, n_features: int) -> None:
    """Refuse a budget of more features than vary."""
    if wanted is not None and wanted > n_features:
        raise ParameterError(
            f"n_features_to_select={wanted} but X has {n_features} features that vary; choose "
            f"at most {n_features}.",
            "n_features_to_select",
        )


def refuse_conflicts(values: dict[str, Any]) -> None:
    """Refuse a share of variance to explain beside what would set the number in another way."""
    if values.get("explain") is None:
        return
    for name in ("n_features_to_select", "n_groups_to_select", "output", "allocation"):
        if values[name] not in (None, "features", "scores", "explain"):
            raise ParameterError(
                f"explain={values['explain']} and {name}={values[name]!r} are both given; explain "
                f"chooses as many features of all groups as it takes, so leave {name} out.",
                "explain",
            )
