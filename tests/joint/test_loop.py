import numpy as np
import pytest
import torch

from groupfs.data.dense import DenseRows
from groupfs.joint.batches import Batches
from groupfs.joint.loop import CHECK_EVERY, PATIENCE, train
from groupfs.joint.losses import Objective
from groupfs.joint.model import GatedModel
from groupfs.joint.relaxations import CounterNoise
from groupfs.joint.settings import Schedule
from groupfs.joint.step import Adam, TrainStep
from groupfs.utils.warn import InterruptedTrainingWarning
from tests.support.interrupt import interrupted_after

CPU = torch.device("cpu")
TERMS = ("L_s", "L_f", "L_reg")


def make_task(weights=(1.0,), seeds=(0,), rows_type=Batches, **schedule):
    """Make everything that training takes, in double precision: 30 rows of 12 features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 12))
    X[:, :4] = X[:, :1] + 0.1 * X[:, :4]
    rows = rows_type(DenseRows(X), CPU, torch.float64)
    clusters, level = [np.repeat([0, 1, 2], 4)] * len(seeds), np.full((len(seeds), 3), 0.5)
    model = GatedModel.start(clusters, list(seeds), level, np.array(weights), CPU, torch.float64)
    walk = torch.eye(12, dtype=torch.float64) * 0.5
    usual = {"max_epochs": 8, "batch_size": 30, "learning_rate": 0.05, "end_temperature": 0.01}
    objective, settings = Objective(5, 2, 0.5, True, walk, 1.0), Schedule(**{**usual, **schedule})
    return model, objective, rows, settings, CounterNoise(list(seeds), CPU)


def test_models_do_not_depend_on_those_trained_beside_them():
    weights, seeds = (0.3, 1.0, 3.0), (4, 9)
    together = make_task(weights, seeds, batch_size=10)
    train(*together, batch_seed=1)
    for s, seed in enumerate(seeds):
        for p, weight in enumerate(weights):
            alone = make_task((weight,), (seed,), batch_size=10)
            train(*alone, batch_seed=1)
            for many, one in zip(together[0].parameters(), alone[0].parameters(), strict=True):
                np.testing.assert_allclose(many[3 * s + p], one[0], rtol=1e-9, atol=1e-12)


def test_stopping_early_is_a_model_s_own_affair():
    weights, seeds = (0.05, 0.5, 6.0), (4, 9)
    plan = {"early_stopping": True, "max_epochs": 300}
    together = make_task(weights, seeds, **plan)
    history = train(*together, batch_seed=1)
    assert not history.interrupted
    assert CHECK_EVERY * PATIENCE <= min(history.n_epochs) < max(history.n_epochs) < 300
    assert np.isnan(history.terms[-1]).any()  # the converged ones were left out
    for s, seed in enumerate(seeds):
        for p, weight in enumerate(weights):
            alone = make_task((weight,), (seed,), **plan)
            own = train(*alone, batch_seed=1)
            assert own.n_epochs[0] == history.n_epochs[3 * s + p]
            np.testing.assert_allclose(own.last_terms[0], history.last_terms[3 * s + p], rtol=1e-9)
            np.testing.assert_allclose(together[0].mu[3 * s + p], alone[0].mu[0], rtol=1e-9)


def test_history_has_a_record_per_epoch():
    model, *rest = make_task(max_epochs=5, batch_size=12)
    history = train(model, *rest, batch_seed=0)
    records = history.records(0, (1.0, 2.0, 3.0))
    assert [record["epoch"] for record in records] == list(range(5))
    heats = [record["temperature"] for record in records]
    assert heats == sorted(heats, reverse=True) and heats[0] == 1.0
    np.testing.assert_allclose(records[-1]["gates"], model.mu[0])
    np.testing.assert_array_equal([records[-1][name] for name in TERMS], history.last_terms[0])
    for record in records:
        smooth, coherent, sparse = (record[name] for name in TERMS)
        assert record["loss"] == pytest.approx(smooth + 2 * coherent + 3 * sparse)
        assert record["seconds"] > 0


class NotedRows(Batches):
    """Rows that note which of them were taken."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.taken = []

    def take(self, index, out=None):
        self.taken.append(index.tolist())
        return super().take(index, out)


@pytest.mark.parametrize(("steps_per_epoch", "n_steps"), [(None, 4), (2, 2)])
def test_an_epoch_takes_every_row_or_a_random_part_in_batches_of_one_size(
    steps_per_epoch, n_steps, rng
):
    task = make_task(batch_size=8, steps_per_epoch=steps_per_epoch, rows_type=NotedRows)
    taken = task[2].taken
    step = TrainStep(*task)
    taken.clear()
    step.epoch(rng)
    assert step.n_steps == n_steps == len(taken)
    assert {len(batch) for batch in taken} == {8}
    seen = {row for batch in taken for row in batch}
    assert len(seen) == (30 if steps_per_epoch is None else 16)


def test_ctrl_c_keeps_what_was_learned():
    model, *rest = make_task(max_epochs=10**6)
    start = model.mu.clone()
    with (
        pytest.warns(InterruptedTrainingWarning, match="after 3 of 1000000 epochs"),
        interrupted_after(3),
    ):
        history = train(model, *rest, batch_seed=0)
    assert history.interrupted
    assert len(history.terms) == len(history.gates) == history.n_epochs[0] == 3
    assert np.isfinite(history.terms).all() and not torch.equal(model.mu, start)


def test_ctrl_c_before_the_end_of_the_first_epoch_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt), interrupted_after(0):
        train(*make_task(), batch_seed=0)


def test_progress_shows_epochs(capsys):
    train(*make_task(), batch_seed=0, verbose=True)
    assert "8/8" in capsys.readouterr().err
    train(*make_task(), batch_seed=0)
    assert capsys.readouterr().err == ""


def test_steps_of_adam_are_those_of_torch():
    generator = torch.Generator().manual_seed(0)
    ours = [torch.ones((2, 3), dtype=torch.float64), torch.zeros(4, dtype=torch.float64)]
    theirs = [parameter.clone() for parameter in ours]
    own, other = Adam(ours, 0.03), torch.optim.Adam(theirs, lr=0.03)
    for _ in range(60):
        for mine, yours in zip(ours, theirs, strict=True):
            mine.grad = torch.randn(mine.shape, generator=generator, dtype=torch.float64)
            yours.grad = mine.grad.clone()
        own.step()
        other.step()
    for mine, yours in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, yours, rtol=1e-5, atol=1e-7)
