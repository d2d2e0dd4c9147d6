"""Gaps are left out of every comparison: a condition with more of them has not changed."""

import numpy as np
import pandas as pd
import pytest

from groupfs import GroupFS
from groupfs.conditions import compare, curves, only_in
from groupfs.conditions.estimates import change_from
from groupfs.conditions.inputs import read_samples, score_samples
from groupfs.conditions.level import standardized_along, standardized_within
from groupfs.conditions.measure import columns_of_group
from groupfs.conditions.weighted import GroupColumns, exclusive_pairs, weighted_means
from groupfs.data.open_table import read_rows
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


def test_gaps_in_one_condition_are_no_change():
    """Of 32 tests; with gaps at the mean 10 of those of cohesion were below 0.05."""
    mean, cohesion, r = [], [], []
    for seed in range(16):
        X, labels = two_conditions(seed)
        found = compare(known(X), X, labels, n_permutations=99, n_bootstrap=2)
        mean.extend(found.mean_change.p_values)
        cohesion.extend(found.cohesion_change.p_values)
        r.append(found.correlation.value.mean(0))
    for p_values in (mean, cohesion):
        assert np.mean(np.array(p_values) <= 0.05) <= 0.16 and np.median(p_values) > 0.2
    full, gaps = np.mean(r, axis=0)
    assert gaps == pytest.approx(full, abs=0.04)


def test_gaps_do_not_pull_means_to_zero(rng):
    labels = np.repeat(["full", "gaps", "low"], 100)
    X = planted(np.full((300, 2), 0.5), rng) + np.repeat([1.0, 1.0, -2.0], 100)[:, None]
    X = with_gaps(X, 0.5, labels == "gaps", rng)
    mean = compare(known(X), X, labels, **QUICK).mean.value
    np.testing.assert_allclose(mean[:, 1], mean[:, 0], atol=0.15)  # 0.3 apart if filled in


def test_a_change_is_found_through_gaps(rng):
    labels = np.repeat(["a", "b", "c"], 80)
    shared = np.full((240, 3), 0.5)
    shared[labels != "b", 1] = 0
    X = planted(shared, rng)
    X[labels == "c", 2 * SIZE :] += 1
    X = with_gaps(X, 0.2, labels != "a", rng)
    selector = known(X)
    found = compare(selector, X, labels, **QUICK)
    assert in_order(selector, found.mean_change.found(0.05)).tolist() == [False, False, True]
    assert in_order(selector, found.cohesion_change.found(0.05)).tolist() == [False, True, False]
    assert (found.cohesion.low <= found.cohesion.value).all()


def test_correlations_are_those_of_samples_that_have_both(rng):
    Z = rng.standard_normal((50, 4)) + rng.standard_normal((50, 1))
    Z = with_gaps(Z, 0.3, np.full(50, True), rng)
    counts = rng.integers(0, 4, (5, 50)).astype(float)
    none = np.zeros((4, 4), dtype=bool)
    found = GroupColumns(Z, False, none).common_correlation(counts)
    signed = GroupColumns(Z, True, none).common_correlation(counts)
    for times, one, other in zip(counts.astype(int), found, signed, strict=True):
        r = pd.DataFrame(np.repeat(Z, times, axis=0)).corr().to_numpy()  # pairwise complete
        assert one == pytest.approx((np.linalg.eigvalsh(r)[-1] - 1) / 3)
        assert other == pytest.approx(r[np.triu_indices(4, 1)].mean())


def test_a_sample_is_scored_by_the_features_it_has():
    Z = np.array([[1.0, 2.0, 9.0], [np.nan, 2.0, 9.0], [np.nan, np.nan, 9.0]])
    weights = np.array([[0.75, 0], [-0.25, 0], [0, 1]])
    scores = score_samples(Z, weights)
    np.testing.assert_allclose(scores, [[0.25, 9], [-2, 9], [np.nan, 9]])
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
    t = np.sort(rng.uniform(0, 10, 60))
    along = standardized_along(Z, t, 2.0)
    for j in range(2):
        there = ~np.isnan(Z[:, j])
        np.testing.assert_array_equal(there, ~np.isnan(along[:, j]))
        risen = standardized_along(Z + 3 * t[:, None], t, 2.0)
        np.testing.assert_allclose(risen[there, j], along[there, j], atol=0.05)


def test_indicators_exclude_each_other_through_gaps():
    X = (np.arange(90)[:, None] % 3 == np.arange(3)).astype(float)
    X[::7, 0] = np.nan
    X = np.column_stack([X, np.arange(90.0)])
    excluded = exclusive_pairs((X - np.nanmean(X, 0)) / np.nanstd(X, 0))
    assert excluded.sum() == 6 and not excluded[3].any()


def test_a_feature_that_a_condition_has_not_is_correlated_in_none(rng):
    codes = np.repeat([0, 1], 30)
    weights = (codes == np.array([[0], [1]])).astype(float)
    Z = rng.standard_normal((60, 4)) + rng.standard_normal((60, 1))
    Z[codes == 1, 0] = np.nan
    found = columns_of_group(Z, False, weights, lambda Z: Z)
    plain = columns_of_group(Z[:, 1:], False, weights, lambda Z: Z)
    expected = plain.common_correlation(weights)
    np.testing.assert_allclose(found.common_correlation(weights), expected)
    assert columns_of_group(Z[:, :2], False, weights, lambda Z: Z) is None
    Z[:15, 1], Z[15:30, 2] = np.nan, np.nan  # never both in the first condition
    excluded = columns_of_group(Z[:, 1:], False, weights, lambda Z: Z).excluded
    assert excluded[0, 1] and excluded.sum() == 2


def test_a_group_that_a_condition_has_not_is_not_compared(rng):
    X, labels = two_conditions(0)
    X[labels == "gaps", :SIZE] = np.nan
    selector = known(X)
    found = compare(selector, X, labels, **QUICK)
    mean = in_order(selector, found.mean.value)
    assert np.isnan(mean[0, 1]) and np.isfinite(mean[[0, 1, 1], [0, 0, 1]]).all()
    for change in (found.mean_change, found.cohesion_change):
        assert np.isnan(in_order(selector, change.p_values)).tolist() == [True, False]
    values = rng.standard_normal((50, 3, 1))
    values[0, 2] = np.nan
    left = change_from(values[:, :2]).p_values
    np.testing.assert_allclose(change_from(values).p_values, left)


def test_curves_do_not_follow_gaps():
    p_values = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        time = np.sort(rng.uniform(0, 10, 150))
        X = planted(np.full((150, 2), 0.5), rng)
        X[rng.random(X.shape) < 0.06 * time[:, None]] = np.nan
        found = curves(known(X), X, time, n_permutations=99, n_bootstrap=2)
        assert np.isfinite(found.mean.value).all()
        p_values.extend([*found.mean_change.p_values, *found.cohesion_change.p_values])
    assert np.mean(np.array(p_values) <= 0.05) <= 0.16 and np.median(p_values) > 0.2


def test_a_group_that_gaps_hide_is_not_only_elsewhere():
    X, labels = two_conditions(1, n=160, share=0.4)
    selector = GroupFS(n_groups=2, max_epochs=2, n_init=1, random_state=0).fit(X)
    found = only_in(selector, X, labels, n_permutations=99)
    assert len(found.features) and not found.is_only_here.any()
    assert np.isfinite(found.correlation).all()


def test_rows_keep_the_gaps_of_every_kind_of_column(rng):
    common = rng.standard_normal(90)
    frame = pd.DataFrame({f"x{i}": common + 0.5 * rng.standard_normal(90) for i in range(4)})
    frame["kind"] = np.array(list("abc"))[np.digitize(common, [-0.5, 0.5])]
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(100 * common, unit="D")
    frame["other"] = rng.standard_normal(90)
    for name in ("x0", "kind", "when"):
        frame.loc[rng.random(90) < 0.2, name] = None
    selector = GroupFS(groups=[0] * 6 + [1], max_epochs=1, n_init=1, random_state=0).fit(frame)
    kept, plain = (read_rows(selector, frame, 90, gaps)[0] for gaps in (True, False))
    np.testing.assert_array_equal(np.isnan(kept), frame.isna().to_numpy())
    np.testing.assert_array_equal(np.nan_to_num(kept), plain)
    none = np.zeros(90, dtype=bool)
    samples = read_samples(selector, frame, np.arange(90), none, None)
    assert np.isnan(samples.Z).any() and np.isfinite(samples.scores).all()
