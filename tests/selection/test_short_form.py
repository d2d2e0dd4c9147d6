"""Short forms keep the score, as rows would tell it, and do not ask the same thing twice."""

import itertools

import numpy as np
import pytest

from groupfs.selection.short_form import (
    choose_items,
    correlate_with_full,
    cronbach_alpha,
    short_form,
)
from tests import reference


def scale(rng, m, n=120, n_facets=0):
    """Rows of one scale of unequal features, signs, turned correlations and weights."""
    signs = rng.choice([-1, 1], m)
    loadings = rng.uniform(0.3, 0.9, m)
    X = rng.standard_normal((n, 1)) * loadings + rng.standard_normal((n, m))
    if n_facets:
        X += rng.standard_normal((n, n_facets))[:, rng.integers(n_facets, size=m)]
    X = X * signs * rng.uniform(0.5, 3, m) + 7
    R = np.corrcoef(X, rowvar=False) * np.outer(signs, signs)
    return X, signs, R, first_component(R)


def first_component(R):
    lengths, vectors = np.linalg.eigh(R)
    return np.abs(vectors[:, -1]) * np.sqrt(lengths[-1])


def with_doublet():
    """Correlations of eight features, of which the first two, the most central, are nearly one."""
    loadings = np.array([0.8, 0.79, 0.7, 0.68, 0.66, 0.64, 0.62, 0.6])
    R = np.outer(loadings, loadings)
    R[0, 1] = R[1, 0] = 0.97
    np.fill_diagonal(R, 1)
    return R, first_component(R)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_correlation_and_alpha_are_those_of_the_rows(k, rng):
    X, signs, R, weights = scale(rng, 9)
    chosen = rng.choice(9, k, replace=False)
    literal = reference.kept_score(X, signs, weights, chosen)
    assert correlate_with_full(R, weights, chosen) == pytest.approx(literal, abs=1e-12)
    if k > 1:
        literal = reference.cronbach_alpha(X, signs, chosen)
        assert cronbach_alpha(R[np.ix_(chosen, chosen)]) == pytest.approx(literal, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("n_facets", [0, 3])
def test_no_other_feature_in_place_of_a_chosen_one_keeps_more(k, n_facets, rng):
    X, signs, R, weights = scale(rng, 12, 40, n_facets)
    chosen = choose_items(R, weights, k).tolist()
    kept = reference.kept_score(X, signs, weights, chosen)
    others = set(range(12)) - set(chosen)
    for out, new in itertools.product(chosen, others):
        swapped = [*(set(chosen) - {out}), new]
        assert reference.kept_score(X, signs, weights, swapped) <= kept + 1e-9


@pytest.mark.parametrize("k", [2, 3, 4])
def test_what_is_chosen_keeps_no_less_than_the_most_central_and_nearly_the_most(k, rng):
    below = []
    for _ in range(30):
        _, _, R, weights = scale(rng, 9)
        kept = correlate_with_full(R, weights, choose_items(R, weights, k))
        central = np.argsort(-weights)[:k]
        assert kept >= correlate_with_full(R, weights, central) - 1e-12
        every = map(np.array, itertools.combinations(range(9), k))
        below.append(max(correlate_with_full(R, weights, some) for some in every) - kept)
    assert np.mean(below) < 0.001
    assert np.mean(np.array(below) < 1e-9) > 0.8


def test_of_two_that_are_nearly_the_same_one_is_taken():
    R, weights = with_doublet()
    assert set(np.argsort(-weights)[:3]) >= {0, 1}
    assert len({0, 1} & set(choose_items(R, weights, 3).tolist())) == 1


def test_the_one_feature_that_keeps_most_is_the_representative(rng):
    _, _, R, weights = scale(rng, 12)
    assert choose_items(R, weights, 1).tolist() == [weights.argmax()]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_feature_that_is_nearly_the_score_is_taken_once(k):
    R = np.eye(7)
    R[0, 1:] = R[1:, 0] = 0.37  # no other feature tells of any but the first
    assert len(set(choose_items(R, np.ones(7), k).tolist())) == k


@pytest.mark.parametrize("k", [4, 9])
def test_a_group_that_has_no_more_is_taken_whole(k, rng):
    _, _, R, weights = scale(rng, 4)
    assert choose_items(R, weights, k).tolist() == np.argsort(-weights).tolist()
    found = short_form(R, weights, k)
    assert found.correlation == 1
    assert found.alpha == cronbach_alpha(R)


def test_features_alike_in_all_are_taken_from_the_first_on():
    R = np.full((6, 6), 0.4) + 0.6 * np.eye(6)
    assert choose_items(R, np.full(6, 0.7), 3).tolist() == [0, 1, 2]


def test_of_duplicates_the_first_is_taken():
    R, _ = with_doublet()
    R[1], R[:, 1] = R[0], R[:, 0]
    R[0, 1] = R[1, 0] = 1
    chosen = choose_items(R, first_component(R).round(9), 3)
    assert 0 in chosen and 1 not in chosen


def test_order_of_the_features_does_not_matter(rng):
    _, _, R, weights = scale(rng, 15)
    turned = rng.permutation(15)
    again = choose_items(R[np.ix_(turned, turned)], weights[turned], 4)
    assert turned[again].tolist() == choose_items(R, weights, 4).tolist()


def test_one_feature_has_no_alpha(rng):
    _, _, R, weights = scale(rng, 5)
    found = short_form(R, weights, 1)
    assert np.isnan(found.alpha) and 0 < found.correlation < 1


def test_features_without_a_middle_weigh_the_same(rng):
    _, _, R, _ = scale(rng, 5)
    found = short_form(R, np.zeros(5), 2)
    assert found.correlation == correlate_with_full(R, np.ones(5), found.items) > 0


def test_features_that_cancel_out_have_no_score_to_keep():
    R = np.array([[1.0, -1.0], [-1.0, 1.0]])
    found = short_form(R, np.zeros(2), 1)
    assert found.correlation == 0 and np.isnan(found.alpha)
