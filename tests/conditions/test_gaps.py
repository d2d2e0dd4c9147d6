"""Gaps are left out of every comparison: a condition with more of them has not changed."""

import numpy as np
import pytest

from groupfs import FeatureGroups
from groupfs.conditions import compare, only_in
from groupfs.conditions.estimates import change_from
from groupfs.conditions.weighted import columns_of_group, standardized_within, weighted_means
from tests.support.planted_groups import SIZE, in_order, known, planted

QUICK = {"n_permutations": 99, "n_bootstrap": 20}


def with_gaps(X, share, where, rng):
    """Take values out of some rows."""
    gaps = rng.random(X.shape) < share
    gaps[~where] = False
    return np.where(gaps, np.nan, X)


def two_conditions(seed, n=120, share=0.3):
    """Two groups that are the same in both conditions; the second one has gaps."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(["full", "gaps"], n // 2)
    X = planted(np.full((n, 2), 0.5), rng)
    return with_gaps(X, share, labels == "gaps", rng), labels


@pytest.mark.slow
def test_gaps_in_one_condition_are_no_change():
    """Of 32 tests; with gaps at the mean 10 of those of cohesion were below 0.05."""
    mean, cohesion, r = [], [], []
    for seed in range(16):
        X, labels = two_conditions(seed)
        result = compare(known(X), X, labels, n_permutations=99, n_bootstrap=2)
        mean.extend(result.mean_change.p_values)
        cohesion.extend(result.cohesion_change.p_values)
        r.append(result.cohesion.value.mean(0))
    for p_values in (mean, cohesion):
        assert np.mean(np.array(p_values) <= 0.05) <= 0.16 and np.median(p_values) > 0.2
    full, gaps = np.mean(r, axis=0)
    assert gaps == pytest.approx(full, abs=0.04)


def test_samples_without_a_score_are_left_out_of_the_mean():
    scores = np.array([[0.25, 9], [-2, 9], [np.nan, 9]])
    means = weighted_means(scores, np.array([[1.0, 1, 1], [0, 0, 1]]))
    np.testing.assert_allclose(means, [[-0.875, 9], [np.nan, 9]])


def test_the_level_is_that_of_the_values_there_are(rng):
    Z, codes = rng.standard_normal((60, 3)), np.arange(60) % 2
    Z[:, 2] = 4
    Z[rng.random((60, 3)) < 0.3] = np.nan
    flat = standardized_within(Z, codes)
    np.testing.assert_array_equal(np.isnan(flat), np.isnan(Z))
    for k in (0, 1):
        np.testing.assert_allclose(np.nanmean(flat[codes == k], 0), 0, atol=1e-12)
        np.testing.assert_allclose(np.nanstd(flat[codes == k], 0), [1, 1, 0], atol=1e-12)


def test_a_feature_that_a_condition_has_not_is_correlated_in_none(rng):
    codes = np.repeat([0, 1], 30)
    weights = (codes == np.array([[0], [1]])).astype(float)
    Z = rng.standard_normal((60, 4)) + rng.standard_normal((60, 1))
    Z[codes == 1, 0] = np.nan
    result = columns_of_group(Z, weights, lambda Z: Z)
    plain = columns_of_group(Z[:, 1:], weights, lambda Z: Z)
    expected = plain.cohesion(weights)
    np.testing.assert_allclose(result.cohesion(weights), expected)
    assert columns_of_group(Z[:, :2], weights, lambda Z: Z) is None
    Z[:15, 1], Z[15:30, 2] = np.nan, np.nan  # never both in the first condition
    excluded = columns_of_group(Z[:, 1:], weights, lambda Z: Z).excluded
    assert excluded[0, 1] and excluded.sum() == 2


def test_a_group_that_a_condition_has_not_is_not_compared(rng):
    X, labels = two_conditions(0)
    X[labels == "gaps", :SIZE] = np.nan
    selector = known(X)
    result = compare(selector, X, labels, **QUICK)
    mean = in_order(selector, result.mean.value)
    assert np.isnan(mean[0, 1]) and np.isfinite(mean[[0, 1, 1], [0, 0, 1]]).all()
    for change in (result.mean_change, result.cohesion_change):
        assert np.isnan(in_order(selector, change.p_values)).tolist() == [True, False]
    values = rng.standard_normal((50, 3, 1))
    values[0, 2] = np.nan
    left = change_from(values[:, :2]).p_values
    np.testing.assert_allclose(change_from(values).p_values, left)


def test_a_group_that_gaps_hide_is_not_only_elsewhere():
    X, labels = two_conditions(1, n=160, share=0.4)
    selector = FeatureGroups(n_groups=2, random_state=0).fit(X)
    result = only_in(selector, X, labels, n_permutations=99)
    assert len(result.features) and not result.is_only_here.any()
    assert np.isfinite(result.cohesion).all()
