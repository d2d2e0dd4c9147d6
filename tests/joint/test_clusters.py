import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from groupfs.joint.clusters import (
    _nearest,
    _one_by_one,
    cluster_features,
    leading_eigenvectors,
)
from groupfs.joint.graph import symmetric_walk
from tests.support.walks import moons_walk


@pytest.mark.parametrize("starts", [None, np.random.default_rng(0)])
def test_clusters_find_the_moon_groups(starts):
    labels = cluster_features(leading_eigenvectors(moons_walk(), 3), 3, starts)
    assert labels.tolist() == [0] * 5 + [1] * 5 + [2] * 10  # numbered by their first features


def test_clusters_do_not_depend_on_rounding(rng):
    # rows of unit length would tie as pivots, and the last bits decide where k-means starts
    vectors = leading_eigenvectors(moons_walk(), 6)
    for _ in range(5):
        nudged = vectors * rng.choice([-1, 1], 6) + 1e-14 * rng.standard_normal(vectors.shape)
        np.testing.assert_array_equal(cluster_features(nudged, 6), cluster_features(vectors, 6))


def test_no_cluster_is_empty_even_when_rows_coincide():
    rows = np.repeat(np.eye(4)[:2], 5, axis=0)
    labels = cluster_features(rows, 4, np.random.default_rng(0))
    assert np.bincount(labels, minlength=4).min() == 1
    assert cluster_features(np.eye(3), 3).tolist() == [0, 1, 2]  # as many as features


def test_nearest_centers_are_the_nearest(rng):
    points, centers = rng.standard_normal((5000, 8)), rng.standard_normal((8, 8))
    literal = ((points[:, None] - centers) ** 2).sum(-1).argmin(1)
    np.testing.assert_array_equal(_nearest(points, centers), literal)


def test_sparse_eigenvectors_span_what_dense_ones_do():
    walk = moons_walk(n_kept=12, n_features=40)
    assert sp.issparse(walk)
    sparse = leading_eigenvectors(walk, 3)
    dense = leading_eigenvectors(walk.toarray(), 3)
    np.testing.assert_allclose(np.linalg.svd(sparse.T @ dense)[1], 1, atol=1e-8)
    roughness = [v @ v - v @ (walk @ v) for v in sparse.T]
    assert roughness == sorted(roughness)  # smoothest first


@pytest.mark.parametrize("direct_features", [60, 59], ids=["all at once", "lobpcg"])
def test_ways_round_lanczos_find_the_smoothest_directions(direct_features, monkeypatch, rng):
    def fails(*arguments, **keywords):
        raise scipy.sparse.linalg.ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))

    W = np.kron(np.eye(4), np.ones((15, 15))) + 0.01 * rng.random((60, 60))
    walk = symmetric_walk(sp.csr_array(W + W.T))
    _, expected = _one_by_one(walk, 4)
    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", fails)
    _, found = _one_by_one(walk, 4, direct_features)
    assert scipy.linalg.subspace_angles(found, expected).max() < 1e-6


def test_lanczos_starts_again_in_the_same_way():
    pieces = symmetric_walk(sp.csr_array(sp.block_diag([np.ones((3, 3))] * 200)))
    vectors = leading_eigenvectors(pieces, 20)
    np.testing.assert_array_equal(leading_eigenvectors(pieces, 20), vectors)
