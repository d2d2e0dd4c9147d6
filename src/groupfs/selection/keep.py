"""From scores of groups to a selection: which groups are kept, and which of their features.

Axes: d features, C groups. Nothing but numpy here; groups are index arrays.
"""

from __future__ import annotations

import numpy as np

from groupfs.utils.types import BoolArray, FloatArray, IntArray


def rank_groups(scores: FloatArray, tie_breaker: FloatArray) -> IntArray:
    """Groups from best to worst, (C,)."""
    return np.lexsort((-tie_breaker, -scores))


def discoveries(p_values: FloatArray, alpha: float) -> BoolArray:
    """Which p-values stand out when a share alpha of false ones is allowed (Benjamini-Hochberg)."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    below = p_values[order] <= alpha * np.arange(1, m + 1) / m
    found = np.zeros(m, dtype=bool)
    if below.any():
        found[order[: np.flatnonzero(below)[-1] + 1]] = True
    return found


def keep_groups(
    is_open: BoolArray, significant: BoolArray | None, ranked: IntArray
) -> tuple[BoolArray, str | None]:
    """The groups to keep, never none, and a word of warning where a rule had to be relaxed.

    A group is kept if its gate is open and, where that was tested, its features have more in common
    than chance gives.
    """
    candidates = np.ones_like(is_open) if significant is None else significant
    if not candidates.any():
        candidates = np.ones_like(is_open)
    first = np.zeros_like(is_open)
    first[ranked[candidates[ranked]][0]] = True
    if not is_open.any():
        return first, (
            "All gates are closed at this sparsity; only the group ranked first was kept. Choose a "
            "lower sparsity."
        )
    if significant is None:
        return is_open.copy(), None
    if not significant.any():
        return is_open.copy(), (
            "No group's score stands out from chance: the table shows no groups, or its features "
            "say nothing of each other. Kept were the groups with open gates "
            f"({int(is_open.sum())})."
        )
    both = is_open & significant
    if both.any():
        return both, None
    return first, (
        "No group has both an open gate and a score that stands out from chance; the first of "
        "those whose score stands out was kept. Choose a lower sparsity."
    )


def spend_budget(
    groups: list[IntArray],
    centrality: FloatArray,
    ranked: IntArray,
    kept: BoolArray,
    scores: FloatArray,
    n_features: int,
    allocation: str,
) -> IntArray:
    """Indices of ``n_features`` features.

    ``"whole"`` takes groups in rank order, whole, and the most central features of the last one.
    ``"spread"`` shares the budget among the groups ``kept`` in proportion to their scores, most
    central features first; what they cannot hold goes to the next groups in rank order.
    """
    by_centrality = [group[np.argsort(-centrality[group], kind="stable")] for group in groups]
    if allocation == "whole":
        return np.concatenate([by_centrality[j] for j in ranked])[:n_features]
    weights = np.where(kept, np.maximum(scores, 0), 0)
    if not weights.any():
        weights = kept.astype(float)
    quota = _proportional(weights, np.array([len(g) for g in groups]), n_features)
    taken = [by_centrality[j][: quota[j]] for j in ranked]
    left = [by_centrality[j][quota[j] :] for j in ranked]
    return np.concatenate(taken + left)[:n_features]


def _proportional(weights: FloatArray, capacity: IntArray, total: int) -> IntArray:
    """Seats by the largest weight per seat already held; no group above its capacity or unweighted.

    Every weighted group gets one seat before any gets a second, as long as there are enough.
    """
    seats = np.zeros(len(weights), dtype=np.int64)
    for _ in range(min(total, int(capacity[weights > 0].sum()))):
        claim = np.where(seats > 0, weights / (seats + 1), weights + weights.max())
        claim[(seats >= capacity) | (weights <= 0)] = -1
        seats[claim.argmax()] += 1
    return seats


def merge_twins(logits: FloatArray, twins: IntArray) -> FloatArray:
    """Give equal columns the mean of their logits, so that they share a group, (d, C)."""
    counts = np.bincount(twins)
    sums = np.zeros((len(counts), logits.shape[1]))
    np.add.at(sums, twins, logits)
    merged: FloatArray = (sums / counts[:, None])[twins]
    return merged
