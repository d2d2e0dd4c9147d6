import numpy as np
import pytest

from groupfs.selection.keep import keep_groups, rank_groups


def test_ranking_breaks_ties():
    ranked = rank_groups(np.array([1.0, 2.0, 1.0]), np.array([0.0, 0.0, 5.0]))
    assert ranked.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("is_open", "significant", "kept", "warning"),
    [
        ([1, 1, 0], [1, 0, 1], [1, 0, 0], None),
        ([1, 1, 0], None, [1, 1, 0], None),
        ([0, 0, 0], [0, 1, 1], [0, 1, 0], "All gates are closed"),
        ([0, 0, 0], [0, 0, 0], [1, 0, 0], "only the group ranked first"),
        ([0, 0, 0], None, [1, 0, 0], "only the group ranked first"),
        ([1, 0, 0], [0, 1, 1], [0, 1, 0], "No group has both"),
        ([1, 1, 0], [0, 0, 0], [1, 1, 0], "No group stands out"),
    ],
)
def test_where_gates_decide_something_is_always_kept(is_open, significant, kept, warning):
    tested = None if significant is None else np.array(significant, bool)
    chosen, message = keep_groups("open", np.array(is_open, bool), tested, None)
    assert chosen.tolist() == np.array(kept, bool).tolist()
    assert message is None if warning is None else warning in message


@pytest.mark.parametrize(
    ("rule", "significant", "replicates", "kept"),
    [
        ("significant", [1, 0, 1], None, [1, 0, 1]),
        ("significant", [1, 1, 1], [1, 0, 1], [1, 0, 1]),
        ("significant", [0, 0, 0], None, [0, 0, 0]),
        ("significant", [1, 0, 0], [0, 1, 1], [0, 0, 0]),
        (2, [0, 0, 1], None, [1, 1, 0]),
        # nothing was tested: gates decide
        ("significant", None, None, [0, 1, 0]),
    ],
)
def test_groups_that_stand_out_and_are_found_again_are_kept(rule, significant, replicates, kept):
    tested, again = (None if v is None else np.array(v, bool) for v in (significant, replicates))
    chosen, message = keep_groups(rule, np.array([False, True, False]), tested, again)
    assert chosen.tolist() == np.array(kept, bool).tolist()
    assert ("nothing is selected" in message) if not any(kept) else message is None
