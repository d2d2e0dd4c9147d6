"""Laplacian Score and its graph: both equal their definitions written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import scale

from groupfs.baselines import LaplacianScore, laplacian
from groupfs.baselines.laplacian import nearest_rows, self_tuning_affinity, smoothness
from groupfs.data.dense import DenseRows
from groupfs.data.sparse import SparseRows


@pytest.fixture
def X():
    """15 samples in 3 clusters that the first 3 of 6 columns tell apart."""
    X = np.random.default_rng(0).standard_normal((15, 6))
    X[:, :3] += np.repeat([0, 1.5, 3], 5)[:, None]
    return X


def he(Z, W):
    """He, Cai and Niyogi's score, one feature at a time."""
    D = np.diag(W.sum(1))
    one = np.ones(len(Z))
    scores = []
    for f in Z.T:
        f = f - (f @ D @ one) / (one @ D @ one) * one
        scores.append((f @ (D - W) @ f) / (f @ D @ f))
    return np.array(scores)


def test_scores_are_minus_the_formula_of_he(X):
    selector = LaplacianScore(n_neighbors=3).fit(X)
    literal = he(scale(X), affinity(scale(X)))
    np.testing.assert_allclose(selector.scores_, -literal, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_scores_on_a_graph_of_ones_own_are_minus_the_formula_of_he(form, X, rng):
    W = rng.random((15, 15))
    W = W + W.T
    W[3] = W[:, 3] = 0  # a sample without edges
    np.fill_diagonal(W, 0)
    scores = LaplacianScore(graph=form(W)).fit(X).scores_
    np.testing.assert_allclose(scores, -he(scale(X), W), rtol=0, atol=1e-12)


def test_blocks_of_columns_do_not_change_the_scores(rng):
    Z = scale(rng.standard_normal((15, 40)))
    W = affinity(Z)
    blocks = smoothness(DenseRows(Z), W, block_entries=1)  # 16 columns at a time
    np.testing.assert_allclose(blocks, -he(Z, W), rtol=0, atol=1e-12)


def test_columns_that_vary_only_where_the_graph_has_no_edges_come_last(X, rng):
    X[:, 1] = 0
    X[3, 1] = 1
    W = np.ones((15, 15))
    W[3] = W[:, 3] = 0
    selector = LaplacianScore(graph=W).fit(X)
    assert selector.scores_[1] == -np.inf and selector.ranking_[1] == 6
    assert np.isfinite(np.delete(selector.scores_, 1)).all()


@pytest.fixture
def Z(rng):
    return scale(rng.standard_normal((20, 6)) + np.repeat([0, 2], 10)[:, None])


def affinity(Z, **parameters):
    rows = Z if isinstance(Z, SparseRows) else DenseRows(Z)
    W = LaplacianScore(n_neighbors=3, **parameters)._sample_affinity(rows)
    return W.toarray() if sp.issparse(W) else W


def sparse_rows(X):
    return SparseRows(sp.csr_array(X), X.mean(0), X.std(0), np.full(X.shape[1], len(X) * 1.0))


def squared_distances(Z):
    return np.array([[float(((a - b) ** 2).sum()) for b in Z] for a in Z])


def among_nearest(Z, k):
    """Whether j is i or one of the k closest to it."""
    squared = squared_distances(Z)
    return squared <= np.sort(squared)[:, [k]]


def test_the_graph_equals_its_definition(Z):
    squared = squared_distances(Z)
    g = [np.sqrt(sorted(row)[3]) for row in squared]
    literal = np.exp(-squared / np.outer(g, g))
    np.testing.assert_allclose(affinity(Z), literal, atol=1e-12)


@pytest.mark.parametrize("kept", [19, 5, 3, 1])
def test_kept_neighbors_leave_out_the_other_affinities_and_change_none(kept, Z):
    near = among_nearest(Z, max(kept, 3))
    expected = np.where(near | near.T, affinity(Z), 0)
    np.testing.assert_allclose(affinity(Z, kept_neighbors=kept), expected, atol=1e-12)


def test_large_tables_get_a_sparse_graph_without_being_asked(rng, monkeypatch):
    monkeypatch.setattr(laplacian, "DENSE_SAMPLES", 59)
    rows = DenseRows(scale(rng.standard_normal((60, 6))))
    W = self_tuning_affinity(rows, 3, None)
    assert sp.issparse(W)
    np.testing.assert_array_equal(W.toarray(), self_tuning_affinity(rows, 3, 50).toarray())


def test_blocks_of_rows_do_not_change_the_neighbours(Z):
    rows = DenseRows(Z)
    whole, blocks = (nearest_rows(rows, 5, block_entries=size) for size in (400, 60))
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_sparse_tables_have_the_graph_of_dense_ones(rng):
    X = np.where(rng.random((20, 6)) < 0.5, 0, rng.exponential(size=(20, 6)) + 3)
    np.testing.assert_allclose(affinity(sparse_rows(X)), affinity(scale(X)), atol=1e-10)


def test_copies_of_a_row_are_joined_with_weight_one(rng):
    Z = scale(rng.standard_normal((20, 301)))
    Z[5:10] = Z[4]  # more copies than neighbours
    W = affinity(Z, kept_neighbors=4)
    assert np.isfinite(W).all() and (W >= 0).all() and (W == W.T).all()
    np.testing.assert_array_equal(W.diagonal(), 1)
    copies = W[4:10, 4:10]
    np.testing.assert_array_equal(copies[copies > 0], 1)
    assert (copies > 0).sum() > 6


def test_more_neighbours_than_samples_are_reduced_with_a_warning(Z):
    with pytest.warns(UserWarning, match="n_neighbors=20 but X has 20 samples; 19 are") as seen:
        LaplacianScore(n_neighbors=20).fit(Z)
    assert seen[0].filename == __file__


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, list])
def test_a_graph_of_ones_own_is_taken_as_it_is_but_for_its_diagonal(form, Z):
    W = affinity(Z, kept_neighbors=4)
    np.testing.assert_array_equal(affinity(Z, graph=form(W)), W - np.eye(20))


def test_a_graph_that_is_none_is_refused_by_the_name_of_the_parameter(Z):
    with pytest.raises(ValueError, match=r"graph has shape \(5, 5\) but X has 20 samples"):
        affinity(Z, graph=np.ones((5, 5)))
