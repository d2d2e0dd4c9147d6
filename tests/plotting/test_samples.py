"""Samples in two dimensions, coloured by labels or by the score of a group."""

import numpy as np

from groupfs.plotting import plot_embedding
from tests.support.plots import legend_of, quick


def test_embedding_is_that_of_the_standardised_selected_features(selector, table, moons):
    ax = plot_embedding(selector, table, labels=moons.target)
    points = np.concatenate([part.get_offsets() for part in ax.collections])
    Z = table.to_numpy()[:, selector.get_support()]
    Z = (Z - Z.mean(0)) / Z.std(0)
    lengths = np.sort(np.linalg.svd(Z, compute_uv=False))[::-1][:2]
    np.testing.assert_allclose(np.linalg.norm(points, axis=0), lengths)
    assert ax.get_title() == "10 selected features" and legend_of(ax) == ["0", "1"]


def test_samples_keep_colour_and_side_before_and_after_selection(selector, table):
    after, before = (plot_embedding(selector, table, features=f) for f in ("selected", "all"))
    assert before.get_title() == "All 20 features"
    for one, other in zip(before.collections, after.collections, strict=True):
        products = (np.asarray(one.get_offsets()) * np.asarray(other.get_offsets())).sum(0)
        assert len(one.get_offsets()) == len(other.get_offsets()) and products[0] > 0


def test_without_labels_samples_are_coloured_by_the_score_of_a_group(mixed):
    selector, X = mixed
    Z = ((X - X.mean()) / X.std(ddof=0)).to_numpy()
    for rank, group in enumerate(selector.groups_, start=1):
        ax = plot_embedding(selector, X, group=rank)
        drawn = ax.collections[-1].get_array()
        expected = (Z[:, group] * selector.group_signs_[group]).mean(1)
        assert np.corrcoef(drawn, expected)[0, 1] > 0.99
        assert ax.figure.axes[1].get_ylabel().startswith(f"score of group {rank} (")


def test_numbers_with_a_fraction_get_a_colour_bar(selector, table, rng):
    values = rng.random(200)
    values[3] = np.nan
    ax = plot_embedding(selector, table, labels=values)
    assert ax.get_legend() is None and len(ax.figure.axes) == 2
    assert len(ax.collections[0].get_offsets()) == 1  # the one without a value, in grey


def test_classes_up_to_24_look_different_and_rare_ones_beyond_are_grey(selector, table):
    ax = plot_embedding(selector, table, labels=np.arange(200.0) % 24)  # whole floats are classes
    assert legend_of(ax)[:2] == ["0", "1"]
    looks = {
        (tuple(part.get_facecolor()[0]), len(part.get_paths()[0].vertices))
        for part in ax.collections
    }
    assert len(looks) == len(ax.collections) == 24
    ax = plot_embedding(selector, table, labels=[f"c{i % 30:02}" for i in range(200)])
    assert legend_of(ax)[0] == "other" and len(ax.collections) == 24


def test_one_selected_feature_can_be_embedded(table):
    ax = plot_embedding(quick(table, n_groups=3, n_features_to_select=1), table)
    assert ax.get_title() == "1 selected feature"
    assert all(np.all(part.get_offsets()[:, 1] == 0) for part in ax.collections)
