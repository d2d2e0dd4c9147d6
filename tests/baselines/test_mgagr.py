"""MGAGR: the fast form is the literal one; groups, extremes and what its iterations promise."""

import numpy as np
import pytest
import torch
from sklearn.preprocessing import scale

from groupfs.baselines import MGAGR
from groupfs.baselines.mgagr import GroupGraphs, update_graph

WEIGHTS = {"alpha": 0.3, "gamma": 0.7, "sigma": 4.0}


def literal_graph(X, sigma):
    n = len(X)
    E = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            E[i, j] = np.exp(-np.sum((X[i] - X[j]) ** 2) / sigma)
    P = E / E.sum(axis=1, keepdims=True)
    return (P + P.T) / 2


def literal_mgagr(X, groups, n_outer, n_inner, alpha, gamma, sigma):
    """Straight from the equations: scores, weights and the objective after every round."""
    n, d = X.shape
    S = literal_graph(X, sigma)
    parts = [literal_graph(X[:, group], sigma) for group in groups]
    Z = np.full((d, d), 1 / d)
    w = np.full((len(groups), n), 1 / len(groups))
    trace = []

    def objective():
        L = np.diag(S.sum(axis=1)) - S
        mixture = np.zeros((n, n))
        for i in range(n):
            for v, part in enumerate(parts):
                mixture[:, i] += w[v, i] * part[:, i]
        roughness = np.trace(Z.T @ X.T @ L @ X @ Z)
        rows = sum(np.sqrt(np.sum(Z[j] ** 2)) for j in range(d))
        return (
            np.sum((S - mixture) ** 2) + np.sum((X - X @ Z) ** 2) + alpha * roughness + gamma * rows
        )

    for _ in range(n_outer):
        for i in range(n):
            A = np.column_stack([S[:, i] - part[:, i] for part in parts])
            solution = np.linalg.solve(A.T @ A, np.ones(len(parts)))
            w[:, i] = solution / solution.sum()
        new = np.zeros((n, n))
        for i in range(n):
            m = np.zeros(n)
            for p in range(n):
                m[p] = sum(w[v, i] * part[i, p] for v, part in enumerate(parts))
                m[p] -= alpha / 4 * np.sum(((X[i] - X[p]) @ Z) ** 2)
            t = m - m.mean()
            psi = np.maximum(-2 * t, 0)
            s = np.maximum(t + psi.mean() / 2, 0)
            new[i] = s / s.sum()
        S = (new + new.T) / 2
        L = np.diag(S.sum(axis=1)) - S
        for _ in range(n_inner):
            Q = np.diag([1 / (2 * np.sqrt(np.sum(row**2)) + 1e-15) for row in Z])
            Z = np.linalg.solve(X.T @ (np.eye(n) + alpha * L) @ X + gamma * Q, X.T @ X)
        trace.append(objective())
    return np.sum(Z**2, axis=1), w.mean(axis=1), trace


def table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return scale(rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + rng.random((n, d)))


def fit(X, n_outer=10, n_inner=10, **parameters):
    weights = {
        "smoothness_weight": WEIGHTS["alpha"],
        "sparsity_weight": WEIGHTS["gamma"],
        "kernel_width": WEIGHTS["sigma"],
        "tol": 0,
        "device": "cpu",
    }
    selector = MGAGR(max_iter=n_outer, max_inner_iter=n_inner)
    return selector.set_params(**{**weights, **parameters}).fit(X)


@pytest.mark.parametrize("iterations", [(1, 1), (3, 2), (10, 10)])
@pytest.mark.parametrize("shape", [(12, 6), (6, 12), (9, 9)])
def test_mgagr_equals_the_literal_loop(shape, iterations):
    X = table(*shape)
    groups = np.array_split(np.arange(shape[1]), 3)
    scores, weights, trace = literal_mgagr(X, groups, *iterations, **WEIGHTS)
    fast = fit(X, *iterations, n_groups=3)
    np.testing.assert_allclose(fast.scores_, scores, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(fast.group_weights_, weights, rtol=1e-8)
    np.testing.assert_allclose(fast.objective_, trace, rtol=1e-8)


@pytest.mark.parametrize("block_entries", [1, 60])
def test_group_graphs_and_updates_in_blocks_equal_whole_ones(block_entries):
    X = torch.tensor(table(11, 6))
    parts = [X[:, :2], X[:, 2:]]
    blocks, whole = GroupGraphs(parts, 3.0, block_entries), GroupGraphs(parts, 3.0)
    rows = torch.cat([blocks.rows(block) for block in blocks.blocks()])
    for v, part in enumerate(parts):
        np.testing.assert_allclose(rows[:, v], literal_graph(part.numpy(), 3.0), atol=1e-14)
    S = torch.tensor(literal_graph(X.numpy(), 10.0))
    T = S.clone()
    for one, other in zip(
        (*update_graph(S, blocks, X, 0.3), S), (*update_graph(T, whole, X, 0.3), T), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-14)


def test_features_that_rebuild_the_others_come_first(rng):
    sources = rng.standard_normal((60, 2))
    copies = np.repeat(sources, 4, axis=1) + 1.5 * rng.standard_normal((60, 8))
    selector = MGAGR(2, n_groups=2, sparsity_weight=200.0).fit(np.column_stack([copies, sources]))
    assert selector.get_support(indices=True).tolist() == [8, 9]


@pytest.mark.parametrize(
    ("d", "n_groups", "sizes"), [(10, 3, [4, 3, 3]), (40, "auto", [4] * 10), (6, "auto", [2] * 3)]
)
def test_blocks_are_contiguous_of_equal_size_and_cover_all(d, n_groups, sizes):
    groups = fit(table(12, d), 1, n_groups=n_groups).groups_
    np.testing.assert_array_equal(np.concatenate(groups), np.arange(d))
    assert [len(group) for group in groups] == sizes


def test_constant_features_are_in_no_block():
    X = table(12, 7)
    X[:, 2] = X[:, 3] = 1.0
    with pytest.warns(UserWarning, match="constant"):
        selector = fit(X, n_groups=2)
    assert [group.tolist() for group in selector.groups_] == [[0, 1, 4], [5, 6]]
    assert selector.group_weights_.sum() == pytest.approx(1)


def test_more_blocks_than_features_are_refused():
    with pytest.raises(ValueError, match="n_groups=9 but X has 6 features that vary"):
        MGAGR(n_groups=9).fit(table(12, 6))


def test_double_precision_is_asked_of_the_device(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(ValueError, match="no double precision"):
        MGAGR(device="mps").fit(table(12, 6))


@pytest.mark.parametrize("extreme", [{"smoothness_weight": 1e308}, {"sparsity_weight": 1e-300}])
def test_settings_beyond_double_precision_are_refused(extreme):
    with pytest.raises(ValueError, match="choose them nearer to 1"):
        fit(table(6, 12), n_groups=2, **extreme)


def test_the_loop_ends_early_once_z_has_converged_and_never_with_zero_tolerance():
    X = table(30, 6)
    loose, strict = fit(X, 50, n_groups=2, tol=1e-3), fit(X, 20, n_groups=2, tol=0)
    assert loose.converged_ and loose.n_iter_ < 50 == loose.max_iter
    assert not strict.converged_ and strict.n_iter_ == 20 == len(strict.objective_)
    np.testing.assert_allclose(loose.scores_, strict.scores_, atol=2e-2)
