"""The concrete autoencoder: what a step computes, when it stops, which features it gives."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from groupfs.baselines import ConcreteAutoencoderSelector
from groupfs.baselines.cae import Autoencoder, distinct_features
from groupfs.data.dense import DenseRows
from groupfs.joint.batches import Batches
from groupfs.joint.relaxations import CounterNoise

CPU = torch.device("cpu")
N_COPIES = 4


def families(rng, n_rows=96, n_families=3):
    """Copies of independent columns with a little noise; family i is columns 4 i to 4 i + 3."""
    latent = rng.standard_normal((n_rows, n_families))
    noise = rng.standard_normal((n_rows, n_families * N_COPIES))
    return np.repeat(latent, N_COPIES, axis=1) + 0.1 * noise


def rows_of(X):
    return Batches(DenseRows((X - X.mean(0)) / X.std(0)), CPU, torch.float64)


def quick(*args, **parameters):
    """A selector that decides within few epochs."""
    return ConcreteAutoencoderSelector(
        *args, **{"learning_rate": 0.5, "random_state": 0, **parameters}
    )


def literal_training(X, seed, K, H, how):
    """Train with modules of torch, rows of the table one by one."""
    Z = torch.tensor((X - X.mean(0)) / X.std(0))
    (N, d), B = Z.shape, how.batch_size
    logits, W1, _, W2, _ = (
        p.detach().clone() for p in Autoencoder(seed, K, d, H, CPU, torch.float64).parameters()
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
            T = 10 * 2e-4**share
            uniform = noise.uniform(K * d + H * B, torch.float64)[0]
            gumbel = -torch.log(-torch.log(uniform[: K * d])).reshape(K, d)
            weights = torch.softmax((logits + gumbel) / T, dim=1)
            keep = (uniform[K * d :].reshape(H, B) >= 0.1).double() / 0.9
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


def test_training_equals_the_literal_loop(rng):
    X = families(rng, 24)
    how = quick(batch_size=10, max_epochs=4, learning_rate=0.05)
    rows, model = rows_of(X), Autoencoder(7, 3, X.shape[1], 5, CPU, torch.float64)
    history = how._train(model, rows, 7)
    logits, losses, error = literal_training(X, 7, 3, 5, how)
    np.testing.assert_allclose(model.logits.detach(), logits, atol=1e-9)
    np.testing.assert_allclose([record["loss"] for record in history], losses, rtol=1e-9)
    assert model.hard_error(rows, 10) == pytest.approx(error, rel=1e-9)
    temperatures = 10 * 2e-4 ** (np.array([2, 5, 8, 11]) / 11)  # of the last of 3 steps
    np.testing.assert_allclose([record["temperature"] for record in history], temperatures)


def test_training_stops_at_the_first_epoch_with_row_maxima_above_0_998(rng):
    X = families(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = quick(3).fit(X)
    sureness = np.array([record["mean_max_probability"] for record in selector.history_])
    assert selector.converged_ and selector.n_iter_ == len(sureness) < 200
    assert sureness[-1] > 0.998 and (sureness[:-1] <= 0.998).all()
    assert (selector.get_support(indices=True) // N_COPIES).tolist() == [0, 1, 2]


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


def test_selected_features_come_first_by_probability_then_the_others(rng):
    with pytest.warns(ConvergenceWarning, match="had not decided after 20 epochs"):
        selector = quick(5, learning_rate=0.02, max_epochs=20).fit(families(rng))
    selected = selector.get_support()
    assert ((selector.scores_[selected] > 1) & (selector.scores_[selected] <= 2)).all()
    assert ((selector.scores_[~selected] > 0) & (selector.scores_[~selected] <= 0.5)).all()
    np.testing.assert_array_equal(np.argsort(-selector.scores_), np.argsort(selector.ranking_))


def test_training_that_diverges_is_an_error(rng):
    with pytest.raises(ValueError, match=r"diverged with learning_rate=1e\+30"):
        quick(3, learning_rate=1e30, max_epochs=3).fit(families(rng))
