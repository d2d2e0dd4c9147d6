from dataclasses import replace

import numpy as np
import pytest

from groupfs.groups import Groups, Why
from groupfs.selection.keep import keep_groups

THREE = replace(Groups.none(6), members=[np.array([2 * j, 2 * j + 1]) for j in range(3)])


@pytest.mark.parametrize(
    ("gates", "kept", "why"),
    [
        ([1.2, 0.6, 0.5], [True, True, False], [Why.GATE_OPEN, Why.GATE_OPEN, Why.GATE_CLOSED]),
        ([0, -1, 0], [True, False, False], [Why.FIRST_OF_CLOSED, Why.GATE_CLOSED, Why.GATE_CLOSED]),
    ],
)
def test_where_gates_decide_something_is_always_kept(gates, kept, why):
    chosen, reasons, note = keep_groups(replace(THREE, gates=np.array(gates)), None, 0.01)
    assert chosen.tolist() == kept and reasons.tolist() == why
    assert (note is None) == (max(gates) > 0.5)


@pytest.mark.parametrize(
    ("rule", "p_values", "replicates", "kept"),
    [
        ("significant", [0.001, 0.5, 0.001], None, [1, 0, 1]),
        (None, [0.001, 0.001, 0.001], [1, 0, 1], [1, 0, 1]),
        (None, [0.5, 0.5, 0.5], None, [0, 0, 0]),
        (None, [0.001, 0.5, 0.5], [0, 1, 1], [0, 0, 0]),
        (2, [0.5, 0.5, 0.001], None, [1, 1, 0]),
    ],
)
def test_groups_that_stand_out_and_are_found_again_are_kept(rule, p_values, replicates, kept):
    again = None if replicates is None else np.array(replicates, bool)
    groups = replace(THREE, p_values=np.array(p_values), replicates=again)
    chosen, _, note = keep_groups(groups, rule, 0.01)
    assert chosen.tolist() == np.array(kept, bool).tolist()
    assert ("nothing is selected" in note) if not any(kept) else note is None
