"""Models with a gate per feature: loss and gradient are those of the literal equations."""

import numpy as np
import pytest
import torch

from groupfs.baselines.dufs import RatioModel
from groupfs.joint.memberships import GatePerFeature
from groupfs.joint.model import GatedModel
from groupfs.joint.noise import Noise
from groupfs.joint.objective import Objective
from tests import reference

CPU = torch.device("cpu")
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
    own = GatePerFeature(3, 8).to(CPU, torch.float64)
    mu = torch.from_numpy(0.5 + 0.3 * rng.standard_normal((3, 8)))
    weights = torch.linspace(0.1, 2, 3, dtype=torch.float64)
    model = kind(own, mu, weights, torch.arange(3))
    noise = gate_noise(rng, 3, 8)

    def literal(r, mu):
        penalty = None if kind is RatioModel else weights[r]
        gates = (mu + noise.gate[r]).clamp(0, 1)
        return reference.gated_laplacian_loss(X, gates, mu, 3, factor, 0.5, penalty)

    assert_loss_and_gradient(model, make_objective(factor), noise, literal)
