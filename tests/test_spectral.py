import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs import spectral
from groupfs._rows import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.graphs import FeatureGraph
from tests import reference


def moons_walk(n_kept=None, **settings):
    X = load_two_moons(random_state=0, **settings).data
    Z = (X - X.mean(0)) / X.std(0)
    return FeatureGraph(DenseRows(Z), 7, n_kept).walk, Z


def test_distortion_equals_the_literal_one():
    walk, Z = moons_walk()
    L = reference.laplacian(reference.self_tuning_affinity(torch.from_numpy(Z.T), 7))
    vectors = spectral.leading_eigenvectors(walk, 12)
    for C in (2, 3, 5, 12):
        labels = spectral.cluster_features(vectors, C)
        expected = reference.distortion(L, labels, C)
        assert spectral.distortion(spectral.embed(vectors, C), labels) == pytest.approx(
            expected, rel=1e-6, abs=1e-9
        )


def test_distortion_dips_where_the_paper_says():
    walk, _ = moons_walk()
    curve = spectral.distortion_curve(spectral.leading_eigenvectors(walk, 20))
    assert curve[12] < 0.05 and curve[20] < 0.05
    assert curve[3] < curve[2] / 10 and curve[3] < curve[4] / 10
    assert spectral.choose_n_groups(curve, 20) in (3, 12)


@pytest.mark.parametrize("n_blocks", [2, 3, 4, 6])
@pytest.mark.parametrize("size", [5, 20])
def test_clean_blocks_are_counted(n_blocks, size, rng):
    factors = rng.standard_normal((300, n_blocks))
    X = np.repeat(factors, size, axis=1) + 0.1 * rng.standard_normal((300, n_blocks * size))
    Z = (X - X.mean(0)) / X.std(0)
    walk = FeatureGraph(DenseRows(Z), 7, None).walk
    n_vectors = min(31, Z.shape[1])
    curve = spectral.distortion_curve(spectral.leading_eigenvectors(walk, n_vectors))
    assert spectral.choose_n_groups(curve, Z.shape[1]) == n_blocks


def test_without_a_clear_dip_the_number_of_groups_follows_the_number_of_features():
    falling = {C: 100.0 - C for C in range(2, 32)}
    assert spectral.choose_n_groups(falling, 50) == 10
    assert spectral.choose_n_groups(falling, 5000) == 20
    noisy = {**falling, 13: 80.0, 4: 20.0 + 75.0, 29: 60.0}
    assert spectral.choose_n_groups(noisy, 50) == 13  # 29 is deeper, but far from sqrt(2 d)
    clear = {**noisy, 5: 10.0}
    assert spectral.choose_n_groups(clear, 50) == 5
    assert spectral.choose_n_groups({2: 0.0}, 2) == 2


def test_sparse_eigenvectors_span_what_dense_ones_do():
    walk, _ = moons_walk(n_kept=12, n_features=40)
    assert sp.issparse(walk)
    sparse = spectral.leading_eigenvectors(walk, 3)
    dense = spectral.leading_eigenvectors(walk.toarray(), 3)
    np.testing.assert_allclose(np.linalg.svd(sparse.T @ dense)[1], 1, atol=1e-8)
    roughness = [v @ v - v @ (walk @ v) for v in sparse.T]
    assert roughness == sorted(roughness)  # smoothest first


@pytest.mark.parametrize("rng_for_starts", [None, np.random.default_rng(0)])
def test_clusters_find_the_moon_groups(rng_for_starts):
    walk, _ = moons_walk()
    labels = spectral.cluster_features(spectral.leading_eigenvectors(walk, 3), 3, rng_for_starts)
    assert len(set(labels[:5])) == len(set(labels[5:10])) == len(set(labels[10:])) == 1
    assert len(set(labels)) == 3


def test_clusters_do_not_depend_on_rounding(rng):
    # rows of unit length would tie as pivots, and the last bits decide where k-means starts
    walk, _ = moons_walk()
    vectors = spectral.leading_eigenvectors(walk, 6)
    for _ in range(5):
        nudged = vectors * rng.choice([-1, 1], 6) + 1e-14 * rng.standard_normal(vectors.shape)
        np.testing.assert_array_equal(
            spectral.cluster_features(nudged, 6), spectral.cluster_features(vectors, 6)
        )


def test_no_cluster_is_empty_even_when_rows_coincide():
    rows = np.repeat(np.eye(4)[:2], 5, axis=0)
    labels = spectral.cluster_features(rows, 4, np.random.default_rng(0))
    assert np.bincount(labels, minlength=4).min() == 1


def test_as_many_clusters_as_features():
    np.testing.assert_array_equal(spectral.cluster_features(np.eye(3), 3), [0, 1, 2])
