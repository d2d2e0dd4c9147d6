"""What chance gives features and groups, and what is found in noise: nothing."""

import numpy as np
import pytest

from groupfs.discovery.chance import (
    FEWEST_SHUFFLED_ROWS,
    MOST_TABLES,
    ChanceTables,
    chance_cohesion,
    exceedance,
    group_p_values,
    measure_relatedness,
)
from groupfs.discovery.feature_graph import connect_features
from groupfs.discovery.members import group_components
from groupfs.groups import adjust_p_values
from tests.support.walks import correlations


def test_features_of_groups_are_related_and_noise_is_not(rng):
    factors = rng.standard_normal((150, 4))
    signs = rng.choice([-1, 1], 40)
    X = rng.standard_normal((150, 240))
    X[:, :40] += 1.3 * np.repeat(factors, 10, axis=1) * signs
    found = measure_relatedness(correlations(X), 0)
    assert found.related[:40].all()
    assert found.related[40:].mean() < 0.04
    assert (found.p_values > 0).all() and (found.p_values <= 1).all()


NOISE = {
    "few samples": lambda rng: rng.standard_normal((40, 60)),
    "heavy tails": lambda rng: rng.standard_cauchy((100, 20)),
    "binary": lambda rng: (rng.random((120, 24)) < 0.05).astype(float),
    "mixed": lambda rng: np.hstack([rng.standard_cauchy((90, 8)), rng.standard_normal((90, 30))]),
}


@pytest.mark.parametrize("kind", NOISE)
def test_in_noise_p_values_are_those_of_chance(kind):
    p_values, any_related = [], 0
    for seed in range(10):
        found = measure_relatedness(correlations(NOISE[kind](np.random.default_rng(seed))), seed)
        p_values.extend(found.p_values)
        any_related += found.related.any()
    assert any_related <= 2
    assert 0.01 < np.mean(np.array(p_values) < 0.05) < 0.09


def test_exceedance_counts_and_then_follows_an_exponential_tail(rng):
    chance = rng.exponential(size=4000)
    p = exceedance(np.array([-1.0, 0.5, 2.0, 5.0, 9.0]), chance)
    # beyond the upper tenth it errs on the side of caution
    ratio = p / np.exp([0, -0.5, -2, -5, -9])
    assert (ratio > 0.8).all() and (ratio < 3).all()
    assert p[0] == 1 and (np.diff(p) < 0).all()
    assert exceedance(np.array([1.0]), np.zeros(5)) > 0 - 1e-300


@pytest.mark.parametrize("is_large", [True, False], ids=["made again", "kept"])
def test_chance_tables_are_the_same_again_and_choose_their_strongest_features(rng, is_large):
    X = rng.standard_normal((50, 700))
    found = measure_relatedness(correlations(X), 0)
    tables = found.chance
    if is_large:
        tables = ChanceTables(tables.similarity, tables.seeds, most_entries=0)
        tables.strength = found.chance.strength
    first, again = (next(iter(tables)) for _ in range(2))
    assert (first is again) is not is_large
    np.testing.assert_array_equal(first.rows.Z, again.rows.Z)
    chosen = next(iter(tables.strongest(10)))
    best = np.sort(np.argsort(-tables.strength[0])[:10])
    np.testing.assert_array_equal(chosen.rows.Z, first.rows.Z[:, best])
    shuffled, own = first.rows.Z, tables.similarity.rows.Z
    np.testing.assert_allclose(np.sort(shuffled, axis=0), np.sort(own, axis=0))


def test_tall_tables_lend_some_of_their_rows(rng):
    tables = ChanceTables.of(correlations(rng.standard_normal((900, 5))), 0, entries=1)
    assert tables.similarity.shape == (FEWEST_SHUFFLED_ROWS, 5) and len(tables.seeds) == MOST_TABLES


def chance_groups(rows, labels=None, seed=0, signed=False):
    return chance_cohesion(ChanceTables.of(rows, seed), rows.shape[1], labels, signed)


def p_values_of(rows, groups, chance, signed=False):
    cohesion = group_components(rows, groups, signed).cohesion
    return group_p_values(cohesion, np.array([len(group) for group in groups]), chance)


@pytest.mark.slow
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("kind", NOISE)
def test_p_values_are_not_fooled_by_looking_for_groups(kind, signed):
    # Compared with random sets of features, groups found in noise look far from chance.
    tables_with_discoveries, p_values = 0, []
    for seed in range(8):
        rows = correlations(NOISE[kind](np.random.default_rng(seed)))
        (labels,) = connect_features(rows, signed, halved=False).communities(1.4, slice(1))
        groups = [np.flatnonzero(labels == j) for j in range(labels.max() + 1)]
        p = p_values_of(rows, groups, chance_groups(rows, None, seed, signed), signed)
        tables_with_discoveries += (adjust_p_values(p) <= 0.01).any()
        p_values.extend(p[[len(group) > 1 for group in groups]])
    assert tables_with_discoveries <= 1
    assert np.mean(np.array(p_values) < 0.05) < 0.12


@pytest.mark.parametrize(
    ("n_rows", "levels"), [(2800, 6), (300, 2), (2800, 2)], ids=["answers", "few 0/1", "0/1"]
)
def test_more_rows_and_few_answers_do_not_hide_a_group(rng, n_rows, levels):
    X = rng.standard_normal((n_rows, 40))
    X[:, :3] += 1.1 * rng.standard_normal((n_rows, 1))  # r = 0.55
    X = np.digitize(X, np.quantile(X, np.arange(1, levels) / levels)).astype(float)
    rows = correlations(X)
    p = p_values_of(rows, [np.arange(3), np.arange(2), np.arange(10, 13)], chance_groups(rows))
    assert p[0] < 1e-5 and p[1] < 0.01 and p[2] > 0.05


def test_known_groups_are_compared_with_themselves(rng):
    X = rng.standard_normal((200, 30))
    X[:, :5] += rng.standard_normal((200, 1))
    labels = np.repeat([0, 1], [5, 25])
    rows = correlations(X)
    p = p_values_of(rows, [np.arange(5), np.arange(5, 30)], chance_groups(rows, labels))
    assert p[0] < 1e-6 and p[1] > 0.01


def test_p_values_fall_with_cohesion_and_single_features_have_none(rng):
    chance = 1 + 0.2 * rng.standard_normal(40)
    p = group_p_values(np.array([0.2, 1.1, 1.5, 3.0, 9.0]), np.array([3, 3, 3, 3, 1]), chance)
    assert p[0] == p[4] == 1 and (np.diff(p[:4]) < 0).all() and p[3] < 1e-3
    assert (group_p_values(np.array([1.0, 9.0]), np.array([2, 2]), np.zeros(0)) == 1).all()
    assert group_p_values(np.array([1.5]), np.array([2]), np.ones(3))[0] > 0.01
