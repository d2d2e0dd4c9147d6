import numpy as np
import pytest
import scipy.linalg
from sklearn.metrics import adjusted_rand_score

from groupfs.graphs.eigenvectors import leading_eigenvectors
from groupfs.graphs.feature_clusters import (
    SMALL_PRODUCT,
    _nearest,
    _pivots,
    cluster_features,
    nearest_clusters,
)
from tests.support.walks import moons_walk, planted_walk


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


def test_candidates_are_the_own_cluster_and_the_nearest_centers(rng):
    vectors = rng.standard_normal((40, 6))
    labels = rng.permutation(np.arange(40) % 6)
    embedding = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centers = np.stack([embedding[labels == j].mean(0) for j in range(6)])
    distance = np.linalg.norm(embedding[:, None] - centers, axis=-1)
    distance[np.arange(40), labels] = -1
    for block_entries in (7 * 6, 10**6):
        found = nearest_clusters(vectors, labels, 6, 4, block_entries)
        np.testing.assert_array_equal(found, distance.argsort(1)[:, :4])


def test_nearest_centers_in_blocks_are_the_nearest(rng):
    points, centers = rng.standard_normal((5000, 8)), rng.standard_normal((8, 8))
    assert points.size * len(centers) > SMALL_PRODUCT  # more than a block
    literal = ((points[:, None] - centers[None]) ** 2).sum(-1).argmin(1)
    np.testing.assert_array_equal(_nearest(points, centers), literal)


def test_pivots_are_those_of_pivoted_qr(rng):
    U = rng.standard_normal((300, 12)) * np.linspace(1, 3, 300)[:, None]
    _, expected = scipy.linalg.qr(U.T, mode="r", pivoting=True)
    np.testing.assert_array_equal(_pivots(U), expected[:12])


@pytest.mark.parametrize("starts", [None, np.random.default_rng(0)])
def test_a_sample_of_features_gives_the_clusters_of_all(starts, rng):
    walk, labels = planted_walk([400, 300, 200, 100, 13], rng)  # the last may miss the sample
    vectors = leading_eigenvectors(walk, 5).astype(np.float32)
    found = cluster_features(vectors, 5, starts, n_sampled=150)
    assert adjusted_rand_score(labels, found) == 1
