"""The tree of groups: what halves of the rows share, level by level, and what they do not."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from groupfs import FeatureGroups
from groupfs.data.halves import (
    N_ROW_BLOCKS,
    WIDE,
    BlockSums,
    deal_rows,
    first_halves,
    row_blocks,
)
from groupfs.discovery import feature_graph
from groupfs.discovery.divide import agreement
from groupfs.discovery.feature_graph import ALL_PAIRS, connect_features
from groupfs.discovery.levels import _between, default_level, join_groups, levels_of
from groupfs.discovery.tree import cut_tree, found_in_halves, grow_tree
from groupfs.utils import threads
from tests import reference
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
    return levels_of(grow_tree(connect_features(correlations(X), signed)), X.shape[1])


@pytest.mark.parametrize("n_rows", [20, 33, 500])
def test_halves_made_of_blocks_are_halves_of_the_rows(n_rows, rng):
    X = rng.standard_normal((n_rows, 6)) + 3
    X[:, 4] += 2 * X[:, 1]
    blocks, halves = row_blocks(n_rows), first_halves(31)
    found = BlockSums(X, 31).correlations(1, 4)
    sizes = np.bincount(blocks, minlength=N_ROW_BLOCKS)
    assert sizes.max() - sizes.min() <= 1
    assert (halves.sum(1) == N_ROW_BLOCKS // 2).all() and len(np.unique(halves, axis=0)) == 31
    for pair, first in enumerate(halves):
        for side, half in enumerate((first, ~first)):
            expected = np.corrcoef(X[half[blocks]].T)[1:4]
            np.testing.assert_allclose(found[2 * pair + side], expected, atol=1e-9)


@pytest.mark.parametrize("n_rows", [20, 321])
def test_halves_and_pairs_along_edges_correlate_as_all_pairs_do(n_rows, rng):
    sums = BlockSums(rng.standard_normal((n_rows, 7)) @ rng.standard_normal((7, 7)) + 1, 8)
    r, pairs = sums.correlations(0, 7), np.array([(0, 3), (2, 6), (4, 5)])
    np.testing.assert_allclose(sums.along(pairs), r[:, pairs[:, 0], pairs[:, 1]], atol=1e-9)
    for which, own in enumerate(r):
        Z = sums.half(which)
        np.testing.assert_allclose(Z.T @ Z, own, atol=1e-9)


@pytest.mark.parametrize("signed", [False, True])
def test_wide_tables_have_the_edges_that_blocks_of_all_pairs_give(signed, rng, monkeypatch):
    X = np.repeat(rng.standard_normal((70, 300)), 6, axis=1) + rng.standard_normal((70, 1800))
    X[:, ::3] *= -1
    wide = connect_features(correlations(X), signed)
    monkeypatch.setattr(feature_graph, "BlockSums", type(None))  # so all pairs are looked at
    literal = connect_features(correlations(X), signed)
    np.testing.assert_array_equal(wide.edges, literal.edges)
    np.testing.assert_allclose(wide.weights, literal.weights, atol=1e-5)


def test_a_column_that_hardly_varies_in_a_half_goes_with_nothing_there(rng):
    X = rng.standard_normal((320, 3))
    X[:, 0] = 0
    X[row_blocks(320) == 5, 0] = 1
    r = BlockSums(X, 8).correlations(0, 3)
    without = ~first_halves(8)[:, 5]
    assert not r[::2][without][:, 0].any() and (np.abs(r) <= 1).all()


def blocks_of(dealt):
    return row_blocks(len(dealt))[np.argsort(dealt)]


def test_rows_are_dealt_by_what_they_are_and_not_by_their_places(rng):
    Z = rng.standard_normal((400, 6))
    Z[200:] = np.round(Z[:200])  # some are equal in steps, and some altogether
    order, tied = rng.permutation(400), Z @ rng.standard_normal(6)
    again, other = deal_rows(Z, tied, 2)
    np.testing.assert_array_equal(Z[order][deal_rows(Z[order], tied[order])[0]], Z[again])
    np.testing.assert_array_equal(deal_rows(Z[:, ::-1], tied, 1, 99)[0], again[:99])
    assert (blocks_of(other) == blocks_of(again)).mean() < 0.1
    Z[7] += 1  # moves that row, and next to no other
    assert (blocks_of(deal_rows(Z, tied)[0]) == blocks_of(again)).mean() > 0.9


def test_equal_rows_are_spread_over_the_blocks(rng):
    Z = np.repeat([[0.0], [1.0]], 320, axis=0)
    ones = Z[deal_rows(Z, np.zeros(640))[0], 0].reshape(N_ROW_BLOCKS, -1).mean(1)
    assert ones.min() > 0.1 and ones.max() < 0.9


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
        halves = graph.communities(1.0, slice(1, 9))
        assert np.abs(agreement(halves[::2], halves[1::2])).max() < 0.1


def test_the_index_of_agreement_is_that_of_sklearn(rng):
    a, b = rng.integers(4, size=(2, 5, 60))
    b[0] = a[0]
    expected = [adjusted_rand_score(*pair) for pair in zip(a, b, strict=True)]
    assert agreement(a, b) == pytest.approx(expected) and expected[0] == 1
    assert agreement(a[:1], 0 * b[:1]) == agreement(0 * a[:1], 0 * b[:1]) == 0  # a single part


def test_what_halves_find_again_is_the_literal_best_match_of_both(rng):
    tied, groups = rng.integers(-1, 4, size=(8, 30)), rng.integers(-1, 3, 30)
    tied[::2, groups == 1] = 2  # so that some match
    shares, often = found_in_halves(SimpleNamespace(tied=tied), groups, 3)
    literal = [reference.found_again(tied, groups, j) for j in range(3)]
    np.testing.assert_allclose(shares, [share for share, _ in literal])
    np.testing.assert_allclose(often, sum(stable for _, stable in literal))
    assert shares[1] > 0 and not often[groups < 0].any()


def test_facets_and_traits_are_both_levels(rng):
    X, of_facet, of_trait = nested(rng)
    levels = levels_in(X)
    scores = [
        (adjusted_rand_score(of_trait, level.labels), adjusted_rand_score(of_facet, level.labels))
        for level in levels
    ]
    assert scores[0][0] > 0.95 and scores[-1][1] > 0.95 and len(levels) == 2
    assert (levels[-1].again[0] > 0.8).all() and levels[-1].agreement > 0.7
    assert default_level(levels) == 1


def test_one_factor_is_one_group_that_is_not_found_again_by_construction(rng):
    X = 0.5 * rng.standard_normal((100, 1)) + 0.87 * rng.standard_normal((100, 10))
    (level,) = levels_in(X)
    assert not level.labels.any() and 0.2 < level.again[0][0] < 1
    (noise,) = levels_in(rng.standard_normal((100, 5)))
    assert noise.again[0][0] < 0.2


def test_without_a_clear_level_the_narrowest_that_is_found_again_is_shown():
    labels = np.repeat([0, 1], 5)
    for narrower, chosen in ((0.75, 1), (0.6, 0)):
        levels = [
            SimpleNamespace(
                agreement=0.5, labels=labels, again=(np.full(2, share), None), is_joined=False
            )
            for share in (0.8, narrower)
        ]
        assert default_level(levels) == chosen
        above = SimpleNamespace(agreement=1.0, labels=labels, is_joined=True)
        assert default_level([above, *levels]) == chosen + 1


def test_weakly_related_facets_are_joined_to_their_traits(rng):
    X, of_facet, of_trait = nested(rng, n_rows=1500, n_traits=2, facet=0.7, trait=0.4)
    root = grow_tree(connect_features(correlations(X), False))
    assert len(root.parts) == 8  # told apart at once
    broad, narrow = levels_of(root, X.shape[1])
    assert broad.is_joined and not narrow.is_joined and broad.agreement > 0.7
    assert adjusted_rand_score(of_trait, broad.labels) == 1
    assert adjusted_rand_score(of_facet, narrow.labels) == 1
    assert default_level([broad, narrow]) == 1


def test_unrelated_groups_are_not_joined(rng):
    X, _, _ = nested(rng, n_rows=1500, n_traits=2, facet=0.8, trait=0.0)
    assert join_groups(grow_tree(connect_features(correlations(X), False))) is None


def test_groups_are_tied_by_the_mean_tie_of_their_features(rng):
    X, _, _ = nested(rng, n_rows=100)
    graph, labels = connect_features(correlations(X), False), rng.integers(4, size=60)
    W = np.zeros((60, 60))
    W[tuple(graph.edges.T)] = graph.weights[3]
    W += W.T
    between = _between(graph, labels, 3)
    for (a, b), tie in zip(between.edges, between.weights[0], strict=True):
        assert tie == pytest.approx(W[labels == a][:, labels == b].mean())


@pytest.mark.parametrize(("n_groups", "of"), [(1, None), (3, "trait"), (12, "facet")])
def test_a_number_of_groups_is_a_cut_through_the_tree(n_groups, of, rng):
    X, of_facet, of_trait = nested(rng)
    root = grow_tree(connect_features(correlations(X), False))
    groups, parents = cut_tree(root, n_groups)
    assert len(groups) == len(parents) == n_groups
    labels = np.full(X.shape[1], -1)
    for j, group in enumerate(groups):
        labels[group] = j
    assert (labels >= 0).all()
    if of is not None:
        assert adjusted_rand_score(of_trait if of == "trait" else of_facet, labels) > 0.95


def test_between_two_levels_parts_that_are_tied_most_are_joined(rng):
    X, of_facet, of_trait = nested(rng)
    root = grow_tree(connect_features(correlations(X), False))
    for n_groups in (2, 7):
        groups, parents = cut_tree(root, n_groups)
        assert len(groups) == n_groups
        # whole facets stay together, and facets of one trait do before those of two
        assert all(len(np.unique(of_facet[group])) * 5 == len(group) for group in groups)
        if n_groups == 7:
            assert all(len(np.unique(of_trait[group])) == 1 for group in groups)


def test_beyond_the_leaves_single_features_are_split_off_those_tied_least_first(rng):
    X = 0.8 * rng.standard_normal((300, 1)) + 0.6 * rng.standard_normal((300, 8))
    X[:, 5] = 0.3 * X[:, 0] + rng.standard_normal(300)
    groups, _ = cut_tree(grow_tree(connect_features(correlations(X), False)), 3)
    assert sorted(map(len, groups)) == [1, 1, 6] and [5] in [group.tolist() for group in groups]


def test_nodes_that_a_tree_before_had_are_not_divided_again(rng):
    X, of_facet, _ = nested(rng)
    graph, grown = connect_features(correlations(X), False), {}
    first = grow_tree(graph, grown=grown)
    known = len(grown)
    assert grow_tree(graph, grown=grown).parts is first.parts and len(grown) == known
    fewer = grow_tree(graph, np.flatnonzero(of_facet != 0), grown=grown)
    kept = {part.features.tobytes() for part in first.parts}
    again = [part for part in fewer.parts if part.features.tobytes() in kept]
    assert len(again) == 2 and all(part.parts for part in again)


def test_the_answer_hangs_on_no_seed_and_on_no_order(rng):
    X, _, _ = nested(rng, n_rows=300)
    first = FeatureGroups(random_state=0).fit(X).group_labels_
    order, rows = rng.permutation(X.shape[1]), rng.permutation(len(X))
    again = FeatureGroups(random_state=1).fit(X[rows][:, order]).group_labels_
    assert adjusted_rand_score(first[order], again) == 1


def test_large_graphs_are_divided_in_threads_as_one_by_one(rng, monkeypatch):
    graph = connect_features(correlations(nested(rng)[0]), False)
    monkeypatch.setattr(feature_graph, "MANY_EDGES", 0)
    monkeypatch.setattr(threads, "MANY_COLUMNS", 1)
    with threads.threads_for((100, 30)):
        there = graph.communities(1.0, slice(5))
    one_by_one = [graph.communities(1.0, slice(i, i + 1))[0] for i in range(5)]
    np.testing.assert_array_equal(there, one_by_one)
