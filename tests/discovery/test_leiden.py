"""Communities by modularity: as good as the best there is, and as those of another library."""

from itertools import product

import igraph
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from groupfs.discovery.leiden import communities
from tests import reference


def graph_of(W):
    """Neighbours of the nodes of a matrix of ties, for graphs of all its entries."""
    n = len(W)
    a, b = np.triu_indices(n, 1)
    number = np.zeros((n, n), dtype=np.int32)
    number[a, b] = number[b, a] = np.arange(len(a))
    others = [np.delete(np.arange(n), i) for i in range(n)]
    starts = (np.arange(n + 1) * (n - 1)).astype(np.int32)
    edges = np.concatenate([number[i, own] for i, own in enumerate(others)])
    return starts, np.concatenate(others).astype(np.int32), edges


def ties_of(*matrices):
    a, b = np.triu_indices(len(matrices[0]), 1)
    return np.array([W[a, b] for W in matrices], dtype=np.float32)


def random_ties(rng, n, share=1.0, n_groups=1):
    """Symmetric ties, larger within groups."""
    W = rng.random((n, n)) * (rng.random((n, n)) < share)
    W *= np.where(np.equal.outer(np.arange(n) % n_groups, np.arange(n) % n_groups), 3, 1)
    W = np.triu(W, 1).astype(np.float32).astype(np.float64)
    return W + W.T


def divided(W, resolution=1.0, tries=1):
    return communities(*graph_of(W), ties_of(W), resolution, tries)[0]


@pytest.mark.parametrize("resolution", [0.7, 1.0, 2.0])
def test_communities_of_few_nodes_are_the_best_of_all(resolution, rng):
    for _ in range(20):
        W = random_ties(rng, 7, 0.7, 2)
        best = max(reference.modularity(W, p, resolution) for p in product(range(3), repeat=7))
        found = reference.modularity(W, divided(W, resolution, 20), resolution)
        assert found >= best - 1e-6


@pytest.mark.parametrize(("n", "share"), [(30, 1.0), (200, 0.2), (600, 0.05)])
def test_modularity_is_that_of_igraph(n, share, rng):
    """Found once by either, mean over graphs; 600 nodes are more than the table of ties holds."""
    ours, theirs = [], []
    for resolution in (0.7, 1.0, 1.4, 2.0):
        W = random_ties(rng, n, share, 5)
        ours.append(reference.modularity(W, divided(W, resolution), resolution))
        graph = igraph.Graph.Weighted_Adjacency(W.tolist(), mode="undirected", loops=False)
        of_igraph = graph.community_leiden(
            "modularity", weights="weight", resolution=resolution, n_iterations=2
        )
        theirs.append(reference.modularity(W, of_igraph.membership, resolution))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=0.005)


def test_no_node_would_gain_by_moving_and_communities_hang_together(rng):
    W = random_ties(rng, 60, 0.3, 4)
    labels = divided(W)
    found = reference.modularity(W, labels, 1.0)
    for node in range(60):
        for other in range(labels.max() + 2):
            moved = np.where(np.arange(60) == node, other, labels)
            assert reference.modularity(W, moved, 1.0) <= found + 1e-6
    for one in range(labels.max() + 1):
        inside = np.flatnonzero(labels == one)
        assert sp.csgraph.connected_components(W[np.ix_(inside, inside)])[0] == 1


def test_graphs_in_one_call_are_those_of_calls_of_their_own(rng):
    graphs = [random_ties(rng, 40, 0.5, 4) for _ in range(5)]
    together = communities(*graph_of(graphs[0]), ties_of(*graphs), 1.0)
    assert_array_equal(together, [divided(W) for W in graphs])
    assert_array_equal(together, communities(*graph_of(graphs[0]), ties_of(*graphs), 1.0))


def test_nodes_without_ties_stay_alone():
    W = np.zeros((6, 6))
    W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = 1
    assert_array_equal(divided(W)[:4], [0, 0, 1, 1])
    assert len(np.unique(divided(W))) == 4
    assert len(np.unique(divided(0 * W))) == 6
    none = np.zeros(0, dtype=np.int32)
    assert (
        communities(np.zeros(1, np.int32), none, none, np.zeros((2, 0), np.float32), 1.0).size == 0
    )


def test_a_path_of_ties_that_differ_by_orders_of_magnitude_ends(rng):
    """Rounding in single precision must not make nodes go to and fro without end."""
    for n in (50, 900):
        scale = 10.0 ** rng.uniform(-6, 6, (n, 1))
        W = random_ties(rng, n) * scale * scale.T
        assert len(divided(W)) == n
