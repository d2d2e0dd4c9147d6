"""The whole objective: its gradient, start and noise, and the comparison with trivial models."""

import numpy as np
import pytest
import torch

from groupfs.joint.losses import Objective, sample_term
from groupfs.joint.model import GatedModel
from groupfs.joint.relaxations import CounterNoise, Noise
from tests import reference

CPU = torch.device("cpu")
B, D, C = 10, 8, 3


def make_objective(walk, steps=2, through_bandwidth=True, smoothness_weight=10.0, n_neighbors=3):
    return Objective(n_neighbors, steps, 0.5, through_bandwidth, walk, smoothness_weight)


def make_model(rng, R, through_bandwidth=True, steps=2):
    """Draw R models, their objective, a batch, the Laplacian of the features and noise."""

    def draw(*shape):
        return torch.from_numpy(rng.standard_normal(shape))

    X, points = draw(B, D), draw(D, 6)
    L = reference.laplacian(reference.self_tuning_affinity(points, 3))
    logits, Q, mu = draw(R, D, C), draw(R, C, C), 0.5 + 0.3 * draw(R, C)
    model = GatedModel(logits, Q, mu, draw(R).abs(), torch.arange(R))
    noise = Noise(draw(R, D, C), 0.3 * draw(R, C))
    return model, make_objective(torch.eye(D) - L, steps, through_bandwidth), X, L, noise


def start_from(labels, gate_start, n_weights=1):
    """Start at equal sparsity weights from one clustering."""
    weights = np.full(n_weights, 0.4)
    return GatedModel.start([labels], [0], gate_start, weights, CPU, torch.float64)


@pytest.mark.parametrize("R", [1, 5])
@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("through_bandwidth", [True, False])
def test_loss_and_gradient_equal_the_literal_objective(R, steps, through_bandwidth, rng):
    model, objective, X, L, noise = make_model(rng, R, through_bandwidth, steps)
    terms = model.loss_and_gradient(objective, X, noise, 0.8)
    total = model.total(objective, terms)
    for r in range(R):
        logits, Q, mu = (p[r].clone().requires_grad_() for p in model.parameters())
        settings = {
            "temperature": 0.8,
            "n_neighbors": 3,
            "steps": steps,
            "detach_bandwidth": not through_bandwidth,
            "lambda1": 10.0,
            "lambda2": model.sparsity_weight[r],
            "sigma": 0.5,
        }
        expected, literal = reference.total_loss(
            [logits, mu, Q], X, L, (noise.gumbel[r], noise.gate[r]), settings
        )
        np.testing.assert_allclose(terms[r], torch.stack(literal).detach(), rtol=1e-9)
        np.testing.assert_allclose(total[r], expected.detach(), rtol=1e-9)
        gradients = torch.autograd.grad(expected, [logits, Q, mu])
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            np.testing.assert_allclose(parameter.grad[r], gradient, rtol=1e-9, atol=1e-14)


def test_working_on_few_models_at_a_time_changes_nothing(rng):
    _, objective, X, _, _ = make_model(rng, 1)
    weight = torch.from_numpy(rng.random((5, D)))
    whole = sample_term(objective, X, weight)
    for ours, theirs in zip(sample_term(objective, X, weight, 2), whole, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-16)


def test_noiseless_loss_is_the_literal_loss_of_hard_memberships_without_noise(rng):
    model, objective, X, L, _ = make_model(rng, 4)
    loss = model.noiseless_loss(objective, X)
    M = torch.nn.functional.one_hot(model.labels(), C).double()
    for r in range(4):
        mu = model.mu[r]
        expected = (
            reference.sample_loss(X, M[r] @ mu.clamp(0, 1), 3, 2, False)
            + 10 * reference.feature_loss(M[r], model.Q[r], L, 0.1)
            + model.sparsity_weight[r] * reference.sparsity_loss(mu, M[r], 0.5)
        )
        np.testing.assert_allclose(loss[r], expected, rtol=1e-9)


@pytest.mark.parametrize("level", [50.0, -50.0], ids=["open", "shut"])
def test_trivial_models_have_no_gain(level, rng):
    model, objective, X, _, _ = make_model(rng, 4)
    model.mu.fill_(level)
    gain, loss = model.gain_and_loss(objective, X)
    assert (gain <= 1e-12).all()
    level = torch.full((4, C), float(level > 0)).double()
    np.testing.assert_allclose(loss, model.noiseless_loss(objective, X, level), rtol=1e-9)


def test_gain_is_positive_for_a_model_that_opens_the_right_group(rng):
    t = rng.uniform(0, 2 * np.pi, 60)
    ring = np.column_stack([np.cos(t), np.sin(t)])[:, [0, 0, 1, 1]]
    X = torch.from_numpy(np.hstack([ring, rng.standard_normal((60, 4))]))
    labels = np.repeat([0, 1], 4)
    objective = make_objective(torch.eye(8).double(), smoothness_weight=1.0, n_neighbors=7)
    right, wrong = (
        start_from(labels, np.array([gates])).gain_and_loss(objective, X)[0].item()
        for gates in ([5.0, -5.0], [-5.0, 5.0])
    )
    assert right > 0 and right > 2 * wrong


def test_the_start_gives_the_own_cluster_seven_tenths():
    labels = np.array([0, 2, 2, 1])
    start = start_from(labels, np.full((1, 3), 0.5), n_weights=2)
    logits, Q, _ = start.parameters()
    probability = torch.softmax(logits, -1)
    assert len(start) == 2 and logits.shape == (2, 4, 3)
    np.testing.assert_allclose(probability[0, range(4), labels], 0.7)
    np.testing.assert_allclose(probability[1, 0, 1:], 0.15)
    rescaled = Q[0] * torch.tensor([1.0, 1.0, 2.0]).double()[:, None]
    np.testing.assert_allclose(rescaled @ rescaled.T, np.eye(3), atol=1e-12)


def noise_of(seeds, n_models, n_gates=3, gate_noise=0.5):
    """Draw noise for models of each seed, of 4 features in 3 groups."""
    index = torch.arange(len(seeds)).repeat_interleave(n_models)
    shapes = (4, 3), (3, 3), (n_gates,), ()
    model = GatedModel(*(torch.zeros(len(index), *shape) for shape in shapes), index)
    return model.draw(CounterNoise(seeds, CPU), gate_noise)


def test_models_share_noise_by_seed_only():
    noise, alone = noise_of([1, 2], 3), noise_of([2], 1)
    assert torch.equal(noise.gumbel[0], noise.gumbel[2])
    assert torch.equal(noise.gumbel[3], alone.gumbel[0])
    assert torch.equal(noise.gate[5], alone.gate[0])
    assert not torch.equal(noise.gumbel[0], noise.gumbel[3])


def test_gate_noise_has_its_spread():
    noise = noise_of([0], 1, 20_000, gate_noise=0.3).gate
    assert noise.std().item() == pytest.approx(0.3, rel=0.03)
    assert abs(noise.mean().item()) < 0.01
