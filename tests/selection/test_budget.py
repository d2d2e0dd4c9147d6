import numpy as np
import pytest

from groupfs.groups import Groups
from groupfs.selection.budget import spend_budget

GROUPS = [np.array([0, 1, 2]), np.array([3, 4]), np.array([5, 6, 7, 8])]
CENTRALITY = np.array([0.1, 0.9, 0.5, 0.2, 0.3, 0.4, 0.8, 0.6, 0.7])


def spend(n, allocation, kept=(True, True, True), scores=(3.0, 2.0, 1.0)):
    labels, signs = np.repeat([0, 1, 2], [3, 2, 4]), np.ones(9, dtype=int)
    groups = Groups(GROUPS, labels, signs, CENTRALITY, np.array([1, 4, 6]), np.array(scores))
    chosen = spend_budget(groups, np.arange(3), np.array(kept), n, allocation)
    return sorted(chosen.tolist())


def test_whole_groups_come_in_rank_order_and_the_last_is_cut_by_centrality():
    assert spend(3, "whole") == [0, 1, 2]
    assert spend(4, "whole") == [0, 1, 2, 4]
    assert spend(7, "whole") == [0, 1, 2, 3, 4, 6, 8]


def test_a_spread_budget_takes_the_most_central_of_every_kept_group():
    assert spend(3, "spread") == [1, 4, 6]
    assert spend(2, "spread", kept=[True, False, True]) == [1, 6]


def test_a_spread_budget_follows_the_scores():
    assert spend(6, "spread", scores=(6.0, 0.1, 0.2)) == [0, 1, 2, 4, 6, 8]
    assert len(set(spend(9, "spread"))) == 9


def test_what_kept_groups_cannot_hold_goes_to_the_next():
    assert spend(5, "spread", kept=[False, True, False]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("kept", "expected"), [([True] * 3, [1, 4, 6]), ([False, False, True], [6, 7, 8])]
)
def test_spreading_stays_within_the_kept_groups_when_no_score_is_positive(kept, expected):
    assert spend(3, "spread", kept, scores=(-1.0, -2.0, -3.0)) == expected
