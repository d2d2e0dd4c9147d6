"""Every term of the objective and its gradient equal the literal equations."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.joint import losses, relaxations
from groupfs.joint.loop import temperature
from groupfs.joint.settings import Schedule
from tests import reference

SIGMA, NEIGHBORS = 0.5, 3


def sample_smoothness(X, weight, steps=2, through_bandwidth=True):
    objective = losses.Objective(NEIGHBORS, steps, SIGMA, through_bandwidth, torch.empty(0, 0))
    return losses.sample_smoothness(objective, X, weight)


def tensors(rng, *shapes):
    return [torch.from_numpy(rng.standard_normal(shape)) for shape in shapes]


def literal_gradients(function, *arguments):
    leaves = [a.clone().requires_grad_() for a in arguments]
    value = function(*leaves)
    return [value.detach(), *torch.autograd.grad(value, leaves)]


def assert_same(fast, literal):
    for ours, theirs in zip(fast, literal, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("R", [1, 5])
@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("through_bandwidth", [True, False])
@pytest.mark.parametrize("shape", [(9, 4), (8, 8), (7, 12)], ids=["tall", "square", "wide"])
def test_sample_smoothness(R, steps, through_bandwidth, shape, rng):
    X, weights = tensors(rng, shape, (R, shape[1]))
    value, grad = sample_smoothness(X, weights**2, steps, through_bandwidth)
    for r in range(R):
        literal = literal_gradients(
            lambda v: reference.sample_loss(X, v, NEIGHBORS, steps, not through_bandwidth),
            weights[r],
        )
        # the gradient is with respect to squared weights
        assert_same([value[r], 2 * weights[r] * grad[r]], literal)


@pytest.mark.parametrize("R", [1, 5])
@pytest.mark.parametrize("beta", [0.1, 1.0, 10.0])
def test_feature_smoothness(R, beta, rng):
    logits, Q, points = tensors(rng, (R, 9, 4), (R, 4, 4), (9, 6))
    M = torch.softmax(logits, -1)
    L = reference.laplacian(reference.self_tuning_affinity(points, NEIGHBORS))
    value, grad_M, grad_Q = losses.feature_smoothness(M, Q, torch.eye(9) - L, beta)
    for r in range(R):
        literal = literal_gradients(lambda m, q: reference.feature_loss(m, q, L, beta), M[r], Q[r])
        assert_same([value[r], grad_M[r], grad_Q[r]], literal)


@pytest.mark.parametrize("R", [1, 5])
def test_group_sparsity(R, rng):
    mu, logits = tensors(rng, (R, 4), (R, 9, 4))
    M = torch.softmax(logits, -1)
    value, grad_mu, is_open = losses.group_sparsity(mu, M.mean(-2), SIGMA)
    grad_M = is_open / (9 * 4)
    for r in range(R):
        literal = literal_gradients(
            lambda m, member: reference.sparsity_loss(m, member, SIGMA), mu[r], M[r]
        )
        assert_same([value[r], grad_mu[r], grad_M[r].expand(9, 4)], literal)


def test_relaxations_and_their_gradients(rng):
    logits, gumbel, direction, mu, eps, weight = tensors(
        rng, (5, 4), (5, 4), (5, 4), (6,), (6,), (6,)
    )
    M = relaxations.membership(logits, gumbel, 0.7)
    literal = literal_gradients(
        lambda a: (torch.softmax((a + gumbel) / 0.7, 1) * direction).sum(), logits
    )
    assert_same([relaxations.membership_pullback(M, direction, 0.7)], literal[1:])

    z = relaxations.gates(mu, eps)
    literal = literal_gradients(lambda m: (torch.clip(m + eps, 0, 1) * weight).sum(), mu)
    assert_same([relaxations.gates_pullback(z, weight)], literal[1:])
    assert (z == 0).any()  # the draw holds a closed gate, or the test would say little


def test_sparse_laplacian_equals_the_dense_one_restricted_to_the_same_neighbours(rng):
    logits, Q = tensors(rng, (3, 30, 4), (3, 4, 4))
    M = torch.softmax(logits, -1)
    dense = np.where(rng.random((30, 30)) < 0.2, rng.random((30, 30)), 0)
    dense = dense + dense.T
    sparse = losses.walk_tensor(sp.csr_array(dense), torch.device("cpu"), torch.float64)
    assert sparse.layout == torch.sparse_csr
    dense_walk = torch.from_numpy(dense)
    fast, literal = (losses.feature_smoothness(M, Q, W, 0.5) for W in (sparse, dense_walk))
    assert_same(fast, literal)


def test_scaling_all_gates_leaves_the_exact_graph_alone(rng):
    X, weights = tensors(rng, (9, 4), (1, 4))
    exact = [sample_smoothness(X, c * weights**2) for c in (1, 9)]
    np.testing.assert_allclose(9 * exact[0][0], exact[1][0], rtol=1e-12)
    # so the gradient along the common scale is the value itself (Euler); not so when detached
    w = weights**2
    along = (w * exact[0][1]).sum()
    np.testing.assert_allclose(along, exact[0][0].item(), rtol=1e-10)
    detached = sample_smoothness(X, w, through_bandwidth=False)
    assert abs((w * detached[1]).sum() / detached[0] - 1).item() > 0.05


@pytest.mark.parametrize("shape", [(9, 4), (7, 12)])
def test_closed_gates_give_zero_and_finite_gradients(shape, rng):
    (X,) = tensors(rng, shape)
    value, grad = sample_smoothness(X.float(), torch.zeros(2, shape[1]))
    assert (value == 0).all()
    assert torch.isfinite(grad).all()


@pytest.mark.parametrize(("epoch", "expected"), [(0, 10.0), (50, 5.005), (100, 0.01), (150, 0.01)])
def test_temperature_falls_linearly_to_its_floor(epoch, expected):
    schedule = Schedule(100, 8, 0.1, 10.0, 0.01)
    assert temperature(epoch, schedule) == pytest.approx(expected)


def test_gumbel_noise_has_its_mean_and_variance():
    uniform = torch.rand((400, 500), generator=torch.Generator().manual_seed(0)).double()
    noise = relaxations.gumbel_noise(uniform)
    assert noise.mean().item() == pytest.approx(np.euler_gamma, abs=0.01)
    assert noise.var().item() == pytest.approx(np.pi**2 / 6, abs=0.02)
