"""Models that keep a few memberships of each feature: the same objective, in less memory."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from groupfs.data.memory_plan import memory_of_models, n_candidates_that_fit
from groupfs.graphs.feature_graph import walk_tensor
from groupfs.models.candidate_losses import candidate_feature_smoothness, per_group_sums
from groupfs.models.candidate_memberships import CandidateMemberships
from groupfs.models.gated_model import GatedModel
from groupfs.models.memberships import DenseMemberships
from groupfs.models.noise import Noise
from groupfs.models.objective import Objective
from tests import reference

CPU = torch.device("cpu")
B, D, C = 10, 12, 5


def two_models(rng, R, k, is_sparse):
    """Make a model with candidates, the dense one with all else zero, and noise for each."""

    def draw(*shape):
        return torch.from_numpy(rng.standard_normal(shape))

    S = min(R, 2)
    candidates = torch.from_numpy(rng.permuted(np.tile(np.arange(C), (S, D, 1)), axis=-1)[..., :k])
    own = candidates[torch.arange(R) % S]
    logits, gumbel, Q = draw(R, D, k), draw(R, D, k), draw(R, C, C)
    rest = (0.5 + 0.3 * draw(R, C), draw(R).abs(), torch.arange(R) % S)
    few = GatedModel(CandidateMemberships(logits, Q, list(own)), *rest)
    everywhere = torch.full((R, D, C), -np.inf).double().scatter(-1, own, logits)
    dense = GatedModel(DenseMemberships(everywhere, Q.clone()), rest[0].clone(), *rest[1:])
    gate = 0.3 * draw(R, C)
    dense_noise = Noise(torch.zeros(R, D, C).double().scatter(-1, own, gumbel), gate)
    L = reference.laplacian(reference.self_tuning_affinity(draw(D, 6), 3))
    walk = np.eye(D) - L.numpy()
    walk = walk_tensor(sp.csr_array(walk) if is_sparse else walk, CPU, torch.float64)
    objective = Objective(3, 2, 0.5, True, walk, 10.0)
    return few, Noise(gumbel, gate), dense, dense_noise, objective, draw(B, D), own


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense walk", "sparse walk"])
@pytest.mark.parametrize("k", [1, 3, C])
@pytest.mark.parametrize("R", [1, 3])
def test_loss_and_gradient_are_those_of_dense_memberships_without_the_others(R, k, is_sparse, rng):
    few, noise, dense, dense_noise, objective, X, own = two_models(rng, R, k, is_sparse)
    terms = few.loss_and_gradient(objective, X, noise, 0.8)
    expected = dense.loss_and_gradient(objective, X, dense_noise, 0.8)
    np.testing.assert_allclose(terms, expected, rtol=1e-9)
    gradients = [p.grad for p in dense.parameters()]
    gradients[0] = gradients[0].gather(-1, own)
    for parameter, gradient in zip(few.parameters(), gradients, strict=True):
        np.testing.assert_allclose(parameter.grad, gradient, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("k", [3, C])
def test_settled_loss_gain_labels_and_starting_forces_are_those_of_dense_memberships(k, rng):
    few, noise, dense, dense_noise, objective, X, _ = two_models(rng, 3, k, True)
    np.testing.assert_array_equal(few.labels(), dense.labels())
    for ours, theirs in zip(
        [*few.gain_and_loss(objective, X), *few.starting_forces(objective, X, noise, 10.0)],
        [*dense.gain_and_loss(objective, X), *dense.starting_forces(objective, X, dense_noise, 10)],
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_working_in_blocks_changes_nothing(rng):
    few, noise, _, _, objective, _, own = two_models(rng, 1, 3, True)
    M, Q = few.memberships.relax(noise.gumbel, 0.8)[0], few.memberships.Q[0]
    whole = candidate_feature_smoothness(M, own[0], Q, objective.walk, 0.1)
    parts = candidate_feature_smoothness(
        M, own[0], Q, objective.walk, 0.1, block_rows=5, walk_columns=2
    )
    for ours, theirs in zip(parts, whole, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-13)
    values = torch.from_numpy(rng.standard_normal((D, 2)))
    expected = per_group_sums(M, own[0], C, values)
    np.testing.assert_allclose(per_group_sums(M, own[0], C, values, block_rows=5), expected)


def test_all_features_in_one_group_leave_nothing_to_divide_by(rng):
    few, noise, _, _, objective, X, _ = two_models(rng, 1, 3, True)
    few.memberships.candidates = [torch.tensor([4, 0, 1]).expand(D, 3).contiguous()]
    few.memberships.logits[:] = torch.tensor([1e4, 0, 0])
    terms = few.loss_and_gradient(objective, X, noise, 0.8)
    assert torch.isfinite(terms).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in few.parameters())


def start_from(candidates, n_groups, n_weights, seeds):
    memberships = CandidateMemberships.from_candidates(candidates, n_groups, seeds)
    level = np.full((len(seeds), n_groups), 0.5)
    return GatedModel.start(memberships, level, np.ones(n_weights), CPU, torch.float64)


def test_it_starts_like_dense_memberships_where_all_groups_are_candidates(rng):
    labels = rng.integers(4, size=30)
    candidates = np.array([[own, *np.delete(np.arange(4), own)] for own in labels])[None]
    few = start_from(candidates, 4, 2, [0])
    dense = DenseMemberships.from_clusters([labels], 4, [0])
    np.testing.assert_array_equal(few.labels()[1], labels)
    np.testing.assert_array_equal(few.memberships.Q[0], dense.Q[0])
    expected = dense.logits[0].gather(-1, torch.from_numpy(candidates[0]))
    np.testing.assert_allclose(few.memberships.logits[1], expected, rtol=1e-6)


def test_as_many_memberships_are_kept_as_fit():
    dense = memory_of_models(1000, 50, 1, None)
    assert n_candidates_that_fit(1000, 50, 1, dense) is None
    kept = n_candidates_that_fit(1000, 50, 1, dense - 1)
    assert 3 <= kept < 50
    assert memory_of_models(1000, 50, 1, kept) < dense <= memory_of_models(1000, 50, 1, kept + 1)
    assert n_candidates_that_fit(1000, 50, 1, memory_of_models(1000, 50, 1, 3)) == 3
