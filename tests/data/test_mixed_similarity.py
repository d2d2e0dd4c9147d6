"""Similarities of features of any kinds, held to the literal ones, pair by pair."""

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from groupfs.data.basis import make_basis
from groupfs.data.mixed_similarity import expected_squares, similarities
from tests.reference import canonical_correlation, distance_correlation

N = 150


def indicators(codes):
    found = np.eye(int(np.nanmax(codes)) + 1)[np.nan_to_num(codes).astype(int)]
    found[np.isnan(codes)] = np.nan
    return found


@pytest.fixture
def columns():
    """Numbers and categories around one factor; gaps in all but one."""
    rng = np.random.default_rng(0)
    factor = rng.standard_normal(N)

    def noisy():
        return factor + rng.standard_normal(N)

    values = []
    for _ in range(3):
        values.append(noisy()[:, None])
    for n_levels in (3, 6):
        codes = np.digitize(noisy(), np.linspace(-1.5, 1.5, n_levels - 1)).astype(float)
        values.append(indicators(rng.permutation(n_levels)[codes.astype(int)].astype(float)))
    for x in values[1:]:
        x[rng.random(N) < 0.15] = np.nan
    return values


def literal(values, i, j, dims):
    both = ~(np.isnan(values[i][:, 0]) | np.isnan(values[j][:, 0]))
    n = both.sum()
    r = canonical_correlation(values[i][both], values[j][both])
    chance = expected_squares(dims[[i]], dims[[j]])[0, 0]
    bias = max(chance / (n - 1) - 1 / (N - 1), 0)
    expected = np.prod([(~np.isnan(values[k][:, 0])).sum() for k in (i, j)]) / N
    return np.sqrt(max((r**2 - bias) / (1 - bias), 0)) * min(1, np.sqrt(n / expected))


def test_pairs_are_compared_by_the_rows_both_have(columns):
    values = columns
    basis = make_basis(values, "correlation")
    found = similarities(basis)
    assert basis.dims.tolist() == [1, 1, 1, 2, 5]
    for i in range(5):
        for j in range(i):
            expected = literal(values, i, j, basis.dims)
            assert abs(found[i, j]) == pytest.approx(expected, abs=1e-9), (i, j)
    assert np.allclose(found, found.T) and (np.diag(found) == 1).all()


def test_columns_of_one_variable_are_not_alike():
    rng = np.random.default_rng(0)
    levels = indicators(rng.integers(0, 3, 200).astype(float))
    other = rng.standard_normal((200, 1))
    other[0] = np.nan
    for similarity in ("correlation", "rank"):
        values = [*levels.T[:, :, None], other]
        found = similarities(make_basis(values, similarity))
        np.testing.assert_array_equal(found[:3, :3], np.eye(3))
    values[1] = np.where(np.arange(200)[:, None] < 2, 1.0, values[1])  # they meet
    found = similarities(make_basis(values, "correlation"))
    assert found[0, 1] < -0.2 or found[1, 2] < -0.2


@pytest.mark.parametrize("similarity", ["correlation", "rank", "distance"])
def test_copies_are_as_alike_as_can_be(similarity):
    rng = np.random.default_rng(0)
    category = indicators(rng.integers(0, 6, 80).astype(float))
    x = rng.standard_normal((80, 1))
    values = [x, x.copy(), category, category[:, ::-1]]
    found = similarities(make_basis(values, similarity))
    assert found[0, 1] == pytest.approx(1) and found[2, 3] == pytest.approx(1)


def test_numbers_keep_their_sign():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((N, 4))
    x[:, 1] -= 2 * x[:, 0]
    found = similarities(make_basis(list(x.T[:, :, None]), "correlation"))
    np.testing.assert_allclose(found, np.corrcoef(x.T), atol=1e-12)
    ranked = similarities(make_basis(list(x.T[:, :, None]), "rank"))
    np.testing.assert_allclose(ranked, spearmanr(x).statistic, atol=1e-12)


@pytest.mark.parametrize("similarity", ["correlation", "distance"])
def test_chance_gives_features_of_many_levels_no_more_than_numbers(similarity):
    rng = np.random.default_rng(1)
    n = 300
    values = [rng.standard_normal((n, 1)) for _ in range(40)]
    values += [indicators(rng.integers(0, 12, n).astype(float)) for _ in range(40)]
    found = similarities(make_basis(values, similarity)) ** 2
    off = ~np.eye(40, dtype=bool)
    numbers, categories = found[:40, :40][off].mean(), found[40:, 40:][off].mean()
    assert numbers < 4 / n
    assert categories < 3 * numbers + 1 / n and found[:40, 40:].mean() < 3 * numbers + 1 / n


def test_the_first_canonical_correlation_of_chance():
    rng = np.random.default_rng(2)
    n = 400
    squares = [
        canonical_correlation(
            indicators(rng.integers(0, 4, n).astype(float)),
            indicators(rng.integers(0, 6, n).astype(float)),
        )
        ** 2
        for _ in range(300)
    ]
    expected = expected_squares(np.array([3]), np.array([5]))[0, 0]
    assert n * np.mean(squares) == pytest.approx(expected, rel=0.06)
    assert expected_squares(np.array([1]), np.array([1, 7])).tolist() == [[1.0, 7.0]]


@pytest.mark.parametrize("related", ["line", "parabola", "noise"])
def test_distance_is_the_distance_correlation_of_ranks(related):
    rng = np.random.default_rng(0)
    n = 800
    x = rng.standard_normal(n)
    y = {"line": x, "parabola": x**2, "noise": 0 * x}[related] + 0.7 * rng.standard_normal(n)
    basis = make_basis([x[:, None], y[:, None]], "distance")
    expected = distance_correlation(rankdata(x), rankdata(y))
    assert similarities(basis)[0, 1] ** 2 == pytest.approx(expected, abs=0.012)


def test_pairs_with_hardly_a_row_in_common_say_nothing():
    x = np.random.default_rng(0).standard_normal((60, 1))
    first, second = x.copy(), x.copy()
    first[:28], second[36:] = np.nan, np.nan
    found = similarities(make_basis([first, second], "correlation"))
    assert found[0, 1] == 0


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda X: np.ones(3), r"shape \(3,\) for 3 columns"),
        (lambda X: np.full((3, 3), 1.5), "from 1.5 to 1.5"),
        (lambda X: np.full((3, 3), np.nan), "between 0 and 1"),
    ],
)
def test_functions_are_held_to_what_is_agreed(function, words):
    x = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(ValueError, match=words):
        similarities(make_basis(list(x.T[:, :, None]), function))
