"""What is known of a table before training."""

import numpy as np
import pytest
import torch

from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.models.candidate_memberships import CandidateMemberships
from groupfs.models.memberships import DenseMemberships
from groupfs.training.problem import HALF_OPEN
from groupfs.utils.errors import ParameterError
from tests.support.problems import CPU, prepared


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=0).data


def test_every_seed_starts_at_every_weight_from_its_own_clusters(moons):
    problem = prepared(moons, n_init=2, n_groups=4, learn_memberships=True)
    models = problem.models(np.array([0.5, 1.0, 2.0]))
    assert len(models) == 6 and isinstance(models.memberships, DenseMemberships)
    assert models.seed_index.tolist() == [0, 0, 0, 1, 1, 1]
    assert models.sparsity_weight.tolist() == [0.5, 1.0, 2.0] * 2
    for r, seed in enumerate(models.seed_index):
        np.testing.assert_array_equal(models.labels()[r], problem.start.clusters[seed])
        np.testing.assert_allclose(models.mu[r], problem.gate_start[seed])


def test_seeds_of_groups_that_stay_as_they_are_start_alike(moons):
    problem = prepared(moons, n_init=3, n_groups=4)
    assert len(problem.models(np.array([0.5, 1.0]))) == 6 and problem.excess.shape == (4,)
    assert (problem.gate_start == problem.gate_start[0]).all() and len(problem.start.clusters) == 1


def test_where_gates_have_no_say_one_seed_is_trained(moons):
    def gains(**settings):
        model = GroupFS(3, keep_unrelated=True, max_epochs=5, random_state=0, **settings)
        return model.fit(moons).gain_

    assert gains(n_init=4) == gains(n_init=1)
    assert gains(n_init=4, sparsity=0.7) >= gains(n_init=1, sparsity=0.7)
    assert gains(n_init=4, sparsity=1.3) != gains(n_init=1, sparsity=1.3)


def test_the_number_of_groups_is_found_with_its_curve(moons):
    problem = prepared(moons, n_groups="distortion", signed=True)
    assert problem.n_groups == 3 and problem.n_candidates is None
    assert problem.start.distortion[3] < problem.start.distortion[2]
    assert prepared(moons, n_groups=5).start.distortion == {}


def test_gates_start_by_excess_or_half_open(moons):
    by_excess = prepared(moons, n_groups=3).gate_start
    assert by_excess.max() == pytest.approx(0.75) and by_excess.min() >= 0.25
    assert (prepared(moons, n_groups=3, gate_start="uniform").gate_start == HALF_OPEN).all()


@pytest.mark.slow
def test_features_may_keep_few_candidates(moons):
    problem = prepared(moons, n_groups=6, n_candidates=2, learn_memberships=True)
    assert problem.n_candidates == 2 and problem.start.candidates.shape == (1, 20, 2)
    np.testing.assert_array_equal(problem.start.candidates[0, :, 0], problem.start.clusters[0])
    assert isinstance(problem.models(np.ones(1)).memberships, CandidateMemberships)


def test_a_table_that_cannot_fit_is_refused(moons, monkeypatch):
    monkeypatch.setattr("groupfs.training.problem.memory_for_models", lambda device: 1000)
    for n_groups in (6, "auto"):
        with pytest.raises(
            ParameterError, match="20 features in . groups need .* raise max_memory"
        ) as error:
            prepared(moons, n_groups=n_groups, learn_memberships=True)
        assert error.value.parameter == "max_memory"


def test_a_problem_is_copied_to_a_device_with_its_table_and_graph(moons):
    problem = prepared(moons, n_groups=3, learn_memberships=True)
    copied = problem.on(torch.device("meta"))
    assert copied.objective.walk.device.type == copied.device.type == "meta"
    assert problem.objective.walk.device == CPU
    assert torch.isfinite(problem.table.rows.take(torch.arange(3))).all()
