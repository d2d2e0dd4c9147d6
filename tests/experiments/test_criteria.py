"""Judging without clusters: against scikit-learn, and against all distances where rows tie."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from experiments.criteria import explained_variance, nearest_rows, neighbor_accuracy
from experiments.protocol import judge, judge_clusters, standardized
from tests.experiments.conftest import small_table


def test_neighbor_accuracy_is_that_of_leaving_one_out():
    table = small_table("yale", n_samples=50)
    for k in (1, 4, 13):
        S = table.Z[:, :k]
        scores = cross_val_score(KNeighborsClassifier(1), S, table.y, cv=LeaveOneOut())
        assert neighbor_accuracy(S, table.y) == pytest.approx(scores.mean())


@pytest.mark.parametrize("n_values", [2, 4])
def test_of_equally_near_rows_the_first_is_taken(rng, n_values):
    S = standardized(rng.integers(0, n_values, (60, 5)) * 0.1)
    squared = ((S[:, None] - S) ** 2).sum(-1).round(9)  # so that equal ones are equal
    np.fill_diagonal(squared, np.inf)
    np.testing.assert_array_equal(nearest_rows(S), squared.argmin(1))


@pytest.mark.parametrize("n_samples", [60, 8])  # more rows than columns, and fewer
def test_explained_variance_is_the_mean_r2_of_linear_regressions(n_samples):
    Z = standardized(small_table("yale", n_samples=n_samples).X)
    for selected in ([2], [0, 3, 12], list(range(10))):
        fitted = LinearRegression().fit(Z[:, selected], Z)
        r2 = 1 - ((Z - fitted.predict(Z[:, selected])) ** 2).sum(0) / (Z**2).sum(0)
        assert explained_variance(Z, np.array(selected)) == pytest.approx(r2.mean())


def test_copies_and_constant_columns_explain_nothing_more(rng):
    X = rng.standard_normal((40, 6))
    X[:, 4] = 2 * X[:, 0] - X[:, 1]
    X[:, 5] = 0.1  # its mean is rounded
    Z = standardized(X)
    plain = explained_variance(Z, np.array([0, 1]))
    assert explained_variance(Z, np.array([0, 1, 4, 5])) == pytest.approx(plain, abs=1e-12)
    assert plain == pytest.approx(explained_variance(Z[:, :5], np.array([0, 1])), abs=1e-12)
    assert explained_variance(Z, np.array([5])) == 0
    assert explained_variance(Z, np.arange(6)) == pytest.approx(1)


def test_clusters_are_judged_by_ten_seeds_of_k_means_with_one_start():
    table = small_table("yale", n_samples=45, n_classes=3)
    accuracies, indices = [], []
    for seed in range(10):
        clusters = KMeans(3, n_init=1, random_state=seed).fit_predict(table.Z[:, [0, 4, 11]])
        matched = [
            np.mean(np.array(order)[clusters] == table.y) for order in permutations(range(3))
        ]
        accuracies.append(100 * max(matched))
        indices.append(100 * adjusted_rand_score(table.y, clusters))
    expected = np.mean(accuracies), np.std(accuracies), np.mean(indices), np.std(indices)
    found = judge_clusters(table.Z, table.y, np.array([0, 4, 11]))
    assert tuple(found.values()) == pytest.approx(expected)


def test_no_feature_at_all_is_worth_one_cluster():
    table = small_table("yale", n_samples=50, n_classes=3)
    judgement = judge(table.Z, table.y, np.array([]))
    assert judgement.accuracy == judgement.neighbor == pytest.approx(100 * 17 / 50)
    assert (judgement.accuracy_std, judgement.ari, judgement.explained) == pytest.approx((0, 0, 0))
