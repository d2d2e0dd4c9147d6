import numpy as np
import torch

from groupfs.graphs.affinity import (
    plain_affinity,
    random_walk,
    self_tuning_graph,
    squared_distances,
)
from tests import reference


def test_distances_from_products_equal_distances_from_differences(rng):
    X = torch.from_numpy(rng.standard_normal((3, 8, 5)))
    literal = ((X[:, :, None] - X[:, None]) ** 2).sum(-1)
    np.testing.assert_allclose(squared_distances(X @ X.mT), literal, atol=1e-12)


def test_affinity_equals_the_literal_one(rng):
    points = torch.from_numpy(rng.standard_normal((12, 5)))
    graph = self_tuning_graph(squared_distances(points @ points.T), 4)
    literal = reference.self_tuning_affinity(points, 4)
    np.testing.assert_allclose(graph.affinity, literal, rtol=1e-9)
    np.testing.assert_allclose(plain_affinity(points @ points.T, 4), literal, rtol=1e-9)
    walk, _ = random_walk(graph.affinity)
    np.testing.assert_allclose(walk, reference.random_walk(literal), rtol=1e-9)
