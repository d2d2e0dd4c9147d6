from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from groupfs import GroupFS
from groupfs.training.settings import Settings, large_batch


def resolve(n_samples=1000, n_features=20, most_rows=None, **parameters):
    return Settings.resolve(GroupFS(**parameters).get_params(), n_samples, n_features, most_rows)


def test_settings_cannot_be_changed_by_accident():
    with pytest.raises(FrozenInstanceError):
        resolve().alpha = 0.5


def test_presets_fill_in_only_what_is_not_set():
    default, paper = resolve(), resolve(preset="paper")
    assert (default.start_temperature, paper.start_temperature) == (1.0, 10.0)
    assert (default.ranking, paper.ranking) == ("excess", "gate")
    mixed = resolve(preset="paper", start_temperature=2.0, ranking="excess", batch_size=7)
    assert (mixed.start_temperature, mixed.ranking, mixed.batch_size) == (2.0, "excess", 7)
    assert mixed.max_epochs == 500 and mixed.steps_per_epoch is None


@pytest.mark.parametrize(
    ("n_samples", "learned", "batch", "epochs", "steps"),
    [
        (100, True, 100, 400, 1),
        (640, True, 640, 400, 1),
        (1000, True, 500, 200, 2),
        (10**6, True, 512, 20, 40),
        (320, False, 320, 400, 1),
        (1000, False, 250, 100, 4),
        (10**6, False, 256, 50, 8),
    ],
)
def test_batches_and_epochs_follow_the_number_of_rows(n_samples, learned, batch, epochs, steps):
    found = resolve(n_samples, learn_memberships=learned)
    assert found.batch_size == large_batch(n_samples, 512 if learned else 256) == batch
    assert (found.max_epochs, found.steps_per_epoch) == (epochs, steps)
    assert found.pools_rows == (not learned)
    assert resolve(n_samples, most_rows=64).batch_size == 64
    assert not resolve(n_samples, batch_size=32).pools_rows  # whoever asks for batches gets them


@pytest.mark.parametrize(
    ("n_features", "asked", "learned", "kept"),
    [
        (512, None, True, None),
        (513, None, True, 50),
        (4096, None, False, None),
        (4097, None, False, 50),
        (5000, "all", True, None),
        (20, 5, False, 5),
    ],
)
def test_wide_tables_keep_near_neighbours_only(n_features, asked, learned, kept):
    found = resolve(n_features=n_features, feature_neighbors=asked, learn_memberships=learned)
    assert found.feature_neighbors == kept


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({}, "significant"),
        ({"preset": "paper"}, "open"),
        ({"sparsity": 0.5}, "open"),
        ({"sparsity_weight": 0.0}, "open"),
        ({"sparsity": 0.5, "n_groups_to_select": 3}, 3),
        ({"preset": "paper", "n_groups_to_select": "significant"}, "significant"),
    ],
)
def test_gates_decide_where_they_are_asked_to(parameters, rule):
    assert resolve(**parameters).n_groups_to_select == rule


def test_the_preset_says_how_the_number_of_groups_is_found():
    assert resolve().n_groups == "replication" and resolve(preset="paper").n_groups == "distortion"
    assert resolve(preset="paper", n_groups="replication").n_groups == "replication"
    assert resolve(n_groups=7).n_groups == 7


def test_fewer_rows_have_smaller_batches_and_fewer_neighbours():
    part = resolve(1000, verbose=1).for_rows(np.arange(5))
    assert (part.batch_size, part.n_neighbors, part.verbose) == (5, 4, False)
