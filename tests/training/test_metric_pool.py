"""Batches by every metric are what their term of the loss needs of them."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import NearestNeighbors

from groupfs.graphs.sample_graph import METRICS
from groupfs.models.fixed_walk import FixedWalk
from groupfs.models.group_products import GroupProducts
from groupfs.models.losses import sample_term
from groupfs.training.run import train_models
from tests import reference
from tests.graphs.test_sample_metrics import LITERAL
from tests.support.problems import open_groups_at, prepared

NAMED = [metric for metric in METRICS if metric != "euclidean"]


def table(rng, n_rows=60):
    X = rng.standard_normal((n_rows, 12))
    X[:, :6] += 2 * np.sign(rng.standard_normal((n_rows, 1)))
    return X


def known(X, **parameters):
    return prepared(X, n_groups=3, keep_unrelated=True, **parameters)


@pytest.mark.parametrize("metric", NAMED)
@pytest.mark.parametrize("learned", [False, True])
def test_the_sample_term_is_that_of_the_metric_and_so_is_its_gradient(metric, learned, rng):
    problem = known(table(rng), metric=metric, learn_memberships=learned)
    (batch,) = problem.pool
    n_weights = problem.n_groups if isinstance(batch, GroupProducts) else 12
    owner = problem.start.clusters[0] if n_weights < 12 else np.arange(12)
    weight = torch.from_numpy(rng.uniform(size=(2, n_weights)))
    value, gradient = sample_term(problem.objective, batch, weight.square().float())
    Z = torch.from_numpy(problem.table.rows.Z)  # rows of the batch are in another order
    for r in range(2):
        leaf = weight[r].clone().requires_grad_()
        literal = literal_term(metric, Z, leaf[owner])
        (expected,) = torch.autograd.grad(literal, leaf)
        assert value[r].item() == pytest.approx(literal.item(), rel=1e-4)
        # the gradient is with respect to squared weights
        np.testing.assert_allclose(2 * weight[r] * gradient[r], expected, rtol=2e-3, atol=1e-6)


def literal_term(metric, Z, weight):
    """Write out the sample term of all rows."""
    if metric == "rank":
        return reference.sample_loss(reference.ranks(Z), weight, 7, 2, False)
    if metric == "cosine":
        unit = Z * (Z.shape[1] ** 0.5 / Z.norm(dim=1, keepdim=True))
        return reference.sample_loss(unit, weight, 7, 2, False)
    return reference.fixed_walk_loss(Z, weight, reference.random_walk(LITERAL[metric](Z, 7)), 2)


def test_a_known_graph_is_walked_as_a_whole_from_every_batch(rng):
    X = table(rng, 200)
    neighbors = NearestNeighbors(n_neighbors=5).fit(X)
    problem = known(X, metric=neighbors, batch_size=40)
    Z, graph = problem.table.rows.Z, problem.settings.metric
    P = reference.random_walk(torch.from_numpy(graph.affinity.toarray())).numpy()
    assert len(problem.pool) == 5 and all(isinstance(batch, FixedWalk) for batch in problem.pool)
    # five batches hold every row once, so together they are the whole table
    total = sum(batch.products for batch in problem.pool)
    np.testing.assert_allclose(total, (Z * (P @ P @ Z)).sum(0), rtol=1e-4)


@pytest.mark.parametrize("metric", [*NAMED, "neighbours"])
@pytest.mark.parametrize("learned", [False, True])
def test_sparsity_closes_groups_by_every_metric(metric, learned, rng):
    X = table(rng, 150)
    if metric == "neighbours":
        metric = NearestNeighbors(n_neighbors=5).fit(X)
    problem = known(X, metric=metric, learn_memberships=learned)
    few, many = open_groups_at(problem, [0.05, 20])
    assert few >= 1 and many == 0


def test_a_problem_with_known_walks_can_go_elsewhere(rng):
    problem = known(table(rng), metric="diffusion")
    again = problem.on(torch.device("cpu"))
    weights = np.array([problem.critical_sparsity_weight])
    np.testing.assert_array_equal(
        train_models(again, weights).gates, train_models(problem, weights).gates
    )
    assert problem.pool.n_bytes == 4 * 12
