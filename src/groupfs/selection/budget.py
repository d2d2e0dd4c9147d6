"""Which features a budget is spent on: whole groups, or a share for each group.

Axes: d features, C groups. Nothing but numpy here; groups are index arrays.
"""

import numpy as np

from groupfs.utils.types import BoolArray, FloatArray, IntArray


def spend_budget(
    groups: list[IntArray],
    centrality: FloatArray,
    ranked: IntArray,
    kept: BoolArray,
    scores: FloatArray,
    n_features: int,
    allocation: str,
) -> IntArray:
    """Choose ``n_features`` features, from best to worst.

    ``"whole"`` takes groups in rank order, whole, and the most central features of the last one.
    ``"spread"`` shares the budget among the groups ``kept`` in proportion to their scores, most
    central features first; what they cannot hold goes to the next groups in rank order.
    """
    by_centrality = [group[np.argsort(-centrality[group], kind="stable")] for group in groups]
    if allocation == "whole":
        return _joined([by_centrality[j] for j in ranked])[:n_features]
    weights = np.where(kept, np.maximum(scores, 0), 0)
    if not weights.any():
        weights = kept.astype(float)
    quota = _proportional(weights, np.array([len(g) for g in groups]), n_features)
    taken = [by_centrality[j][: quota[j]] for j in ranked]
    left = [by_centrality[j][quota[j] :] for j in ranked]
    return _joined(taken + left)[:n_features]


def _joined(parts: list[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


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
