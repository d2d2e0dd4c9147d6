"""Scores and weights of features follow the metric of the samples, and so does their chance."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import NearestNeighbors

from groupfs.data.rows import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.graphs.sample_graph import METRICS, check_metric
from groupfs.scoring.excess import own_graph_smoothness, score_groups, score_on_rows
from groupfs.scoring.known_graph import smoothness_on_graph
from groupfs.scoring.smoothness import feature_smoothness
from tests import reference
from tests.graphs.test_sample_metrics import LITERAL
from tests.support.walks import standardised

SETTINGS = {"n_neighbors": 7, "steps": 2, "n_shuffles": 20, "seed": 0}
NAMED = [metric for metric in METRICS if metric != "euclidean"]


def rows_of(X):
    rows = DenseRows(standardised(X))
    rows.to(torch.device("cpu"), torch.float64)
    return rows


def neighbours_of(X, k=10):
    return check_metric(NearestNeighbors(n_neighbors=k).fit(X), len(X))


@pytest.mark.parametrize("metric", NAMED)
def test_smoothness_is_that_on_the_graph_of_the_metric(metric, rng):
    X = torch.from_numpy(standardised(rng.standard_normal((24, 4))))
    P = reference.random_walk(LITERAL[metric](X, 3))
    literal = float(torch.trace(X.T @ P @ P @ X)) / X.numel()
    fast = own_graph_smoothness(X[None], 3, 2, metric).item()
    assert fast == pytest.approx(literal, rel=1e-6)


@pytest.mark.parametrize("metric", NAMED)
def test_moons_have_excess_by_every_metric_and_shuffled_columns_have_none(metric, rng):
    X = standardised(load_two_moons(random_state=0).data)[:256]
    groups = [np.arange(5), np.arange(5, 10), np.arange(10, 20)]
    found = score_groups(torch.from_numpy(X), groups, **SETTINGS, metric=metric)
    assert (found.excess[:2] > 0.15).all() and (found.z[:2] > 10).all()
    assert abs(found.excess[2]) < 0.05
    shuffled = torch.from_numpy(rng.permuted(X, axis=0))
    # on euclidean graphs geodesic and diffusion scores of shuffled columns would be 0.1 too high
    assert np.abs(score_groups(shuffled, groups, **SETTINGS, metric=metric).excess).max() < 0.05


def test_brightness_of_samples_is_no_excess_by_the_cosine(rng):
    X = rng.standard_normal((256, 12))
    X[:, :6] += rng.standard_normal((256, 1))
    X = torch.from_numpy(standardised(X * rng.lognormal(sigma=1, size=(256, 1))))
    groups = [np.arange(6), np.arange(6, 12)]
    true, noise = score_groups(X, groups, **SETTINGS, metric="cosine").excess
    assert true > 0.1 and abs(noise) < 0.03


def test_ranks_do_not_lose_a_group_to_outliers(rng):
    X = rng.standard_normal((256, 6)) + rng.standard_normal((256, 1))
    X = np.where(rng.random(X.shape) < 0.02, 1e3 * X, X)
    X = torch.from_numpy(standardised(X))
    by_rank, plain = (
        score_groups(X, [np.arange(6)], **SETTINGS, metric=metric).z[0]
        for metric in ("rank", "euclidean")
    )
    assert by_rank > 5 and by_rank > 2 * plain


@pytest.mark.parametrize("steps", [1, 2])
def test_on_a_known_graph_a_column_is_compared_with_its_walk(steps, rng):
    X = rng.standard_normal((80, 3))
    graph, rows = neighbours_of(X), rows_of(X)
    P = reference.random_walk(torch.from_numpy(graph.affinity.toarray())).numpy()
    literal = (rows.Z * (np.linalg.matrix_power(P, steps) @ rows.Z)).mean(0)
    found = smoothness_on_graph(rows, graph, steps, seed=0)
    np.testing.assert_allclose(found.smoothness, literal, rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 2])
def test_chance_on_a_known_graph_is_that_of_shuffled_columns(steps, rng):
    places = rng.standard_normal((300, 2))
    skewed = standardised(np.exp(0.5 * rng.standard_normal((300, 1))))
    many = rng.permuted(np.repeat(skewed, 2000, axis=1), axis=0)
    graph = neighbours_of(places)
    shuffled = smoothness_on_graph(rows_of(many), graph, steps, seed=0)
    assert shuffled.chance[0] == pytest.approx(
        shuffled.smoothness.mean(), abs=0.5 * shuffled.spread[0]
    )
    assert shuffled.spread[0] == pytest.approx(shuffled.smoothness.std(), rel=0.35)


def test_groups_on_a_known_graph_score_the_mean_of_their_columns_beyond_chance(rng):
    places = rng.standard_normal((400, 2))
    X = np.hstack([places, rng.standard_normal((400, 4))])
    groups = [np.array([0, 1]), np.array([2, 3, 4]), np.array([0]), np.array([], dtype=int)]
    settings = {**SETTINGS, "metric": neighbours_of(places)}
    found = score_on_rows(rows_of(X), groups, **settings)
    assert found.excess[0] > 0.5 and abs(found.excess[1]) < 0.05 and abs(found.z[1]) < 4
    # the graph stays when a column is shuffled, so one column has an excess of its own
    assert found.excess[2] > 0.5 and found.z[2] > 10
    assert found.excess[3] == found.z[3] == 0


def test_of_many_samples_some_rows_are_looked_at_and_the_whole_graph_is_walked(rng):
    places = rng.standard_normal((9000, 2))
    rows = rows_of(np.hstack([places, rng.standard_normal((9000, 2))]))
    found = smoothness_on_graph(rows, neighbours_of(places, 5), 2, seed=0)
    # 4,096 random rows alone would have lost more than half of their edges
    assert (found.smoothness[:2] > 0.9).all()
    assert np.abs(found.smoothness[2:] - found.chance[2:]).max() < 0.05


@pytest.mark.parametrize("metric", NAMED)
def test_weights_of_features_are_those_on_the_graph_of_the_metric(metric, rng):
    X = rng.standard_normal((40, 6))
    X[:, :3] += 2 * np.sign(rng.standard_normal((40, 1)))
    rows, among = rows_of(X), np.arange(4)
    seen = torch.from_numpy(rows.Z[:, among])
    W = LITERAL[metric](seen, 7).numpy().copy()
    np.fill_diagonal(W, 0)
    P = W / W.sum(1, keepdims=True)
    x = rows.Z
    if metric == "rank":
        x = reference.ranks(rows.Z).numpy()
    if metric == "cosine":
        x = rows.Z / np.linalg.norm(seen, axis=1, keepdims=True)
    literal = np.maximum((x * (P @ x)).sum(0) / (x * x).sum(0), 0)
    found = feature_smoothness(rows, among, 7, seed=0, metric=metric)
    assert found == pytest.approx(literal, abs=1e-6)


def test_weights_of_features_on_a_known_graph(rng):
    X = rng.standard_normal((120, 4))
    graph, rows = neighbours_of(X[:, :2]), rows_of(X)
    P = reference.random_walk(torch.from_numpy(graph.affinity.toarray())).numpy()
    literal = np.maximum((rows.Z * (P @ rows.Z)).sum(0) / (rows.Z**2).sum(0), 0)
    found = feature_smoothness(rows, np.arange(4), 7, seed=0, metric=graph)
    assert found == pytest.approx(literal, abs=1e-9)
    assert found[:2].min() > 0.6 > 0.3 > found[2:].max()
