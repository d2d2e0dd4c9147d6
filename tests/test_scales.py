"""Figures of groups as scales: beside other implementations, by hand, and against the truth."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import FactorAnalysis

from groupfs import FeatureGroups
from groupfs.discovery.items import item_rest_correlations, pairwise_correlations
from groupfs.groups import Groups
from groupfs.scales import Scales, alpha_interval, omega, omega_interval, one_factor


def scale(loadings, n, rng):
    """Rows of standardised items that have one factor in common."""
    loadings = np.asarray(loadings)
    own = np.sqrt(1 - loadings**2) * rng.standard_normal((n, len(loadings)))
    Z = rng.standard_normal((n, 1)) * loadings + own
    return (Z - Z.mean(0)) / Z.std(0)


def fitted_scales(X):
    selector = FeatureGroups(random_state=0).fit(X)
    groups = Groups.of(selector)
    return selector, groups, Scales(groups)


@pytest.mark.parametrize("loadings", [[0.8, 0.5, 0.6], [0.9, 0.3, 0.4, 0.7, 0.5, 0.6, 0.8]])
@pytest.mark.parametrize("n", [50, 3000])
def test_alpha_and_its_interval_agree_with_pingouin(loadings, n, rng):
    pingouin = pytest.importorskip("pingouin")
    Z = scale(loadings, n, rng)
    R, n_rows = pairwise_correlations(Z)
    m = len(loadings)
    alpha = m / (m - 1) * (1 - m / R.sum())
    other, interval = pingouin.cronbach_alpha(pd.DataFrame(Z))
    assert alpha == pytest.approx(other, abs=1e-6)
    # pingouin rounds its interval
    np.testing.assert_allclose(alpha_interval(alpha, m, n_rows), interval, atol=5.1e-4)


def test_alpha_of_groups_agrees_with_pingouin_on_wine():
    pingouin = pytest.importorskip("pingouin")
    X = load_wine().data
    _, groups, scales = fitted_scales(X)
    Z = (X - X.mean(0)) / X.std(0) * groups.signs
    for members, alpha in zip(groups.members, scales.alpha, strict=True):
        assert alpha == pytest.approx(
            pingouin.cronbach_alpha(pd.DataFrame(Z[:, members]))[0], abs=1e-6
        )


@pytest.mark.parametrize(
    "loadings", [[0.8, 0.5, 0.6], [0.95, 0.2, 0.3, 0.4], np.linspace(0.2, 0.9, 30)]
)
def test_loadings_are_those_of_scikit_learns_factor_analysis(loadings, rng):
    Z = scale(loadings, 800, rng)
    exact = {"tol": 1e-14, "max_iter": 100_000, "svd_method": "lapack"}
    other = FactorAnalysis(1, **exact).fit(Z).components_[0]
    found, unique = one_factor(np.corrcoef(Z.T))
    np.testing.assert_allclose(found, other * np.sign(other.sum()), atol=1e-3)
    by_hand = other.sum() ** 2 / (other.sum() ** 2 + (1 - other**2).sum())
    assert omega(found, unique) == pytest.approx(by_hand, abs=1e-4)


def test_omega_by_hand():
    loadings, unique = np.array([0.8, 0.6, 0.5]), np.array([0.36, 0.64, 0.75])
    assert omega(loadings, unique) == pytest.approx(1.9**2 / (1.9**2 + 1.75), abs=1e-6)


def test_one_factor_recovers_its_own_correlations():
    loadings = np.array([0.9, 0.7, -0.2, 0.5, 0.4])
    R = np.outer(loadings, loadings)
    np.fill_diagonal(R, 1)
    found, unique = one_factor(R)
    np.testing.assert_allclose(found, loadings, atol=1e-6)
    np.testing.assert_allclose(unique, 1 - loadings**2, atol=1e-6)


def test_a_feature_that_is_all_factor_leaves_finite_figures():
    R = np.array([[1, 0.9, 0.9], [0.9, 1, 0.6], [0.9, 0.6, 1]])  # asks for a loading above 1
    found, unique = one_factor(R)
    assert unique.min() > 0 and np.isfinite(found).all()
    low, high = omega_interval(found, unique, 200)
    assert low < omega(found, unique) < high < 1


def test_intervals_of_omega_cover_the_truth_as_often_as_they_say(rng):
    loadings = np.array([0.8, 0.5, 0.6, 0.3])
    truth, covered, alpha_covered = omega(loadings, 1 - loadings**2), [], []
    equal = np.full(4, 0.6)
    for _ in range(600):
        found = one_factor(np.corrcoef(scale(loadings, 150, rng).T))
        low, high = omega_interval(*found, 150)
        covered.append(low <= truth <= high)
        R = np.corrcoef(scale(equal, 150, rng).T)
        low, high = alpha_interval(4 / 3 * (1 - 4 / R.sum()), 4, 150)
        alpha_covered.append(low <= omega(equal, 1 - equal**2) <= high)
    assert 0.92 <= np.mean(covered) <= 0.975
    assert 0.92 <= np.mean(alpha_covered) <= 0.975


def test_pairs_of_items_with_gaps_are_correlated_as_pandas_does(rng):
    Z = scale([0.7] * 6, 300, rng)
    Z[rng.random(Z.shape) < 0.3] = np.nan
    R, n_rows = pairwise_correlations(Z)
    np.testing.assert_allclose(R, pd.DataFrame(Z).corr(), atol=1e-12)
    there = ~np.isnan(Z)
    pairs = [(there[:, i] & there[:, j]).sum() for i in range(6) for j in range(6)]
    assert n_rows == pytest.approx(np.mean(pairs))


def test_item_rest_is_the_correlation_with_the_sum_of_the_others(rng):
    Z = scale([0.7, 0.5, 0.9, 0.2], 100, rng)
    literal = [np.corrcoef(Z[:, i], np.delete(Z, i, 1).sum(1))[0, 1] for i in range(4)]
    np.testing.assert_allclose(item_rest_correlations(np.corrcoef(Z.T)), literal, atol=1e-12)


@pytest.fixture(scope="module")
def two_scales():
    """Two scales whose factors correlate by .6, some items reversed, with some gaps."""
    rng = np.random.default_rng(0)
    factors = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 3000)
    X = np.repeat(factors, [7, 5], axis=1) * 0.7 + rng.standard_normal((3000, 12)) * np.sqrt(0.51)
    X[:, [2, 9]] *= -1
    X[rng.random(X.shape) < 0.03] = np.nan
    return fitted_scales(X), X


def test_groups_come_by_size(two_scales):
    (selector, *_), _ = two_scales
    assert [len(group) for group in selector.groups_] == [7, 5]


def test_loadings_on_the_other_group_are_zero_however_much_groups_correlate(two_scales):
    (_, groups, scales), _ = two_scales
    own = np.take_along_axis(scales.loadings, groups.labels[:, None], 1)[:, 0] * groups.signs
    other = np.take_along_axis(scales.loadings, 1 - groups.labels[:, None], 1)[:, 0]
    np.testing.assert_allclose(own, 0.7, atol=0.08)
    np.testing.assert_allclose(other, 0, atol=0.08)


def test_disattenuated_correlations_are_those_of_the_factors(two_scales):
    (_, _, scales), _ = two_scales
    assert scales.disattenuated[0, 1] == pytest.approx(0.6, abs=0.05)


def test_correlations_means_and_spreads_are_those_of_the_scores(two_scales):
    (selector, groups, scales), X = two_scales
    scores = pd.DataFrame(selector.set_params(output="scores").transform(X))
    selector.set_params(output="features")
    np.testing.assert_allclose(scales.correlations, scores.corr(), atol=1e-10)
    np.testing.assert_allclose(groups.items["score_sd"], scores.std(ddof=0), atol=1e-10)
    np.testing.assert_allclose(groups.items["score_mean"], scores.mean(), atol=1e-10)


def test_groups_of_one_feature_have_no_figures(rng):
    X = scale([0.7] * 4, 200, rng)
    selector = FeatureGroups(groups=[[0, 1, 2], [3]], random_state=0).fit(X)
    groups = Groups.of(selector)
    scales = Scales(groups)
    assert np.isnan(scales.alpha).tolist() == np.isnan(scales.omega).tolist() == [False, True]
    assert np.isnan(scales.omega_interval[1]).all() and np.isnan(scales.item_rest[3])
