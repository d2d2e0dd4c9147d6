"""Medoids: of each cluster of scikit-learn's the column that goes most with the cluster's mean."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import FeatureAgglomeration
from sklearn.preprocessing import scale

from groupfs.baselines import FeatureMedoids


@pytest.fixture
def X(rng):
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


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4])
def test_order_equals_the_literal_one(n_clusters, X):
    selector = FeatureMedoids(n_clusters).fit(X)
    assert np.argsort(selector.ranking_).tolist() == literal_order(X, n_clusters)


def test_each_planted_group_gives_one_feature_larger_groups_first(X):
    groups = np.repeat(np.arange(4), [5, 4, 3, 3])
    ranking = FeatureMedoids(4).fit(X).ranking_
    assert groups[np.argsort(ranking)[:2]].tolist() == [0, 1]
    assert sorted(groups[ranking <= 4]) == [0, 1, 2, 3]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_order_and_positive_unit_of_columns_do_not_matter(form, X, rng):
    X = np.where(np.abs(X) < 0.4, 0, X)
    order, units = rng.permutation(15), rng.choice([3, 1, 0.1], 15)
    one, other = FeatureMedoids().fit(X), FeatureMedoids().fit(form((X * units)[:, order]))
    np.testing.assert_array_equal(one.ranking_[order], other.ranking_)


def test_a_feature_and_its_negative_are_in_different_clusters(X):
    both = np.column_stack([X[:, :5], -X[:, :5]])
    support = FeatureMedoids(2).fit(both).get_support()
    assert support[:5].sum() == support[5:].sum() == 1


def test_copies_share_a_cluster(X):
    support = FeatureMedoids(15).fit(np.column_stack([X, X])).get_support()
    assert (support[:15] ^ support[15:]).all()


@pytest.mark.filterwarnings("ignore:.*constant column")
def test_constant_columns_change_nothing_but_come_last(X):
    selector = FeatureMedoids(3).fit(np.insert(X, 2, 7.0, axis=1))
    np.testing.assert_array_equal(
        np.delete(selector.ranking_, 2), FeatureMedoids(3).fit(X).ranking_
    )
    assert selector.ranking_[2] == 16 and selector.scores_[2] == -np.inf


@pytest.mark.parametrize("n_features", [1, 2])
def test_a_mean_of_zero_gives_a_ranking_too(n_features, rng):
    x = rng.standard_normal((9, 1))
    selector = FeatureMedoids(n_features).fit(np.column_stack([x, -x]))
    assert selector.get_support().sum() == n_features and sorted(selector.ranking_) == [1, 2]


def test_as_many_clusters_as_features_keep_all(X):
    assert FeatureMedoids(15).fit(X).get_support().all()
