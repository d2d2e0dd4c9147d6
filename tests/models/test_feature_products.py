"""Rows whose features own several columns or have gaps, held to the oracle."""

import numpy as np
import pytest
import torch

from groupfs.graphs.affinity import gram
from groupfs.models.group_products import FeatureProducts, GroupProducts
from groupfs.models.losses import grouped_smoothness
from tests.reference import sample_loss_with_gaps

OWNER = np.array([0, 1, 1, 1, 2, 3, 3])


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 7))
    X[rng.random((24, 4))[:, OWNER] < 0.2] = np.nan
    X[5, OWNER == 0] = np.nan
    return torch.from_numpy(X - np.nanmean(X, axis=0))


def test_loss_and_gradient_of_feature_weights(X):
    weights = torch.tensor([1.0, 0.4, 0.8, 0.6], dtype=torch.float64, requires_grad=True)
    expected = sample_loss_with_gaps(X, torch.from_numpy(OWNER), weights, 4, 2)
    expected.backward()
    rows = FeatureProducts.of(X, OWNER, 4)
    squared = weights.detach().square()[None]
    value, grad = grouped_smoothness(rows, squared, 4, 2, through_bandwidth=True)
    assert value.item() == pytest.approx(expected.item(), rel=1e-9)
    by_weight = 2 * weights.detach() * grad[0]
    np.testing.assert_allclose(by_weight, weights.grad, rtol=1e-7, atol=1e-10)


def test_groups_of_features_are_sums_of_features(X):
    labels = np.array([0, 1, 0, 1])
    groups = GroupProducts.of(X, labels[OWNER], 2, n_features=4)
    features = FeatureProducts.of(X, OWNER, 4)
    weight = torch.tensor([[0.3, 0.9]], dtype=torch.float64)
    by_group = grouped_smoothness(groups, weight, 4, 2, through_bandwidth=True)
    by_feature = grouped_smoothness(features, weight[:, labels], 4, 2, through_bandwidth=True)
    torch.testing.assert_close(by_group[0], by_feature[0])
    summed = torch.stack([by_feature[1][0, labels == j].sum() for j in range(2)])
    torch.testing.assert_close(by_group[1][0], summed)


def test_gaps_make_no_two_rows_alike():
    X = torch.from_numpy(np.random.default_rng(0).standard_normal((50, 6)))
    X[0, :5] = X[1, :5] = torch.nan
    X[0, 5] = X[1, 5] = 0.0
    products = gram(X)
    distance = products[0, 0] + products[1, 1] - 2 * products[0, 1]
    norms = products.diagonal()
    typical = (norms[2:, None] + norms[2:] - 2 * products[2:, 2:]).mean()
    assert distance > 0.6 * typical


def test_gram_without_gaps_is_the_product():
    X = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 9, 5)))
    torch.testing.assert_close(gram(X), X @ X.mT, rtol=0, atol=0)
