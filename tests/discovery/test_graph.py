import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.discovery.graph import (
    feature_affinity,
    feature_walk,
    plain_affinity,
    random_walk,
    self_tuning_graph,
    squared_distances,
)
from groupfs.joint.losses import apply_laplacian
from tests import reference


def columns(rng, d=40, N=25):
    Z = rng.standard_normal((N, d)) + 2 * rng.standard_normal((N, 4))[:, rng.integers(0, 4, d)]
    return (Z - Z.mean(0)) / Z.std(0)


def test_affinity_equals_the_literal_one(rng):
    points = torch.from_numpy(rng.standard_normal((12, 5)))
    graph = self_tuning_graph(squared_distances(points @ points.T), 4)
    literal = reference.self_tuning_affinity(points, 4)
    np.testing.assert_allclose(graph.affinity, literal, rtol=1e-9)
    np.testing.assert_allclose(plain_affinity(points @ points.T, 4), literal, rtol=1e-9)
    walk, _ = random_walk(graph.affinity)
    np.testing.assert_allclose(walk, reference.random_walk(literal), rtol=1e-9)


def test_feature_walk_equals_identity_minus_the_literal_laplacian(rng):
    Z = columns(rng, d=15)
    walk = feature_walk(Correlations(DenseRows(Z)), 4)
    literal = reference.laplacian(reference.self_tuning_affinity(torch.from_numpy(Z.T), 4))
    np.testing.assert_allclose(np.eye(15) - walk, literal, atol=1e-10)
    F = torch.from_numpy(rng.standard_normal((3, 15, 2)))
    for R in (1, 3):
        rough = apply_laplacian(torch.from_numpy(walk), F[:R])
        np.testing.assert_allclose(rough, literal @ F[:R], atol=1e-10)


@pytest.mark.parametrize("block", [2**23, 100])
def test_sparse_affinity_is_the_dense_one_where_either_end_is_a_near_neighbour(rng, block):
    rows = Correlations(DenseRows(columns(rng), block))
    dense = feature_affinity(rows, 7)
    sparse = feature_affinity(rows, 7, 10)
    assert sp.issparse(sparse) and not sp.issparse(feature_walk(rows, 7, 39))
    distance = ((rows.rows.Z[:, :, None] - rows.rows.Z[:, None, :]) ** 2).sum(0)
    near = distance.argsort(1).argsort(1) <= 10
    np.testing.assert_allclose(sparse.toarray(), np.where(near | near.T, dense, 0), atol=1e-12)


@pytest.mark.parametrize("n_kept", [None, 4])
def test_more_copies_than_neighbours_are_fully_connected_and_finite(n_kept, rng):
    Z = columns(rng, d=10)
    Z[:, :6] = Z[:, :1]
    affinity = feature_affinity(Correlations(DenseRows(Z)), 3, n_kept)
    full = affinity.toarray() if sp.issparse(affinity) else affinity
    assert np.isfinite(full).all()
    np.testing.assert_allclose(np.diag(full), 1)
    np.testing.assert_allclose(full[:6, :6][full[:6, :6] > 0], 1)
