"""Who may exchange conditions with whom; and that respecting blocks keeps the level."""

import numpy as np
import pytest

from groupfs.conditions import compare
from groupfs.conditions.measure import enough_arrangements, plan_exchange, rearranged
from tests.support.planted_groups import known, planted


@pytest.mark.parametrize("blocks", [None, np.repeat([5, 3, 9], 6)])
def test_samples_exchange_conditions_with_any_other_of_their_block(blocks, rng):
    labels = np.tile([0, 1, 0], 6)
    exchange = plan_exchange(labels, blocks, 0.05)
    taken = exchange.draw(50, rng)
    assert taken.shape == (51, 18) and (taken[0] == np.arange(18)).all() and not exchange.whole
    assert (np.sort(taken, 1) == np.arange(18)).all() and len(np.unique(labels[taken], axis=0)) > 40
    of = np.zeros(18) if blocks is None else blocks
    assert (of[taken] == of).all() and len(set(taken[:, 0])) > (of == of[0]).sum() / 2


def test_whole_blocks_exchange_their_condition(rng):
    blocks = np.repeat(np.arange(8), [2, 5, 3, 4, 2, 2, 6, 1])
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 1])[blocks]
    exchange = plan_exchange(labels, blocks, 0.05)
    moved = labels[exchange.draw(60, rng)]
    assert exchange.whole
    for block in range(8):
        assert (moved[:, blocks == block].std(1) == 0).all()
    first = np.unique(blocks, return_index=True)[1]
    assert (moved[:, first].sum(1) == 4).all() and len(np.unique(moved, axis=0)) > 20


def test_weights_follow_the_condition_that_is_taken():
    weights = np.array([[1.0, 0, 2], [0, 3, 0]])
    taken = np.array([[0, 1, 2], [2, 2, 1]])
    expected = [[1, 0, 2], [0, 3, 0], [2, 2, 0], [0, 0, 3]]
    assert rearranged(weights, taken).tolist() == expected


def test_what_cannot_be_told_from_blocks_is_refused():
    with pytest.raises(ValueError, match="2 blocks have one condition each and no condition has"):
        plan_exchange(np.repeat([0, 1], 10), np.repeat(["x", "y"], 10), 0.05)
    with pytest.raises(ValueError, match=r"can be exchanged between samples in 2 way\(s\)"):
        plan_exchange(np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2]), 0.05)
    with pytest.warns(UserWarning, match="only 6 ways .* no p-value can be below 0.17"):
        plan_exchange(np.array([0, 0, 1, 1]), np.arange(4), 0.05)


def donors(seed, n_blocks=12, per_block=12):
    """Donors with levels of their own, each in one condition; the condition does nothing."""
    rng = np.random.default_rng(seed)
    blocks = np.repeat(np.arange(n_blocks), per_block)
    levels = np.repeat(rng.standard_normal((n_blocks, 3)), 5, axis=1)
    X = planted(np.full((len(blocks), 3), 0.5), rng) + levels[blocks]
    return X, blocks % 2, blocks


@pytest.mark.slow
def test_donors_with_levels_of_their_own_are_no_change_unless_blocks_are_forgotten():
    quick = {"n_permutations": 99, "n_bootstrap": 2}
    with_blocks, without = [], []
    for seed in range(25):
        X, labels, blocks = donors(seed)
        selector = known(X)
        given = compare(selector, X, labels, blocks=blocks, **quick)
        with_blocks.extend(given.mean_change.p_values <= 0.05)
        without.extend(compare(selector, X, labels, **quick).mean_change.p_values <= 0.05)
    assert given.blocks == "whole"
    assert np.mean(with_blocks) <= 0.12  # 75 tests at a level of 5 %: above 9 once in 50 times
    assert np.mean(without) > 0.4


def test_levels_of_donors_do_not_hide_a_change_within_them():
    rng = np.random.default_rng(0)
    blocks, labels = np.repeat(np.arange(10), 12), np.tile([0, 1], 60)
    X = planted(np.full((120, 2), 0.5), rng)
    X += 4 * np.repeat(rng.standard_normal((10, 2)), 5, axis=1)[blocks]
    X[:, :5] += 0.8 * labels[:, None]
    selector = known(X)
    given = compare(selector, X, labels, blocks=blocks, n_permutations=199)
    ignored = compare(selector, X, labels, n_permutations=199)
    raised = list(selector.group_names_).index(0)
    assert given.blocks == "within" and given.mean_change.p_values[raised] < 0.02
    assert ignored.mean_change.p_values[raised] > 0.1
    assert given.mean_change.p_values[1 - raised] > 0.05


def test_one_group_among_many_can_stand_out():
    for n_groups in (3, 25, 200):
        smallest = 1 / (1 + enough_arrangements(None, n_groups))
        assert smallest * n_groups < 0.05  # its q-value, if no other group changes
    assert enough_arrangements(99, 200) == 99
