"""Affinities by every metric equal their equations, and are what the metric promises."""

import numpy as np
import pytest
import torch

from groupfs.graphs.affinity import squared_distances
from groupfs.graphs.sample_graph import METRICS
from groupfs.graphs.sample_metrics import (
    DIFFUSION_STEPS,
    geodesic_distances,
    rank_columns,
    sample_affinity,
)
from tests import reference

LITERAL = {
    "euclidean": reference.self_tuning_affinity,
    "cosine": reference.cosine_affinity,
    "rank": lambda X, K: reference.self_tuning_affinity(reference.ranks(X), K),
    "geodesic": reference.geodesic_affinity,
    "diffusion": lambda X, K: reference.diffusion_affinity(X, K, DIFFUSION_STEPS),
}


def affinity(X, metric, K=3):
    return sample_affinity(torch.as_tensor(X), K, metric).numpy()


@pytest.mark.parametrize("metric", METRICS)
def test_affinities_equal_the_literal_ones(metric, rng):
    X = torch.from_numpy(rng.standard_normal((2, 24, 3)))
    fast = sample_affinity(X, 3, metric)
    for table, found in zip(X, fast, strict=True):
        np.testing.assert_allclose(found, LITERAL[metric](table, 3), rtol=1e-6, atol=1e-12)


def test_parts_that_neighbours_leave_apart_are_linked_where_they_are_nearest(rng):
    X = torch.from_numpy(rng.standard_normal((24, 3)))
    X[:8] += 5
    X[8:12] -= 9
    literal = reference.geodesic_affinity(X, 3)
    np.testing.assert_allclose(affinity(X, "geodesic"), literal, rtol=1e-6, atol=1e-12)
    assert literal[0, 12:].max() > 1e-12


def test_lengths_of_samples_do_not_matter_to_the_cosine(rng):
    X = rng.standard_normal((30, 4))
    stretched = X * rng.uniform(0.1, 10, (30, 1))
    np.testing.assert_allclose(affinity(stretched, "cosine"), affinity(X, "cosine"), rtol=1e-9)


def test_an_outlier_and_any_monotone_change_do_not_matter_to_ranks(rng):
    X = rng.standard_normal((30, 4))
    changed = np.exp(3 * X)
    changed[changed.argmax(0), range(4)] *= 1e6
    np.testing.assert_allclose(affinity(changed, "rank"), affinity(X, "rank"), rtol=1e-12)


def test_equal_values_share_their_ranks(rng):
    X = torch.tensor([[0.0], [1], [1], [3]], dtype=torch.float64)
    np.testing.assert_allclose(rank_columns(X)[:, 0], np.array([-1.5, 0, 0, 1.5]) / np.sqrt(1.125))


def test_geodesic_distances_go_round_a_circle_and_across_a_gap():
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    circle = np.c_[np.cos(angle), np.sin(angle)]
    X = torch.from_numpy(np.concatenate([circle, circle + [5, 0]]))
    found = geodesic_distances(squared_distances(X @ X.T), 2).sqrt()
    assert found[0, 100] == pytest.approx(np.pi, rel=1e-3)
    # the gap of 3 is crossed where it is narrowest: between angle 0 of one and pi of the other
    assert found[0, 300] == pytest.approx(3, rel=1e-9)
    assert found[100, 200] == pytest.approx(2 * np.pi + 3, rel=1e-3)


def test_copies_of_a_sample_are_as_near_as_can_be_along_paths(rng):
    X = np.repeat(rng.standard_normal((12, 3)), 3, axis=0)
    found = affinity(X, "geodesic", K=4)
    assert np.isfinite(found).all()
    assert (found[::3][:, 1::3].diagonal() > 0.999).all()


def test_diffusion_parts_what_a_gap_divides_from_what_is_dense_between(rng):
    line = np.c_[np.linspace(0, 1, 60), np.zeros(60)]
    line += 0.01 * rng.standard_normal((60, 2))
    X = np.concatenate([line, line + [0, 0.5]])
    exponents = {
        metric: -np.log(affinity(X, metric, 15)[0]) for metric in ("euclidean", "diffusion")
    }
    # half of the line away, and the same place on the other line
    assert exponents["euclidean"][60] < exponents["euclidean"][30]
    assert exponents["diffusion"][60] > 2 * exponents["diffusion"][30]
