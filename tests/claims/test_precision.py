"""Distances keep their digits where a selection depends on them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist

from groupfs import FeatureGroups
from groupfs.baselines import LaplacianScore
from groupfs.baselines.laplacian import self_tuning_affinity
from groupfs.data.open_table import open_table
from groupfs.datasets import load_two_moons
from groupfs.joint.batches import Batches
from groupfs.joint.graph import feature_walk
from groupfs.joint.loop import train
from groupfs.joint.model import GatedModel
from groupfs.joint.relaxations import CounterNoise
from groupfs.joint.settings import Schedule
from groupfs.utils.warn import SelectionWarning
from tests.support.problems import CPU, prepared
from tests.support.tables import real_table


def planted(rng, n=200):
    """Three groups of four features and four features of noise."""
    factors = np.repeat(rng.standard_normal((n, 3)), 4, axis=1)
    noise = 0.4 * rng.standard_normal((n, 12))
    return np.column_stack([factors + noise, rng.standard_normal((n, 4))])


def self_tuning(points, n_neighbors):
    squared = cdist(points, points, "sqeuclidean")
    g = np.sqrt(np.sort(squared, axis=1)[:, n_neighbors])
    return np.exp(-squared / np.outer(g, g))


@pytest.mark.parametrize("deviations", [1e2, 1e5, 1e8])
@pytest.mark.parametrize("n_kept", [None, 12])
def test_columns_that_share_an_outlier_are_told_apart(deviations, n_kept, rng):
    X = outlier(planted(rng), deviations, rng)
    table = open_table(FeatureGroups(), X, True)
    walk = feature_walk(table.similarity, 7, n_kept)
    exact = self_tuning(table.rows.columns(0, 16).T, 7)
    if n_kept is not None:
        walk = walk.toarray()
        exact = np.where(walk > 0, exact, 0)
    scale = 1 / np.sqrt(exact.sum(1))
    np.testing.assert_allclose(walk, exact * scale[:, None] * scale, atol=1e-9)


def test_a_group_that_one_outlier_makes_is_not_kept_and_ranks_see_past_it(rng):
    X = outlier(planted(rng), 1e8, rng)
    with pytest.warns(SelectionWarning, match="found again"):
        assert not FeatureGroups(random_state=0).fit(X).group_kept_.any()
    labels = FeatureGroups(similarity="rank", random_state=0).fit(X).group_labels_
    assert labels[12:].tolist() == [-1] * 4
    assert [len(set(labels[group])) for group in np.arange(12).reshape(3, 4)] == [1, 1, 1]
    assert len(set(labels[:12])) == 3


def outlier(X, deviations, rng):
    """Put a row far from all others in place of the first."""
    return np.vstack([deviations * rng.uniform(0.5, 1.5, X.shape[1]), X[1:]])


@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e3, 1e5])
def test_close_rows_have_their_own_neighbours_beside_far_ones(size, rng):
    X = planted(rng)
    X = outlier(X, size, rng) if size > 1 else size * X + rng.choice([-1.0, 1.0], (200, 1))
    rows, affinity = affinity_of(X)
    np.testing.assert_allclose(affinity, self_tuning(rows.columns(0, 16), 7), atol=1e-6)
    if size < 1:  # two clusters of close rows
        assert LaplacianScore(12).fit(X).get_support()[:12].all()


def test_copies_of_rows_are_at_distance_zero_beside_an_outlier(rng):
    X = np.tile(rng.standard_normal((20, 9)), (10, 1))
    X[0] = 1e6
    _, affinity = affinity_of(X)
    copies = np.equal.outer(np.arange(1, 200) % 20, np.arange(1, 200) % 20)
    assert (affinity[1:, 1:][copies] == 1).all()


def affinity_of(X):
    rows = open_table(FeatureGroups(), X, True).rows
    return rows, self_tuning_affinity(rows, 7, "all")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_moons", "heart_disease"])
def test_single_precision_trains_the_groups_of_double_precision(name):
    X = load_two_moons(200, random_state=0).data if name == "two_moons" else real_table(name)[0]
    problem = prepared(X)
    single, double = (trained_in(dtype, problem) for dtype in (torch.float32, torch.float64))
    np.testing.assert_array_equal(single.labels(), double.labels())
    np.testing.assert_array_equal(single.mu > 0.5, double.mu > 0.5)


def trained_in(dtype, problem):
    rows, seeds = Batches(problem.table.rows, CPU, dtype), problem.seeds
    objective = replace(problem.objective, walk=problem.objective.walk.to(dtype))
    weights = np.array([0.7 * problem.critical_sparsity_weight])
    model = GatedModel.start(problem.clusters, seeds, problem.gate_start, weights, CPU, dtype)
    schedule = Schedule(400, 640, 0.02, 1.0, 0.01, early_stopping=True)
    train(model, objective, rows, schedule, CounterNoise(seeds, CPU), batch_seed=seeds[0])
    return model
