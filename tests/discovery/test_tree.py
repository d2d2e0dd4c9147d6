"""The tree of groups: what halves of the rows share, level by level, and what they do not."""

import random
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from groupfs.data.halves import N_BLOCKS, BlockSums, deal_rows, first_halves
from groupfs.discovery.feature_graph import ALL_PAIRS, WIDE, connect_features
from groupfs.discovery.tree import adjusted_rand, default_level, grow_tree, levels_of
from tests.support.walks import correlations


def nested(rng, n_rows=800, n_traits=3, facets=4, items=5, facet=0.6, trait=0.5):
    """Items of facets within traits; every third item the other way round."""
    of_facet = np.repeat(np.arange(n_traits * facets), items)
    of_trait = of_facet // facets
    broad, narrow = (rng.standard_normal((n_rows, of.max() + 1)) for of in (of_trait, of_facet))
    X = trait * broad[:, of_trait] + facet * narrow[:, of_facet]
    X += np.sqrt(1 - trait**2 - facet**2) * rng.standard_normal(X.shape)
    return X * np.where(np.arange(X.shape[1]) % 3, 1, -1), of_facet, of_trait


def levels_in(X, signed=False):
    return levels_of(grow_tree(connect_features(correlations(X), signed)))


@pytest.mark.parametrize("n_rows", [20, 33, 500])
def test_halves_made_of_blocks_are_halves_of_the_rows(n_rows, rng):
    X = rng.standard_normal((n_rows, 6)) + 3
    X[:, 4] += 2 * X[:, 1]
    blocks, halves = deal_rows(n_rows), first_halves(40)
    found = BlockSums(X, 40).correlations(1, 4)
    assert np.bincount(blocks, minlength=N_BLOCKS).max() - np.bincount(blocks).min() <= 1
    assert (halves.sum(1) == N_BLOCKS // 2).all() and len(np.unique(halves, axis=0)) == 40
    for pair, first in enumerate(halves):
        for side, half in enumerate((first, ~first)):
            expected = np.corrcoef(X[half[blocks]].T)[1:4]
            np.testing.assert_allclose(found[2 * pair + side], expected, atol=1e-9)


def test_a_column_that_hardly_varies_in_a_half_goes_with_nothing_there(rng):
    X = rng.standard_normal((320, 3))
    X[:, 0] = 0
    X[deal_rows(320) == 5, 0] = 1
    r = BlockSums(X, 8).correlations(0, 3)
    without = ~first_halves(8)[:, 5]
    assert not r[::2][without][:, 0].any() and (np.abs(r) <= 1).all()


def test_ties_are_what_squared_correlations_have_beyond_chance(rng):
    X = rng.standard_normal((64, 5))
    X[:, 1] -= X[:, 0]
    graph = connect_features(correlations(X), signed=False)
    r = np.corrcoef(X.T)[tuple(graph.edges.T)]
    np.testing.assert_allclose(graph.weights[0], np.maximum(r**2 - 1 / 64, 0), atol=1e-9)
    signed = connect_features(correlations(X), signed=True)
    assert [0, 1] in graph.edges.tolist()
    assert not signed.weights[0, (signed.edges == [0, 1]).all(1)].any()


@pytest.mark.parametrize("n_features", [ALL_PAIRS - 10, ALL_PAIRS + 10, WIDE + 10])
def test_communities_of_planted_groups_are_these_at_any_width(n_features, rng):
    groups = np.arange(n_features) % 10
    X = 0.8 * rng.standard_normal((200, 10))[:, groups] + 0.6 * rng.standard_normal(
        (200, n_features)
    )
    graph = connect_features(correlations(X), signed=False)
    for labels in graph.communities(1.0, slice(3)):
        assert adjusted_rand_score(groups, labels) > 0.99


def test_in_wide_noise_halves_agree_no_more_than_in_small_noise(rng):
    """Edges of the whole table must not make halves alike."""
    for d in (60, WIDE + 500):
        graph = connect_features(correlations(rng.standard_normal((100, d))), signed=False)
        first, second = graph.communities(1.0, slice(1, 3))
        assert abs(adjusted_rand(first, second)) < 0.1


def test_communities_leave_the_global_generator_alone_and_are_the_same_again(rng):
    graph = connect_features(correlations(rng.standard_normal((50, 30))), signed=False)
    random.seed(3)
    expected = random.random()
    random.seed(3)
    (once,) = graph.communities(1.0, slice(1), 5)
    assert random.random() == expected
    np.testing.assert_array_equal(once, graph.communities(1.0, slice(1), 5)[0])


def test_the_index_of_agreement_is_that_of_sklearn(rng):
    a, b = rng.integers(4, size=(2, 60))
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b))
    assert adjusted_rand(a, a) == 1 and adjusted_rand(np.zeros(5, int), np.zeros(5, int)) == 1


def test_facets_and_traits_are_both_levels(rng):
    X, of_facet, of_trait = nested(rng)
    levels = levels_in(X)
    scores = [
        (adjusted_rand_score(of_trait, level.labels), adjusted_rand_score(of_facet, level.labels))
        for level in levels
    ]
    assert scores[0][0] > 0.95 and scores[-1][1] > 0.95 and len(levels) == 2
    assert (levels[-1].found_again > 0.8).all() and levels[-1].agreement > 0.7
    assert default_level(levels) == 1


def test_one_factor_is_one_group_that_is_not_found_again_by_construction(rng):
    X = 0.5 * rng.standard_normal((100, 1)) + 0.87 * rng.standard_normal((100, 10))
    (level,) = levels_in(X)
    assert not level.labels.any() and 0.2 < level.found_again[0] < 1
    (noise,) = levels_in(rng.standard_normal((100, 5)))
    assert noise.found_again[0] < 0.2


def test_without_a_clear_level_the_narrowest_that_is_found_again_is_shown(rng):
    X, _, _ = nested(rng)
    broad, narrow = levels_in(X)
    broad = replace(broad, agreement=0.6, found_again=np.full(3, 0.8))
    for again, chosen in ((0.75, 1), (0.6, 0)):
        found_again = np.full(len(narrow.found_again), again)
        other = replace(narrow, agreement=0.5, found_again=found_again)
        assert default_level([broad, other]) == chosen
