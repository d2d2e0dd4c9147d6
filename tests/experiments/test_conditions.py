"""The planted tables of the experiment are what their names say."""

import numpy as np

from experiments.conditions import CHANGED, SIZE, active_in_one, donors, swells


def mean_r(X, group):
    r = np.corrcoef(X[:, group * SIZE : (group + 1) * SIZE].T)
    return r[np.triu_indices(SIZE, 1)].mean()


def test_one_group_is_active_in_the_last_condition_alone(rng):
    X, labels, _ = active_in_one(rng)
    inside = [mean_r(X[labels == k], CHANGED) for k in range(3)]
    assert inside[2] > 0.3 > 0.1 > max(inside[:2])
    assert min(mean_r(X[labels == k], 0) for k in range(3)) > 0.3


def test_one_group_swells(rng):
    X, time, _ = swells(rng)
    assert mean_r(X[time > 7], CHANGED) > 0.25 + mean_r(X[time < 3], CHANGED)


def test_donors_are_in_one_condition_each(rng):
    _, labels, blocks = donors(rng)
    assert all(len(set(labels[blocks == block])) == 1 for block in range(24))
