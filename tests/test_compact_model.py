"""Models that keep a few memberships of each feature: the same objective, in less memory."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs import compact_losses
from groupfs.compact_model import (
    CompactModel,
    compact_start,
    memberships_kept,
    nearest_clusters,
)
from groupfs.graphs import walk_tensor
from groupfs.model import GroupModel, Noise, NoiseSource, Objective, warm_start
from tests import reference

CPU = torch.device("cpu")
B, D, C = 10, 12, 5


def two_models(rng, R, k, is_sparse):
    """A compact model and the full one with all other memberships zero, with noise for each."""

    def draw(*shape):
        return torch.from_numpy(rng.standard_normal(shape))

    S = min(R, 2)
    candidates = torch.from_numpy(rng.permuted(np.tile(np.arange(C), (S, D, 1)), axis=-1)[..., :k])
    stream = torch.arange(R) % S
    own = candidates[stream]
    logits, gumbel = draw(R, D, k), draw(R, D, k)
    everywhere = torch.full((R, D, C), -np.inf).double()
    mu, Q, weight, gate = 0.5 + 0.3 * draw(R, C), draw(R, C, C), draw(R).abs(), 0.3 * draw(R, C)
    compact = CompactModel(logits, mu, Q, weight, stream, candidates)
    full = GroupModel(everywhere.scatter(-1, own, logits), mu.clone(), Q.clone(), weight, stream)
    full_noise = Noise(torch.zeros(R, D, C).double().scatter(-1, own, gumbel), gate)
    L = reference.laplacian(reference.self_tuning_affinity(draw(D, 6), 3))
    walk = np.eye(D) - L.numpy()
    walk = walk_tensor(sp.csr_array(walk) if is_sparse else walk, CPU, torch.float64)
    objective = Objective(walk, 3, 2, 0.5, 10.0, True)
    return compact, Noise(gumbel, gate), full, full_noise, objective, draw(B, D), L


@pytest.fixture(params=["at once", "in pieces"])
def blocks(request, monkeypatch):
    if request.param == "in pieces":
        monkeypatch.setitem(compact_losses.BLOCK_ENTRIES, "cpu", 5 * C)
        monkeypatch.setitem(compact_losses.WALK_ENTRIES, "cpu", 2 * D)


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense walk", "sparse walk"])
@pytest.mark.parametrize("k", [1, 3, C])
@pytest.mark.parametrize("R", [1, 3])
def test_loss_and_gradient_are_those_of_the_full_model_without_the_others(
    R, k, is_sparse, blocks, rng
):
    compact, noise, full, full_noise, objective, X, _ = two_models(rng, R, k, is_sparse)
    terms = compact.loss_and_gradient(objective, X, noise, 0.8)
    expected = full.loss_and_gradient(objective, X, full_noise, 0.8)
    np.testing.assert_allclose(terms, expected, rtol=1e-9)
    own = compact.candidates[compact.stream]
    np.testing.assert_allclose(
        compact.logits.grad, full.logits.grad.gather(-1, own), rtol=1e-9, atol=1e-13
    )
    np.testing.assert_allclose(compact.mu.grad, full.mu.grad, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(compact.Q.grad, full.Q.grad, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("k", [2, 4])
def test_loss_and_gradient_equal_the_literal_objective(k, blocks, rng):
    compact, noise, _, _, objective, X, L = two_models(rng, 2, k, True)
    terms = compact.loss_and_gradient(objective, X, noise, 0.8)
    settings = {
        "temperature": 0.8,
        "n_neighbors": 3,
        "steps": 2,
        "detach_bandwidth": False,
        "lambda1": 10.0,
        "sigma": 0.5,
    }
    for r in range(2):
        own = compact.candidates[compact.stream[r]]
        leaves = [p[r].clone().requires_grad_() for p in compact.parameters()]
        few, mu, Q = leaves
        logits = torch.full((D, C), -1e9).double().scatter(-1, own, few)
        gumbel = torch.zeros(D, C).double().scatter(-1, own, noise.gumbel[r])
        total, literal = reference.total_loss(
            [logits, mu, Q],
            X,
            L,
            (gumbel, noise.gate[r]),
            {**settings, "lambda2": compact.sparsity_weight[r]},
        )
        np.testing.assert_allclose(terms[r], torch.stack(literal).detach(), rtol=1e-9)
        gradients = torch.autograd.grad(total, leaves)
        for parameter, expected in zip(compact.parameters(), gradients, strict=True):
            np.testing.assert_allclose(parameter.grad[r], expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("k", [3, C])
def test_settled_loss_gain_labels_and_starting_forces_are_those_of_the_full_model(k, rng):
    compact, noise, full, full_noise, objective, X, _ = two_models(rng, 3, k, True)
    np.testing.assert_array_equal(compact.labels(), full.labels())
    np.testing.assert_allclose(
        compact.settled_loss(objective, X, None), full.settled_loss(objective, X, None), rtol=1e-9
    )
    np.testing.assert_allclose(
        compact.gain(objective, X), full.gain(objective, X), rtol=1e-9, atol=1e-12
    )
    ours = compact.starting_forces(objective, X, noise, 10.0)
    theirs = full.starting_forces(objective, X, full_noise, 10.0)
    for force, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(force, expected, rtol=1e-9, atol=1e-13)
