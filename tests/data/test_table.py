"""Every kind of rows offers the same, and so does every similarity."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata

from groupfs import FeatureGroups
from groupfs.data.halves import first_halves, row_blocks
from groupfs.data.open_table import open_table
from tests.support.sliced import SMALL_PLAN, Sliced, open_streamed

N, D = 400, 6
PLAN = replace(SMALL_PLAN, sample_rows=N, block_rows=90)
NUMBERS = {
    "dense": lambda X: open_table(FeatureGroups(), X, True),
    "sparse": lambda X: open_table(FeatureGroups(), sp.csr_array(X), True),
    "streamed": lambda X: open_streamed(Sliced(X), PLAN),
}
KINDS = {
    **NUMBERS,
    "mixed": lambda X: open_table(FeatureGroups(), X, True, similarity="rank"),
    "gaps": lambda X: open_table(FeatureGroups(), with_gap(X), True),
}


def with_gap(X):
    X = X.copy()
    X[0, 3] = np.nan
    return X


@pytest.fixture(scope="module")
def X():
    X = np.maximum(np.random.default_rng(0).standard_normal((N, D)), -0.2)
    X[:, 1] += X[:, 0]
    X[:, 4] -= X[:, 0]
    return X


@pytest.fixture(params=NUMBERS)
def rows(request, X):
    return KINDS[request.param](X).rows


@pytest.fixture(params=KINDS)
def table(request, X):
    return KINDS[request.param](X)


def values_of(rows):
    own = np.zeros(D, dtype=int)
    return rows.feature_values(np.arange(rows.shape[0]), own, own)


def standardized(X):
    return (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)


def as_sets(Z):
    """Columns without the order of their rows and their own."""
    return np.sort(np.sort(np.asarray(Z), axis=0), axis=1)


def test_rows_are_those_of_the_table(table, X):
    rows, Z = table.rows, values_of(table.rows)
    known = Z[1:]
    np.testing.assert_allclose(known, standardized(X)[1:, table.columns], atol=0.02)
    np.testing.assert_allclose(rows.take(np.arange(5)), Z[:5], atol=1e-6)
    np.testing.assert_array_equal(rows.feature_of_column, np.arange(D))


def test_other_rows_come_of_every_kind(table):
    rng, rows = np.random.default_rng(0), table.rows
    Z = values_of(rows)
    some = rows.restricted(np.array([1, 4]))
    np.testing.assert_allclose(some.take(np.arange(N)), Z[:, [1, 4]], atol=1e-6)
    again = rows.resampled(np.arange(0, N, 2))
    np.testing.assert_allclose(again.take(np.arange(N // 2)), standardized(Z[::2]), atol=1e-5)
    shuffled = rows.shuffled(rng).take(np.arange(N))
    np.testing.assert_allclose(as_sets(shuffled), as_sets(Z), atol=1e-6)
    assert not np.allclose(shuffled, Z, equal_nan=True)


@pytest.mark.parametrize("device", [None, "cpu"], ids=["numpy", "torch"])
def test_products_are_those_of_the_columns(rows, device):
    rows.multiply_on(device)
    Z, held = values_of(rows), rows.in_memory()
    products = Z.T @ Z
    np.testing.assert_allclose(rows.all_products(), products, atol=1e-3)
    np.testing.assert_allclose(held.column_products(2, 5), products[2:5], atol=1e-3)
    np.testing.assert_allclose(held.products_of(np.array([4, 0])), products[[4, 0]], atol=1e-3)
    np.testing.assert_allclose(held.row_products(1, 3), Z[1:3] @ Z.T, atol=1e-3)
    np.testing.assert_allclose(np.stack(held.column_ends()), [Z.min(0), Z.max(0)], atol=1e-5)


def test_nearly_equal_columns_are_told_apart_without_what_they_share(rows, X):
    alike = open_table(FeatureGroups(), X + 1e7 * X[:, :1] ** 3, True).rows
    apart = alike.without_common_column(1e-3)
    expected = np.square(alike.Z[:, 0] - alike.Z[:, 1]).sum()
    assert np.square(apart.Z[:, 0] - apart.Z[:, 1]).sum() == pytest.approx(expected)
    assert np.square(apart.Z).sum() < 1e-3 * np.square(alike.Z).sum()
    assert rows.without_common_column(1e-6) is rows


def correlated(table, X):
    if table.kinds is not None and not np.isnan(table.rows.Z).any():
        X = rankdata(X, axis=0)
    return np.corrcoef(X[1:, table.columns].T)


def test_every_similarity_is_about_the_correlation(table, X):
    similarity, r = table.similarity, correlated(table, X)
    np.testing.assert_allclose(similarity.matrix(), r, atol=0.02)
    np.testing.assert_allclose(similarity.block(1, 3), similarity.matrix()[1:3])
    some = np.array([0, 2, 5])
    np.testing.assert_allclose(similarity.part(some), similarity.matrix()[some][:, some])
    columns = similarity.columns(some)
    np.testing.assert_allclose(np.abs(columns.matrix), np.abs(r[np.ix_(some, some)]), atol=0.02)
    assert similarity.mean_of(some) == pytest.approx(r[np.ix_(some, some)].mean(), abs=0.03)
    off = np.sort(np.abs(r - np.eye(D)), axis=1)[:, -3:].mean(1)
    np.testing.assert_allclose(similarity.strength(), off, atol=0.02)
    central, rest = similarity.with_sums(np.array([0, 0, 0, -1, -1, 1]), 2)
    total = r[:3, :3].sum(1)
    np.testing.assert_allclose(central[:3], total / np.sqrt(total.sum()), atol=0.02)
    assert not central[3:5].any() and rest[5] == pytest.approx(0, abs=1e-3)


def test_every_similarity_has_halves_and_coordinates(table, X):
    similarity, r = table.similarity, correlated(table, X)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(X))[: similarity.in_memory().shape[0]]
    halves = similarity.in_memory().halved_blocks(rows, 4).correlations(1, D)
    assert halves.shape == (8, D - 1, D)
    np.testing.assert_allclose(halves.mean(0), r[1:], atol=0.2)
    blocks = row_blocks(len(rows))
    first = (
        similarity.in_memory().sampled(10**9, rng).rows.resampled(rows[first_halves(4)[2][blocks]])
    )
    expected = type(similarity.in_memory())(first).matrix()[1:]
    np.testing.assert_allclose(halves[4], expected, atol=0.02)
    assert similarity.sampled(50, rng).shape == (50, D)
    assert np.abs(similarity.shuffled(rng).matrix() - np.eye(D)).max() < 0.3
    found = similarity.coordinates()
    np.testing.assert_allclose(np.abs(found.F.T @ found.F), np.abs(r), atol=0.02)
    some = similarity.correlations_with(np.array([1, 4]))
    np.testing.assert_allclose(some, r[:, [1, 4]], atol=0.02)


def test_a_category_is_one_feature_of_several_columns(X):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["b"] = np.array(list("xyz"))[np.digitize(X[:, 0], [0, 0.7])]
    table = open_table(FeatureGroups(), frame, True)
    similarity, b = table.similarity, table.columns.tolist().index(1)
    assert similarity.n_compared == len(table.rows.feature_of_column) == D + 2
    found = similarity.coordinates()
    assert found.sizes[b] == 2 and found.F.shape[1] == D + 1
    column = values_of(table.rows)[:, b]
    assert len(np.unique(column.round(9))) == 3
    np.testing.assert_allclose([column.mean(), column.std()], [0, 1], atol=1e-9)
