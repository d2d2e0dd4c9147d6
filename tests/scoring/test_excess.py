import numpy as np
import pytest
import torch

from groupfs.datasets import load_two_moons
from groupfs.scoring.excess import own_graph_smoothness, score_groups, tail_p_values
from groupfs.selection.keep import discoveries
from groupfs.training.problem import as_groups
from tests import reference
from tests.support.problems import prepared

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


NOISE = {
    "few samples": lambda rng: rng.standard_normal((40, 60)),
    "heavy tails": lambda rng: rng.standard_cauchy((100, 20)),
    "binary": lambda rng: (rng.random((120, 24)) < 0.3).astype(float),
}


@pytest.mark.parametrize("kind", NOISE)
def test_p_values_are_not_fooled_by_looking_for_groups(kind):
    # Compared with shuffles of themselves alone, groups found in noise look far from chance (z of
    # ten and more with 40 samples); with a normal tail a quarter of the Cauchy tables would give
    # a discovery. At level 0.01 hardly one of twelve tables may.
    tables_with_discoveries, p_values = 0, []
    for seed in range(12):
        X = NOISE[kind](np.random.default_rng(seed))
        problem = prepared(X, n_groups=8)
        groups = as_groups(problem.clusters[0], 8)
        sizes = np.array([len(group) for group in groups])
        p = problem.p_values(problem.score(groups), sizes)
        tables_with_discoveries += discoveries(p, 0.01).any()
        p_values.extend(p[sizes > 1])
    assert tables_with_discoveries <= 1
    assert np.mean(np.array(p_values) < 0.05) < 0.12


def test_tail_p_values_fall_with_the_score_and_stay_cautious(rng):
    chance = rng.standard_normal(40)
    p = tail_p_values(np.array([-3.0, 0.5, 2.0, 4.0, 50.0]), chance)
    assert (np.diff(p) <= 0).all() and p[0] == 1
    assert p[2] > 0.02 and p[3] > 1e-3 and p[4] < 1e-4
    assert (tail_p_values(np.array([1.0, 9.0]), np.zeros(5)) > 0).all()
