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
        ([1, 1, 0], [0, 0, 0], [1, 1, 0], "No group's score stands out"),
    ],
)
def test_something_is_always_kept(is_open, significant, kept, warning):
    chosen, message = keep_groups(
        np.array(is_open, bool),
        None if significant is None else np.array(significant, bool),
        np.array([0, 1, 2]),
    )
    assert chosen.tolist() == np.array(kept, bool).tolist()
    assert message is None if warning is None else warning in message
