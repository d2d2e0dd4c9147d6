"""Many models in parts are the models one would get one by one, whoever trains them."""

from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config

from groupfs.datasets import load_two_moons
from groupfs.training.path_runs import at_hand, train_path
from groupfs.training.run import train_models
from tests.support.interrupt import epochs_shown
from tests.support.problems import CPU, prepared


@pytest.fixture(scope="module")
def problem():
    X = load_two_moons(200, random_state=0).data
    return prepared(X, n_groups=12, n_init=2, max_epochs=30, learn_memberships=True, verbose=1)


def weights_of(problem, n_weights):
    return problem.critical_sparsity_weight * np.geomspace(0.3, 2.5, n_weights)


@pytest.fixture(scope="module")
def in_turn(problem):
    return train_path(problem, weights_of(problem, 9), None, [CPU], None, "path")


def test_models_side_by_side_are_those_trained_alone(problem):
    weights = weights_of(problem, 3)
    together = train_models(problem, weights)
    for s, seed in enumerate(problem.seeds):
        start = replace(problem.start, clusters=problem.start.clusters[s : s + 1])
        gates = problem.gate_start[s : s + 1]
        own = replace(problem, seeds=[seed], start=start, gate_start=gates)
        for p in range(3):
            alone = train_models(own, weights[p : p + 1])
            assert together.loss[s, p] == pytest.approx(alone.loss[0, 0], abs=1e-4)
            assert together.gain[s, p] == pytest.approx(alone.gain[0, 0], abs=1e-4)


@pytest.mark.slow
def test_parts_hold_few_models_and_give_what_all_together_give(problem, in_turn, capsys):
    whole = train_models(problem, weights_of(problem, 9))
    assert len(in_turn.histories) == 3  # of six models each
    np.testing.assert_allclose(in_turn.gain, whole.gain, atol=1e-4)
    np.testing.assert_allclose(in_turn.gates, whole.gates, atol=1e-2)
    np.testing.assert_array_equal(in_turn.sparsity_weights, whole.sparsity_weights)
    for s, p in ((0, 0), (1, 3), (0, 8)):
        ours, theirs = (run.records(s, p, 0.5) for run in (in_turn, whole))
        assert len(ours) == len(theirs)
        assert ours[-1]["loss"] == pytest.approx(theirs[-1]["loss"], abs=1e-4)
        np.testing.assert_allclose(ours[-1]["gates"], in_turn.gates[s, p], atol=1e-6)
    assert in_turn.best_seed(2) == in_turn.gain[:, 2].argmax()


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_workers_that_share_the_parts_change_nothing(backend, problem, in_turn):
    with parallel_config(
        backend=backend, **({"inner_max_num_threads": 1} if backend == "loky" else {})
    ):
        shared = train_path(problem, weights_of(problem, 9), 2, [CPU], None, "path")
    np.testing.assert_array_equal(shared.gates, in_turn.gates)
    np.testing.assert_array_equal(shared.logits, in_turn.logits)


def test_devices_that_share_the_parts_change_nothing(problem, in_turn, capsys):
    shared = train_path(problem, weights_of(problem, 9), None, [CPU] * 3, None, "path")
    np.testing.assert_array_equal(shared.gates, in_turn.gates)
    assert len(epochs_shown(capsys.readouterr().err)) >= 3


def test_what_workers_hold_is_fetched_where_a_task_runs_here():
    class Future:
        key = "problem-1"

        def result(self):
            return "problem"

    assert at_hand(Future()) == "problem" and at_hand("problem") == "problem"
