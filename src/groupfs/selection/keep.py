"""Which groups are kept: their order, and the rule of open gates and scores beyond chance.

Axes: C groups. Nothing but numpy here.
"""

import numpy as np

from groupfs.utils.types import BoolArray, FloatArray, IntArray


def rank_groups(scores: FloatArray, tie_breaker: FloatArray) -> IntArray:
    """Order groups from best to worst, (C,)."""
    return np.lexsort((-tie_breaker, -scores))


def keep_groups(
    is_open: BoolArray, significant: BoolArray | None, ranked: IntArray
) -> tuple[BoolArray, str | None]:
    """Choose the groups to keep, never none; warn in words where a rule had to be relaxed.

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
