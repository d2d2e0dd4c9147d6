import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.data.rows import DenseRows, SparseRows
from groupfs.graphs.similarity import Correlations, largest_of_rows, strength_by_group
from tests import reference
from tests.support.walks import standardised


def one_hot(values):
    return np.eye(values.max() + 1)[values]


def test_correlations_and_strengths_are_the_oracle_s(rng):
    X = rng.standard_normal((40, 9)) @ rng.standard_normal((9, 9))
    found = Correlations(DenseRows(standardised(X)))
    np.testing.assert_allclose(found.matrix(), np.corrcoef(X.T), atol=1e-12)
    expected = [reference.strength(X, j) for j in range(9)]
    np.testing.assert_allclose(found.strength(), expected, atol=1e-6)


def test_blocks_of_columns_give_the_same_strengths(rng):
    Z = standardised(rng.standard_normal((30, 23)))
    whole, parts = Correlations(DenseRows(Z)), Correlations(DenseRows(Z, block_entries=1))
    np.testing.assert_allclose(parts.strength(), whole.strength(), atol=1e-6)
    labels = np.arange(23) % 4
    by_parts, at_once = (strength_by_group(c, labels, 4, False) for c in (parts, whole))
    np.testing.assert_allclose(by_parts, at_once, atol=1e-6)


@pytest.mark.parametrize("signed", [False, True])
def test_strength_by_group_does_not_count_the_feature_itself(rng, signed):
    X = rng.standard_normal((50, 8))
    X[:, 3] -= 2 * X[:, 0]
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 2])
    r = np.corrcoef(X.T) if signed else np.abs(np.corrcoef(X.T))
    found = strength_by_group(Correlations(DenseRows(standardised(X))), labels, 3, signed)
    for i in range(8):
        for j in range(3):
            others = [k for k in np.flatnonzero(labels == j) if k != i]
            largest = np.sort(r[i, others])[::-1][:3]
            assert found[i, j] == pytest.approx(largest.mean() if len(others) else 0, abs=1e-6)


def test_indicators_of_one_variable_say_nothing_of_each_other(rng):
    X = np.hstack([one_hot(rng.integers(4, size=200)), one_hot(rng.integers(2, size=200))])
    r = Correlations(DenseRows(standardised(X))).matrix().numpy()
    np.testing.assert_array_equal(r[:4, :4], np.eye(4))
    np.testing.assert_array_equal(r[4:, 4:], np.eye(2))
    # indicators of different variables may well be related
    np.testing.assert_allclose(r[:4, 4:], np.corrcoef(X.T)[:4, 4:], atol=1e-12)


def test_indicators_exclude_each_other_in_many_rows(rng):
    X = np.hstack([one_hot(rng.integers(4, size=100_000)), rng.standard_normal((100_000, 4))])
    correlations = Correlations(DenseRows(standardised(X)))
    r = correlations.block(0, 4, single=True).numpy()
    np.testing.assert_array_equal(r[:, :4], np.eye(4))
    assert correlations.strength()[:4].max() < 0.05


@pytest.mark.parametrize("d", [3, 40, 200, 333])
def test_largest_entries_are_found_through_runs(rng, d):
    values = torch.from_numpy(rng.integers(50, size=(20, d)).astype(float))
    values[3] = -torch.inf
    found = largest_of_rows(values, 3).sort(1).values
    torch.testing.assert_close(found, values.sort(1).values[:, -3:])


def test_a_column_with_more_than_two_values_is_no_indicator(rng):
    X = np.column_stack([rng.integers(3, size=100), rng.integers(2, size=100)]).astype(float)
    X[:, 1] *= X[:, 0] == 0  # where one is on the other is zero, but it has three values
    r = Correlations(DenseRows(standardised(X))).matrix().numpy()
    assert r[0, 1] == pytest.approx(np.corrcoef(X.T)[0, 1])


def test_sparse_rows_correlate_as_dense_ones(rng):
    X = np.maximum(rng.standard_normal((60, 7)) - 0.8, 0)
    X[:, 5] = X[:, 6] > 0
    X[:, 4] = 1 - X[:, 5]
    dense = DenseRows(standardised(X))
    sparse = SparseRows(sp.csr_array(X), X.mean(0), X.std(0), np.full(7, 60.0))
    for ours, theirs in zip(sparse.column_ends(), dense.column_ends(), strict=True):
        np.testing.assert_allclose(ours, theirs)
    a, b = Correlations(sparse).matrix(), Correlations(dense).matrix()
    torch.testing.assert_close(a, b, atol=1e-10, rtol=0)
    assert a[4, 5] == 0
