"""Greedy columns: each is the best addition, and fewer are a beginning of more."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import scale

from groupfs.baselines import ColumnSubsetSelector, FacilityLocationSelector
from groupfs.selection import column_factor


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


METHODS = [(ColumnSubsetSelector, explained_by), (FacilityLocationSelector, covered_by)]
BOTH = [method for method, _ in METHODS]


def assert_each_adds_most(Z, order, worth, first=0):
    """Check that no other column would have been a better addition; of equal ones any may be."""
    for k in range(first, len(order)):
        found = [worth(Z, [*order[:k], other]) for other in order[k:]]
        assert found[0] == pytest.approx(max(found), rel=1e-9)


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


@pytest.mark.parametrize("shape", [(60, 12), (20, 18), (12, 30)])
def test_columns_cover_most_of_all_columns(shape):
    X = table(*shape)
    assert_each_adds_most(X, ordered(FacilityLocationSelector().fit(X)), covered_by)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("method", "worth"), METHODS)
def test_unit_and_sign_of_columns_do_not_matter(method, worth, form, rng):
    Z = scale(np.where(rng.random((40, 15)) < 0.4, 0, table(40, 15)))
    turned = Z * rng.choice([-3, -1, 1, 0.1], 15)
    assert_each_adds_most(Z, ordered(method().fit(form(turned))), worth)


@pytest.mark.parametrize("method", BOTH)
def test_fewer_features_are_a_beginning_of_more(method):
    X = table(30, 25)
    full = ordered(method().fit(X))
    for k in (1, 7, 24):
        assert sorted(full[:k]) == method(k).fit(X).get_support(indices=True).tolist()


@pytest.mark.parametrize("method", BOTH)
def test_copies_and_negatives_of_a_chosen_column_wait_for_all_others(method):
    X = table(40, 6)
    copies = np.column_stack([X, X, -2 * X])
    assert sorted(np.array(ordered(method().fit(copies)))[:6] % 6) == list(range(6))


@pytest.mark.parametrize("n_samples", [12, 60])
def test_copies_of_a_column_count_as_one_when_variance_is_explained(n_samples):
    X = table(n_samples, 20)
    one = ColumnSubsetSelector().fit(X)
    other = ColumnSubsetSelector().fit(np.column_stack([X, *[X[:, [3]]] * 4]))
    np.testing.assert_allclose(one.explained_, other.explained_[:20], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*constant column")
@pytest.mark.parametrize("method", BOTH)
def test_constant_columns_change_nothing_but_come_last(method):
    X = table(40, 6)
    selector = method(3).fit(np.insert(X, 2, 7.0, axis=1))
    np.testing.assert_array_equal(np.delete(selector.ranking_, 2), method(3).fit(X).ranking_)
    assert selector.ranking_[2] == 7 and selector.scores_[2] == -np.inf


@pytest.mark.parametrize("method", BOTH)
def test_large_tables_give_one_feature_of_each_planted_group_first(method, monkeypatch, rng):
    monkeypatch.setattr(column_factor, "MOST_ENTRIES", 100)  # or only large ones are sketched
    monkeypatch.setattr(column_factor, "SKETCH_ROWS", 200)
    groups = np.repeat(np.arange(8), 10)
    X = rng.standard_normal((600, 8))[:, groups] + 0.3 * rng.standard_normal((600, 80))
    assert sorted(groups[method(8).fit(X).get_support()]) == list(range(8))
