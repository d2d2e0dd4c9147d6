"""The order of features of several columns, held to regressions."""

import numpy as np
import pytest

from groupfs.data.basis import make_basis
from groupfs.data.feature_rows import FeatureRows
from groupfs.data.feature_similarity import FeatureSimilarity
from groupfs.data.mixed import sample_columns
from groupfs.selection.feature_order import order_features

NONE = np.zeros(0, dtype=np.int64)


def table(similarity="correlation"):
    rng = np.random.default_rng(0)
    n = 120
    factor = rng.standard_normal((n, 2))
    values, kinds = [], []
    for i in range(7):
        x = factor[:, i % 2] + 0.7 * rng.standard_normal(n)
        if i % 3 == 0:
            codes = rng.permutation(4)[np.digitize(x, [-0.7, 0, 0.7])]
            values.append(np.eye(4)[codes])
            kinds.append("category")
        else:
            values.append(x[:, None])
            kinds.append("number")
    return compared(values, kinds, similarity), values


def compared(values, kinds, similarity="correlation"):
    Z, owner = sample_columns(values, kinds, True)
    return FeatureSimilarity(FeatureRows(Z, owner, make_basis(values, kinds, similarity)))


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


def test_every_choice_is_the_best_addition():
    rows, values = table()
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
    rows, _ = table("distance")
    weights = np.full(7, 1 / 7)
    order, gains = ordered(rows, weights, [np.arange(7)])
    squared = rows.matrix().square().numpy()
    assert order[0] == (squared @ weights).argmax()
    np.testing.assert_allclose(np.cumsum(gains)[2], weights @ squared[order[:3]].max(0))
    assert sorted(order.tolist()) == list(range(7)) and gains.sum() == pytest.approx(1)


def test_gaps_of_two_categories_explain_nothing_of_each_other():
    rng = np.random.default_rng(0)
    values = [np.eye(4)[rng.integers(0, 4, 400)] for _ in range(2)]
    for x in values:
        x[:100] = np.nan
    _, gains = ordered(compared(values, ["category"] * 2), np.full(2, 0.5), [np.arange(2)])
    assert gains[0] == pytest.approx(0.5, abs=0.02)


def test_copies_share_the_weight_of_a_feature():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 3))
    category = np.eye(3)[rng.integers(0, 3, 200)]
    values = [*(x.T[:, :, None]), -x[:, :1], 2 * x[:, :1], category]
    kinds = ["number"] * 5 + ["category"]
    found = order_features(compared(values, kinds), np.ones(6), [np.arange(6)], NONE)
    np.testing.assert_allclose(found.weights, [1 / 12, 1 / 4, 1 / 4, 1 / 12, 1 / 12, 1 / 4])
