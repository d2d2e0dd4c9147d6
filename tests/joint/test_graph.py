"""Graphs in torch, those of samples and that of features, are the literal ones."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.joint.batches import Batches
from groupfs.joint.graph import (
    feature_walk,
    group_smoothness,
    own_graph_smoothness,
    plain_affinity,
    random_walk,
    self_tuning_graph,
    squared_distances,
)
from groupfs.joint.losses import apply_laplacian
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


def columns(rng, d=40, N=25):
    Z = rng.standard_normal((N, d)) + 2 * rng.standard_normal((N, 4))[:, rng.integers(0, 4, d)]
    return (Z - Z.mean(0)) / Z.std(0)


@pytest.mark.parametrize("by_torch", [False, True])
def test_walk_of_features_is_identity_minus_the_literal_laplacian(rng, by_torch):
    similarity = Correlations(DenseRows(columns(rng, d=15)))
    if by_torch:
        similarity.rows.multiply_on(torch.device("cpu"))
    walk = feature_walk(similarity, 4, None)
    Z = torch.from_numpy(similarity.rows.Z.T.copy())
    literal = reference.laplacian(reference.self_tuning_affinity(Z, 4))
    np.testing.assert_allclose(np.eye(15) - walk, literal, atol=1e-10)
    F = torch.from_numpy(rng.standard_normal((3, 15, 2)))
    for R in (1, 3):
        rough = apply_laplacian(torch.from_numpy(walk), F[:R])
        np.testing.assert_allclose(rough, (np.eye(15) - walk) @ F[:R].numpy(), atol=1e-10)


@pytest.mark.parametrize("block", [2**23, 100])
def test_a_sparse_walk_joins_near_neighbours_of_either_end(rng, block):
    rows = Correlations(DenseRows(columns(rng), block))
    sparse = feature_walk(rows, 7, 10)
    assert sp.issparse(sparse) and not sp.issparse(feature_walk(rows, 7, 39))
    distance = ((rows.rows.Z[:, :, None] - rows.rows.Z[:, None, :]) ** 2).sum(0)
    near = distance.argsort(1).argsort(1) <= 10
    affinity = reference.self_tuning_affinity(torch.from_numpy(rows.rows.Z.T.copy()), 7)
    kept = np.where(near | near.T, affinity, 0)
    scale = 1 / np.sqrt(kept.sum(1))
    np.testing.assert_allclose(sparse.toarray(), kept * scale[:, None] * scale, atol=1e-10)


@pytest.mark.parametrize("n_kept", [None, 4])
def test_more_copies_than_neighbours_are_alike_and_finite(n_kept, rng):
    Z = columns(rng, d=10)
    Z[:, :6] = Z[:, :1]
    walk = feature_walk(Correlations(DenseRows(Z)), 3, n_kept)
    full = walk.toarray() if sp.issparse(walk) else walk
    assert np.isfinite(full).all() and (np.diag(full) > 0).all()
    if n_kept is None:
        np.testing.assert_allclose(full[:6, :6], full[0, 0])


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
