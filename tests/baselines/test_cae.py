"""The concrete autoencoder: what a step computes, when it stops, which features it gives."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from groupfs.baselines.cae import estimator as cae
from groupfs.baselines.cae.autoencoders import (
    Autoencoders,
    Hyperparameters,
    distinct_features,
    start,
    train,
)
from groupfs.baselines.cae.estimator import ConcreteAutoencoderSelector
from groupfs.data.rows import DenseRows
from groupfs.utils.counter_rng import CounterNoise

CPU = torch.device("cpu")
N_COPIES = 4


def families(rng, n_rows=96, n_families=3):
    """Copies of independent columns with a little noise; family i is columns 4 i to 4 i + 3."""
    latent = rng.standard_normal((n_rows, n_families))
    noise = rng.standard_normal((n_rows, n_families * N_COPIES))
    return np.repeat(latent, N_COPIES, axis=1) + 0.1 * noise


def rows_of(X):
    rows = DenseRows((X - X.mean(0)) / X.std(0))
    rows.to(CPU, torch.float64)
    return rows


HOW = Hyperparameters(
    hidden_width=5,
    batch_size=10,
    max_epochs=4,
    learning_rate=0.05,
    start_temperature=10.0,
    end_temperature=0.1,
    dropout=0.1,
)


def trained(X, seeds, how=HOW, **options):
    return train(seeds, 3, rows_of(X), how, CPU, torch.float64, **options)


def quick(*args, **parameters):
    """A selector that decides within few epochs."""
    return ConcreteAutoencoderSelector(
        *args, **{"learning_rate": 0.5, "random_state": 0, **parameters}
    )


def fitted(selector, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return selector.fit(X)


def literal_training(X, seed, K, how):
    """Train one replica with modules of torch, rows of the table one by one."""
    Z = torch.tensor((X - X.mean(0)) / X.std(0))
    (N, d), B, H = Z.shape, how.batch_size, how.hidden_width
    logits, W1, _, W2, _ = (
        p.detach()[0].clone() for p in start([seed], K, d, H, CPU, torch.float64).parameters()
    )
    first, second = torch.nn.Linear(K, H).double(), torch.nn.Linear(H, d).double()
    with torch.no_grad():
        first.weight.copy_(W1.T), first.bias.zero_(), second.weight.copy_(W2.T), second.bias.zero_()
    logits.requires_grad_()
    adam = torch.optim.Adam(
        [logits, *first.parameters(), *second.parameters()], lr=how.learning_rate
    )
    noise, order = CounterNoise([seed], CPU), np.random.default_rng(seed)
    n_batches = -(-N // B)
    n_steps, step, losses = how.max_epochs * n_batches, 0, []
    for _ in range(how.max_epochs):
        shuffled = np.resize(order.permutation(N), n_batches * B)
        for rows in shuffled.reshape(n_batches, B):
            share = step / (n_steps - 1)
            T = how.start_temperature * (how.end_temperature / how.start_temperature) ** share
            uniform = noise.uniform(K * d + H * B, torch.float64)[0]
            gumbel = -torch.log(-torch.log(uniform[: K * d])).reshape(K, d)
            weights = torch.softmax((logits + gumbel) / T, dim=1)
            keep = (uniform[K * d :].reshape(H, B) >= how.dropout).double() / (1 - how.dropout)
            error = 0.0
            for i, row in enumerate(rows):
                hidden = torch.nn.functional.leaky_relu(first(weights @ Z[row]), 0.2)
                error = error + ((second(hidden * keep[:, i]) - Z[row]) ** 2).sum()
            adam.zero_grad()
            (error / (B * d)).backward()
            adam.step()
            losses.append(error.item() / (B * d))
            step += 1
    with torch.no_grad():
        picked = Z[:, logits.argmax(1)]
        rebuilt = second(torch.nn.functional.leaky_relu(first(picked), 0.2))
        hard_error = float(((rebuilt - Z) ** 2).mean())
    return logits.detach().numpy(), np.reshape(losses, (-1, n_batches)).mean(1), hard_error


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_training_equals_the_literal_loop(rng, dropout):
    X, how = families(rng, 24), replace(HOW, dropout=dropout)
    (outcome,) = trained(X, [7], how)
    logits, losses, error = literal_training(X, 7, 3, how)
    np.testing.assert_allclose(outcome.logits, logits, atol=1e-9)
    np.testing.assert_allclose([r["loss"] for r in outcome.history], losses, rtol=1e-9)
    assert outcome.error == pytest.approx(error, rel=1e-9)
    temperatures = 10 * 0.01 ** (np.array([2, 5, 8, 11]) / 11)  # of the last of 3 steps
    np.testing.assert_allclose([r["temperature"] for r in outcome.history], temperatures)


def test_a_replica_is_the_same_alone_and_beside_others_that_decide_earlier(rng):
    X, how = families(rng, 24), replace(HOW, max_epochs=60, learning_rate=0.1)
    together = trained(X, range(4), how, decided=0.5)
    assert len({len(outcome.history) for outcome in together}) > 1
    assert np.abs(together[0].logits - together[1].logits).max() > 0.1
    for seed, outcome in enumerate(together):
        (alone,) = trained(X, [seed], how, decided=0.5)
        assert outcome.seed == seed and len(outcome.history) == len(alone.history)
        np.testing.assert_allclose(outcome.logits, alone.logits, rtol=0, atol=1e-9)
        assert outcome.error == pytest.approx(alone.error, abs=1e-9)
        losses = ([record["loss"] for record in one.history] for one in (outcome, alone))
        np.testing.assert_allclose(*losses, rtol=1e-9)


def test_the_weights_start_glorot_normal_and_depend_on_the_seed():
    model = start([0, 1], 40, 60, 50, CPU, torch.float64)
    logits, W1, b1, W2, b2 = (p.detach().numpy() for p in model.parameters())
    for weights, fans in ((logits[0], 100), (W1[0], 90), (W2[0], 110)):
        assert weights.std() == pytest.approx(np.sqrt(2 / fans), rel=0.05)
    assert not (b1.any() or b2.any()) and (logits[0] != logits[1]).all()


def test_sureness_is_the_mean_of_the_row_maxima_of_the_softmax():
    model = start([0, 1], 4, 6, 3, CPU, torch.float64)
    probability = softmax(model.logits.detach().numpy(), axis=2)
    np.testing.assert_allclose(model.mean_max_probability(), probability.max(2).mean(1))


def test_training_stops_at_the_first_epoch_with_row_maxima_above_0_998(rng):
    X = families(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = quick(3).fit(X)
    sureness = np.array([record["mean_max_probability"] for record in selector.history_])
    assert selector.converged_ and selector.n_iter_ == len(sureness) < 200
    assert sureness[-1] > 0.998 and (sureness[:-1] <= 0.998).all()


def test_selectors_that_learned_nothing_have_not_decided_however_low_the_temperature(rng):
    selector = quick(3, learning_rate=1e-9, max_epochs=3, start_temperature=1e-5)
    selector.set_params(end_temperature=1e-6)
    with pytest.warns(ConvergenceWarning, match="not decided after 3 epochs"):
        selector.fit(families(rng))
    assert not selector.converged_ and selector.n_iter_ == 3


@pytest.mark.parametrize(
    ("p", "expected", "n_collapsed"),
    [
        ([[0.5, 0.3, 0.1, 0.1], [0.9, 0.05, 0.03, 0.02], [0.6, 0.3, 0.06, 0.04]], [2, 0, 1], 2),
        ([[0.8, 0.15, 0.05], [0.7, 0.2, 0.1], [0.2, 0.5, 0.3]], [0, 2, 1], 1),
    ],
    ids=["all pick one feature", "one must not take what another likes best"],
)
def test_the_surest_selector_keeps_a_feature_and_others_choose_in_turn(p, expected, n_collapsed):
    features, n_given_way = distinct_features(np.log(p))
    assert features.tolist() == expected and n_given_way == n_collapsed


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_one_copy_of_every_independent_column_is_selected(seed):
    X = families(np.random.default_rng(seed))
    selector = quick(3, n_init=4, learning_rate=0.1, max_epochs=80, random_state=seed)
    fitted(selector, X)
    assert (selector.get_support(indices=True) // N_COPIES).tolist() == [0, 1, 2]


def test_the_replica_with_the_lowest_error_is_kept(rng):
    search = fitted(quick(3, n_init=4, max_epochs=30, learning_rate=0.02), families(rng))
    best = min(search.search_, key=lambda record: record["error"])
    assert search.reconstruction_error_ == best["error"]
    assert search.n_iter_ == best["n_epochs"]
    for what in ("error", "seed"):
        assert len({record[what] for record in search.search_}) == 4


def test_replicas_that_memory_cannot_hold_together_are_trained_in_turn(rng, monkeypatch):
    X, settings = families(rng), {"max_epochs": 5, "n_init": 3}
    together = fitted(quick(3, **settings), X)
    monkeypatch.setattr(cae, "memory_for_models", lambda device: 1)
    in_turn = fitted(quick(3, **settings), X)
    errors = [[record["error"] for record in s.search_] for s in (together, in_turn)]
    np.testing.assert_allclose(*errors, rtol=1e-4)
    np.testing.assert_allclose(together.scores_, in_turn.scores_, rtol=1e-3)


def test_selected_features_come_first_by_probability_then_the_others(rng):
    selector = fitted(quick(5, learning_rate=0.02, max_epochs=20), families(rng))
    selected = selector.get_support()
    assert ((selector.scores_[selected] > 1) & (selector.scores_[selected] <= 2)).all()
    assert ((selector.scores_[~selected] > 0) & (selector.scores_[~selected] <= 0.5)).all()
    np.testing.assert_array_equal(np.argsort(-selector.scores_), np.argsort(selector.ranking_))


def test_defaults_are_a_hidden_unit_per_feature_and_an_eighth_of_the_rows(rng):
    selector = fitted(quick(max_epochs=1), rng.standard_normal((240, 8)))
    assert selector.search_[0]["hidden_width"] == 4 and selector.search_[0]["batch_size"] == 30
    selector = fitted(quick(max_epochs=1), rng.standard_normal((10, 8)))
    assert selector.search_[0]["batch_size"] == 10


def test_training_that_diverges_is_an_error(rng):
    with pytest.raises(ValueError, match=r"diverged with learning_rate=1e\+30"):
        quick(3, learning_rate=1e30, max_epochs=3).fit(families(rng))


def test_a_replica_that_diverged_is_never_kept(rng, monkeypatch):
    measured = Autoencoders.hard_error

    def first_is_nan(self, rows, batch_size):
        errors = measured(self, rows, batch_size)
        errors[0] = np.nan
        return errors

    monkeypatch.setattr(Autoencoders, "hard_error", first_is_nan)
    selector = fitted(quick(3, n_init=2, max_epochs=2), families(rng))
    assert selector.search_[0]["error"] == np.inf
    assert selector.reconstruction_error_ == selector.search_[1]["error"] < np.inf


def test_a_temperature_that_rises_is_refused(rng):
    with pytest.raises(ValueError, match="end_temperature=2 is above start"):
        quick(3, start_temperature=1, end_temperature=2).fit(families(rng))
