import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.data.rows import DenseRows, SparseRows
from groupfs.graphs.feature_graph import FeatureGraph, affinity_of_neighbors, apply_laplacian
from groupfs.graphs.feature_neighbors import approximate_neighbors, exact_neighbors
from tests import reference

CPU = torch.device("cpu")


def columns(rng, d=40, N=25):
    Z = rng.standard_normal((N, d)) + 2 * rng.standard_normal((N, 4))[:, rng.integers(0, 4, d)]
    return (Z - Z.mean(0)) / Z.std(0)


@pytest.fixture
def tables(rng):
    """One table standardised once, and kept sparse."""
    X = rng.poisson(0.7, (25, 40)).astype(float)
    mean, scale = X.mean(0), X.std(0)
    sparse = SparseRows(sp.csr_array(X), mean, scale, np.full(40, 25.0))
    return DenseRows((X - mean) / scale), sparse


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
    assert sp.issparse(sparse)
    distance = ((rows.Z[:, :, None] - rows.Z[:, None, :]) ** 2).sum(0)
    near = distance.argsort(1).argsort(1) <= 10
    np.testing.assert_allclose(sparse.toarray(), np.where(near | near.T, dense, 0), atol=1e-12)


def test_keeping_all_neighbours_is_dense(rng):
    rows = DenseRows(columns(rng, d=12))
    assert not sp.issparse(FeatureGraph(rows, 7, 11).walk)


@pytest.mark.parametrize("n_kept", [None, 4])
def test_more_copies_than_neighbours_are_fully_connected_and_finite(n_kept, rng):
    Z = columns(rng, d=10)
    Z[:, :6] = Z[:, :1]
    affinity = FeatureGraph(DenseRows(Z), 3, n_kept).affinity
    full = affinity.toarray() if sp.issparse(affinity) else affinity
    assert np.isfinite(full).all()
    np.testing.assert_allclose(np.diag(full), 1)
    np.testing.assert_allclose(full[:6, :6][full[:6, :6] > 0], 1)


def test_sparse_tables_give_what_dense_ones_give(tables, rng):
    dense, sparse = tables
    vectors, weights = rng.standard_normal((25, 3)), rng.standard_normal((40, 2))
    np.testing.assert_allclose(sparse.column_norms, dense.column_norms)
    np.testing.assert_allclose(sparse.project(vectors), dense.project(vectors), atol=1e-10)
    np.testing.assert_allclose(sparse.combine(weights), dense.combine(weights), atol=1e-10)
    np.testing.assert_allclose(
        sparse.column_products(5, 12), dense.column_products(5, 12), atol=1e-10
    )
    index = torch.tensor([3, 0, 7])
    for rows in tables:
        rows.to(CPU, torch.float64)
    out = torch.empty(3, 40, dtype=torch.float64)
    np.testing.assert_allclose(sparse.take(index, out=out), dense.take(index), atol=1e-12)
    affinities = [FeatureGraph(rows, 7, None).affinity for rows in tables]
    np.testing.assert_allclose(*affinities, atol=1e-9)


def test_shuffling_keeps_every_column_and_breaks_their_order(tables, rng):
    for rows in tables:
        shuffled = rows.shuffled(rng)
        everything = torch.arange(25)
        for r in (rows, shuffled):
            r.to(CPU, torch.float64)
        before, after = rows.take(everything).numpy(), shuffled.take(everything).numpy()
        np.testing.assert_allclose(np.sort(after, axis=0), np.sort(before, axis=0), atol=1e-12)
        assert not np.allclose(after, before)


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
