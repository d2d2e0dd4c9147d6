"""Weighted correlations, p-values and intervals, each beside a plain loop."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control

from groupfs.conditions.estimates import change_from, correlation_interval, interval
from groupfs.conditions.measure import draw_counts
from groupfs.conditions.weighted import (
    GroupColumns,
    columns_of_group,
    effective_samples,
    standardized_along,
    weighted_means,
)


def none_excluded(m):
    return np.zeros((m, m), dtype=bool)


@pytest.mark.parametrize("gaps", [0, 0.3])
def test_correlations_are_those_of_repeated_rows_that_have_both(gaps, rng):
    Z = rng.standard_normal((50, 4)) + rng.standard_normal((50, 1))
    Z[rng.random(Z.shape) < gaps] = np.nan
    counts = rng.integers(0, 4, (6, 50))
    result = GroupColumns(Z, none_excluded(4)).cohesion(counts.astype(float))
    for times, found in zip(counts, result, strict=True):
        r = pd.DataFrame(np.repeat(Z, times, axis=0)).corr().to_numpy()  # pairwise complete
        assert found == pytest.approx(r[np.triu_indices(4, 1)].mean())


def test_a_column_that_is_constant_somewhere_goes_with_nothing_there(rng):
    Z = np.repeat(rng.standard_normal((30, 1)), 2, axis=1)
    Z[:15, 1] = 0.3
    weights = np.repeat(np.eye(2), 15, axis=1)
    result = GroupColumns(Z, none_excluded(2)).cohesion(weights)
    np.testing.assert_allclose(result, [0, 1], atol=1e-9)


@pytest.mark.parametrize("every", [None, 7])
def test_indicators_that_exclude_each_other_do_not_correlate(every):
    X = (np.arange(90)[:, None] % 3 == np.arange(3)).astype(float)
    X = np.column_stack([X, np.arange(90.0)])
    if every is not None:
        X[::every, 0] = np.nan
    Z = (X - np.nanmean(X, 0)) / np.nanstd(X, 0)
    weights = np.ones((1, 90))
    excluded = columns_of_group(Z, weights, lambda Z: Z).excluded
    assert excluded.sum() == 6 and not excluded[3].any()
    columns = columns_of_group(Z[:, :3], weights, lambda Z: Z)
    assert columns.cohesion(weights)[0] == pytest.approx(0, abs=1e-9)


def test_p_values_count_the_given_arrangement(rng):
    values = rng.standard_normal((200, 3, 4))
    values[0, :, 1] = 9.0
    result = change_from(values)
    spread, mean = values.std(0), values.mean(0)
    for j in range(4):
        T = [(((v[:, j] - mean[:, j]) / spread[:, j]) ** 2).mean() for v in values]
        assert result.p_values[j] == pytest.approx((1 + sum(t >= T[0] for t in T[1:])) / 200)
    assert result.p_values[1] == 1 / 200
    np.testing.assert_allclose(result.q_values, false_discovery_control(result.p_values))
    np.testing.assert_allclose(result.z[1], (9 - mean[:, 1]) / spread[:, 1])


def test_arrangements_that_are_all_the_same_say_nothing():
    result = change_from(np.ones((20, 2, 1)))
    assert result.p_values.tolist() == [1.0]


@pytest.mark.parametrize("gaps", [0, 0.3])
def test_a_straight_course_is_taken_off_up_to_the_ends(gaps, rng):
    t = np.sort(rng.uniform(0, 10, 400))
    noise = rng.standard_normal((400, 2))
    noise[rng.random(noise.shape) < gaps] = np.nan
    flat = standardized_along(noise + 3 * t[:, None], t, bandwidth=0.8)
    plain = standardized_along(noise, t, bandwidth=0.8)
    np.testing.assert_allclose(flat, plain, atol=0.02)
    np.testing.assert_array_equal(np.isnan(flat), np.isnan(noise))


def test_resamples_keep_blocks_in_one_piece_and_conditions_full(rng):
    units = np.array([0, 0, 1, 1, 3, 2])
    counts = draw_counts(units, np.array([0, 0, 0, 0, 1, 1]), 100, rng)
    assert (counts[:, 0] == counts[:, 1]).all() and (counts[:, 2] == counts[:, 3]).all()
    assert (counts[:, 0] + counts[:, 2] == 2).all() and (counts[:, 4] + counts[:, 5] == 2).all()
    mixed = draw_counts(units, np.array([0, 1, 0, 1, 1, 1]), 100, rng)
    assert (mixed[:, [0, 2, 4, 5]].sum(1) == 4).all() and (mixed.min(0) == 0).all()


def test_effective_samples_are_those_of_equal_weight():
    weights = np.array([[1.0, 1, 1, 0], [0.5, 0.5, 0, 0], [1, 0.5, 0, 0]])
    np.testing.assert_allclose(effective_samples(weights), [3, 2, 2.25 / 1.25])


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_intervals_hold_the_truth_about_as_often_as_they_say(rho):
    """Of 120 draws; 95 % intervals of 60 samples fall short of that by a few percent."""
    n, m, every = 60, 5, np.ones((1, 60))
    r_held, mean_held, widths = [], [], []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        common = np.sqrt(rho) * rng.standard_normal((n, 1))
        Z = common + np.sqrt(1 - rho) * rng.standard_normal((n, m))
        counts = draw_counts(np.arange(n), None, 200, rng)
        columns = GroupColumns(Z, none_excluded(m))
        r, again = columns.cohesion(every), columns.cohesion(counts)
        n_units = np.array([float(n)])
        r = correlation_interval(r[:, None], again[:, None, None], 0.95, n_units)
        scores = Z.mean(1, keepdims=True)
        means = weighted_means(scores, every), weighted_means(scores, counts)[:, None]
        mean = interval(*means, 0.95, n_units)
        r_held.append(r.low[0, 0] <= rho <= r.high[0, 0])
        mean_held.append(mean.low[0, 0] <= 0 <= mean.high[0, 0])
        widths.append(mean.high[0, 0] - mean.low[0, 0])
    assert np.mean(r_held) >= 0.87 and 0.88 <= np.mean(mean_held) <= 0.99
    expected = 2 * 2.0 * np.sqrt((rho + (1 - rho) / m) / n)  # Student's factor is 2.0
    assert np.mean(widths) == pytest.approx(expected, rel=0.1)
