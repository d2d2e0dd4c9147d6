"""Affinities by every metric and what is smooth on their graphs agree with the equations."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import NearestNeighbors

from groupfs.data.dense import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.discovery.sample_graph import METRICS, check_metric
from groupfs.discovery.smoothness import (
    beyond_chance,
    feature_smoothness,
    own_graph_smoothness,
    rank_columns,
    sample_affinity,
    smoothness_beyond_chance,
    smoothness_on_graph,
)
from tests import reference
from tests.support.walks import standardised

SETTINGS = {"n_neighbors": 7, "n_shuffles": 20, "seed": 0}
LITERAL = {
    "euclidean": reference.self_tuning_affinity,
    "cosine": reference.cosine_affinity,
    "rank": lambda X, K: reference.self_tuning_affinity(reference.ranks(X), K),
}


def rows_of(X):
    return DenseRows(standardised(X))


def neighbours_of(X, k=10):
    return check_metric(NearestNeighbors(n_neighbors=k).fit(X), len(X))


@pytest.mark.parametrize("metric", METRICS)
def test_affinities_equal_the_literal_ones(metric, rng):
    X = rng.standard_normal((24, 3))
    literal = LITERAL[metric](torch.from_numpy(X), 3)
    np.testing.assert_allclose(sample_affinity(X, 3, metric), literal, rtol=1e-6, atol=1e-12)


def test_equal_values_share_their_ranks():
    X = np.array([[0.0], [1], [1], [3]])
    expected = np.array([-1.5, 0, 0, 1.5]) / np.sqrt(1.125)
    np.testing.assert_allclose(rank_columns(X)[:, 0], expected)
    gaps = np.vstack([X, [[np.nan]]])
    np.testing.assert_allclose(rank_columns(gaps)[:, 0], [*expected, np.nan])
    np.testing.assert_array_equal(rank_columns(X, np.array([False])), X)  # a level of a category


def shared_with_neighbours(x, W):
    """What neighbours share of every column, by the equation, and what all have at least."""
    P = W / W.sum(1, keepdims=True)
    return (x * (P @ x)).sum(0) / (x * x).sum(0), 0.1 * np.sqrt(2 * np.square(P).sum()) / len(x)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_of_features_are_what_neighbours_by_the_metric_share(metric, rng):
    X = rng.standard_normal((60, 9))
    X[:, :4] += 3 * np.sign(rng.standard_normal((60, 1)))
    rows, among = rows_of(X), np.arange(5)
    seen = torch.from_numpy(rows.Z[:, among])
    W = LITERAL[metric](seen, 7).numpy().copy()
    np.fill_diagonal(W, 0)
    lengths = np.linalg.norm(seen, axis=1, keepdims=True)
    x = {"euclidean": rows.Z, "rank": reference.ranks(rows.Z).numpy(), "cosine": rows.Z / lengths}
    found = feature_smoothness(rows, among, seed=0, metric=metric)
    expected = np.maximum(*shared_with_neighbours(x[metric], W))
    assert found == pytest.approx(expected, abs=1e-6) and 0.002 < found[5:].min() < 0.1
    if metric == "euclidean":
        assert found == pytest.approx(reference.feature_smoothness(rows.Z, among, 7), abs=1e-6)
        assert found[:4].min() > 0.5 > 0.25 > found[5:].max()


@pytest.mark.parametrize("steps", [1, 2])
def test_on_a_known_graph_a_column_is_compared_with_its_walk(steps, rng):
    X = rng.standard_normal((120, 4))
    graph, rows = neighbours_of(X[:, :2]), rows_of(X)
    W = (graph.walk.toarray() > 0).astype(float)
    P = np.linalg.matrix_power(reference.random_walk(torch.from_numpy(W)).numpy(), steps)
    found, _ = smoothness_on_graph(rows, graph, steps, seed=0)
    np.testing.assert_allclose(found, (rows.Z * (P @ rows.Z)).mean(0), rtol=1e-9, atol=1e-12)
    weights = feature_smoothness(rows, np.arange(4), seed=0, metric=graph)
    assert weights == pytest.approx(np.maximum(shared_with_neighbours(rows.Z, W)[0], 0), abs=1e-9)
    assert weights[:2].min() > 0.6 > 0.3 > weights[2:].max()


@pytest.mark.parametrize("steps", [1, 2])
def test_chance_on_a_known_graph_is_that_of_shuffled_columns(steps, rng):
    places = rng.standard_normal((300, 2))
    skewed = standardised(np.exp(0.5 * rng.standard_normal((300, 1))))
    many = rng.permuted(np.repeat(skewed, 2000, axis=1), axis=0)
    graph = neighbours_of(places)
    shuffled, chance = smoothness_on_graph(rows_of(many), graph, steps, seed=0)
    assert chance[0] == pytest.approx(shuffled.mean(), abs=0.5 * shuffled.std())


def test_of_many_samples_some_rows_are_looked_at_and_the_whole_graph_is_walked(rng):
    places = rng.standard_normal((9000, 2))
    rows = rows_of(np.hstack([places, rng.standard_normal((9000, 2))]))
    found, chance = smoothness_on_graph(rows, neighbours_of(places, 5), 2, seed=0)
    # 4,096 random rows alone would have lost more than half of their edges
    assert (found[:2] > 0.9).all()
    assert np.abs(found[2:] - chance[2:]).max() < 0.05


@pytest.mark.parametrize("steps", [1, 2])
def test_smoothness_equals_the_literal_one(steps, rng):
    X = rng.standard_normal((15, 4))
    literal = reference.own_graph_smoothness(X, 3, steps)
    assert own_graph_smoothness(X, 3, steps) == pytest.approx(float(literal), rel=1e-9)


def test_a_single_feature_is_smooth_but_not_beyond_chance(rng):
    X = standardised(rng.standard_normal((200, 3)))
    assert own_graph_smoothness(X[:, :1], 7, 2) > 0.8
    scores = beyond_chance(X, [np.array([0]), np.array([], dtype=int)], **SETTINGS)
    assert scores.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("metric", "excess"), [("euclidean", 0.57), ("cosine", 0.4), ("rank", 0.54)]
)
def test_moons_are_as_smooth_beyond_chance_as_measured_and_noise_is_not(metric, excess, rng):
    X = standardised(load_two_moons(random_state=0).data)[:256]
    groups = [np.arange(5), np.arange(5, 10), np.arange(10, 20)]
    found = beyond_chance(X, groups, **SETTINGS, metric=metric)
    assert found[:2].mean() == pytest.approx(excess, abs=0.02) and abs(found[2]) < 0.01
    assert found[:2] == pytest.approx(excess, abs=0.06)
    shuffled = rng.permuted(X, axis=0)
    assert np.abs(beyond_chance(shuffled, groups, **SETTINGS, metric=metric)).max() < 0.05


def test_by_the_cosine_brightness_of_samples_does_not_count(rng):
    X = rng.standard_normal((256, 12))
    X[:, :6] += rng.standard_normal((256, 1))
    X = standardised(X * rng.lognormal(sigma=1, size=(256, 1)))
    groups = [np.arange(6), np.arange(6, 12)]
    true, noise = beyond_chance(X, groups, **SETTINGS, metric="cosine")
    assert true > 0.1 and abs(noise) < 0.03


def test_groups_on_a_known_graph_score_the_mean_of_their_columns_beyond_chance(rng):
    places = rng.standard_normal((400, 2))
    X = np.hstack([places, rng.standard_normal((400, 4))])
    groups = [np.array([0, 1]), np.array([2, 3, 4]), np.array([0]), np.array([], dtype=int)]
    found = smoothness_beyond_chance(rows_of(X), groups, **SETTINGS, metric=neighbours_of(places))
    assert found[0] > 0.5 and abs(found[1]) < 0.05
    # the graph stays when a column is shuffled, so one column may be smooth beyond chance
    assert found[2] > 0.5
    assert found[3] == 0
