"""Questionnaires and wide tables are drawn as they say."""

import numpy as np
import pytest
from scipy.stats import skew

from benchmarks import designs, questionnaires, wide
from benchmarks.group_competitors import absolute_correlation


def between(X, groups, same):
    pairs = (groups[:, None] == groups) == same
    return absolute_correlation(X)[pairs & ~np.eye(len(groups), dtype=bool)]


def test_factors_and_items_are_correlated_as_asked(rng):
    traits = np.array([0, 0, 1])
    factors = questionnaires.related_factors(rng, 50_000, traits, 0.4)
    expected = np.where(traits[:, None] == traits, 0.4, 0)
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(np.cov(factors.T), expected, atol=0.03)
    groups, loadings = np.array([0, 0, 1, -1]), np.array([0.7, -0.5, 0.6, 0.6])
    Z = questionnaires.items(rng, factors, groups, loadings)
    r = np.cov(Z.T)
    np.testing.assert_allclose(np.diag(r), 1, atol=0.03)
    drawn = [r[0, 1], r[0, 2], r[0, 3]]
    np.testing.assert_allclose(drawn, [-0.35, 0.4 * 0.7 * 0.6, 0], atol=0.03)


@pytest.mark.parametrize("categories", [2, 3, 5, 7])
def test_answers_have_the_categories_and_the_skew_asked_for(categories, rng):
    Z = rng.standard_normal((40_000, 4))
    even = questionnaires.in_categories(rng, Z, categories, 0)
    np.testing.assert_allclose(skew(even), 0, atol=0.1)
    skewed = questionnaires.in_categories(rng, Z, categories, 1)
    np.testing.assert_allclose(np.sort(skew(skewed)), [-1, -1, 1, 1], atol=0.1)
    for X in (even, skewed):
        assert all(len(np.unique(column)) == categories for column in X.T)
        turned = [np.corrcoef(x, z)[0, 1] for x, z in zip(X.T, Z.T, strict=True)]
        assert min(turned) > 0.6  # cut, and not reversed


@pytest.mark.parametrize("number", range(3))
def test_facets_are_tied_most_then_traits_then_the_rest(number):
    drawn = questionnaires.questionnaire("two-level", number)
    r, facets, traits = absolute_correlation(drawn.X), drawn.facets, drawn.traits
    same_facet, same_trait = facets[:, None] == facets, traits[:, None] == traits
    assert (same_trait | ~same_facet).all()  # a facet is in one trait
    assert 8 <= drawn.facts["groups"] <= 20 and 2 <= drawn.facts["traits"] <= 5
    assert all(len(np.unique(facets[traits == t])) >= 2 for t in np.unique(traits))
    np.fill_diagonal(r, np.nan)
    tied = [r[same_facet], r[same_trait & ~same_facet], r[~same_trait]]
    narrow, broad, rest = map(np.nanmean, tied)
    assert narrow > 1.5 * broad > 2 * rest
    assert set(np.unique(drawn.X)) == set(range(1, drawn.facts["points"] + 1))


def test_one_level_has_no_traits_and_weak_items_are_less_tied():
    one, weak = (questionnaires.questionnaire(kind, 0) for kind in ("one-level", "weak"))
    assert one.traits is None and 200 <= len(weak.X) <= 500 <= len(one.X) <= 2000
    assert between(one.X, one.facets, True).mean() > 0.3 > between(weak.X, weak.facets, True).mean()
    assert between(one.X, one.facets, False).mean() < 0.05


def test_the_designs_are_those_of_the_studies():
    cells = designs.cells()
    kinds = [cell.kind for cell in cells]
    assert [kinds.count(kind) for kind in designs.KINDS] == [64, 64, 48]
    assert len(set(cells)) == 176
    number = cells.index(designs.Cell("continuous", 4, 5, 5000, 0.5, 0.7, 0, 0.0))
    table = designs.draw(number, 0)
    assert table.X.shape == (5000, 20) and table.n_groups == 4
    np.testing.assert_allclose(between(table.X, table.groups, True), 0.49, atol=0.06)
    np.testing.assert_allclose(between(table.X, table.groups, False), 0.245, atol=0.07)
    number = cells.index(designs.Cell("binary", 2, 5, 500, 0.0, 0.7, 2, 0.0))
    X = designs.draw(number, 0).X
    np.testing.assert_allclose((X.max(axis=0) == X).mean(axis=0), 0.5, atol=0.1)
    assert (X != designs.draw(number, 1).X).any()


def test_wide_tables_have_the_groups_and_the_noise_they_say(rng):
    groups = wide.planted_groups(rng, 100_000)
    sizes = np.bincount(groups[groups >= 0])
    assert sizes.sum() == 60_000 and sizes.min() >= 5 and sizes.max() <= 400
    assert 20 <= np.median(sizes) <= 30
    table = wide.wide_table(300, 400, 0)
    assert table.X.shape == (300, 400) and (table.groups < 0).sum() == 160
    planted = table.groups >= 0
    X, groups = table.X[:, planted], table.groups[planted]
    assert between(X, groups, True).mean() > 0.25 > 0.1 > between(X, groups, False).mean()
    first = X[:, groups == np.bincount(groups).argmax()]
    reversed_ = np.corrcoef(first.T)[0] < 0
    assert 0.1 < min(reversed_.mean(), 1 - reversed_.mean()) < 0.6
