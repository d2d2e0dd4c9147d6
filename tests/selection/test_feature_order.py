"""The order of the features: greedy as the oracle, nested, blind to sign, copies and order."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from groupfs import FeatureGroups
from groupfs.data.coordinates import Limits
from groupfs.data.mixed import FeatureSimilarity, make_rows
from groupfs.data.open_table import open_table
from groupfs.selection import feature_order
from groupfs.selection.feature_order import Coverage, order_features
from tests import reference
from tests.support.sliced import SMALL_PLAN, Sliced, open_streamed
from tests.support.walks import correlations

NONE = np.zeros(0, dtype=np.int64)


def correlated(rng, n, d, n_factors=4):
    return rng.standard_normal((n, n_factors)) @ rng.standard_normal(
        (n_factors, d)
    ) + 0.8 * rng.standard_normal((n, d))


@pytest.mark.parametrize(("n", "d"), [(80, 12), (15, 30)], ids=["tall", "wide"])
def test_picks_and_curve_are_those_of_the_oracle(n, d, rng):
    X, weights = correlated(rng, n, d), rng.uniform(0, 1, d)
    weights[rng.permutation(d)[:3]] = 0
    found = order_features(correlations(X), weights, [np.arange(d)], NONE)
    n_picks = min(n - 1, d) - 1
    assert found.order[:n_picks].tolist() == reference.explained_order(
        X, weights, range(d), n_picks
    )
    shares = [reference.explained_share(X, weights, found.order[:k]) for k in range(1, d + 1)]
    assert found.explained == pytest.approx(shares, abs=1e-6)
    assert sorted(found.order) == list(range(d)) and found.weights.sum() == pytest.approx(1)


def test_when_all_is_explained_coverage_goes_on(rng):
    X, weights = correlated(rng, 10, 25), np.ones(25)
    rows = correlations(X)
    found = order_features(rows, weights, [np.arange(25)], NONE)
    assert found.explained[8] == pytest.approx(1)  # nine directions are all there are
    covered = Coverage.of(rows.coordinates(), np.ones(25))
    covered.add(found.order[:9])
    others = np.setdiff1d(np.arange(25), found.order[:9])
    assert found.order[9:].tolist() == covered.order(others, 25).tolist()


def test_coverage_is_that_of_the_oracle(rng):
    X, weights = correlated(rng, 40, 18), rng.uniform(0, 1, 18)
    covered = Coverage.of(correlations(X).coordinates(), weights)
    found = covered.order(np.arange(2, 18), 16).tolist()
    assert found == reference.coverage_order(X, weights, range(2, 18), 16)


def test_after_the_last_pick_the_others_follow_by_what_they_would_cover(rng):
    X, weights = correlated(rng, 60, 20), np.ones(20)
    whole = order_features(correlations(X), weights, [np.arange(20)], NONE)
    found = order_features(correlations(X), weights, [np.arange(20)], NONE, Limits(most_picks=5))
    assert found.order[:5].tolist() == whole.order[:5].tolist()
    assert sorted(found.order) == list(range(20))
    shares = [reference.explained_share(X, weights, found.order[:k]) for k in range(1, 21)]
    assert found.explained == pytest.approx(shares, abs=1e-6)


def test_features_of_an_earlier_stage_come_first(rng):
    X, weights = correlated(rng, 50, 12), np.ones(12)
    stages, last = [np.array([3, 4, 5]), np.array([0, 1, 2, 6, 7])], np.array([11, 8, 10, 9])
    found = order_features(correlations(X), weights, stages, last)
    assert set(found.order[:3]) == {3, 4, 5} and set(found.order[3:8]) == {0, 1, 2, 6, 7}
    assert found.order[8:].tolist() == last.tolist()
    assert found.order[0] == reference.explained_order(X, weights, stages[0], 1)[0]


def test_signs_scales_and_the_order_of_columns_do_not_matter(rng):
    X = correlated(rng, 90, 24)
    selector = FeatureGroups(random_state=0).fit(X)
    shuffled = rng.permutation(24)
    factors = rng.choice([-1, 1], 24) * rng.uniform(0.1, 9, 24)
    again = FeatureGroups(random_state=0).fit((X * factors)[:, shuffled])
    assert shuffled[again.feature_order_].tolist() == selector.feature_order_.tolist()
    # weights come of distances in single precision
    assert again.explained_ == pytest.approx(selector.explained_, abs=1e-7)


def test_copies_share_a_weight_and_wait_until_all_is_explained(rng):
    X, weights = correlated(rng, 60, 10), rng.uniform(0.5, 1, 10)
    copied = np.column_stack([X, 3 * X[:, 2] + 1, -X[:, 7], X[:, 7]])
    plain = order_features(correlations(X), weights, [np.arange(10)], NONE)
    more = order_features(
        correlations(copied), np.append(weights, weights[[2, 7, 7]]), [np.arange(13)], NONE
    )
    original = np.append(np.arange(10), [2, 7, 7])
    assert original[more.order[:10]].tolist() == plain.order.tolist()
    assert more.explained[:10] == pytest.approx(plain.explained, abs=1e-9)
    assert sorted(original[more.order[10:]]) == [2, 7, 7]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_sketch_is_put_in_order_by_exact_products(make, rng):
    d = 60
    X = np.where(rng.random((600, d)) < 0.3, correlated(rng, 600, d, 12), 0)
    weights = rng.uniform(0.5, 1, d)
    exact = order_features(correlations(X), weights, [np.arange(d)], NONE)
    limits = Limits(most_entries=100, sketch_rows=128)
    rows = open_table(object.__new__(Empty), make(X), True)
    weights = weights[rows.columns]
    assert rows.similarity.coordinates(limits).is_sketch
    found = order_features(rows.similarity, weights, [np.arange(d)], NONE, limits)
    chosen = rows.columns[found.order]
    for k in (5, 20):
        share, best = (
            reference.explained_share(X, np.ones(d), order[:k]) for order in (chosen, exact.order)
        )
        assert share == pytest.approx(best, abs=0.02)
    weighted = np.zeros(d)
    weighted[rows.columns] = weights
    share = reference.explained_share(X, weighted, chosen[:30])
    assert found.explained[29] == pytest.approx(share, abs=1e-6)


def test_after_the_exact_features_the_curve_is_estimated_from_the_sketch(rng):
    X, weights = correlated(rng, 2000, 120, 40), np.ones(120)
    limits = Limits(most_entries=100, exact_entries=16 * 120)
    found = order_features(correlations(X), weights, [np.arange(120)], NONE, limits)
    for k, tolerance in ((16, 1e-6), (30, 0.05), (60, 0.05), (100, 0.05)):
        share = reference.explained_share(X, weights, found.order[:k])
        assert found.explained[k - 1] == pytest.approx(share, abs=tolerance)


def test_weightless_columns_wait_when_all_is_explained(rng):
    factors = rng.standard_normal((50, 3))
    X = np.column_stack([factors @ rng.standard_normal((3, 10)), rng.standard_normal((50, 8))])
    weights = np.repeat([1.0, 0.0], [10, 8])
    found = order_features(correlations(X), weights, [np.arange(18)], NONE)
    assert set(found.order[:10]) == set(range(10))


@pytest.mark.parametrize("pairs", [2**23, 100])
def test_streamed_tables_are_ordered_as_those_in_memory(pairs, rng):
    X, weights = correlated(rng, 1500, 30, 6).astype(np.float32), rng.uniform(0.5, 1, 30)
    table = open_table(FeatureGroups(), X, True)
    here = order_features(table.similarity, weights[table.columns], [np.arange(30)], NONE)
    plan = replace(SMALL_PLAN, block_entries=pairs)
    there = open_streamed(Sliced(X), plan)
    found = order_features(there.similarity, weights[there.columns], [np.arange(30)], NONE)
    chosen = there.columns[found.order]
    share = reference.explained_share(X, weights, chosen[:8])
    if pairs > 30**2:  # else the sample tells
        assert chosen.tolist() == table.columns[here.order].tolist()
        assert found.explained == pytest.approx(here.explained, abs=1e-4)
    assert found.explained[7] == pytest.approx(share, abs=0.01)
    assert share > 0.95 * here.explained[7]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"explain": 0.5, "n_features_to_select": 3}, "n_features_to_select=3 are both given"),
        ({"explain": 0.5, "n_groups_to_select": 2}, "so leave n_groups_to_select out"),
        ({"explain": 0.5, "n_per_group": 1}, "so leave n_per_group out"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_in_a_sentence(wanted, words, rng):
    X = correlated(rng, 40, 8)
    with pytest.raises(ValueError, match=words):
        FeatureGroups(random_state=0, **wanted).fit(X)
    fitted = FeatureGroups(random_state=0).fit(X)
    with pytest.raises(ValueError, match=words):
        fitted.select(**wanted)


class Empty:
    """Stands for an estimator, which learns the columns of the table."""


def test_coverage_is_the_same_with_correlations_kept_or_computed_again(rng, monkeypatch):
    columns, weights = correlations(rng.standard_normal((30, 60))).coordinates(), rng.random(60)
    kept = Coverage.of(columns, weights).order(np.arange(60), 25)
    monkeypatch.setattr(feature_order, "KEPT_ENTRIES", 0)
    again = Coverage.of(columns, weights).order(np.arange(60), 25)
    np.testing.assert_array_equal(kept[:25], again[:25])


def test_what_rounding_hides_does_not_take_all_features_to_explain(rng):
    X = correlated(rng, 60, 300, 10) + 9 * correlated(rng, 60, 300, 3)
    single = Limits(most_entries=100)  # in single precision
    found = order_features(correlations(X), np.ones(300), [np.arange(300)], NONE, single)
    assert found.explained[60] == pytest.approx(1, abs=1e-9)


def test_many_targets_of_coverage_are_sampled(rng, monkeypatch):
    columns, weights = correlations(correlated(rng, 40, 60)).coordinates(), np.ones(60)
    whole = Coverage.of(columns, weights).gains(np.arange(60))
    monkeypatch.setattr(feature_order, "MOST_TARGETS", 50)
    sampled = Coverage.of(columns, weights).gains(np.arange(60))
    assert (sampled < whole).all() and np.corrcoef(sampled, whole)[0, 1] > 0.9


def mixed_features(similarity="correlation"):
    rng = np.random.default_rng(0)
    n = 120
    factor = rng.standard_normal((n, 2))
    values = []
    for i in range(7):
        x = factor[:, i % 2] + 0.7 * rng.standard_normal(n)
        if i % 3 == 0:
            codes = rng.permutation(4)[np.digitize(x, [-0.7, 0, 0.7])]
            values.append(np.eye(4)[codes])
        else:
            values.append(x[:, None])
    return FeatureSimilarity(make_rows(values, similarity)), values


def ordered(similarity, weights, stages):
    found = order_features(similarity, weights, stages, NONE)
    return found.order, np.diff(found.explained, prepend=0.0)


def explained(values, chosen, weights):
    """Weighted mean of R squared of all features; of several columns, over their directions."""
    X = np.hstack([values[i] - values[i].mean(0) for i in chosen])
    total = 0.0
    for target, weight in zip(values, weights, strict=True):
        U, lengths, _ = np.linalg.svd(target - target.mean(0), full_matrices=False)
        U = U[:, lengths > 1e-9 * lengths[0]]
        fitted = X @ np.linalg.lstsq(X, U, rcond=None)[0]
        total += weight * np.square(fitted).sum() / U.shape[1]
    return total


def test_every_choice_of_a_feature_of_several_columns_is_the_best_addition():
    rows, values = mixed_features()
    weights = np.random.default_rng(1).uniform(0.5, 1, 7)
    weights /= weights.sum()
    order, gains = ordered(rows, weights, [np.arange(5), np.arange(5, 7)])
    assert set(order[:5].tolist()) == set(range(5))
    chosen = []
    for feature, total in zip(order.tolist(), np.cumsum(gains), strict=True):
        candidates = set(range(5)) - set(chosen) or set(range(5, 7)) - set(chosen)
        best = max(explained(values, [*chosen, c], weights) for c in candidates)
        chosen.append(feature)
        assert total == pytest.approx(explained(values, chosen, weights), abs=1e-8)
        assert total == pytest.approx(best, abs=1e-8)
    assert gains.sum() == pytest.approx(1)


def test_without_residuals_the_most_alike_chosen_one_explains():
    rows, _ = mixed_features("distance")
    weights = np.full(7, 1 / 7)
    order, gains = ordered(rows, weights, [np.arange(7)])
    squared = np.square(rows.matrix())
    assert order[0] == (squared @ weights).argmax()
    np.testing.assert_allclose(np.cumsum(gains)[2], weights @ squared[order[:3]].max(0))
    assert sorted(order.tolist()) == list(range(7)) and gains.sum() == pytest.approx(1)


def test_gaps_of_two_categories_explain_nothing_of_each_other():
    rng = np.random.default_rng(0)
    values = [np.eye(4)[rng.integers(0, 4, 400)] for _ in range(2)]
    for x in values:
        x[:100] = np.nan
    _, gains = ordered(
        FeatureSimilarity(make_rows(values, "correlation")), np.full(2, 0.5), [np.arange(2)]
    )
    assert gains[0] == pytest.approx(0.5, abs=0.02)


def test_copies_share_the_weight_of_a_feature():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 3))
    category = np.eye(3)[rng.integers(0, 3, 200)]
    values = [*(x.T[:, :, None]), -x[:, :1], 2 * x[:, :1], category]
    similarity = FeatureSimilarity(make_rows(values, "correlation"))
    found = order_features(similarity, np.ones(6), [np.arange(6)], NONE)
    np.testing.assert_allclose(found.weights, [1 / 12, 1 / 4, 1 / 4, 1 / 12, 1 / 12, 1 / 4])
