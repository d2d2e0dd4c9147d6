"""The critical sparsity weight: computed before training, and borne out by it."""

import numpy as np
import pytest
import torch

from groupfs.datasets import load_two_moons
from groupfs.joint.problem import critical_sparsity_weight
from tests import reference
from tests.support.problems import open_groups_at, prepared
from tests.support.tables import real_table


def moons(**settings):
    return load_two_moons(random_state=0, **settings).data


def paper(X, n_groups, batch_size, **more):
    return prepared(X, preset="paper", n_groups=n_groups, batch_size=batch_size, **more)


@pytest.mark.slow
@pytest.mark.parametrize("gradient", ["exact", "detached"])
def test_critical_weight_is_the_ratio_of_literal_gradients(gradient):
    X = moons(n_samples=20, n_features=12)
    problem = paper(X, 3, 20, bandwidth_gradient=gradient)
    rows = problem.rows.take(torch.arange(20)).double()
    logits = problem.models(np.ones(1)).logits[0].double()
    rng = np.random.default_rng(0)
    push, pull = 0.0, 0.0
    for _ in range(120):
        mu = torch.full((3,), 0.5, dtype=torch.float64, requires_grad=True)
        gumbel = torch.from_numpy(rng.gumbel(size=(12, 3)))
        M = torch.softmax((logits + gumbel) / 10, dim=1)
        z = torch.clip(mu + torch.from_numpy(0.5 * rng.standard_normal(3)), 0, 1)
        if z.max() == 0:
            continue  # all gates shut: no gradient, and the literal graph is not defined
        loss = reference.sample_loss(rows, M @ z, 7, 2, gradient == "detached")
        push += torch.autograd.grad(loss, mu)[0].sum().item()
        mu = mu.detach().requires_grad_()
        pull += torch.autograd.grad(reference.sparsity_loss(mu, M, 0.5), mu)[0].sum().item()
    assert problem.critical_sparsity_weight == pytest.approx(-push / pull, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_groups", "batch_size", "known", "smoothness_weight"),
    [
        ("lung500", 22, 32, 20.5, 10),
        ("ar10p", 20, 32, 7.5, 100),
        ("yale", 16, 32, 3.3, 10),
        ("student", 7, 70, 0.615, 0.1),
        ("metabric", 16, 100, 0.57, 1),
        ("heart_disease", 6, 100, 2.1, None),
        ("pie10p", 29, 50, 24.4, 100),
        ("nmnist38", 7, 100, 0.105, 1),
    ],
)
def test_weights_of_real_tables(name, n_groups, batch_size, known, smoothness_weight):
    problem = paper(real_table(name)[0], n_groups, batch_size)
    assert problem.critical_sparsity_weight == pytest.approx(known, rel=0.1)
    if smoothness_weight:  # the paper's own choice, found by hand there
        assert problem.objective.smoothness_weight == smoothness_weight


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_groups", "batch_size", "epochs"),
    [("moons", 12, 100, 500), ("heart_disease", 6, 100, 1000)],
)
def test_critical_weight_separates_open_from_closed(name, n_groups, batch_size, epochs):
    X = moons() if name == "moons" else real_table(name)[0]
    problem = paper(X, n_groups, batch_size, max_epochs=epochs)
    assert open_groups_at(problem, [0.9, 1.1]) == [n_groups, 0]


@pytest.mark.slow
def test_a_cool_start_is_no_knife_edge():
    problem = prepared(moons(), n_groups=12)
    assert open_groups_at(problem, [0.4, 1.0, 1.6]) == [2, 2, 2]


def test_without_structure_the_weight_stays_positive():
    assert critical_sparsity_weight(push=0.1, pull=0.5) > 0
