"""What is known of a table before training."""

import numpy as np
import pytest

from groupfs.datasets import load_two_moons
from groupfs.joint.problem import HALF_OPEN
from tests.support.problems import prepared


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=0).data


def test_every_seed_starts_at_every_weight_from_its_own_clusters(moons):
    problem = prepared(moons, n_init=2, n_groups=4)
    models = problem.models(np.array([0.5, 1.0, 2.0]))
    assert len(models) == 6
    assert models.seed_index.tolist() == [0, 0, 0, 1, 1, 1]
    assert models.sparsity_weight.tolist() == [0.5, 1.0, 2.0] * 2
    for r, seed in enumerate(models.seed_index):
        np.testing.assert_array_equal(models.labels()[r], problem.clusters[seed])
        np.testing.assert_allclose(models.mu[r], problem.gate_start[seed])


def test_the_number_of_groups_is_found_with_its_curve(moons):
    problem = prepared(moons)
    assert problem.n_groups == 3 and problem.distortion[3] < problem.distortion[2]
    assert prepared(moons, n_groups=5).distortion == {}


def test_gates_start_by_smoothness_or_half_open(moons):
    by_smoothness = prepared(moons, n_groups=3).gate_start
    assert by_smoothness.max() == pytest.approx(0.75) and by_smoothness.min() >= 0.25
    assert (prepared(moons, n_groups=3, preset="paper").gate_start == HALF_OPEN).all()
