"""Columns of numbers are compared once, as the equations say."""

import numpy as np
import pytest

from groupfs.data.dense import DenseRows
from tests import reference
from tests.support.walks import correlations


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


@pytest.mark.parametrize("d", [3, 40, 200])
def test_strength_is_the_mean_of_the_three_largest_correlations_with_others(rng, d):
    similarity = correlations(rng.standard_normal((30, d)))
    r = np.abs(similarity.matrix() - np.eye(d))
    largest = np.sort(r, axis=1)[:, max(d - 3, 1) :]
    np.testing.assert_allclose(similarity.strength(), largest.mean(1), rtol=1e-12)


def test_what_is_known_of_some_features_is_not_multiplied_again(rng, monkeypatch):
    X, some = rng.standard_normal((40, 9)), np.array([1, 4, 8])
    whole = correlations(X)
    whole.matrix()
    monkeypatch.setattr(DenseRows, "column_products", lambda *_: pytest.fail("multiplied again"))
    part = whole.restricted(some)
    np.testing.assert_allclose(part.matrix(), np.corrcoef(X[:, some].T), atol=1e-12)
    np.testing.assert_allclose(part.products(0, 2), 40 * np.corrcoef(X[:, some].T)[:2], atol=1e-9)
    np.testing.assert_allclose(whole.columns(some).matrix, part.matrix(), atol=1e-12)


@pytest.mark.parametrize("torch_device", [None, "cpu"])
def test_quick_blocks_of_wide_tables_know_indicators_that_exclude_each_other(torch_device, rng):
    level = rng.integers(3, size=900)
    X = np.column_stack([level == 0, level == 1, rng.random((900, 3)) < 0.2, rng.random((900, 2))])
    similarity = correlations(X.astype(float))
    similarity.held.block_entries = 1  # as if similarities were too many to be kept
    if torch_device is not None:
        similarity.held.multiply_on(pytest.importorskip("torch").device(torch_device))
    quick = np.asarray(similarity.quick_block(0, 5))
    assert not similarity.is_kept and quick[0, 1] == quick[1, 0] == 0
    expected = np.corrcoef(X.T.astype(float))[:5]
    expected[[0, 1], [1, 0]] = 0
    np.testing.assert_allclose(quick, expected, atol=2e-5)
    np.testing.assert_allclose(similarity.block(0, 5), expected, atol=1e-9)
