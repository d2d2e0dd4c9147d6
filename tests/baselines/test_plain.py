"""Columns that stand for others: each is the best addition."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import scale

from groupfs.baselines import ColumnSubsetSelector


def table(n, d, seed=0):
    """Columns that share five sources, each with noise of its own."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + rng.standard_normal((n, d))


def ordered(selector):
    return np.argsort(selector.ranking_).tolist()


def explained_by(Z, S):
    """Share of the variance of all columns that a regression on the columns S explains."""
    fitted = Z[:, S] @ np.linalg.lstsq(Z[:, S], Z)[0]
    return (fitted**2).sum() / (Z**2).sum()


def covered_by(Z, S):
    """Mean over all columns of the largest squared correlation with a column of S."""
    return (np.corrcoef(Z.T)[:, S] ** 2).max(1).mean()


def assert_each_adds_most(Z, order, worth, first=0):
    """Check that no other column would have been a better addition; of equal ones any may be."""
    for k in range(first, len(order)):
        worths = [worth(Z, [*order[:k], other]) for other in order[k:]]
        assert worths[0] == pytest.approx(max(worths), rel=1e-9)


@pytest.mark.parametrize("shape", [(60, 12), (20, 18), (12, 30)])
def test_columns_explain_most_of_all_columns(shape):
    Z = scale(table(*shape))
    n_picks = min(shape[0] - 1, shape[1])  # more have nothing left to explain
    selector = ColumnSubsetSelector().fit(Z)
    assert_each_adds_most(Z, ordered(selector)[:n_picks], explained_by)
    curve = [explained_by(Z, ordered(selector)[: k + 1]) for k in range(n_picks)]
    np.testing.assert_allclose(selector.explained_[:n_picks], curve, rtol=1e-9)
    np.testing.assert_array_equal(selector.explained_[n_picks:], 1)


def test_when_all_is_explained_columns_follow_by_coverage():
    X = table(8, 20)
    assert_each_adds_most(X, ordered(ColumnSubsetSelector().fit(X)), covered_by, first=7)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_unit_and_sign_of_columns_do_not_matter(form, rng):
    Z = scale(np.where(rng.random((40, 15)) < 0.4, 0, table(40, 15)))
    turned = Z * rng.choice([-3, -1, 1, 0.1], 15)
    assert_each_adds_most(Z, ordered(ColumnSubsetSelector().fit(form(turned))), explained_by)


def test_fewer_features_are_a_beginning_of_more():
    X = table(30, 25)
    full = ordered(ColumnSubsetSelector().fit(X))
    for k in (1, 7, 24):
        assert sorted(full[:k]) == ColumnSubsetSelector(k).fit(X).get_support(indices=True).tolist()


def test_copies_and_negatives_of_a_chosen_column_wait_for_all_others():
    X = table(40, 6)
    copies = np.column_stack([X, X, -2 * X])
    assert sorted(np.array(ordered(ColumnSubsetSelector().fit(copies)))[:6] % 6) == list(range(6))
