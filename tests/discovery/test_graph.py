import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.spatial.distance import cdist

from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.discovery.graph import feature_affinity, feature_walk, self_tuning_affinity
from tests import reference


def columns(rng, d=40, N=25):
    Z = rng.standard_normal((N, d)) + 2 * rng.standard_normal((N, 4))[:, rng.integers(0, 4, d)]
    return (Z - Z.mean(0)) / Z.std(0)


def test_affinity_equals_the_literal_one(rng):
    points = rng.standard_normal((12, 5))
    found = self_tuning_affinity(cdist(points, points, "sqeuclidean"), 4)
    literal = reference.self_tuning_affinity(torch.from_numpy(points), 4)
    np.testing.assert_allclose(found, literal, rtol=1e-9)


def test_feature_walk_equals_identity_minus_the_literal_laplacian(rng):
    Z = columns(rng, d=15)
    walk = feature_walk(Correlations(DenseRows(Z)), 4)
    literal = reference.laplacian(reference.self_tuning_affinity(torch.from_numpy(Z.T), 4))
    np.testing.assert_allclose(np.eye(15) - walk, literal, atol=1e-10)


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
