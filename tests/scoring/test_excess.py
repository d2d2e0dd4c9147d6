import numpy as np
import pytest
import torch

from groupfs.datasets import load_two_moons
from groupfs.scoring.excess import own_graph_smoothness, score_groups
from tests import reference
from tests.support.walks import standardised

SETTINGS = {"n_neighbors": 7, "steps": 2, "n_shuffles": 20, "seed": 0}


@pytest.mark.parametrize("steps", [1, 2])
def test_smoothness_equals_the_literal_one(steps, rng):
    X = rng.standard_normal((2, 15, 4))
    fast = own_graph_smoothness(torch.from_numpy(X), 3, steps)
    literal = [reference.own_graph_smoothness(table, 3, steps) for table in X]
    np.testing.assert_allclose(fast, literal, rtol=1e-9)


def test_excess_of_the_moons_is_what_was_measured_and_noise_has_none():
    X = standardised(load_two_moons(random_state=0).data)[:512]
    groups = [np.arange(5), np.arange(5, 10), np.arange(10, 20)]
    scores = score_groups(torch.from_numpy(X), groups, **SETTINGS)
    np.testing.assert_allclose(scores.excess, [0.46, 0.43, 0.0], atol=0.04)
    assert (scores.z[:2] > 20).all() and abs(scores.z[2]) < 4


def test_shuffled_columns_have_no_excess(rng):
    X = rng.permuted(standardised(load_two_moons(random_state=0).data), axis=0)[:512]
    groups = [np.arange(j, j + 4) for j in range(0, 20, 4)]
    z = score_groups(torch.from_numpy(X), groups, **SETTINGS).z
    assert np.abs(z).max() < 4


def test_a_single_feature_is_smooth_but_has_no_excess(rng):
    X = torch.from_numpy(standardised(rng.standard_normal((200, 3))))
    scores = score_groups(X, [np.array([0]), np.array([], dtype=int)], **SETTINGS)
    assert scores.smoothness[0] > 0.8
    assert scores.excess.tolist() == scores.z.tolist() == [0, 0]
