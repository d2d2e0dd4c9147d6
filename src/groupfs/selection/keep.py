"""Decide which groups are kept, and why: by number, by standing out from chance, by open gates.

Axes: C groups. Nothing but numpy here.
"""

import numpy as np

from groupfs.groups import OPEN, Groups, Why
from groupfs.utils.types import BoolArray, FloatArray, IntArray

NOT_FOUND_AGAIN = "No group that stands out from chance is found again in halves of the rows"

Kept = tuple[BoolArray, IntArray, str | None]


def keep_groups(found: Groups, rule: int | str | None, alpha: float) -> Kept:
    """Choose the groups to keep, (C,), with a :class:`Why` of each, and a note where none is.

    ``rule`` is a number of groups. Else gates decide, where there are any, or what stands out from
    chance and is found again in halves of the rows, where that was looked at.
    """
    if rule is not None and not isinstance(rule, str):
        first = np.arange(len(found)) < int(rule)
        return first, np.where(first, Why.AMONG_FIRST, Why.AFTER_FIRST), None
    if found.gates is not None:
        return _open_groups(found.gates)
    significant = found.stand_out(alpha)
    assert significant is not None  # without gates groups are tested
    kept = significant if found.replicates is None else significant & found.replicates
    doubt = np.where(significant, Why.NOT_REPLICATED, Why.NOT_BEYOND_CHANCE)
    note = None
    if not kept.any():
        stands_out = bool(significant.any())
        note = (
            f"{NOT_FOUND_AGAIN if stands_out else 'No group stands out from chance'}, so nothing "
            "is selected. Ask for a number of groups or features (n_groups_to_select, "
            "n_features_to_select) to have the first of them all the same"
            f"{'.' if stands_out else ', or raise alpha.'}"
        )
    return kept, np.where(kept, Why.BEYOND_CHANCE, doubt), note


def _open_groups(gates: FloatArray) -> Kept:
    """Keep groups with open gates, (C,); the first if there are none."""
    kept, note = gates > OPEN, None
    why = np.where(kept, Why.GATE_OPEN, Why.GATE_CLOSED)
    if not kept.any():
        kept[0], why[0] = True, Why.FIRST_OF_CLOSED
        note = (
            "All gates are closed at this sparsity; only the group ranked first was kept. Choose a "
            "lower sparsity."
        )
    return kept, why, note
