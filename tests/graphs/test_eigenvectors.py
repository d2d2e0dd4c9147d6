import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from sklearn.metrics import adjusted_rand_score

from groupfs.graphs.eigenvectors import _by_blocks, _one_by_one, leading_eigenvectors
from groupfs.graphs.feature_clusters import cluster_features
from groupfs.graphs.feature_graph import symmetric_walk
from tests.support.walks import moons_walk, planted_walk


def test_sparse_eigenvectors_span_what_dense_ones_do():
    walk = moons_walk(n_kept=12, n_features=40)
    assert sp.issparse(walk)
    sparse = leading_eigenvectors(walk, 3)
    dense = leading_eigenvectors(walk.toarray(), 3)
    np.testing.assert_allclose(np.linalg.svd(sparse.T @ dense)[1], 1, atol=1e-8)
    roughness = [v @ v - v @ (walk @ v) for v in sparse.T]
    assert roughness == sorted(roughness)  # smoothest first


def test_blocks_of_eigenvectors_span_what_single_ones_do(rng):
    walk, labels = planted_walk([100] * 8, rng)
    exact = leading_eigenvectors(walk, 8)
    found = leading_eigenvectors(walk, 8, block_features=100)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.T @ found, np.eye(8), atol=1e-4)
    np.testing.assert_allclose(np.linalg.svd(exact.T @ found)[1], 1, atol=1e-3)
    assert adjusted_rand_score(labels, cluster_features(found, 8)) == 1
    np.testing.assert_array_equal(found, leading_eigenvectors(walk, 8, block_features=100))


def test_spare_vectors_need_not_be_good_but_those_that_are_wanted(rng):
    # of four blocks four eigenvectors stand out, the others are a crowd that takes long
    walk, _ = planted_walk([150] * 4, rng)
    assert _by_blocks(walk, 4, most_rounds=3) is not None
    assert _by_blocks(walk, 30, most_rounds=1) is None


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
