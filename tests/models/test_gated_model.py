"""The whole objective, its gradient, its start, and the comparison with trivial models."""

import numpy as np
import pytest
import torch

from groupfs.models import all_groups as models
from groupfs.models.all_groups import GroupModel, Noise, NoiseSource, Objective, warm_start
from tests import reference

CPU = torch.device("cpu")
B, D, C = 10, 8, 3


def setting(rng, R, through_bandwidth=True, steps=2):
    def draw(*shape):
        return torch.from_numpy(rng.standard_normal(shape))

    X, points = draw(B, D), draw(D, 6)
    L = reference.laplacian(reference.self_tuning_affinity(points, 3))
    group_model = GroupModel(
        draw(R, D, C), 0.5 + 0.3 * draw(R, C), draw(R, C, C), draw(R).abs(), torch.arange(R)
    )
    noise = Noise(draw(R, D, C), 0.3 * draw(R, C))
    objective = Objective(torch.eye(D) - L, 3, steps, 0.5, 10.0, through_bandwidth)
    return group_model, objective, X, L, noise


@pytest.mark.parametrize("R", [1, 5])
@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("through_bandwidth", [True, False])
def test_loss_and_gradient_equal_the_literal_objective(R, steps, through_bandwidth, rng):
    group_model, objective, X, L, noise = setting(rng, R, through_bandwidth, steps)
    terms = group_model.loss_and_gradient(objective, X, noise, 0.8)
    for r in range(R):
        leaves = [p[r].clone().requires_grad_() for p in group_model.parameters()]
        settings = {
            "temperature": 0.8,
            "n_neighbors": 3,
            "steps": steps,
            "detach_bandwidth": not through_bandwidth,
            "lambda1": 10.0,
            "lambda2": group_model.sparsity_weight[r],
            "sigma": 0.5,
        }
        total, literal = reference.total_loss(
            leaves, X, L, (noise.gumbel[r], noise.gate[r]), settings
        )
        np.testing.assert_allclose(terms[r], torch.stack(literal).detach(), rtol=1e-9)
        gradients = torch.autograd.grad(total, leaves)
        for parameter, expected in zip(group_model.parameters(), gradients, strict=True):
            np.testing.assert_allclose(parameter.grad[r], expected, rtol=1e-9, atol=1e-14)


def test_working_on_few_models_at_a_time_changes_nothing(rng, monkeypatch):
    group_model, objective, X, _, noise = setting(rng, 5)
    whole = group_model.loss_and_gradient(objective, X, noise, 1.0)
    gradient = group_model.logits.grad.clone()
    monkeypatch.setitem(models.CHUNK_ENTRIES, "cpu", 2 * B * B)
    np.testing.assert_allclose(
        group_model.loss_and_gradient(objective, X, noise, 1.0), whole, rtol=1e-12
    )
    np.testing.assert_allclose(group_model.logits.grad, gradient, rtol=1e-10, atol=1e-16)


def test_trivial_models_have_no_gain_and_shut_ones_no_sample_term(rng):
    group_model, objective, X, _, _ = setting(rng, 4)
    group_model.mu = torch.full((4, C), 50.0, dtype=torch.float64)
    everything = group_model.settled_loss(objective, X, None)
    assert (group_model.gain(objective, X) <= 1e-12).all()
    np.testing.assert_allclose(
        everything, group_model.settled_loss(objective, X, torch.ones(4, C).double())
    )
    group_model.mu = torch.full((4, C), -50.0, dtype=torch.float64)
    nothing = group_model.settled_loss(objective, X, None)
    hard = torch.nn.functional.one_hot(group_model.logits.argmax(-1), C).double()
    for r in range(4):
        L = torch.eye(D) - objective.walk
        only = 10 * reference.feature_loss(hard[r], group_model.Q[r], L, 0.1)
        np.testing.assert_allclose(nothing[r], only, rtol=1e-6)


def test_gain_is_positive_for_a_model_that_opens_the_right_group(rng):
    t = rng.uniform(0, 2 * np.pi, 60)
    ring = np.column_stack([np.cos(t), np.sin(t)])[:, [0, 0, 1, 1]]
    X = torch.from_numpy(np.hstack([ring, rng.standard_normal((60, 4))]))
    labels = np.repeat([0, 1], 4)
    objective = Objective(torch.eye(8).double(), 7, 2, 0.5, 1.0, True)
    weights = np.array([0.4])
    start = warm_start([labels], np.array([[5.0, -5.0]]), weights, [0], CPU, torch.float64)
    wrong = warm_start([labels], np.array([[-5.0, 5.0]]), weights, [0], CPU, torch.float64)
    right, mistaken = start.gain(objective, X).item(), wrong.gain(objective, X).item()
    assert right > 0 and right > 2 * mistaken


def test_warm_start_gives_the_own_cluster_seven_tenths():
    labels = np.array([0, 2, 2, 1])
    start = warm_start([labels], np.full((1, 3), 0.5), np.ones(2), [0], CPU, torch.float64)
    probability = torch.softmax(start.logits, -1)
    assert start.logits.shape == (2, 4, 3)
    np.testing.assert_allclose(probability[0, range(4), labels], 0.7)
    np.testing.assert_allclose(probability[1, 0, 1:], 0.15)
    sizes = torch.tensor([1.0, 1.0, 2.0]).double()
    rescaled = start.Q[0] * sizes[:, None]
    np.testing.assert_allclose(rescaled @ rescaled.T, np.eye(3), atol=1e-12)


def test_models_share_noise_by_seed_only():
    logits = torch.zeros(6, 4, 3)
    stream = torch.tensor([0, 0, 0, 1, 1, 1])
    noise = NoiseSource([1, 2], 0.5, CPU).draw(logits, stream)
    alone = NoiseSource([2], 0.5, CPU).draw(logits[:1], stream[:1])
    np.testing.assert_array_equal(noise.gumbel[0], noise.gumbel[2])
    np.testing.assert_array_equal(noise.gumbel[3], alone.gumbel[0])
    np.testing.assert_array_equal(noise.gate[5], alone.gate[0])
    assert not torch.equal(noise.gumbel[0], noise.gumbel[3])


def test_gate_noise_has_its_spread():
    noise = (
        NoiseSource([0], 0.3, CPU).draw(torch.zeros(1, 1, 20_000), torch.zeros(1, dtype=int)).gate
    )
    assert noise.std().item() == pytest.approx(0.3, rel=0.03)
    assert abs(noise.mean().item()) < 0.01
