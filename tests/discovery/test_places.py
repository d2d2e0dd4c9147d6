"""Where features stand: which second group they go with, and which are between two."""

import numpy as np
import pytest

from groupfs.discovery.places import find_places


def measured(rng, n, loadings, groups, n_groups, phi=0.4):
    """Features of factors that have a common part; ``loadings`` are (d, n_groups)."""
    factors = np.sqrt(phi) * rng.standard_normal((n, 1))
    factors = factors + np.sqrt(1 - phi) * rng.standard_normal((n, n_groups))
    R = np.full((n_groups, n_groups), phi) + (1 - phi) * np.eye(n_groups)
    own = 1 - np.einsum("ij,jk,ik->i", loadings, R, loadings)
    return factors @ loadings.T + rng.standard_normal((n, len(groups))) * np.sqrt(own)


@pytest.fixture
def planted(rng):
    """Three groups of five, the last of the first group as much of the third; and a stranger."""
    groups = np.append(np.repeat([0, 1, 2], 5), -1)
    loadings = np.zeros((16, 3))
    loadings[np.arange(15), groups[:15]] = 0.7
    loadings[4] = [0.5, 0, 0.45]
    return measured(rng, 800, loadings, groups, 3), groups


def test_a_feature_of_two_groups_is_told_from_members_of_related_ones(planted):
    X, groups = planted
    signs = np.where(groups >= 0, 1, 0)
    found = find_places(X, groups, signs, 3)
    assert np.flatnonzero(found.between).tolist() == [4] and found.second[4] == 2
    score = (X / X.std(0))[:, 10:15].sum(1)
    assert found.strength[4] == pytest.approx(abs(np.corrcoef(X[:, 4], score)[0, 1]), abs=1e-9)
    assert (found.second[:5] > 0).all() and (found.second[5:10] != 1).all()


def test_reversed_features_and_their_order_change_nothing(planted, rng):
    X, groups = planted
    first = find_places(X, groups, np.where(groups >= 0, 1, 0), 3)
    turn, order = rng.choice([-1, 1], 16), rng.permutation(16)
    again = find_places((X * turn)[:, order], groups[order], (turn * (groups >= 0))[order], 3)
    np.testing.assert_array_equal(again.second, first.second[order])
    np.testing.assert_allclose(again.strength, first.strength[order])
    np.testing.assert_array_equal(again.between, first.between[order])


def test_without_another_group_there_is_no_second(planted):
    X, _ = planted
    found = find_places(X, np.zeros(16, dtype=int), np.ones(16, dtype=int), 1)
    assert (found.second == -1).all() and not found.strength.any() and not found.between.any()
