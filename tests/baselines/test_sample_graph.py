"""Sample graphs: each equals its definition written out, in any block size, sparse or dense."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.preprocessing import scale

from groupfs.baselines.laplacian import LaplacianScore
from groupfs.baselines.sample_graph import nearest_rows, self_tuning_affinity
from groupfs.data.rows import DenseRows, SparseRows

CPU = torch.device("cpu")
GRAPHS = ["self-tuning", "cosine", "heat"]


@pytest.fixture
def Z(rng):
    return scale(rng.standard_normal((20, 6)) + np.repeat([0, 2], 10)[:, None])


def affinity(Z, graph, n_neighbors=3, **parameters):
    rows = Z if isinstance(Z, SparseRows) else DenseRows(Z)
    selector = LaplacianScore(graph=graph, n_neighbors=n_neighbors, **parameters)
    W = selector._sample_affinity(rows, CPU)
    return W.toarray() if sp.issparse(W) else W


def sparse_rows(X):
    return SparseRows(sp.csr_array(X), X.mean(0), X.std(0), np.full(X.shape[1], len(X) * 1.0))


def in_pairs(Z, weight):
    """W from a weight of rows i and j, one pair at a time."""
    return np.array([[weight(i, j) for j in range(len(Z))] for i in range(len(Z))])


def among_nearest(Z, k, closeness):
    """Whether j is one of the k closest to i, i itself not counted."""
    near = np.zeros((len(Z), len(Z)), dtype=bool)
    for i in range(len(Z)):
        others = [j for j in range(len(Z)) if j != i]
        near[i, sorted(others, key=lambda j: -closeness(i, j))[:k]] = True  # noqa: B023
    return near


def literal(Z, graph, k, t=None):
    def squared(i, j):
        return float(((Z[i] - Z[j]) ** 2).sum())

    def cosine(i, j):
        return float(Z[i] @ Z[j] / np.linalg.norm(Z[i]) / np.linalg.norm(Z[j]))

    if graph == "self-tuning":
        g = [np.sqrt(sorted(squared(i, j) for j in range(len(Z)))[k]) for i in range(len(Z))]
        return in_pairs(Z, lambda i, j: np.exp(-squared(i, j) / (g[i] * g[j])))
    if graph == "cosine":
        near = among_nearest(Z, k, cosine)
        W = np.where(near, in_pairs(Z, cosine).clip(min=0), 0)
    else:
        near = among_nearest(Z, k, lambda i, j: -squared(i, j))
        t = np.sqrt(in_pairs(Z, squared))[near].mean() if t is None else t
        W = np.where(near, in_pairs(Z, lambda i, j: np.exp(-squared(i, j) / (2 * t * t))), 0)
    return np.maximum(W, W.T) + np.eye(len(Z))


@pytest.mark.parametrize(("graph", "t"), [*((graph, None) for graph in GRAPHS), ("heat", 1)])
def test_every_graph_equals_its_definition(graph, t, Z):
    W = affinity(Z, graph, bandwidth=t)
    np.testing.assert_allclose(W, literal(Z, graph, 3, t), atol=1e-12)


def test_neighbours_more_than_a_right_angle_away_have_no_weight(Z):
    W = affinity(Z, "cosine", n_neighbors=19)
    np.testing.assert_allclose(W, literal(Z, "cosine", 19), atol=1e-12)
    assert (W >= 0).all() and (Z @ Z.T < 0).any()


@pytest.mark.parametrize("kept", [19, 5, 3, 1])
def test_kept_neighbors_leave_out_the_other_affinities_and_change_none(kept, Z):
    full = affinity(Z, "self-tuning")
    few = affinity(Z, "self-tuning", kept_neighbors=kept)
    near = among_nearest(Z, max(kept, 3), lambda i, j: -((Z[i] - Z[j]) ** 2).sum())
    expected = np.where(near | near.T | np.eye(20, dtype=bool), full, 0)
    np.testing.assert_allclose(few, expected, atol=1e-12)


def test_large_tables_get_a_sparse_graph_without_being_asked(rng):
    rows = DenseRows(scale(rng.standard_normal((60, 6))))
    rows.to(CPU, torch.float64)
    W = self_tuning_affinity(rows, 3, None, dense_samples=59)
    assert sp.issparse(W)
    np.testing.assert_array_equal(W.toarray(), self_tuning_affinity(rows, 3, 50).toarray())


@pytest.mark.parametrize("cosine", [False, True])
def test_blocks_of_rows_do_not_change_the_neighbours(cosine, Z):
    rows = DenseRows(Z)
    rows.to(CPU, torch.float64)
    whole, blocks = (nearest_rows(rows, 5, cosine, block_entries=size) for size in (400, 60))
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
def test_sparse_tables_have_the_graph_of_dense_ones(graph, rng):
    X = np.where(rng.random((20, 6)) < 0.5, 0, rng.exponential(size=(20, 6)) + 3)
    dense = affinity(scale(X), graph)
    np.testing.assert_allclose(affinity(sparse_rows(X), graph), dense, atol=1e-10)


@pytest.mark.parametrize("graph", GRAPHS)
def test_copies_of_a_row_are_joined_with_weight_one(graph, rng):
    Z = scale(rng.standard_normal((20, 301)))
    Z[5:10] = Z[4]  # more copies than neighbours
    W = affinity(Z, graph, n_neighbors=3, kept_neighbors=4)
    assert np.isfinite(W).all() and (W >= 0).all() and (W == W.T).all()
    np.testing.assert_array_equal(W.diagonal(), 1)
    copies = W[4:10, 4:10]
    np.testing.assert_array_equal(copies[copies > 0], 1)
    assert (copies > 0).sum() > 6


def test_a_row_of_zeros_has_no_cosine_neighbours_and_no_nan(Z):
    Z[3] = 0
    W = affinity(Z, "cosine")
    np.testing.assert_array_equal(W[3], np.eye(20)[3])


@pytest.mark.parametrize("graph", GRAPHS)
def test_more_neighbours_than_samples_are_reduced_with_a_warning(graph, Z):
    with pytest.warns(
        UserWarning, match="n_neighbors=20 but X has 20 samples; 19 are used"
    ) as seen:
        LaplacianScore(graph=graph, n_neighbors=20).fit(Z)
    assert seen[0].filename == __file__


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.coo_array, list])
def test_a_graph_of_ones_own_is_taken_as_it_is(form, Z):
    W = literal(Z, "heat", 3)
    np.testing.assert_array_equal(affinity(Z, form(W)), W)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda W: W[:, :5], r"shape \(20, 5\) but X has 20 samples"),
        (lambda W: W[:5, :5], r"shape \(5, 5\) but X has 20 samples"),
        (lambda W: W + np.triu(np.ones_like(W)), "not symmetric .* up to 1"),
        (lambda W: -W, "Negative values .* graph"),
        (lambda W: np.where(W == 1, np.nan, W), "graph contains NaN"),
        (lambda W: 0 * W, "no edges"),
    ],
)
def test_a_graph_that_is_none_is_refused(form, spoil, message, Z):
    with pytest.raises(ValueError, match=message):
        affinity(Z, form(spoil(literal(Z, "heat", 3))))


def test_rounding_in_a_graph_of_ones_own_is_evened_out(Z):
    W = literal(Z, "self-tuning", 3)
    W[2, 5] += 1e-9
    taken = affinity(Z, W)
    np.testing.assert_array_equal(taken, taken.T)
