"""Which groups are kept: their order, and the rules of open gates and of standing out from chance.

Axes: C groups. Nothing but numpy here.
"""

import numpy as np

from groupfs.utils.types import BoolArray, FloatArray, IntArray


def rank_groups(scores: FloatArray, tie_breaker: FloatArray) -> IntArray:
    """Order groups from best to worst, (C,)."""
    return np.lexsort((-tie_breaker, -scores))


def keep_groups(
    rule: int | str,
    is_open: BoolArray,
    significant: BoolArray | None,
    replicates: BoolArray | None,
) -> tuple[BoolArray, str | None]:
    """Choose the groups to keep, (C,), and say in words where none was found or a rule relaxed.

    Groups are in rank order. ``rule`` is a number, "significant" (beyond chance, and found again in
    halves of the rows where that was looked at) or "open" (gates decide); None in place of what was
    not tested.
    """
    ranked = np.arange(len(is_open))
    if not isinstance(rule, str):
        return ranked < int(rule), None
    if rule == "open" or significant is None:
        return _open_groups(is_open, significant)
    kept = significant if replicates is None else significant & replicates
    if kept.any():
        return kept, None
    return kept, (
        "No group stands out from chance, so nothing is selected. Ask for a number of groups or "
        "features (n_groups_to_select, n_features_to_select) to have the first of them all the "
        "same, or raise alpha."
    )


def _open_groups(is_open: BoolArray, significant: BoolArray | None) -> tuple[BoolArray, str | None]:
    """Keep groups with open gates that stand out from chance, where that was tested; never none."""
    candidates = np.ones_like(is_open) if significant is None else significant
    if not candidates.any():
        candidates = np.ones_like(is_open)
    first = np.zeros_like(is_open)
    first[candidates.argmax()] = True
    if not is_open.any():
        return first, (
            "All gates are closed at this sparsity; only the group ranked first was kept. Choose a "
            "lower sparsity."
        )
    if significant is None:
        return is_open.copy(), None
    if not significant.any():
        return is_open.copy(), (
            "No group stands out from chance: the table shows no groups, or its features say "
            f"nothing of each other. Kept were the groups with open gates ({int(is_open.sum())})."
        )
    both = is_open & significant
    if both.any():
        return both, None
    return first, (
        "No group has both an open gate and a cohesion that stands out from chance; the first of "
        "those that stand out was kept. Choose a lower sparsity."
    )
