import numpy as np
import pytest

from groupfs.selection import keep as selection

GROUPS = [np.array([0, 1, 2]), np.array([3, 4]), np.array([5, 6, 7, 8])]
CENTRALITY = np.array([0.1, 0.9, 0.5, 0.2, 0.3, 0.4, 0.8, 0.6, 0.7])
RANKED = np.array([0, 1, 2])
ALL = np.ones(3, dtype=bool)


def spend(n, allocation, kept=ALL, scores=(3.0, 2.0, 1.0)):
    chosen = selection.spend_budget(
        GROUPS, CENTRALITY, RANKED, np.array(kept), np.array(scores), n, allocation
    )
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


def test_spreading_works_when_no_score_is_positive():
    assert spend(3, "spread", scores=(-1.0, -2.0, -3.0)) == [1, 4, 6]


def test_spreading_stays_within_the_kept_groups_whatever_the_scores():
    assert spend(3, "spread", kept=[False, False, True], scores=(-1.0, -2.0, -3.0)) == [6, 7, 8]


def test_ranking_breaks_ties():
    ranked = selection.rank_groups(np.array([1.0, 2.0, 1.0]), np.array([0.0, 0.0, 5.0]))
    assert ranked.tolist() == [1, 2, 0]


def test_discoveries_follow_benjamini_and_hochberg():
    p = np.array([0.001, 0.04, 0.03, 0.9])
    # sorted: .001 <= .0125, .03 > .025, .04 > .0375
    assert selection.discoveries(p, 0.05).tolist() == [True, False, False, False]
    # a later one that passes takes the earlier ones with it
    assert selection.discoveries(np.array([0.03, 0.03, 0.03]), 0.03).all()
    assert not selection.discoveries(np.ones(3), 0.05).any()


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
    chosen, message = selection.keep_groups(
        np.array(is_open, bool),
        None if significant is None else np.array(significant, bool),
        RANKED,
    )
    assert chosen.tolist() == np.array(kept, bool).tolist()
    assert message is None if warning is None else warning in message


def test_twins_get_the_mean_of_their_logits():
    logits = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    merged = selection.merge_twins(logits, np.array([0, 0, 1]))
    np.testing.assert_allclose(merged, [[2, 2], [2, 2], [0, 1]])
