"""CompFS: its loss against a literal loop, what learns from what, which epoch is kept, groups."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from groupfs.baselines import CompFS
from groupfs.baselines.compfs import Learners, Split, prediction_loss, split_rows
from groupfs.data.dense import DenseRows
from groupfs.joint.batches import Batches

CPU, DOUBLE = torch.device("cpu"), torch.float64
L, B, D, H, K = 3, 7, 5, 4, 3


@pytest.fixture
def learners(rng):
    return Learners((L, D, H, K), rng, CPU, DOUBLE)


@pytest.fixture
def batch(rng):
    arrays = rng.standard_normal((B, D)), rng.random((L, B, D)), rng.integers(K, size=B)
    return [torch.as_tensor(array) for array in arrays]


@pytest.fixture(scope="module")
def easy():
    """Classes by the sign of the sum of columns 2 and 7 of 10."""
    X = np.random.default_rng(0).standard_normal((400, 10))
    return X, np.where(X[:, 2] + X[:, 7] > 0, "ill", "well")


def quick(n_features_to_select=None, **parameters):
    settings = {"max_epochs": 60, "learning_rate": 0.01, "random_state": 0, **parameters}
    return CompFS(n_features_to_select, **settings)


def literal_loss(learners, x, x_bar, uniform, y, temperature, beta_s, beta_d):
    """One learner, sample, feature and pair at a time."""
    p = [torch.sigmoid(w) for w in learners.gate_logits]
    total, loss = 0, 0
    for i in range(L):
        rows = []
        for n in range(B):
            row = []
            for k in range(D):
                u = uniform[i, n, k]
                odds = torch.log(p[i][k] / (1 - p[i][k])) + torch.log(u / (1 - u))
                gate = 1 / (1 + torch.exp(-odds / temperature))
                # the network of the learners takes deviations from the mean
                row.append(gate * x[n, k] + (1 - gate) * x_bar[k] - x_bar[k])
            rows.append(torch.stack(row))

        def layer(values, weights, i=i):
            return linear(values, weights[0][i].T, weights[1][i, 0])

        hidden = torch.relu(layer(torch.stack(rows), learners.first))
        hidden = torch.relu(layer(hidden, learners.second))
        total = total + layer(hidden, learners.aggregate_head)
        loss = loss + cross_entropy(layer(hidden.detach(), learners.individual_head), y)
        loss = loss + beta_s * p[i].mean() ** 2 * D**0.5 / L
        for j in range(i + 1, L):
            loss = loss + 2 * beta_d * (p[i] * p[j]).mean() * D**0.5 / (L * (L - 1))
    return loss + cross_entropy(total, y)


def batched_loss(learners, deviations, uniform, y, temperature, beta_s, beta_d):
    gates = learners.relaxed_gates(uniform.clone(), temperature)
    prediction = prediction_loss(*learners.predict(deviations, gates), y)
    return prediction + learners.penalty(beta_s, beta_d)


def test_loss_and_gradients_equal_the_literal_loop(learners, batch):
    x, uniform, y = batch
    x_bar = torch.linspace(-1, 1, D, dtype=DOUBLE)
    literal = literal_loss(learners, x, x_bar, uniform, y, 0.5, beta_s=0.7, beta_d=1.3)
    fast = batched_loss(learners, x - x_bar, uniform, y, 0.5, beta_s=0.7, beta_d=1.3)
    torch.testing.assert_close(fast, literal, rtol=0, atol=1e-10)
    expected = torch.autograd.grad(literal, learners.parameters())
    for ours, theirs in zip(
        torch.autograd.grad(fast, learners.parameters()), expected, strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-8)


def test_a_closed_gate_puts_the_training_mean_in_place_of_a_value(learners, rng):
    Z, training = rng.standard_normal((20, D)) + 3, np.arange(12)
    rows = Batches(DenseRows(Z), CPU, DOUBLE)
    split = Split(rows, np.zeros(20, dtype=np.int64), training, np.arange(12, 20))
    ((x, _),) = split.batches(split.validation, 8)
    gates = torch.ones(L, 1, D, dtype=DOUBLE)
    gates[:, :, 2] = 0
    filled = Z[12:].copy()
    filled[:, 2] = Z[:12, 2].mean()
    as_open = learners.predict(torch.as_tensor(filled - Z[:12].mean(0)), torch.ones_like(gates))
    torch.testing.assert_close(learners.predict(x, gates), as_open)


def test_finds_features_that_only_tell_together(rng):
    X = rng.standard_normal((400, 10))
    selector = quick(2).fit(X, X[:, 2] * X[:, 7] > 0)
    assert selector.get_support(indices=True).tolist() == [2, 7]
    assert any({2, 7} <= set(group.tolist()) for group in selector.groups_)


@pytest.mark.slow
def test_the_epoch_with_the_best_accuracy_then_the_lowest_loss_is_kept(easy):
    few_judge = {"validation_fraction": 0.05, "sparsity_weight": 3.0}
    long = quick(max_epochs=60, **few_judge).fit(*easy)
    accuracies = [record["validation_accuracy"] for record in long.history_]
    losses = [record["validation_loss"] for record in long.history_]
    equals = [e for e in range(60) if accuracies[e] == max(accuracies)]
    best = min(equals, key=lambda e: losses[e])
    assert equals[0] < best < 59 and losses[best] > min(losses)  # no simpler rule gives the same
    assert long.best_epoch_ == best + 1 and long.n_iter_ == len(losses) == 60
    assert long.validation_score_ == max(accuracies)
    until_best = quick(max_epochs=best + 1, **few_judge).fit(*easy)
    np.testing.assert_array_equal(until_best.gate_probabilities_, long.gate_probabilities_)


def test_groups_are_the_gates_above_the_threshold_without_empty_and_repeated_ones(easy):
    X, y = easy
    selector = quick(n_learners=8, diversity_weight=0.0).fit(X, y)
    literal = []
    for p in selector.gate_probabilities_:
        group = [k for k in range(10) if p[k] >= 0.7]
        if group and group not in literal:
            literal.append(group)
    assert 0 < len(literal) < 8
    assert [group.tolist() for group in selector.groups_] == literal


def test_the_largest_gate_is_the_score_and_the_union_of_groups_is_selected(easy):
    selector = quick(max_epochs=5).fit(*easy)
    np.testing.assert_allclose(selector.scores_, selector.gate_probabilities_.max(axis=0))
    union = sorted(set().union(*(group.tolist() for group in selector.groups_)))
    assert selector.get_support(indices=True).tolist() == union


def test_without_any_group_the_best_feature_is_selected_with_a_warning(easy):
    with pytest.warns(UserWarning, match=r"no feature reaches threshold=0\.999"):
        selector = quick(threshold=0.999, max_epochs=1).fit(*easy)
    assert selector.groups_ == []
    np.testing.assert_array_equal(selector.get_support(), selector.ranking_ == 1)


def test_both_parts_hold_every_class_where_that_is_possible():
    codes = np.repeat([0, 1], [45, 15])
    for seed in range(30):
        training, validation = split_rows(codes, 0.1, seed)
        assert sorted([*training, *validation]) == list(range(60)) and len(validation) == 6
        assert set(codes[training]) == set(codes[validation]) == {0, 1}


@pytest.mark.parametrize(
    ("sizes", "fraction", "n_validation"),
    [([49, 1], 0.1, 5), ([5, 5, 5], 0.1, 2), ([1, 1], 0.9, 1)],
    ids=["class of one", "more classes than rows kept back", "two rows"],
)
def test_classes_too_small_for_both_parts_are_split_at_random(sizes, fraction, n_validation):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    training, validation = split_rows(codes, fraction, seed=0)
    assert sorted([*training, *validation]) == list(range(len(codes)))
    assert len(validation) == n_validation


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "CompFS requires y to be passed, but the target y is None"),
        (np.zeros(400), r"y holds one class only \(0\.0\)"),
        (np.linspace(0, 1, 400), "Unknown label type: continuous"),
        (np.zeros((400, 2)), "y should be a 1d array"),
        (np.arange(399) % 2, "inconsistent numbers of samples"),
        (np.where(np.arange(400) == 3, np.nan, 1.0), "Input y contains NaN"),
    ],
)
def test_a_target_that_names_no_classes_is_refused(easy, y, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(easy[0], y)


def test_training_that_diverges_is_an_error(easy):
    with pytest.raises(ValueError, match="training diverged: in epoch .* learning_rate below"):
        quick(learning_rate=1e30).fit(*easy)
