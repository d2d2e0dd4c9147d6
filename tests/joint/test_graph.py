"""Graphs in torch, those of samples and that of features, are the literal ones."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from groupfs.discovery import graph as by_numpy
from groupfs.joint.batches import Batches
from groupfs.joint.graph import (
    feature_walk,
    plain_affinity,
    random_walk,
    self_tuning_graph,
    squared_distances,
)
from groupfs.joint.losses import apply_laplacian
from groupfs.joint.smoothness import group_smoothness, own_graph_smoothness
from tests import reference
from tests.support.walks import correlations


def test_affinity_equals_the_literal_one(rng):
    points = torch.from_numpy(rng.standard_normal((12, 5)))
    graph = self_tuning_graph(squared_distances(points @ points.T), 4)
    literal = reference.self_tuning_affinity(points, 4)
    np.testing.assert_allclose(graph.affinity, literal, rtol=1e-9)
    np.testing.assert_allclose(plain_affinity(points @ points.T, 4), literal, rtol=1e-9)
    walk, _ = random_walk(graph.affinity)
    np.testing.assert_allclose(walk, reference.random_walk(literal), rtol=1e-9)


@pytest.mark.parametrize("n_kept", [None, 6])
def test_walk_of_features_is_that_of_numpy_whoever_multiplies(rng, n_kept):
    similarity = correlations(rng.standard_normal((25, 15)))
    expected = by_numpy.feature_walk(similarity, 4, n_kept)
    again = correlations(similarity.rows.Z)
    again.rows.multiply_on(torch.device("cpu"))
    found = feature_walk(again, 4, n_kept)
    gap = abs(found - expected)
    assert gap.max() < 1e-12
    if n_kept is None:
        F = torch.from_numpy(rng.standard_normal((3, 15, 2)))
        for R in (1, 3):
            rough = apply_laplacian(torch.from_numpy(found), F[:R])
            np.testing.assert_allclose(rough, (np.eye(15) - found) @ F[:R].numpy(), atol=1e-10)


@pytest.mark.parametrize("steps", [1, 2])
def test_smoothness_equals_the_literal_one_and_shuffled_columns_have_none(steps, rng):
    X = rng.standard_normal((2, 15, 4))
    fast = own_graph_smoothness(torch.from_numpy(X), 3, steps)
    literal = [reference.own_graph_smoothness(table, 3, steps) for table in X]
    np.testing.assert_allclose(fast, literal, rtol=1e-9)
    Z = rng.standard_normal((256, 10))
    Z[:, :5] += 2 * rng.standard_normal((256, 1))
    groups = [np.arange(5), np.arange(5, 10), np.array([0])]
    rows = Batches(correlations(Z).rows, torch.device("cpu"), torch.float64)
    settings = SimpleNamespace(n_neighbors=7, diffusion_steps=steps)
    related, noise, single = group_smoothness(rows, groups, settings, seed=0, n_shuffles=20)
    assert related > 0.1 > 0.03 > abs(noise) and single == 0


@pytest.mark.parametrize("most", [2**28, 10])
def test_batches_are_rows_whether_all_are_held_or_not(rng, monkeypatch, most):
    monkeypatch.setattr("groupfs.joint.batches.HELD_ENTRIES", most)
    rows = correlations(rng.standard_normal((20, 5))).rows
    batches, out = Batches(rows, torch.device("cpu"), torch.float64), torch.empty((8, 5))
    index = torch.tensor([3, 0, 19])
    np.testing.assert_array_equal(batches.take(index), rows.Z[[3, 0, 19]])
    out = out.double()
    seen = [out.clone() for _ in batches.fill(3, np.random.default_rng(0), out)]
    order = np.resize(np.random.default_rng(0).permutation(20), 24)
    np.testing.assert_array_equal(torch.cat(seen), rows.Z[order])
