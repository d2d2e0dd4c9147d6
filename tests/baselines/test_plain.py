"""Columns that stand for others: each is the best addition, or the medoid of its cluster."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import FeatureAgglomeration
from sklearn.preprocessing import scale

from groupfs.baselines import ColumnSubsetSelector, FacilityLocationSelector, FeatureMedoids


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
        worths = [worth(Z, [*order[:k], other]) for other in order[k:]]
        assert worths[0] == pytest.approx(max(worths), rel=1e-9)


@pytest.mark.parametrize("shape", [(60, 12), (20, 18), (12, 30)])
def test_columns_explain_or_cover_most_of_all_columns(shape):
    Z = scale(table(*shape))
    assert_each_adds_most(Z, ordered(FacilityLocationSelector().fit(Z)), covered_by)
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


@pytest.fixture
def grouped(rng):
    """Four groups of 5, 4, 3 and 3 columns."""
    sources = rng.standard_normal((50, 4))[:, np.repeat(np.arange(4), [5, 4, 3, 3])]
    return sources + 0.5 * rng.standard_normal((50, 15))


def literal_order(X, n_clusters):
    """Medoids of larger clusters first, then the other columns, nearest to their mean first."""
    Z = scale(X)
    labels = FeatureAgglomeration(n_clusters).fit(Z).labels_
    medoids, others = [], []
    for label in range(n_clusters):
        members = np.flatnonzero(labels == label)
        mean = Z[:, members].mean(1)
        near = {j: round(np.corrcoef(Z[:, j], mean)[0, 1], 9) for j in members}
        first, *rest = sorted(members, key=lambda j: -near[j])  # noqa: B023
        medoids.append((-len(members), -near[first], first))
        others += [(-near[j], j) for j in rest]
    return [key[-1] for key in [*sorted(medoids), *sorted(others)]]


@pytest.mark.parametrize("n_clusters", [1, 4])
def test_medoids_come_in_the_literal_order(n_clusters, grouped):
    selector = FeatureMedoids(n_clusters).fit(grouped)
    assert np.argsort(selector.ranking_).tolist() == literal_order(grouped, n_clusters)


def test_a_feature_and_its_negative_have_medoids_of_their_own(grouped):
    both = np.column_stack([grouped[:, :5], -grouped[:, :5]])
    support = FeatureMedoids(2).fit(both).get_support()
    assert support[:5].sum() == support[5:].sum() == 1


@pytest.mark.parametrize("n_features", [1, 2])
def test_a_cluster_with_a_mean_of_zero_gives_a_ranking_too(n_features, rng):
    x = rng.standard_normal((9, 1))
    selector = FeatureMedoids(n_features).fit(np.column_stack([x, -x]))
    assert selector.get_support().sum() == n_features and sorted(selector.ranking_) == [1, 2]
