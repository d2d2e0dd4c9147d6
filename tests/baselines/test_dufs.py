"""DUFS: gates that find the moons, by a loss that is that of the literal equations."""

import numpy as np
import pytest
import torch

from groupfs.baselines import DUFS
from groupfs.baselines.dufs import RatioOfTerms, SumOfTerms
from groupfs.datasets import load_two_moons
from groupfs.joint.losses import Objective
from groupfs.joint.relaxations import Noise
from groupfs.metrics import selection_rates
from tests import reference


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=3)


@pytest.mark.parametrize("kind", [SumOfTerms, RatioOfTerms])
def test_loss_and_gradient_are_those_of_the_gated_laplacian(kind, rng):
    X, mu, eps = (torch.from_numpy(rng.standard_normal(s)) for s in ((10, 8), (3, 8), (3, 8)))
    model = kind.with_gates(0.5 + 0.3 * mu, torch.linspace(0.1, 2, 3, dtype=torch.float64))
    objective = Objective(3, 2, 0.5, through_bandwidth=True, walk=torch.empty(0, 0))
    terms = model.loss_and_gradient(objective, X, Noise(torch.empty(3, 0, 1), 0.5 * eps), 1.0)
    for r, total in enumerate(model.total(objective, terms)):
        mu = model.mu[r].clone().requires_grad_()
        gates = (mu + 0.5 * eps[r]).clamp(0, 1)
        weight = model.sparsity_weight[r] if kind is SumOfTerms else None
        loss = reference.gated_laplacian_loss(X, gates, mu, 3, 0.5, weight)
        loss.backward()
        np.testing.assert_allclose(total, loss.item(), rtol=1e-9)
        np.testing.assert_allclose(model.mu.grad[r], mu.grad, rtol=1e-9, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "parameters", [{}, {"loss": "sum", "sparsity_weight": 0.1}, {"batch_size": 50}], ids=str
)
def test_both_moons_and_nothing_else(parameters, seed):
    X = load_two_moons(400, random_state=seed).data
    selector = DUFS(random_state=seed, **parameters).fit(X)
    assert selection_rates(range(10), selector.get_support(indices=True)) == (1.0, 0.0)


def test_history_tells_the_loss_of_every_epoch(moons):
    selector = DUFS(max_epochs=40, random_state=0).fit(moons.data)
    assert [record["epoch"] for record in selector.history_] == list(range(40))
    assert selector.n_iter_ == 40
    for record in selector.history_:
        ratio = record["sample_smoothness"] / record["open_share"]
        assert record["loss"] == pytest.approx(ratio, rel=1e-4)
    assert selector.history_[-1]["loss"] < selector.history_[0]["loss"]


def test_when_all_gates_close_the_best_feature_is_kept_with_a_warning(moons):
    with pytest.warns(UserWarning, match="All gates are closed"):
        selector = DUFS(loss="sum", sparsity_weight=50.0, random_state=0).fit(moons.data)
    assert selector.get_support().sum() == 1


def test_too_few_samples_have_fewer_neighbours(moons):
    with pytest.warns(UserWarning, match="n_neighbors=7 but a batch has 5 samples"):
        DUFS(max_epochs=2, random_state=0).fit(moons.data[:5])
