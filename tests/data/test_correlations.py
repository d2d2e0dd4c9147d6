"""Columns of numbers are compared once, as the equations say."""

import numpy as np
import pytest

from groupfs.data.correlations import HalvedColumns
from groupfs.data.dense import DenseRows
from groupfs.data.similarity import largest_of_rows
from tests import reference
from tests.support.walks import correlations, standardised


def one_hot(values):
    return np.eye(values.max() + 1)[values]


def test_correlations_and_strengths_are_the_oracle_s(rng):
    X = rng.standard_normal((40, 9)) @ rng.standard_normal((9, 9))
    found = correlations(X)
    np.testing.assert_allclose(found.matrix(), np.corrcoef(X.T), atol=1e-12)
    expected = [reference.strength(X, j) for j in range(9)]
    np.testing.assert_allclose(found.strength(), expected, atol=1e-6)


def test_indicators_of_one_variable_say_nothing_of_each_other(rng):
    X = np.hstack([one_hot(rng.integers(4, size=200)), one_hot(rng.integers(2, size=200))])
    r = correlations(X).matrix()
    np.testing.assert_array_equal(r[:4, :4], np.eye(4))
    np.testing.assert_array_equal(r[4:, 4:], np.eye(2))
    # indicators of different variables may well be related
    np.testing.assert_allclose(r[:4, 4:], np.corrcoef(X.T)[:4, 4:], atol=1e-12)


@pytest.mark.parametrize("d", [3, 40, 200, 333])
def test_largest_entries_are_found_through_sets(rng, d):
    values = rng.integers(50, size=(20, d)).astype(float)
    values[3] = -np.inf
    found = np.sort(largest_of_rows(values, 3), axis=1)
    np.testing.assert_array_equal(found, np.sort(values, axis=1)[:, -3:])


def test_what_is_known_of_some_features_is_not_multiplied_again(rng, monkeypatch):
    X, some = rng.standard_normal((40, 9)), np.array([1, 4, 8])
    whole = correlations(X)
    whole.matrix()
    monkeypatch.setattr(DenseRows, "column_products", lambda *_: pytest.fail("multiplied again"))
    part = whole.restricted(some)
    np.testing.assert_allclose(part.matrix(), np.corrcoef(X[:, some].T), atol=1e-12)
    np.testing.assert_allclose(part.products(0, 2), 40 * np.corrcoef(X[:, some].T)[:2], atol=1e-9)
    np.testing.assert_allclose(whole.columns(some).matrix, part.matrix(), atol=1e-12)


@pytest.mark.parametrize("signed", [True, False])
def test_distances_are_those_of_the_columns(rng, signed):
    X = rng.standard_normal((30, 7))
    X[:, 5] = -2 * X[:, 1]
    Z = standardised(X)
    literal = ((Z[:, :, None] - Z[:, None, :]) ** 2).sum(0)
    if not signed:
        literal = np.minimum(literal, ((Z[:, :, None] + Z[:, None, :]) ** 2).sum(0))
    found = correlations(X).distances(2, 6, signed)
    np.testing.assert_allclose(found, literal[2:6], atol=1e-9)


def test_largest_correlations_give_the_neighbours_that_all_distances_give(rng):
    X = rng.standard_normal((50, 4))[:, np.arange(30) % 4] + rng.standard_normal((50, 30))
    X[:, 7] = -3 * X[:, 2]
    Z = standardised(X)
    squared, nearest, mean = correlations(X).neighbors(6, signed=False)
    literal = np.minimum(*(((Z[:, :, None] - s * Z[:, None, :]) ** 2).sum(0) for s in (1, -1)))
    np.testing.assert_allclose(squared, np.sort(literal, axis=1)[:, :7], atol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(literal, nearest, axis=1), squared, atol=1e-9)
    assert mean == pytest.approx(literal.mean()) and squared[7, 1] == 0


@pytest.mark.parametrize("n_rows", [40, 41])
def test_halves_are_correlated_on_their_own(rng, n_rows):
    X = rng.standard_normal((n_rows, 5))
    excluded = np.zeros((5, 5), dtype=bool)
    excluded[0, 1] = True
    halved = HalvedColumns(X, excluded)
    first, second = halved.similarities(2, seed=0)[0]
    order = np.random.default_rng(0).permutation(n_rows)
    expected = np.corrcoef(X[order[:20]].T), np.corrcoef(X[order[-20:]].T)
    for found, literal in zip((first, second), expected, strict=True):
        np.testing.assert_allclose(found[1:, 1:], literal[1:, 1:], atol=1e-12)
        assert found[0, 1] == 0
    (some,) = halved.similarities(1, seed=0, features=np.array([1, 3]))
    np.testing.assert_allclose(some[0], first[np.ix_([1, 3], [1, 3])], atol=1e-12)
