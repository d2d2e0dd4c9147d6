import numpy as np
import pytest
import torch

from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.scoring import own_graph_smoothness, score_groups
from tests import reference

SETTINGS = {"n_neighbors": 7, "steps": 2, "n_shuffles": 20, "seed": 0}


def standardised(X):
    return (X - X.mean(0)) / X.std(0)


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


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_p_values_are_not_fooled_by_looking_for_groups_in_few_samples():
    # Groups found in noise look far from chance if compared with shuffles of themselves alone
    # (z of ten and more with 40 samples): almost none may pass.
    found, p_values = 0, []
    for seed in range(8):
        noise = np.random.default_rng(seed).standard_normal((40, 120))
        selector = GroupFS(n_groups=12, random_state=seed, max_epochs=1, n_init=1).fit(noise)
        found += int((selector.group_pvalues_ < 0.01 / 12).sum())
        p_values.extend(selector.group_pvalues_)
    assert found <= 2
    assert 0.25 < np.mean(p_values) < 0.75
