"""Models with fixed groups: their loss and gradient are those of the literal equations."""

import numpy as np
import pytest
import torch

from groupfs.data.rows import DenseRows
from groupfs.models.all_groups import Objective
from groupfs.models.fixed_groups import GateModel, fixed_start
from groupfs.training import calibration
from tests import reference

CPU = torch.device("cpu")
LABELS = np.array([0, 2, 1, 1, 0, 2, 2, 0])


def objective(factor=None):
    return Objective(None, 3, 2, 0.5, 0.0, True, factor)


def gate_per_feature(rng, R, is_ratio):
    d = 8
    return GateModel(
        mu=torch.from_numpy(0.5 + 0.3 * rng.standard_normal((R, d))),
        membership=None,
        share=torch.ones((1, d), dtype=torch.float64),
        sparsity_weight=torch.linspace(0.1, 2, R, dtype=torch.float64),
        stream=torch.arange(R),
        is_ratio=is_ratio,
    )


@pytest.mark.parametrize("factor", [None, 2.0], ids=["self-tuning", "median"])
@pytest.mark.parametrize("is_ratio", [True, False], ids=["ratio", "sum"])
def test_a_gate_per_feature_is_the_gated_laplacian(is_ratio, factor, rng):
    X = torch.from_numpy(rng.standard_normal((10, 8)))
    noise = torch.from_numpy(0.5 * rng.standard_normal((3, 8)))
    model = gate_per_feature(rng, 3, is_ratio)
    terms = model.loss_and_gradient(objective(factor), X, noise)
    for r in range(3):
        mu = model.mu[r].clone().requires_grad_()
        penalty = None if is_ratio else model.sparsity_weight[r]
        gates = (mu + noise[r]).clamp(0, 1)
        loss = reference.gated_laplacian_loss(X, gates, mu, 3, factor, 0.5, penalty)
        loss.backward()
        np.testing.assert_allclose(model.total(objective(), terms)[r], loss.item(), rtol=1e-9)
        np.testing.assert_allclose(model.mu.grad[r], mu.grad, rtol=1e-9, atol=1e-14)


def test_known_groups_have_the_loss_of_hard_memberships(rng):
    X = torch.from_numpy(rng.standard_normal((10, 8)))
    noise = torch.from_numpy(0.5 * rng.standard_normal((2, 3)))
    start = 0.5 + 0.3 * rng.standard_normal((1, 3))
    model = fixed_start(LABELS, start, np.array([0.2, 1.5]), CPU, torch.float64)
    terms = model.loss_and_gradient(objective(), X, noise)
    M = torch.nn.functional.one_hot(torch.from_numpy(LABELS), 3).double()
    for r in range(2):
        mu = model.mu[r].clone().requires_grad_()
        weights = M @ (mu + noise[r]).clamp(0, 1)
        loss = reference.sample_loss(X, weights, 3, 2, False)
        loss = loss + model.sparsity_weight[r] * reference.sparsity_loss(mu, M, 0.5)
        loss.backward()
        np.testing.assert_allclose(model.total(objective(), terms)[r], loss.item(), rtol=1e-9)
        np.testing.assert_allclose(model.mu.grad[r], mu.grad, rtol=1e-9, atol=1e-14)


def test_memberships_of_fixed_groups_are_certain():
    model = fixed_start(LABELS, np.full((2, 3), 0.5), np.ones(1), CPU, torch.float64)
    M = torch.softmax(model.membership_logits(), -1)
    assert M.shape == (2, 8, 3)
    np.testing.assert_array_equal(M[1].argmax(-1), LABELS)
    np.testing.assert_array_equal(M.amax(-1), 1)
    np.testing.assert_array_equal(model.labels()[0], LABELS)


def test_pressure_on_all_gates_together_vanishes_at_the_critical_weight(rng):
    X = rng.standard_normal((60, 8))
    X[:, LABELS == 0] += 3 * rng.standard_normal((60, 1))
    rows = DenseRows((X - X.mean(0)) / X.std(0))
    rows.to(CPU, torch.float64)
    model = fixed_start(LABELS, np.full((1, 3), 0.5), np.ones(1), CPU, torch.float64)
    start = calibration.measure_fixed_start(model, objective(), rows, 60, seed=0)
    model.sparsity_weight.fill_(start.critical_sparsity_weight)
    pushes = []
    for _ in range(4000):
        noise = torch.from_numpy(0.5 * rng.standard_normal((1, 3)))
        model.loss_and_gradient(objective(), rows.take(torch.arange(60)), noise)
        pushes.append(model.mu.grad.sum().item())
    size = start.critical_sparsity_weight * start.pull
    assert abs(np.mean(pushes)) < 0.05 * size
