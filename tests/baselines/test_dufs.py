"""DUFS: gates that find the moons; the loss is held to the oracle in tests/models."""

import numpy as np
import pytest
import torch

from groupfs.baselines import DUFS
from groupfs.datasets import load_two_moons
from groupfs.metrics import selection_rates
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.seeds import derive_seeds
from tests import reference


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=3)


def found(data, **parameters):
    selector = DUFS(**{"random_state": 3, **parameters}).fit(data.data)
    return selection_rates(range(10), selector.get_support(indices=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_both_moons_and_nothing_else_with_nothing_set(seed):
    data = load_two_moons(400, random_state=seed)
    assert found(data, random_state=seed) == (1.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "sum", "sparsity_weight": 0.1},
        {"kernel": "median", "n_neighbors": 2},
        {"optimizer": "sgd", "learning_rate": 0.5},
        {"n_init": 3, "batch_size": 50},
    ],
    ids=str,
)
def test_every_loss_kernel_and_optimizer_finds_them(parameters, moons):
    assert found(moons, **parameters) == (1.0, 0.0)


def test_sgd_takes_the_steps_of_plain_gradient_descent(moons):
    X = moons.data[:40]
    selector = DUFS(
        kernel="median", optimizer="sgd", learning_rate=0.3, max_epochs=4, random_state=0
    ).fit(X)
    Z = (X - X.mean(0)) / X.std(0)
    (seed,) = derive_seeds(np.random.RandomState(0), 1)
    order = np.argsort(Z.T @ np.random.default_rng(0).standard_normal((40, 3))[:, 0])
    Z = torch.from_numpy(Z[:, order])
    mu = torch.from_numpy(0.5 + 0.01 * np.random.default_rng(seed).standard_normal(20))
    noise = CounterNoise([seed], torch.device("cpu"))
    for _ in range(4):
        mu.requires_grad_()
        gates = (mu + 0.5 * torch.special.ndtri(noise.uniform(20, torch.float64)[0])).clamp(0, 1)
        loss = reference.gated_laplacian_loss(Z, gates, mu, 1, 2.0, 0.5, None)
        (grad,) = torch.autograd.grad(loss, mu)
        mu = (mu - 0.3 * grad).detach()
    np.testing.assert_allclose(selector.scores_[order], mu, atol=1e-5)


def test_weights_trained_side_by_side_are_those_trained_alone(moons):
    weights = [0.05, 0.3, 1.0]
    plan = {"loss": "sum", "random_state": 1, "max_epochs": 30}
    together = DUFS(sparsity_weight=weights, n_init=2, **plan).fit(moons.data)
    assert [m["sparsity_weight"] for m in together.search_] == pytest.approx(weights * 2)
    assert [m["seed"] for m in together.search_] == [0, 0, 0, 1, 1, 1]
    for model in together.search_[:3]:
        alone = DUFS(sparsity_weight=model["sparsity_weight"], **plan).fit(moons.data)
        assert alone.search_[0]["loss"] == pytest.approx(model["loss"], abs=1e-5)


@pytest.mark.slow
def test_the_model_with_the_largest_gain_is_kept(moons):
    selector = DUFS(loss="sum", sparsity_weight=[1e-3, 0.1, 10.0], n_init=2, random_state=1).fit(
        moons.data
    )
    best = max(selector.search_, key=lambda model: model["gain"])
    assert best["n_open"] == (selector.scores_ > 0.5).sum() == selector.get_support().sum()
    assert best["sparsity_weight"] == pytest.approx(0.1)


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


def test_bad_weights_and_too_few_samples(moons):
    with pytest.raises(ValueError, match=r"sparsity_weight=\[\] must be a float in"):
        DUFS(loss="sum", sparsity_weight=[]).fit(moons.data)
    with pytest.warns(UserWarning, match="n_neighbors=7 but a batch has 5 samples"):
        DUFS(max_epochs=2, random_state=0).fit(moons.data[:5])
