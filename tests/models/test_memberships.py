"""Models with fixed groups: their loss and gradient are those of the literal equations."""

import numpy as np
import pytest
import torch

from groupfs.baselines.dufs import RatioModel
from groupfs.models.gated_model import GatedModel
from groupfs.models.memberships import FixedMemberships
from groupfs.models.noise import Noise
from groupfs.models.objective import Objective
from tests import reference

CPU = torch.device("cpu")
LABELS = np.array([0, 2, 1, 1, 0, 2, 2, 0])
X = torch.from_numpy(np.random.default_rng(1).standard_normal((10, 8)))


def make_objective(factor=None):
    return Objective(3, 2, 0.5, through_bandwidth=True, median_factor=factor)


def gate_noise(rng, R, C):
    return Noise(torch.zeros(R, 0, 0), torch.from_numpy(0.5 * rng.standard_normal((R, C))))


def assert_loss_and_gradient(model, objective, noise, literal):
    """Hold a model to ``literal(r, mu)``, the loss of the r-th model."""
    terms = model.loss_and_gradient(objective, X, noise, 1.0)
    total = model.total(objective, terms)
    for r in range(len(model)):
        mu = model.mu[r].clone().requires_grad_()
        loss = literal(r, mu)
        loss.backward()
        np.testing.assert_allclose(total[r], loss.item(), rtol=1e-9)
        np.testing.assert_allclose(model.mu.grad[r], mu.grad, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("factor", [None, 2.0], ids=["self-tuning", "median"])
@pytest.mark.parametrize("kind", [GatedModel, RatioModel], ids=["sum", "ratio"])
def test_a_gate_per_feature_is_the_gated_laplacian(kind, factor, rng):
    own = FixedMemberships(3, None, torch.ones((1, 8), dtype=torch.float64))
    mu = torch.from_numpy(0.5 + 0.3 * rng.standard_normal((3, 8)))
    weights = torch.linspace(0.1, 2, 3, dtype=torch.float64)
    model = kind(own, mu, weights, torch.arange(3))
    noise = gate_noise(rng, 3, 8)

    def literal(r, mu):
        penalty = None if kind is RatioModel else weights[r]
        gates = (mu + noise.gate[r]).clamp(0, 1)
        return reference.gated_laplacian_loss(X, gates, mu, 3, factor, 0.5, penalty)

    assert_loss_and_gradient(model, make_objective(factor), noise, literal)


def test_known_groups_have_the_loss_of_hard_memberships(rng):
    known = FixedMemberships.from_labels(LABELS, 3, 1)
    start, weights = 0.5 + 0.3 * rng.standard_normal((1, 3)), np.array([0.2, 1.5])
    model = GatedModel.start(known, start, weights, CPU, torch.float64)
    noise = gate_noise(rng, 2, 3)
    M = torch.nn.functional.one_hot(torch.from_numpy(LABELS), 3).double()

    def literal(r, mu):
        loss = reference.sample_loss(X, M @ (mu + noise.gate[r]).clamp(0, 1), 3, 2, False)
        return loss + weights[r] * reference.sparsity_loss(mu, M, 0.5)

    assert_loss_and_gradient(model, make_objective(), noise, literal)
    settled = model.settled_loss(make_objective(), X)
    for r in range(2):
        loss = reference.sample_loss(X, M @ model.mu[r].clamp(0, 1), 3, 2, False)
        loss = loss + weights[r] * reference.sparsity_loss(model.mu[r], M, 0.5)
        np.testing.assert_allclose(settled[r], loss, rtol=1e-9)


def test_memberships_of_fixed_groups_are_certain():
    known = FixedMemberships.from_labels(LABELS, 3, 2)
    np.testing.assert_array_equal(known.logits.exp(), np.stack([np.eye(3)[LABELS]] * 2))
    own = FixedMemberships(2, None, torch.ones(1, 8))
    for fixed, labels in ((known, LABELS), (own, np.arange(8))):
        np.testing.assert_array_equal(fixed.labels(), [labels, labels])
        assert len(fixed.select(torch.tensor([1])).labels()) == 1 and fixed.parameters() == []
