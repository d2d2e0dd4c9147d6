import numpy as np
import pytest

from groupfs.discovery.items import pairwise_correlations
from groupfs.preservation.measure import (
    State,
    chance_of_density,
    congruence,
    density,
    mean_correlation,
    measure,
    standard_error,
    with_rest,
)
from tests import reference


def one_factor(n, loadings, rng):
    loadings = np.asarray(loadings, dtype=float)
    own = np.sqrt(1 - loadings**2) * rng.standard_normal((n, len(loadings)))
    return rng.standard_normal((n, 1)) * loadings + own


def implied(loadings):
    R = np.outer(loadings, loadings)
    np.fill_diagonal(R, 1)
    return R


def test_cohesion_is_the_mean_correlation_of_turned_pairs_gaps_left_out(rng):
    signs = np.array([1, -1, 1, 1, -1])
    X = one_factor(200, 0.6 * signs, rng)
    X[rng.random(X.shape) < 0.2] = np.nan
    R, _ = pairwise_correlations((X - np.nanmean(X, 0)) / np.nanstd(X, 0) * signs)
    assert mean_correlation(R) == pytest.approx(reference.mean_correlation(X, signs), abs=1e-12)


@pytest.mark.parametrize(("m", "loading", "n"), [(4, 0.7, 200), (8, 0.5, 100), (6, 0.0, 300)])
def test_the_standard_error_of_cohesion_is_what_draws_vary_by(m, loading, n, rng):
    drawn = [mean_correlation(np.corrcoef(one_factor(n, [loading] * m, rng).T)) for _ in range(600)]
    assert standard_error(loading**2, m, n) == pytest.approx(np.std(drawn), rel=0.12)
    assert np.mean(drawn) == pytest.approx(loading**2, abs=4 * np.std(drawn) / np.sqrt(600))


def test_a_feature_is_compared_with_the_sum_of_the_others_that_hold(rng):
    X, among = one_factor(150, [0.7] * 6, rng), np.array([1, 1, 0, 1, 1, 0], dtype=bool)
    turn = np.array([1, -1, 1, 1, 1, 1.0])
    X[:, 1] *= -1
    found = with_rest(np.corrcoef(X.T), turn, among)
    inside = np.flatnonzero(among)
    expected = [reference.rest_correlation(X, turn, j, inside) for j in range(6)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_congruence_does_not_mind_a_factor_and_is_minus_one_where_all_is_turned():
    a = np.array([0.8, 0.5, 0.3])
    assert congruence(a, 0.4 * a) == 1 and congruence(a, -a) == -1
    assert congruence(a, np.zeros(3)) == 0


@pytest.mark.parametrize("gaps", [0.0, 0.5])
def test_one_in_twenty_unrelated_groups_seems_to_hold_at_the_level_of_one_in_twenty(gaps, rng):
    found = []
    for _ in range(200):  # skewed answers of two categories, and unequal gaps
        Z = (rng.random((80, 6)) < rng.uniform(0.1, 0.5, 6)).astype(float)
        Z[rng.random(Z.shape) < np.linspace(0, gaps, 6)] = np.nan
        Z = (Z - np.nanmean(Z, 0)) / np.nanstd(Z, 0)
        found.append(chance_of_density(density(Z), Z, rng))
    assert np.mean(np.array(found) < 0.05) <= 0.09


def halved(X, rng):
    return np.sqrt(0.5) * (X + rng.standard_normal(X.shape))


def replaced(X, rng):
    return np.hstack([rng.standard_normal((len(X), 2)), X[:, 2:]])


@pytest.mark.parametrize(
    ("change", "verdict", "broken"),
    [
        (lambda X, rng: X, "preserved", []),
        (halved, "weaker", []),
        (lambda X, rng: X * [-1, -1, 1, 1, 1, 1], "preserved", ["reversed", "reversed"]),
        (replaced, "weaker", ["lost", "lost"]),
        (lambda X, rng: rng.standard_normal(X.shape), "gone", ["lost"] * 6),
    ],
)
def test_what_became_of_a_group_is_told_by_its_verdict_and_features(change, verdict, broken, rng):
    loadings = np.array([0.7, 0.7, 0.6, 0.7, 0.6, 0.7])
    X = one_factor(1000, loadings, rng)
    found = measure(implied(loadings), 500, _standardized(change(X, rng)), rng)
    assert found.verdict == verdict
    assert [state for state in found.states if state is not State.HOLDS] == broken
    assert found.states[: len(broken)] == broken
    if verdict == "weaker" and broken:
        assert found.without_lost == "preserved"


def test_few_rows_leave_open_what_does_not_stand_out(rng):
    loadings = np.full(4, 0.3)
    verdicts = {
        measure(implied(loadings), 500, _standardized(one_factor(25, loadings, rng)), rng).verdict
        for _ in range(20)
    }
    assert State.GONE not in verdicts and State.UNKNOWN in verdicts


def _standardized(X):
    return (X - X.mean(0)) / X.std(0)
