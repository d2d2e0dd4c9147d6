import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.data.rows import DenseRows, SparseRows
from groupfs.graphs import affinity as graphs
from groupfs.graphs import feature_neighbors as neighbors
from tests import reference

CPU = torch.device("cpu")


def columns(rng, d=40, N=25):
    Z = rng.standard_normal((N, d)) + 2 * rng.standard_normal((N, 4))[:, rng.integers(0, 4, d)]
    return (Z - Z.mean(0)) / Z.std(0)


@pytest.fixture
def tables(rng):
    """The same table standardised once, and kept sparse."""
    X = rng.poisson(0.7, (25, 40)).astype(float)
    mean, scale = X.mean(0), X.std(0)
    return DenseRows((X - mean) / scale), SparseRows(
        sp.csr_array(X), mean, scale, np.full(40, 25.0)
    )


def test_distances_from_products_equal_distances_from_differences(rng):
    X = torch.from_numpy(rng.standard_normal((3, 8, 5)))
    literal = ((X[:, :, None] - X[:, None]) ** 2).sum(-1)
    np.testing.assert_allclose(graphs.squared_distances(X @ X.mT), literal, atol=1e-12)


def test_affinity_equals_the_literal_one(rng):
    points = torch.from_numpy(rng.standard_normal((12, 5)))
    graph = graphs.self_tuning_graph(graphs.squared_distances(points @ points.T), 4)
    literal = reference.self_tuning_affinity(points, 4)
    np.testing.assert_allclose(graph.affinity, literal, rtol=1e-9)
    walk, _ = graphs.random_walk(graph.affinity)
    np.testing.assert_allclose(walk, reference.random_walk(literal), rtol=1e-9)


def test_both_ways_to_find_the_neighbour_agree(rng):
    values = torch.from_numpy(rng.random((2, 9, 9)))
    kth, place = graphs._kth_smallest(values, 3)
    nearest, places = torch.topk(values, 4, largest=False)
    np.testing.assert_array_equal(kth, nearest[..., -1])
    np.testing.assert_array_equal(place, places[..., -1])


def test_feature_walk_equals_identity_minus_the_literal_laplacian(rng):
    Z = columns(rng, d=15)
    walk = graphs.FeatureGraph(DenseRows(Z), 4, None).walk
    literal = reference.laplacian(reference.self_tuning_affinity(torch.from_numpy(Z.T), 4))
    np.testing.assert_allclose(np.eye(15) - walk, literal, atol=1e-10)


@pytest.mark.parametrize("block", [2**23, 100])
def test_sparse_affinity_is_the_dense_one_where_either_end_is_a_near_neighbour(rng, block):
    rows = DenseRows(columns(rng), block)
    dense = graphs.FeatureGraph(rows, 7, None).affinity
    sparse = graphs.FeatureGraph(rows, 7, 10).affinity
    assert sp.issparse(sparse)
    distance = ((rows.Z[:, :, None] - rows.Z[:, None, :]) ** 2).sum(0)
    near = distance.argsort(1).argsort(1) <= 10
    np.testing.assert_allclose(sparse.toarray(), np.where(near | near.T, dense, 0), atol=1e-12)


def test_keeping_all_neighbours_is_dense(rng):
    rows = DenseRows(columns(rng, d=12))
    assert not sp.issparse(graphs.FeatureGraph(rows, 7, 11).walk)


def test_more_copies_than_neighbours_are_fully_connected_and_finite(rng):
    Z = columns(rng, d=10)
    Z[:, :6] = Z[:, :1]
    for n_kept in (None, 4):
        affinity = graphs.FeatureGraph(DenseRows(Z), 3, n_kept).affinity
        full = affinity.toarray() if sp.issparse(affinity) else affinity
        assert np.isfinite(full).all()
        np.testing.assert_allclose(np.diag(full), 1)
        linked = full[:6, :6][full[:6, :6] > 0]
        np.testing.assert_allclose(linked, 1)


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


def test_shuffling_keeps_every_column_and_breaks_their_order(tables, rng):
    for rows in tables:
        shuffled = rows.shuffled(rng)
        everything = torch.arange(25)
        for r in (rows, shuffled):
            r.to(CPU, torch.float64)
        before, after = rows.take(everything).numpy(), shuffled.take(everything).numpy()
        np.testing.assert_allclose(np.sort(after, axis=0), np.sort(before, axis=0), atol=1e-12)
        assert not np.allclose(after, before)


def test_approximate_neighbours_are_mostly_the_exact_ones(rng, monkeypatch):
    pytest.importorskip("faiss")
    rows = DenseRows(columns(rng, d=1500, N=40))
    exact, approximate = (
        f(rows, 20)[1] for f in (neighbors.exact_neighbors, neighbors.approximate_neighbors)
    )
    shared = [len(np.intersect1d(a, b)) / 21 for a, b in zip(exact, approximate, strict=True)]
    assert np.mean(shared) > 0.8
    monkeypatch.setattr(neighbors, "EXACT_FEATURES", 1000)
    dense = graphs.FeatureGraph(rows, 7, None).affinity
    sparse = graphs.FeatureGraph(rows, 7, 20).affinity
    edges = sparse.tocoo()
    # where an edge was found its weight is near the exact one: bandwidths may differ a little
    assert np.median(np.abs(edges.data - dense[edges.coords])) < 0.01
