"""MCFS: least angle regression of eigenvectors, whatever their signs; copies do no harm."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.preprocessing import scale

from groupfs.baselines import mcfs
from groupfs.baselines.mcfs import MCFS, ColumnProducts, cluster_directions
from groupfs.data.dense import DenseRows
from groupfs.data.sparse import SparseRows
from groupfs.datasets import load_two_moons
from groupfs.metrics import selection_rates


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(400, random_state=0).data


def correlated(seed, N, d):
    """A table of correlated columns and something to explain."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d)))
    y = rng.standard_normal(N)
    return scale(X), y - y.mean()


def regress(Z, y, n_nonzero, **options):
    products = ColumnProducts(DenseRows(Z), **options)
    return mcfs.least_angle_coefficients(products, Z.T @ y, n_nonzero)


def literal_lars(Z, y, n_nonzero):
    """Least angle regression by the book (Efron et al., equations 2.8 to 2.13)."""
    fitted, taken, beta = np.zeros(len(y)), [], np.zeros(Z.shape[1])
    for _ in range(n_nonzero):
        c = Z.T @ (y - fitted)
        C = np.abs(c).max()
        outside = [j for j in range(Z.shape[1]) if j not in taken]
        taken.append(max(outside, key=lambda j: abs(c[j])))  # noqa: B023
        outside.remove(taken[-1])
        signed = Z[:, taken] * np.sign(c[taken])
        inverse = np.linalg.inv(signed.T @ signed)
        A = inverse.sum() ** -0.5
        w = A * inverse.sum(1)
        a = Z.T @ signed @ w
        steps = [C / A]
        for j in outside:
            steps += [(C - c[j]) / (A - a[j]), (C + c[j]) / (A + a[j])]
        step = min(s for s in steps if s > 1e-12)
        fitted = fitted + step * signed @ w
        beta[taken] += step * w * np.sign(c[taken])
    return beta


@pytest.mark.parametrize("n_nonzero", [1, 5, 12])
@pytest.mark.parametrize(("N", "d"), [(60, 12), (14, 40)])
def test_coefficients_equal_least_angle_regression_by_the_book(n_nonzero, N, d):
    Z, y = correlated(1, N, d)
    np.testing.assert_allclose(
        regress(Z, y, n_nonzero), literal_lars(Z, y, n_nonzero), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("n_nonzero", [3, 5, 13])
def test_copies_and_combinations_of_columns_are_passed_over(n_nonzero):
    Z, y = correlated(3, 30, 8)
    more = np.column_stack([Z, Z[:, :4], -Z[:, 4:], scale(Z[:, 0] + Z[:, 1])])
    beta = regress(more, y, n_nonzero)
    products = np.abs(more.T @ (y - more @ beta))
    assert np.linalg.matrix_rank(more[:, beta != 0]) == np.count_nonzero(beta) <= 8
    np.testing.assert_allclose(products[beta != 0], products.max(), atol=1e-10)


def test_products_on_demand_give_the_coefficients_of_all_at_once():
    Z, y = correlated(4, 60, 12)
    whole = regress(Z, y, 9)
    np.testing.assert_allclose(regress(Z, y, 9, most_columns=5), whole, rtol=0, atol=1e-12)
    rows = SparseRows(sp.csr_array(Z + 1), np.ones(12), np.ones(12), np.full(12, 60.0))
    on_demand = mcfs.least_angle_coefficients(ColumnProducts(rows, most_columns=5), Z.T @ y, 9)
    np.testing.assert_allclose(on_demand, whole, rtol=0, atol=1e-12)


def graph_of(Z, kept=None):
    return MCFS(kept_neighbors=kept)._sample_affinity(DenseRows(Z))


@pytest.mark.parametrize("kept", [None, 30])
def test_directions_solve_the_generalised_eigenproblem_without_the_trivial_one(kept, moons):
    W = graph_of(scale(moons), kept)
    dense = W.toarray() if sp.issparse(W) else W
    D = np.diag(dense.sum(1))
    values, vectors = scipy.linalg.eigh(dense, D)
    assert values[-2] < 1 - 1e-6
    expected = vectors[:, -2:-5:-1]  # unit length in the metric of D
    directions = cluster_directions(W, 3)
    np.testing.assert_allclose(np.abs(directions.T @ D @ expected), np.eye(3), atol=1e-8)


@pytest.mark.parametrize("kept", [None, 30])
def test_lanczos_finds_the_directions_of_the_direct_solver(kept, moons):
    W = graph_of(scale(moons), kept)
    direct = cluster_directions(W, 3)
    lanczos = cluster_directions(W, 3, direct_samples=100)
    signs = np.sign((direct * lanczos).sum(0))
    np.testing.assert_allclose(lanczos * signs, direct, atol=1e-9)
    np.testing.assert_array_equal(lanczos, cluster_directions(W, 3, direct_samples=100))


def test_if_lanczos_does_not_converge_the_direct_solver_is_used(moons, monkeypatch):
    def gives_up(*args, **kwargs):
        raise ArpackNoConvergence("No convergence", np.zeros(0), np.zeros((0, 0)))

    W = graph_of(scale(moons))
    direct = cluster_directions(W, 3)
    monkeypatch.setattr(mcfs, "lanczos", gives_up)
    np.testing.assert_array_equal(cluster_directions(W, 3, direct_samples=100), direct)


def test_on_a_graph_in_two_pieces_the_first_direction_tells_them_apart():
    W = scipy.linalg.block_diag(np.ones((4, 4)), np.ones((6, 6)))
    first = cluster_directions(W, 1)[:, 0]
    assert np.ptp(first[:4]) < 1e-10 > np.ptp(first[4:])
    assert abs(first[0] - first[-1]) > 0.1


def test_samples_without_edges_have_no_part_in_the_directions(rng):
    W = rng.random((12, 12))
    W = W + W.T
    W[5] = W[:, 5] = 0
    Y = cluster_directions(W, 3)
    rest = np.delete(np.arange(12), 5)
    alone = cluster_directions(W[np.ix_(rest, rest)], 3)
    np.testing.assert_array_equal(Y[5], 0)
    np.testing.assert_allclose(np.abs(Y[rest]), np.abs(alone), atol=1e-9)


def test_both_moons_are_found_and_without_the_absolute_value_signs_would_decide(moons):
    """scikit-feature takes the largest coefficient as it is."""
    selector = MCFS(10, n_eigenvectors=2).fit(moons)
    assert selection_rates(range(10), selector.get_support(indices=True)) == (1.0, 0.0)
    rates = set()
    for signs in itertools.product([1, -1], repeat=2):
        chosen = np.argsort(-(selector.coef_ * signs).max(1), kind="stable")[:10]
        rates.add(selection_rates(range(10), chosen)[0])
    assert rates == {0.5, 1.0}


def test_features_never_taken_are_ordered_by_their_correlation_with_the_directions(moons):
    selector = MCFS(2, n_eigenvectors=2).fit(moons)
    Y = cluster_directions(graph_of(scale(moons)), 2)
    correlation = np.abs(np.corrcoef(moons.T, Y.T)[:20, 20:]).max(1)
    untaken = np.flatnonzero(selector.scores_ == 0)
    assert len(untaken) >= 16
    order = untaken[np.argsort(selector.ranking_[untaken])]
    np.testing.assert_array_equal(order, untaken[np.argsort(-correlation[untaken])])


def test_more_eigenvectors_than_samples_are_reduced_with_a_warning(rng):
    X = rng.standard_normal((6, 5))
    with pytest.warns(UserWarning, match="n_eigenvectors=6 but X has 6 samples; 5 are used"):
        selector = MCFS(n_eigenvectors=6, n_neighbors=3).fit(X)
    assert selector.coef_.shape == (5, 5)
