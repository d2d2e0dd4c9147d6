"""DUFS: gates that find the moons; the loss is held to the oracle in tests/joint."""

import pytest

from groupfs.baselines import DUFS
from groupfs.datasets import load_two_moons
from groupfs.metrics import selection_rates


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=3)


def rates(data, **parameters):
    selector = DUFS(**{"random_state": 3, **parameters}).fit(data.data)
    return selection_rates(range(10), selector.get_support(indices=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_both_moons_and_nothing_else_with_nothing_set(seed):
    data = load_two_moons(400, random_state=seed)
    assert rates(data, random_state=seed) == (1.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "sum", "sparsity_weight": 0.1},
        {"kernel": "median", "n_neighbors": 2},
        {"batch_size": 50},
    ],
    ids=str,
)
def test_every_loss_and_kernel_finds_them(parameters, moons):
    assert rates(moons, **parameters) == (1.0, 0.0)


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
