"""The one definition of a row's score, held to a literal one."""

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs.data.row_scores import score_blocks, score_rows, score_weights
from tests import reference

GROUPS = [np.array([0, 2, 5, 6]), np.array([3]), np.array([1, 4])]
CENTRALITY = np.array([0.9, 0.0, 0.3, 0.7, 0.0, 0.6, 0.6])
SIGNS = np.array([1, 1, -1, 1, -1, 1, -1])
WEIGHTS = score_weights(GROUPS, CENTRALITY, SIGNS)


def test_weights_are_shares_of_centrality_with_the_sign():
    groups = [np.array([0, 2]), np.array([3])]
    weights = score_weights(groups, np.array([0.9, 0.5, 0.3, 0.7]), np.array([1, 1, -1, 1]))
    np.testing.assert_allclose(weights, [[0.75, 0], [0, 0], [-0.25, 0], [0, 1]])


def test_features_without_a_middle_weigh_the_same():
    weights = score_weights([np.array([0, 1])], np.zeros(2), np.array([1, -1]))
    np.testing.assert_allclose(weights, [[0.5], [0.5]])


@pytest.mark.parametrize("least_weight", [0.0, 0.5, 0.8, 1.0])
def test_scores_of_rows_with_gaps_are_those_of_the_definition(least_weight, rng):
    Z = rng.standard_normal((80, 7))
    Z[rng.random(Z.shape) < 0.3] = np.nan
    Z[0], Z[1] = np.nan, rng.standard_normal(7)
    literal = reference.row_scores(Z, GROUPS, CENTRALITY, SIGNS, least_weight)
    fast = score_rows(Z, WEIGHTS, least_weight=least_weight)
    np.testing.assert_allclose(fast, literal, rtol=1e-12)
    assert np.isnan(fast[0]).all() and np.isfinite(fast[1]).all()


def test_half_of_the_weight_is_enough_and_less_is_not():
    weights = score_weights([np.arange(6)], np.full(6, 0.7), np.ones(6, dtype=int))
    Z = np.arange(12.0).reshape(2, 6)
    Z[0, :3], Z[1, :4] = np.nan, np.nan
    np.testing.assert_allclose(score_rows(Z, weights), [[4], [np.nan]])


def test_units_and_zeros_of_columns_are_taken_off(rng):
    X = rng.standard_normal((30, 7)) * np.arange(1, 8) + 5
    X[:, 3] = 2  # does not vary
    X[rng.random(X.shape) < 0.2] = np.nan
    mean, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    Z = (X - mean) / np.where(spread > 0, spread, 1)
    literal = reference.row_scores(Z, GROUPS, CENTRALITY, SIGNS, 0.5)
    np.testing.assert_allclose(score_rows(X, WEIGHTS, mean, spread), literal, atol=1e-12)


def test_sparse_rows_and_blocks_are_scored_as_the_whole_is(rng):
    X = rng.poisson(0.5, (40, 7)).astype(float)
    units = X.mean(0), X.std(0)
    whole = score_rows(X, WEIGHTS, *units)
    np.testing.assert_allclose(score_rows(sp.csr_array(X), WEIGHTS, *units), whole, atol=1e-12)
    np.testing.assert_allclose(score_blocks([X[:9], X[9:]], WEIGHTS, *units), whole, atol=1e-12)
    assert score_blocks([], WEIGHTS, *units).shape == (0, 3)
