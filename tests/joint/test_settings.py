import pytest

from groupfs import GroupFS
from groupfs.joint.settings import Settings, large_batch


def resolve(n_samples=1000, n_features=20, **parameters):
    return Settings.resolve(GroupFS(**parameters).get_params(), n_samples, n_features)


def test_presets_fill_in_only_what_is_not_set():
    default, paper = resolve(), resolve(preset="paper")
    assert (default.start_temperature, paper.start_temperature) == (1.0, 10.0)
    assert (default.ranks_by_gates, paper.ranks_by_gates) == (False, True)
    mixed = resolve(preset="paper", start_temperature=2.0, batch_size=7, n_neighbors=3)
    assert (mixed.start_temperature, mixed.batch_size) == (2.0, 7)
    assert mixed.max_epochs == 500 and mixed.steps_per_epoch is None


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
