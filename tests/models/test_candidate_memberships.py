"""Models that keep a few memberships of each feature: the same objective, in less memory."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone

from groupfs import GroupFS, GroupFSPath, persistence
from groupfs.estimators import group_fs_path as path
from groupfs.estimators import stability
from groupfs.graphs.affinity import walk_tensor
from groupfs.models import candidate_groups as compact_model
from groupfs.models import candidate_losses as compact_losses
from groupfs.models.all_groups import GroupModel, Noise, NoiseSource, Objective, warm_start
from groupfs.models.candidate_groups import (
    CompactModel,
    compact_start,
    memberships_kept,
    memory_of_models,
    nearest_clusters,
)
from groupfs.selection.memberships import Memberships
from groupfs.training import problem
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
        monkeypatch.setattr(compact_losses, "WALK_COLUMNS", 2)


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


def test_all_features_in_one_group_leave_nothing_to_divide_by(rng):
    compact, noise, _, _, objective, X, _ = two_models(rng, 1, 3, True)
    compact.candidates[..., 0] = 4
    compact.candidates[..., 1:] = torch.tensor([0, 1])
    compact.logits[:] = torch.tensor([1e4, 0, 0])
    terms = compact.loss_and_gradient(objective, X, noise, 0.8)
    assert torch.isfinite(terms).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in compact.parameters())


def test_noise_of_gates_and_memberships_does_not_depend_on_the_models_beside():
    candidates = np.tile(np.arange(3), (2, 6, 1))
    both = compact_start(candidates, np.full((2, 7), 0.5), np.ones(2), [1, 2], CPU, torch.float32)
    alone = compact_start(candidates[1:], np.full((1, 7), 0.5), np.ones(1), [2], CPU, torch.float32)
    noise = both.draw(NoiseSource([1, 2], 0.5, CPU))
    own = alone.draw(NoiseSource([2], 0.5, CPU))
    assert noise.gumbel.shape == (4, 6, 3) and noise.gate.shape == (4, 7)
    np.testing.assert_array_equal(noise.gumbel[3], own.gumbel[0])
    np.testing.assert_array_equal(noise.gate[2], own.gate[0])


def test_it_starts_like_the_full_model_where_all_groups_are_candidates(rng):
    labels = rng.integers(4, size=30)
    candidates = np.array([[own, *np.delete(np.arange(4), own)] for own in labels])[None]
    start = np.full((1, 4), 0.5)
    few = compact_start(candidates, start, np.ones(2), [0], CPU, torch.float64)
    full = warm_start([labels], start, np.ones(2), [0], CPU, torch.float64)
    np.testing.assert_array_equal(few.labels(), full.labels())
    np.testing.assert_array_equal(few.Q, full.Q)
    np.testing.assert_allclose(
        few.logits, full.logits.gather(-1, few.candidates.expand(2, -1, -1)), rtol=1e-12
    )


def test_candidates_are_the_own_cluster_and_the_nearest_centers(rng, monkeypatch):
    vectors = rng.standard_normal((40, 6))
    labels = rng.permutation(np.arange(40) % 6)
    embedding = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centers = np.stack([embedding[labels == j].mean(0) for j in range(6)])
    distance = np.linalg.norm(embedding[:, None] - centers, axis=-1)
    distance[np.arange(40), labels] = -1
    monkeypatch.setattr(compact_model, "BLOCK_ENTRIES", 7 * 6)
    np.testing.assert_array_equal(
        nearest_clusters(vectors, labels, 6, 4), distance.argsort(1)[:, :4]
    )


def test_as_many_memberships_are_kept_as_fit():
    assert memberships_kept(1000, 50, 1, 64 * 1000 * 50) is None
    kept = memberships_kept(1000, 50, 1, 64 * 1000 * 50 - 1)
    assert 3 <= kept < 50
    assert memory_of_models(1000, 50, 1, kept) < 64 * 1000 * 50
    assert memory_of_models(1000, 50, 1, kept + 1) >= 64 * 1000 * 50
    assert memberships_kept(1000, 50, 1, memory_of_models(1000, 50, 1, 3)) == 3


def test_what_cannot_fit_is_refused_with_what_it_would_take():
    with pytest.raises(ValueError, match=r"12\.8 GB .* 832\.0 MB .* 100\.0 MB .* n_init=1, raise"):
        memberships_kept(1_000_000, 100, 2, 10**8)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((150, 6))
    X = np.repeat(factors, 10, axis=1) + 0.5 * rng.standard_normal((150, 60))
    X[:, 11] = 3 * X[:, 10] + 1  # twins
    return np.hstack([X, np.ones((150, 1))])


#: So much memory that each feature may keep three memberships, of one model.
LITTLE = 96 * 60 * 3


def fit_within(budget, selector, table, monkeypatch):
    monkeypatch.setattr(problem, "memory_for_models", lambda device: budget)
    monkeypatch.setattr(compact_model, "FEATURE_BYTES", 0)  # much for groups as few as here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the constant column
        return selector.fit(table)


@pytest.fixture(scope="module")
def few(table):
    with pytest.MonkeyPatch.context() as monkeypatch:
        selector = GroupFS(6, n_init=1, max_epochs=40, ranking="gate", random_state=0)
        return fit_within(LITTLE, selector, table, monkeypatch)


def test_a_fit_in_little_memory_finds_the_same_groups(few, table, monkeypatch):
    full = fit_within(2**30, clone(few), table, monkeypatch)
    assert isinstance(full.membership_, np.ndarray)
    assert {frozenset(group) for group in few.groups_} == {frozenset(g) for g in full.groups_}


def test_memberships_are_sparse_where_few_are_kept(few):
    M = few.membership_
    assert isinstance(M, sp.csr_array) and M.shape == (61, 6)
    assert np.diff(M.indptr).max() <= 3
    np.testing.assert_allclose(M.sum(axis=1)[:60], 1)
    assert M[[60]].nnz == 0
    np.testing.assert_array_equal(M.toarray()[:60].argmax(1), few.group_labels_[:60])
    assert few.group_labels_[10] == few.group_labels_[11]


def test_a_model_with_few_memberships_can_be_kept_in_a_file(few, tmp_path):
    persistence.save(few, tmp_path / "model.skops")
    loaded = persistence.load(tmp_path / "model.skops")
    assert (loaded.membership_ != few.membership_).nnz == 0


def test_a_path_in_little_memory_describes_all_of_its_models(table, monkeypatch):
    monkeypatch.setattr(stability, "DENSE_ENTRIES", 0)
    selector = GroupFSPath(
        6, sparsities=[0.5, 2], n_resamples=2, max_epochs=10, ranking="gate", random_state=0
    )
    found = fit_within(2 * LITTLE, selector, table, monkeypatch)
    assert sp.issparse(found.membership_)
    assert found.path_.selection_frequency.shape == (2, 61)
    assert {frozenset(group) for group in found.stability_.consensus_groups} == {
        frozenset(range(start, start + 10)) for start in range(0, 60, 10)
    }


def test_a_path_with_few_memberships_goes_on_from_its_checkpoint(table, monkeypatch, tmp_path):
    settings = {"sparsities": [0.5, 2], "max_epochs": 5, "ranking": "gate", "random_state": 0}
    whole = fit_within(2 * LITTLE, GroupFSPath(6, **settings), table, monkeypatch)
    read_off = path.read_off
    monkeypatch.setattr(path, "read_off", None)  # all is trained, nothing is described
    with pytest.raises(TypeError):
        fit_within(2 * LITTLE, GroupFSPath(6, checkpoint=tmp_path, **settings), table, monkeypatch)
    monkeypatch.setattr(path, "read_off", read_off)
    again = fit_within(
        2 * LITTLE, GroupFSPath(6, checkpoint=tmp_path, **settings), table, monkeypatch
    )
    assert (again.membership_ != whole.membership_).nnz == 0
    np.testing.assert_array_equal(again.path_.gates, whole.path_.gates)


def test_a_table_that_cannot_fit_is_refused_before_its_graph_is_made(table, monkeypatch):
    monkeypatch.setattr(problem, "FeatureGraph", None)
    with pytest.raises(ValueError, match="60 features in 6 groups need .* max_memory"):
        fit_within(1000, GroupFS(6), table, monkeypatch)
    with pytest.raises(ValueError, match="60 features"):
        fit_within(1000, GroupFS(), table, monkeypatch)


def test_twins_share_the_candidates_of_the_first_and_the_mean_of_what_they_say():
    found = Memberships(
        np.array([[1.0, 0.0], [4.0, 3.0], [0.0, 5.0]]),
        n_groups=4,
        candidates=np.array([[0, 1], [2, 0], [3, 2]]),
    ).merged(np.array([0, 0, 1]))
    np.testing.assert_array_equal(found.candidates, [[0, 1], [0, 1], [3, 2]])
    np.testing.assert_allclose(found.logits, [[2.0, 1.5], [2.0, 1.5], [0.0, 5.0]])


def test_memberships_in_all_candidates_are_those_of_the_full_model(rng):
    logits, twins = rng.standard_normal((9, 5)), np.array([0, 0, 1, 2, 3, 3, 3, 4, 5])
    candidates = np.tile(rng.permutation(5), (9, 1))
    full = Memberships(logits, 5).merged(twins)
    few = Memberships(np.take_along_axis(logits, candidates, 1), 5, candidates).merged(twins)
    order = np.array([3, 0, 4])
    np.testing.assert_array_equal(few.labels(), full.labels())
    np.testing.assert_allclose(few.probabilities(order).toarray(), full.probabilities(order))
