import numpy as np
import pytest
import torch

from groupfs.data.rows import DenseRows
from groupfs.models.all_groups import NoiseSource, Objective, warm_start
from groupfs.training import loop as trainer
from groupfs.training.history import TERMS
from groupfs.training.loop import Schedule, train

CPU = torch.device("cpu")


def task(rng, weights=(1.0,), seeds=(0,), dtype=torch.float64, **schedule):
    X = rng.standard_normal((30, 12))
    X[:, :4] = X[:, :1] + 0.1 * X[:, :4]
    rows = DenseRows(X)
    rows.to(CPU, dtype)
    labels = np.repeat([0, 1, 2], 4)
    start = np.full((len(seeds), 3), 0.5)
    model = warm_start([labels] * len(seeds), start, np.array(weights), list(seeds), CPU, dtype)
    objective = Objective(torch.eye(12, dtype=dtype) * 0.5, 5, 2, 0.5, 1.0, True)
    settings = {
        "max_epochs": 8,
        "batch_size": 30,
        "learning_rate": 0.05,
        "start_temperature": 1.0,
        "end_temperature": 0.01,
        "stop_early": False,
    }
    plan = Schedule(**{**settings, **schedule})
    return model, objective, rows, plan, NoiseSource(list(seeds), 0.5, CPU)


def test_models_do_not_depend_on_those_trained_beside_them():
    weights, seeds = (0.3, 1.0, 3.0), (4, 9)
    together = task(np.random.default_rng(0), weights, seeds, batch_size=10)
    train(*together, batch_seed=1)
    for s, seed in enumerate(seeds):
        for p, weight in enumerate(weights):
            alone = task(np.random.default_rng(0), (weight,), (seed,), batch_size=10)
            train(*alone, batch_seed=1)
            for many, one in zip(together[0].parameters(), alone[0].parameters(), strict=True):
                np.testing.assert_allclose(many[3 * s + p], one[0], rtol=1e-9, atol=1e-12)


def test_stopping_early_is_a_model_s_own_affair():
    weights, seeds = (0.05, 0.5, 6.0), (4, 9)
    plan = {"stop_early": True, "max_epochs": 300}
    together = task(np.random.default_rng(0), weights, seeds, **plan)
    history = train(*together, batch_seed=1)
    epochs = [len(history.of(r, (1, 1, 1))) for r in range(6)]
    assert len(set(epochs)) > 1
    assert len(history.models[-1]) < 6  # the settled ones were left out
    for s, seed in enumerate(seeds):
        for p, weight in enumerate(weights):
            alone = task(np.random.default_rng(0), (weight,), (seed,), **plan)
            records = train(*alone, batch_seed=1).of(0, (1, 1, 1))
            assert len(records) == epochs[3 * s + p]
            ours = history.of(3 * s + p, (1, 1, 1))
            np.testing.assert_allclose(ours[-1]["loss"], records[-1]["loss"], rtol=1e-9)
            np.testing.assert_allclose(together[0].mu[3 * s + p], alone[0].mu[0], rtol=1e-9)


def test_history_has_a_record_per_epoch(rng):
    model, *rest = task(rng, max_epochs=5, batch_size=12)
    records = train(model, *rest, batch_seed=0).of(0, (1.0, 1.0, 1.0))
    assert [record["epoch"] for record in records] == list(range(5))
    heats = [record["temperature"] for record in records]
    assert heats == sorted(heats, reverse=True) and heats[0] == 1.0
    np.testing.assert_allclose(records[-1]["gates"], model.mu[0])
    for record in records:
        terms = [record[name] for name in TERMS]
        assert record["loss"] == pytest.approx(sum(terms))
        assert record["seconds"] > 0


def test_every_row_is_seen_in_every_epoch_in_batches_of_one_size(rng, monkeypatch):
    model, objective, rows, plan, noise = task(rng, batch_size=8)
    step = trainer.TrainStep(model, objective, rows, plan, noise)
    seen = []
    monkeypatch.setattr(rows, "take", lambda index, out: seen.append(index.numpy()))
    step.run = lambda: None
    assert step.epoch(rng) == 4
    assert {len(batch) for batch in seen} == {8}
    assert set(np.concatenate(seen)) == set(range(30))


def test_an_epoch_may_be_a_random_part_of_the_rows(rng, monkeypatch):
    model, objective, rows, plan, noise = task(rng, batch_size=8, steps_per_epoch=2)
    step = trainer.TrainStep(model, objective, rows, plan, noise)
    seen = []
    monkeypatch.setattr(rows, "take", lambda index, out: seen.append(index.numpy()))
    step.run = lambda: None
    assert step.epoch(rng) == 2
    assert len(set(np.concatenate(seen))) == 16


def test_training_stops_when_settled_and_not_before(rng):
    lively = train(*task(rng, max_epochs=400, stop_early=True), batch_seed=0)
    assert trainer.LOOK_EVERY * trainer.PATIENCE <= len(lively.terms) < 400
    full = train(*task(rng, max_epochs=60, stop_early=False), batch_seed=0)
    assert len(full.terms) == 60


def test_interrupt_keeps_what_was_learned(rng, monkeypatch):
    model, *rest = task(rng)
    epochs = interrupt_after(3, monkeypatch)
    with pytest.warns(UserWarning, match="interrupted after 3 of 8 epochs"):
        history = train(model, *rest, batch_seed=0)
    assert len(history.terms) == 3 == epochs[0] - 1


def test_interrupt_before_the_first_epoch_is_an_interrupt(rng, monkeypatch):
    interrupt_after(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        train(*task(rng), batch_seed=0)


def interrupt_after(n_epochs, monkeypatch):
    run, count = trainer._run_epoch, [0]

    def interrupted(*arguments):
        count[0] += 1
        if count[0] > n_epochs:
            raise KeyboardInterrupt
        run(*arguments)

    monkeypatch.setattr(trainer, "_run_epoch", interrupted)
    return count


def test_progress_shows_epochs_loss_and_open_gates(rng, capsys):
    train(*task(rng), batch_seed=0, verbose=True)
    shown = capsys.readouterr().err
    assert "8/8" in shown and "loss=" in shown and "open_gates=" in shown
    train(*task(rng), batch_seed=0)
    assert capsys.readouterr().err == ""
