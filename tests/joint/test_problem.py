"""What is known of a table before training, and the settings it is trained with."""

import numpy as np
import pytest

from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.joint.problem import HALF_OPEN
from groupfs.joint.settings import Settings, large_batch
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


def resolve(n_samples=1000, n_features=20, **parameters):
    return Settings.resolve(GroupFS(**parameters).get_params(), n_samples, n_features)


def test_presets_fill_in_only_what_is_not_set():
    default, paper = resolve(), resolve(preset="paper")
    assert (default.start_temperature, paper.start_temperature) == (1.0, 10.0)
    assert (default.is_published, paper.is_published) == (False, True)
    assert (default.sparsity, paper.sparsity) == (0.7, 1.07)
    mixed = resolve(preset="paper", start_temperature=2.0, batch_size=7, n_neighbors=3)
    assert (mixed.start_temperature, mixed.batch_size) == (2.0, 7)
    assert mixed.max_epochs == 500 and mixed.steps_per_epoch is None


def test_the_paper_has_its_printed_values():
    paper = resolve(preset="paper")
    graph = (paper.n_neighbors, paper.diffusion_steps, paper.bandwidth_gradient)
    assert graph == (7, 2, "detached") and paper.feature_neighbors is None
    assert (paper.gate_noise, paper.learning_rate) == (0.5, 1e-3)
    assert (paper.start_temperature, paper.end_temperature) == (10.0, 0.01)
    assert (paper.max_epochs, paper.batch_size, paper.early_stopping) == (500, 100, False)


@pytest.mark.parametrize(
    ("n_samples", "batch", "epochs", "steps"),
    [(100, 100, 400, 1), (640, 640, 400, 1), (1000, 500, 200, 2), (10**6, 512, 20, 40)],
)
def test_batches_and_epochs_follow_the_number_of_rows(n_samples, batch, epochs, steps):
    settings = resolve(n_samples)
    assert settings.batch_size == large_batch(n_samples) == batch
    assert (settings.max_epochs, settings.steps_per_epoch) == (epochs, steps)


@pytest.mark.parametrize(
    ("n_features", "asked", "kept"),
    [(512, None, None), (513, None, 50), (5000, "all", None), (20, 5, 5)],
)
def test_wide_tables_keep_near_neighbours_only(n_features, asked, kept):
    assert resolve(n_features=n_features, feature_neighbors=asked).feature_neighbors == kept


def test_a_small_batch_has_fewer_neighbours_and_says_so():
    with pytest.warns(UserWarning, match="n_neighbors=7 but a batch has 5 samples"):
        assert resolve(5).n_neighbors == 4
