import numpy as np
import pytest
import torch

from groupfs.data.rows import DenseRows
from groupfs.graphs.chance_tables import ChanceTables
from groupfs.graphs.eigenvectors import leading_eigenvectors
from groupfs.graphs.feature_clusters import as_groups, cluster_features
from groupfs.graphs.feature_graph import feature_walk
from groupfs.scoring.significance import (
    chance_cohesion,
    cohesion_of,
    discoveries,
    group_p_values,
)
from tests.support.walks import standardised

CPU = torch.device("cpu")
NOISE = {
    "few samples": lambda rng: rng.standard_normal((40, 60)),
    "heavy tails": lambda rng: rng.standard_cauchy((100, 20)),
    "binary": lambda rng: (rng.random((120, 24)) < 0.3).astype(float),
}


def find_and_test_groups(X, seed, signed=False):
    """Find 8 groups as a fit does; return their p-values and sizes."""
    rows = DenseRows(standardised(X))
    rows.to(CPU, torch.float32)
    walk = feature_walk(rows, 7, None, signed)
    groups = as_groups(cluster_features(leading_eigenvectors(walk, 8), 8), 8)
    sizes = np.array([len(group) for group in groups])
    chance = chance_cohesion(
        ChanceTables.of(rows, seed),
        X.shape[1],
        8,
        None,
        n_neighbors=7,
        n_kept=None,
        signed=signed,
    )
    return group_p_values(cohesion_of(rows, groups, signed), sizes, chance), sizes


@pytest.mark.slow
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("kind", NOISE)
def test_p_values_are_not_fooled_by_looking_for_groups(kind, signed):
    # Compared with random sets of features, groups found in noise look far from chance.
    tables_with_discoveries, p_values = 0, []
    for seed in range(8):
        X = NOISE[kind](np.random.default_rng(seed))
        p, sizes = find_and_test_groups(X, seed, signed)
        tables_with_discoveries += discoveries(p, 0.01).any()
        p_values.extend(p[sizes > 1])
    assert tables_with_discoveries <= 1
    assert np.mean(np.array(p_values) < 0.05) < 0.12


@pytest.mark.parametrize(
    ("n_rows", "levels"), [(2800, 6), (300, 2), (2800, 2)], ids=["answers", "few 0/1", "0/1"]
)
def test_more_rows_and_few_answers_do_not_hide_a_group(rng, n_rows, levels):
    X = rng.standard_normal((n_rows, 40))
    X[:, :3] += 1.1 * rng.standard_normal((n_rows, 1))  # r = 0.55
    X = np.digitize(X, np.quantile(X, np.arange(1, levels) / levels)).astype(float)
    rows = DenseRows(standardised(X))
    chance = chance_cohesion(
        ChanceTables.of(rows, 0), 40, 8, None, n_neighbors=7, n_kept=None, signed=False
    )
    groups = [np.arange(3), np.arange(2), np.arange(10, 13)]
    p = group_p_values(cohesion_of(rows, groups, False), np.array([3, 2, 3]), chance)
    assert p[0] < 1e-5 and p[1] < 0.01 and p[2] > 0.05


def test_known_groups_are_compared_with_themselves(rng):
    X = rng.standard_normal((200, 30))
    X[:, :5] += rng.standard_normal((200, 1))
    labels = np.repeat([0, 1], [5, 25])
    rows = DenseRows(standardised(X))
    chance = chance_cohesion(
        ChanceTables.of(rows, 0), 30, 2, labels, n_neighbors=7, n_kept=None, signed=False
    )
    groups = as_groups(labels, 2)
    p = group_p_values(cohesion_of(rows, groups, False), np.array([5, 25]), chance)
    assert p[0] < 1e-6 and p[1] > 0.01


def test_p_values_fall_with_cohesion_and_single_features_have_none(rng):
    chance = 1 + 0.2 * rng.standard_normal(40)
    p = group_p_values(np.array([0.2, 1.1, 1.5, 3.0, 9.0]), np.array([3, 3, 3, 3, 1]), chance)
    assert p[0] == p[4] == 1 and (np.diff(p[:4]) < 0).all() and p[3] < 1e-3
    assert (group_p_values(np.array([1.0, 9.0]), np.array([2, 2]), np.zeros(0)) == 1).all()
    assert group_p_values(np.array([1.5]), np.array([2]), np.ones(3))[0] > 0.01


def test_discoveries_follow_benjamini_and_hochberg():
    p = np.array([0.001, 0.04, 0.03, 0.9])
    # sorted: .001 <= .0125, .03 > .025, .04 > .0375
    assert discoveries(p, 0.05).tolist() == [True, False, False, False]
    # a later one that passes takes the earlier ones with it
    assert discoveries(np.array([0.03, 0.03, 0.03]), 0.03).all()
    assert not discoveries(np.ones(3), 0.05).any()
    assert discoveries(np.zeros(0), 0.05).tolist() == []
