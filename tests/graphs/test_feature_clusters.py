import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import torch
from sklearn.metrics import adjusted_rand_score

from groupfs.data.rows import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.graphs import affinity as graphs
from groupfs.graphs import eigenvectors as eigen
from groupfs.graphs import feature_clusters as spectral
from groupfs.graphs.affinity import FeatureGraph, symmetric_walk
from tests import reference


def moons_walk(n_kept=None, **settings):
    X = load_two_moons(random_state=0, **settings).data
    Z = (X - X.mean(0)) / X.std(0)
    return FeatureGraph(DenseRows(Z), 7, n_kept).walk, Z


def test_distortion_equals_the_literal_one():
    walk, Z = moons_walk()
    L = reference.laplacian(reference.self_tuning_affinity(torch.from_numpy(Z.T), 7))
    vectors = eigen.leading_eigenvectors(walk, 12)
    for C in (2, 3, 5, 12):
        labels = spectral.cluster_features(vectors, C)
        expected = reference.distortion(L, labels, C)
        assert spectral.distortion(spectral.embed(vectors, C), labels) == pytest.approx(
            expected, rel=1e-6, abs=1e-9
        )


def curve_and_lone(walk, n_vectors):
    eigenvectors = eigen.leading_eigenvectors(walk, n_vectors)
    clusters = spectral.clusters_by_number(eigenvectors)
    return spectral.distortion_curve(eigenvectors, clusters), spectral.lone_features(clusters)


def test_distortion_dips_where_the_paper_says():
    walk, _ = moons_walk()
    curve, lone = curve_and_lone(walk, 20)
    assert curve[12] < 0.05 and curve[20] < 0.05
    assert curve[3] < curve[2] / 10 and curve[3] < curve[4] / 10
    assert spectral.choose_n_groups(curve, 20, lone) == 3


@pytest.mark.parametrize("n_blocks", [2, 3, 4, 6])
@pytest.mark.parametrize("size", [5, 20])
def test_clean_blocks_are_counted(n_blocks, size, rng):
    factors = rng.standard_normal((300, n_blocks))
    X = np.repeat(factors, size, axis=1) + 0.1 * rng.standard_normal((300, n_blocks * size))
    Z = (X - X.mean(0)) / X.std(0)
    walk = FeatureGraph(DenseRows(Z), 7, None).walk
    curve, lone = curve_and_lone(walk, min(31, Z.shape[1]))
    assert spectral.choose_n_groups(curve, Z.shape[1], lone) == n_blocks


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n_noise", "shift"), [(34, 0.0), (34, 2.5), (5, 0.0)])
def test_tight_groups_beside_noise_are_not_taken_apart(n_noise, shift, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, 300)
    blocks = []
    for place, size in enumerate((8, 7, 6)):
        factor = rng.standard_normal(300) + shift * (kind == place) * (place < 2)
        blocks.append(0.9 * factor[:, None] + 0.44 * rng.standard_normal((300, size)))
    X = np.hstack([*blocks, rng.standard_normal((300, n_noise))])
    Z = (X - X.mean(0)) / X.std(0)
    walk = FeatureGraph(DenseRows(Z), 7, None).walk
    eigenvectors = eigen.leading_eigenvectors(walk, min(31, Z.shape[1]))
    clusters = spectral.clusters_by_number(eigenvectors)
    curve = spectral.distortion_curve(eigenvectors, clusters)
    C = spectral.choose_n_groups(curve, Z.shape[1], spectral.lone_features(clusters))
    labels = clusters[C]
    starts = np.cumsum([0, 8, 7, 6])
    for start, stop in zip(starts, starts[1:], strict=False):
        assert len(set(labels[start:stop])) == 1
    assert len({labels[start] for start in starts[:-1]}) == 3


def test_numbers_at_which_features_stand_alone_do_not_count():
    falling = {C: 100.0 - C for C in range(2, 32)}
    noisy = {**falling, 4: 60.0, 9: 10.0}
    nowhere = dict.fromkeys(falling, 0)
    assert spectral.choose_n_groups(noisy, 50, nowhere) == 9
    assert spectral.choose_n_groups(noisy, 50, {**nowhere, 9: 1}) == 9  # one may really be alone
    shattered = {C: max(C - 5, 0) for C in falling}
    assert spectral.choose_n_groups(noisy, 50, shattered) == 4
    assert spectral.choose_n_groups(falling, 50, shattered) == 5
    everywhere = dict.fromkeys(falling, 3)
    assert spectral.choose_n_groups(falling, 50, everywhere) == 10


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
    sparse = eigen.leading_eigenvectors(walk, 3)
    dense = eigen.leading_eigenvectors(walk.toarray(), 3)
    np.testing.assert_allclose(np.linalg.svd(sparse.T @ dense)[1], 1, atol=1e-8)
    roughness = [v @ v - v @ (walk @ v) for v in sparse.T]
    assert roughness == sorted(roughness)  # smoothest first


@pytest.mark.parametrize("rng_for_starts", [None, np.random.default_rng(0)])
def test_clusters_find_the_moon_groups(rng_for_starts):
    walk, _ = moons_walk()
    labels = spectral.cluster_features(eigen.leading_eigenvectors(walk, 3), 3, rng_for_starts)
    assert len(set(labels[:5])) == len(set(labels[5:10])) == len(set(labels[10:])) == 1
    assert len(set(labels)) == 3


def test_clusters_do_not_depend_on_rounding(rng):
    # rows of unit length would tie as pivots, and the last bits decide where k-means starts
    walk, _ = moons_walk()
    vectors = eigen.leading_eigenvectors(walk, 6)
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


def test_a_fall_of_the_eigenvalues_tells_the_number_of_groups():
    curve = dict.fromkeys(range(2, 12), 0.1)
    falling = np.array([1, 0.9, 0.9, 0.9, 0.9, 0.3, 0.25, 0.2, 0.2, 0.2, 0.2])
    assert spectral.choose_n_groups(curve, 1000, None, falling) == 5
    loose = {**curve, 6: 0.05}  # the features that belong nowhere are a group too
    assert spectral.choose_n_groups(loose, 1000, None, falling) == 6


def test_a_slow_fall_and_the_fall_after_one_or_two_eigenvalues_tell_nothing():
    curve = {2: 1.0, 3: 1.0, 4: 0.1, 5: 1.0, 6: 1.0}
    slow = np.array([1, 0.9, 0.8, 0.7, 0.6, 0.5])
    early = np.array([1, 0.9, 0.2, 0.2, 0.1, 0.1])
    assert spectral.choose_n_groups(curve, 100, None, slow) == 4
    assert spectral.choose_n_groups(curve, 100, None, early) == 4


def test_modules_are_counted_right_beside_features_that_belong_nowhere(rng):
    module = np.repeat(np.arange(8), 90)
    X = rng.standard_normal((1500, 8))[:, module] + 1.5 * rng.standard_normal((1500, 720))
    Z = np.hstack([X, rng.standard_normal((1500, 180))])
    rows = DenseRows((Z - Z.mean(0)) / Z.std(0))
    walk = graphs.FeatureGraph(rows, 7, 50).walk
    vectors = eigen.leading_eigenvectors(walk, 20)
    clusters = spectral.clusters_by_number(vectors)
    curve = spectral.distortion_curve(vectors, clusters)
    values = eigen.smoothness_of(walk, vectors)
    C = spectral.choose_n_groups(curve, 900, spectral.lone_features(clusters), values)
    assert C in (8, 9)
    assert adjusted_rand_score(module, clusters[C][:720]) > 0.99


def planted_walk(sizes, rng, n_kept=12, stray=0.1):
    """A sparse walk on features that know others of their own block, and now and then of another's.

    Blocks of equal size have nearly equal eigenvalues.
    """
    labels = np.repeat(np.arange(len(sizes)), sizes)
    d = len(labels)
    source = np.repeat(np.arange(d), n_kept)
    own = np.concatenate(
        [rng.choice(np.flatnonzero(labels == labels[i]), n_kept) for i in range(d)]
    )
    target = np.where(rng.random(len(own)) < stray, rng.integers(d, size=len(own)), own)
    kept = sp.csr_array((rng.uniform(0.5, 1, len(own)), (source, target)), shape=(d, d))
    return symmetric_walk(sp.csr_array(kept.maximum(kept.T) + sp.eye_array(d))), labels


def test_blocks_of_eigenvectors_span_what_single_ones_do(rng, monkeypatch):
    walk, labels = planted_walk([100] * 8, rng)
    exact = eigen.leading_eigenvectors(walk, 8)
    monkeypatch.setattr(eigen, "BLOCK_FEATURES", 100)
    found = eigen.leading_eigenvectors(walk, 8)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.T @ found, np.eye(8), atol=1e-4)
    np.testing.assert_allclose(np.linalg.svd(exact.T @ found)[1], 1, atol=1e-3)
    assert adjusted_rand_score(labels, spectral.cluster_features(found, 8)) == 1
    np.testing.assert_array_equal(found, eigen.leading_eigenvectors(walk, 8))


@pytest.mark.parametrize("trouble", ["too few steps", "fell apart"])
def test_eigenvectors_that_are_not_good_enough_are_found_one_by_one(trouble, rng, monkeypatch):
    walk, _ = planted_walk([60] * 5, rng)
    exact = eigen.leading_eigenvectors(walk, 5)
    monkeypatch.setattr(eigen, "BLOCK_FEATURES", 100)
    if trouble == "too few steps":
        monkeypatch.setattr(eigen, "ROUND_STEPS", 1)
        monkeypatch.setattr(eigen, "MOST_ROUNDS", 1)
    else:
        monkeypatch.setattr(
            eigen.scipy.sparse.linalg, "lobpcg", lambda *a, **k: np.linalg.cholesky(-np.eye(2))
        )
    np.testing.assert_array_equal(eigen.leading_eigenvectors(walk, 5), exact)


def test_spare_vectors_need_not_be_good(rng, monkeypatch):
    # of four blocks four eigenvectors stand out, the others are a crowd that takes long
    walk, _ = planted_walk([150] * 4, rng)
    monkeypatch.setattr(eigen, "MOST_ROUNDS", 3)
    assert eigen._by_blocks(walk, 4) is not None


def test_pivots_are_those_of_pivoted_qr(rng):
    U = rng.standard_normal((300, 12)) * np.linspace(1, 3, 300)[:, None]
    _, expected = scipy.linalg.qr(U.T, mode="r", pivoting=True)
    np.testing.assert_array_equal(spectral._pivots(U), expected[:12])


@pytest.mark.parametrize("rng_for_starts", [None, np.random.default_rng(0)])
def test_a_sample_of_features_gives_the_clusters_of_all(rng_for_starts, rng, monkeypatch):
    walk, labels = planted_walk([400, 300, 200, 100, 13], rng)  # the last may miss the sample
    vectors = eigen.leading_eigenvectors(walk, 5)
    monkeypatch.setattr(spectral, "SAMPLED_FEATURES", 150)
    found = spectral.cluster_features(vectors.astype(np.float32), 5, rng_for_starts)
    assert adjusted_rand_score(labels, found) == 1


def test_a_sample_of_features_says_how_many_groups_there_are(rng, monkeypatch):
    walk, _ = planted_walk([150] * 6, rng)
    vectors = eigen.leading_eigenvectors(walk, 15)
    np.testing.assert_array_equal(spectral.representative_rows(vectors), vectors)
    monkeypatch.setattr(spectral, "SAMPLED_FEATURES", 200)
    seen = spectral.representative_rows(vectors)
    assert len(seen) == 200
    clusters = spectral.clusters_by_number(seen)
    curve = spectral.distortion_curve(seen, clusters)
    assert spectral.choose_n_groups(curve, 200, spectral.lone_features(clusters)) == 6
