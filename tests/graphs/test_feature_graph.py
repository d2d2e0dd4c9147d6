import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.data.rows import DenseRows
from groupfs.graphs import feature_neighbors
from groupfs.graphs.feature_graph import FeatureGraph, affinity_of_neighbors, apply_laplacian
from groupfs.graphs.feature_neighbors import approximate_neighbors, exact_neighbors
from tests import reference
from tests.support.walks import standardised

CPU = torch.device("cpu")


def columns(rng, d=40, N=25):
    Z = rng.standard_normal((N, d)) + 2 * rng.standard_normal((N, 4))[:, rng.integers(0, 4, d)]
    return (Z - Z.mean(0)) / Z.std(0)


def test_feature_walk_equals_identity_minus_the_literal_laplacian(rng):
    Z = columns(rng, d=15)
    walk = FeatureGraph(DenseRows(Z), 4, None).walk
    literal = reference.laplacian(reference.self_tuning_affinity(torch.from_numpy(Z.T), 4))
    np.testing.assert_allclose(np.eye(15) - walk, literal, atol=1e-10)
    F = torch.from_numpy(rng.standard_normal((3, 15, 2)))
    for R in (1, 3):
        rough = apply_laplacian(torch.from_numpy(walk), F[:R])
        np.testing.assert_allclose(rough, literal @ F[:R], atol=1e-10)


@pytest.mark.parametrize("block", [2**23, 100])
def test_sparse_affinity_is_the_dense_one_where_either_end_is_a_near_neighbour(rng, block):
    rows = DenseRows(columns(rng), block)
    dense = FeatureGraph(rows, 7, None).affinity
    sparse = FeatureGraph(rows, 7, 10).affinity
    assert sp.issparse(sparse) and not sp.issparse(FeatureGraph(rows, 7, 39).walk)
    distance = ((rows.Z[:, :, None] - rows.Z[:, None, :]) ** 2).sum(0)
    near = distance.argsort(1).argsort(1) <= 10
    np.testing.assert_allclose(sparse.toarray(), np.where(near | near.T, dense, 0), atol=1e-12)


@pytest.mark.parametrize("n_kept", [None, 4])
def test_more_copies_than_neighbours_are_fully_connected_and_finite(n_kept, rng):
    Z = columns(rng, d=10)
    Z[:, :6] = Z[:, :1]
    affinity = FeatureGraph(DenseRows(Z), 3, n_kept).affinity
    full = affinity.toarray() if sp.issparse(affinity) else affinity
    assert np.isfinite(full).all()
    np.testing.assert_allclose(np.diag(full), 1)
    np.testing.assert_allclose(full[:6, :6][full[:6, :6] > 0], 1)


def test_approximate_neighbours_are_mostly_the_exact_ones(rng):
    pytest.importorskip("faiss")
    rows = DenseRows(columns(rng, d=1500, N=40))
    distances, approximate, mean = approximate_neighbors(rows, 20)
    _, exact, _ = exact_neighbors(rows, 20)
    shared = [len(np.intersect1d(a, b)) / 21 for a, b in zip(exact, approximate, strict=True)]
    assert np.mean(shared) > 0.8
    dense = FeatureGraph(rows, 7, None).affinity
    edges = affinity_of_neighbors(distances, approximate, 7, mean).tocoo()
    # where an edge was found its weight is near the exact one: bandwidths may differ a little
    assert np.median(np.abs(edges.data - dense[edges.coords])) < 0.01


def test_largest_correlations_give_the_neighbours_that_all_distances_give(rng, monkeypatch):
    X = rng.standard_normal((50, 4))[:, np.arange(30) % 4] + rng.standard_normal((50, 30))
    X[:, 7] = -3 * X[:, 2]
    rows = DenseRows(standardised(X))
    squared, nearest, mean = exact_neighbors(rows, 6, signed=False)
    monkeypatch.setattr(feature_neighbors, "_equally_long", lambda rows: False)
    expected, expected_nearest, expected_mean = exact_neighbors(rows, 6, signed=False)
    np.testing.assert_allclose(squared, expected, atol=1e-9)
    assert mean == pytest.approx(expected_mean) and squared[7, 1] == 0
    # copies may come in either order
    one, other = (np.where(found == 7, 2, found) for found in (nearest, expected_nearest))
    np.testing.assert_array_equal(one, other)
