import numpy as np
import pytest
import torch

from groupfs.data.rows import DenseRows
from groupfs.graphs.chance_tables import FEWEST_ROWS, ChanceTables
from groupfs.graphs.relatedness import exceedance, measure_relatedness
from groupfs.graphs.similarity import Correlations
from tests.support.walks import standardised


def rows_of(X):
    rows = DenseRows(standardised(X))
    rows.to(torch.device("cpu"), torch.float32)
    return rows


def test_features_of_groups_are_related_and_noise_is_not(rng):
    factors = rng.standard_normal((150, 4))
    signs = rng.choice([-1, 1], 40)
    X = rng.standard_normal((150, 240))
    X[:, :40] += 1.3 * np.repeat(factors, 10, axis=1) * signs
    found = measure_relatedness(rows_of(X), 0)
    assert found.related[:40].all()
    assert found.related[40:].mean() < 0.04
    assert (found.p_values > 0).all() and (found.p_values <= 1).all()


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.standard_normal((60, 30)),
        lambda rng: rng.standard_cauchy((80, 20)),
        lambda rng: (rng.random((100, 40)) < 0.05).astype(float),
        lambda rng: np.hstack([rng.standard_cauchy((90, 8)), rng.standard_normal((90, 30))]),
    ],
    ids=["normal", "heavy tails", "rare", "both"],
)
def test_in_noise_p_values_are_those_of_chance(draw):
    p_values, any_related = [], 0
    for seed in range(10):
        X = draw(np.random.default_rng(seed))
        found = measure_relatedness(rows_of(X[:, X.std(0) > 0]), seed)
        p_values.extend(found.p_values)
        any_related += found.related.any()
    assert any_related <= 2
    assert 0.01 < np.mean(np.array(p_values) < 0.05) < 0.09


def test_a_table_of_more_rows_is_compared_with_what_chance_gives_it(rng):
    rows = rows_of(rng.standard_normal((1200, 12)))
    tables = ChanceTables(rows.resampled(np.arange(300), True), [1, 2, 3])
    few = np.mean([Correlations(table).strength() for table in tables])
    many = np.mean(Correlations(rows.shuffled(rng)).strength())
    # strengths of shuffled columns fall with the root of the rows, which is what shrink says
    assert few / many == pytest.approx(2, rel=0.25)
    assert measure_relatedness(rows, 0).shrink == 1


def test_exceedance_counts_and_then_follows_an_exponential_tail(rng):
    chance = rng.exponential(size=4000)
    p = exceedance(np.array([-1.0, 0.5, 2.0, 5.0, 9.0]), chance)
    # beyond the upper tenth it errs on the side of caution
    ratio = p / np.exp([0, -0.5, -2, -5, -9])
    assert (ratio > 0.8).all() and (ratio < 3).all()
    assert p[0] == 1 and (np.diff(p) < 0).all()
    assert exceedance(np.array([1.0]), np.zeros(5)) > 0 - 1e-300


def test_chance_tables_are_the_same_again_and_choose_their_strongest_features(rng):
    tables = ChanceTables.of(rows_of(rng.standard_normal((50, 700))), 0).measured()
    first, again = (next(iter(tables)) for _ in range(2))
    np.testing.assert_array_equal(first.Z, again.Z)
    chosen = next(iter(tables.strongest(10)))
    assert chosen.shape == (50, 10)
    best = np.sort(np.argsort(-tables.strength[0])[:10])
    np.testing.assert_array_equal(chosen.Z, first.Z[:, best])
    np.testing.assert_allclose(np.sort(first.Z, axis=0), np.sort(tables.rows.Z, axis=0))


def test_tall_tables_lend_some_of_their_rows(monkeypatch, rng):
    monkeypatch.setattr("groupfs.graphs.chance_tables.TABLE_ENTRIES", 1)
    tables = ChanceTables.of(rows_of(rng.standard_normal((900, 5))), 0)
    assert tables.rows.shape == (FEWEST_ROWS, 5) and len(tables.seeds) == 60
