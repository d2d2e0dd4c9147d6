"""Laplacian Score: equals the formula written out, serves SelectKBest."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from groupfs.baselines.laplacian import LaplacianScore, laplacian_score, smoothness
from groupfs.data.dense import DenseRows


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


def graph_of(Z):
    return LaplacianScore(n_neighbors=4)._sample_affinity(DenseRows(Z))


def test_scores_are_minus_the_formula_of_he(X):
    selector = LaplacianScore(n_neighbors=4).fit(X)
    literal = he(scale(X), graph_of(scale(X)))
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
    W = graph_of(Z)
    blocks = smoothness(DenseRows(Z), W, block_entries=1)  # 16 columns at a time
    np.testing.assert_allclose(blocks, -he(Z, W), rtol=0, atol=1e-12)


def test_the_function_works_in_select_k_best_within_a_pipeline(X):
    score = functools.partial(laplacian_score, n_neighbors=4)
    pipeline = make_pipeline(StandardScaler(), SelectKBest(score, k=2)).fit(X)
    own = LaplacianScore(2, n_neighbors=4).fit(X)
    np.testing.assert_array_equal(pipeline[-1].get_support(), own.get_support())
    np.testing.assert_array_equal(laplacian_score(X, n_neighbors=4), own.scores_)


def test_columns_that_vary_only_where_the_graph_has_no_edges_come_last(X, rng):
    X[:, 1] = 0
    X[3, 1] = 1
    W = np.ones((15, 15))
    W[3] = W[:, 3] = 0
    selector = LaplacianScore(graph=W).fit(X)
    assert selector.scores_[1] == -np.inf and selector.ranking_[1] == 6
    assert np.isfinite(np.delete(selector.scores_, 1)).all()
