"""CompFS: learners that predict the classes together, each from a small group of features.

The one supervised baseline. Axes: L learners side by side, B samples of a batch, d features, H
hidden units, K classes. The largest tensors are the gates and what they let through, (L, B, d).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import train_test_split
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from groupfs.baselines.base import Table, TrainedSelector
from groupfs.joint.batches import Batches
from groupfs.joint.problem import DTYPE
from groupfs.joint.relaxations import CounterNoise
from groupfs.utils.sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE, SHARE, checked, parameter
from groupfs.utils.threads import threads_for
from groupfs.utils.types import IntArray

#: Sparsity weight over the root of d: the public package's experiments have 4.5 for 500, 2 for 84.
PRICE_OF_A_GATE = 0.2


@dataclass(eq=False, repr=False, kw_only=True)
class CompFS(TrainedSelector):
    r"""Composite feature selection: groups of features that predict classes together.

    Each of L small networks sees the features through random gates of its own, open with
    probability :math:`p`; where a gate is closed the network gets the feature's training mean. The
    sum of the networks' outputs must predict the classes, open gates cost, and so do gates that two
    networks share. What a network keeps open is its group. A feature's score is the largest of its
    :math:`p` over all networks.

    A part of the rows is kept back. The gates are those of the epoch with the best accuracy on
    these rows, predicted through hard gates (open where :math:`p` reaches the threshold); among
    equals that of the lowest loss on them, among these the first.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes the features of all groups; the single best one, with a warning, if
        there is no group.
    n_learners, hidden_width : int, default=5 and 20
        Networks (L), and with them the most groups there can be; units of each of a network's two
        hidden layers.
    sparsity_weight : float or "auto", default="auto"
        Price of open gates (:math:`\beta_s`). "auto" is :math:`0.2 \sqrt d`, which makes a gate
        cost the same whatever the number of features.
    diversity_weight : float, default=1.2
        Price of gates that two networks share (:math:`\beta_d`).
    threshold : float, default=0.7
        Probability from which on a feature is in a group.
    batch_size, max_epochs : int, default=50 and 250
        Rows of a step, and passes over the training rows. A step moves a gate's logit by about the
        learning rate, and logits start about 1 from zero: some hundreds of steps are needed.
    learning_rate, temperature : float, default=0.003 and 0.1
        Of Adam, and of the relaxed Bernoulli variables that are the gates in training.
    validation_fraction : float, default=0.1
        Share of the rows kept back, in the proportions of the classes if these are large enough.
    standardize, device, random_state, verbose
        As in :class:`groupfs.GroupFS`.

    Attributes
    ----------
    gate_probabilities_ : ndarray of shape (n_learners, n_features_in_)
        Probability that a network's gate is open; 0 for constant columns.
    groups_ : list of ndarray
        Indices of the features that reach the threshold, per network, without empty and repeated
        groups. Groups may overlap; there may be none.
    best_epoch_, validation_score_ : int, float
        Epoch whose gates were kept, counted from 1, and its accuracy on the rows kept back.
    history_ : list of dict
        Per epoch: ``loss`` (mean over batches), ``validation_accuracy``, ``validation_loss``.
    sparsity_weight_, n_iter_ : float, int
        The sparsity weight used, and the epochs trained.

    Notes
    -----
    The defaults are those of the synthetic experiments of the public package (compfs 0.0.2).

    References
    ----------
    Imrie, Norcliffe, Liò and van der Schaar, "Composite Feature Selection using Deep Ensembles",
    NeurIPS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.baselines import CompFS
    >>> X = np.random.default_rng(0).standard_normal((300, 10))
    >>> y = np.where(X[:, 2] + X[:, 7] > 0, "ill", "well")
    >>> selector = CompFS(2, max_epochs=60, learning_rate=0.01, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([2, 7])
    """

    __module__ = "groupfs.baselines"

    n_learners: int = parameter(5, COUNT)
    hidden_width: int = parameter(20, COUNT)
    sparsity_weight: float | str = parameter("auto", NOT_NEGATIVE, {"auto"})
    diversity_weight: float = parameter(1.2, NOT_NEGATIVE)
    threshold: float = parameter(0.7, SHARE)
    batch_size: int = parameter(50, COUNT)
    max_epochs: int = parameter(250, COUNT)
    learning_rate: float = parameter(0.003, POSITIVE)
    temperature: float = parameter(0.1, POSITIVE)
    validation_fraction: float = parameter(0.1, SHARE)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the learners to predict ``y``, the class of every row; rank by their gates."""
        codes = encode_classes(X, y)
        table = self._open_table(X)
        with threads_for(table.rows.shape):
            self._fit_classes(table, codes)
        return self

    def _fit_classes(self, table: Table, codes: IntArray) -> None:
        rows, d = self._batches(table), table.rows.shape[1]
        given = self.sparsity_weight
        self.sparsity_weight_ = PRICE_OF_A_GATE * d**0.5 if given == "auto" else float(given)
        seeds = self._seeds(3 + self.n_learners)
        sizes = self.n_learners, d, self.hidden_width, int(codes.max()) + 1
        logits = self._train(
            Learners(sizes, np.random.default_rng(seeds[1]), rows.device, DTYPE),
            Split(rows, codes, *split_rows(codes, self.validation_fraction, seeds[0])),
            np.random.default_rng(seeds[2]),
            CounterNoise(seeds[3:], rows.device),
        )
        p = expit(logits.double().cpu().numpy())
        self.gate_probabilities_ = np.zeros((self.n_learners, self.n_features_in_))
        self.gate_probabilities_[:, table.columns] = p
        is_open = self.gate_probabilities_ >= self.threshold
        groups = dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in is_open)
        self.groups_ = [np.array(group) for group in groups if group]
        if_none = (
            f"no feature reaches threshold={self.threshold} in any group (the best has "
            f"{p.max():.2f}), so only the best one is selected; choose a lower threshold or "
            "sparsity_weight, more epochs, or n_features_to_select."
        )
        self._rank_open(table, p.max(axis=0), int(is_open.any(axis=0).sum()), if_none)

    def _train(
        self, learners: "Learners", split: "Split", orders: np.random.Generator, noise: CounterNoise
    ) -> Tensor:
        """Train the learners; return the gate logits of the best epoch, (L, d)."""
        optimizer = torch.optim.Adam(learners.parameters(), lr=self.learning_rate)
        prices = (self.sparsity_weight_, self.diversity_weight)
        self.history_: list[dict[str, float]] = []
        best, best_logits = (-1.0, 0.0), learners.gate_logits
        epochs = range(1, self.max_epochs + 1)
        for epoch in tqdm(epochs, desc="CompFS", unit="epoch", disable=not self.verbose):
            losses = []
            for x, y in split.batches(orders.permutation(split.training), self.batch_size):
                uniform = noise.uniform(x.numel(), x.dtype).view(-1, *x.shape)
                gates = learners.relaxed_gates(uniform, self.temperature)
                loss = prediction_loss(*learners.predict(x, gates), y) + learners.penalty(*prices)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
            trained = float(torch.stack(losses).mean())
            accuracy, judged = self._validate(learners, split)
            if not np.isfinite(trained + judged):
                raise ValueError(
                    f"training diverged: in epoch {epoch} the loss is {trained} on training and "
                    f"{judged} on validation rows; choose a learning_rate below "
                    f"{self.learning_rate}."
                )
            record = {"loss": trained, "validation_accuracy": accuracy, "validation_loss": judged}
            self.history_.append(record)
            if (accuracy, -judged) > best:
                best, self.best_epoch_ = (accuracy, -judged), epoch
                best_logits = learners.gate_logits.detach().clone()
        self.n_iter_, self.validation_score_ = self.max_epochs, best[0]
        return best_logits

    @torch.no_grad()
    def _validate(self, learners: "Learners", split: "Split") -> tuple[float, float]:
        """Return accuracy of the aggregate prediction and loss on rows kept back, by hard gates."""
        gates = (learners.gate_logits.sigmoid() >= self.threshold).unsqueeze(1)
        hits, loss = torch.zeros(2, device=split.codes.device)
        for x, y in split.batches(split.validation, self.batch_size):
            aggregate, individual = learners.predict(x, gates)
            hits += (aggregate.argmax(1) == y).sum()
            loss += prediction_loss(aggregate, individual, y) * len(y)
        n = len(split.validation)
        penalty = learners.penalty(self.sparsity_weight_, self.diversity_weight)
        return float(hits) / n, float(loss / n + penalty)


def encode_classes(X: Any, y: Any) -> IntArray:
    """Return the classes of the rows of X as numbers from 0, (N,)."""
    if y is None:
        raise ValueError(
            "CompFS requires y to be passed, but the target y is None; it is supervised and learns "
            "from the class of every row."
        )
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_consistent_length(X, y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        raise ValueError(
            f"y holds one class only ({classes[0]}); CompFS learns what tells classes apart and "
            "needs at least 2."
        )
    return codes


class Learners:
    """L networks, each behind gates of its own.

    A learner is two ReLU layers followed by two linear heads. The sum of the aggregate heads is the
    prediction of all learners together; an individual head says what one learner knows alone.
    Gate logits start N(0, 1), weights and biases uniform within one over the root of the inputs.
    ``sizes`` are L, d, H and K.
    """

    def __init__(
        self,
        sizes: tuple[int, int, int, int],
        rng: np.random.Generator,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        L, d, H, K = sizes

        def parameter(values: NDArray[Any]) -> Tensor:
            return torch.as_tensor(values, dtype=dtype, device=device).requires_grad_()

        def layer(n_inputs: int, n_outputs: int) -> list[Tensor]:
            """Return weights (L, inputs, outputs) and biases (L, 1, outputs)."""
            uniform = (rng.random((L, n, n_outputs), np.float32) for n in (n_inputs, 1))
            return [parameter((2 * u - 1) * n_inputs**-0.5) for u in uniform]

        self.gate_logits = parameter(rng.standard_normal((L, d)))
        self.first, self.second = layer(d, H), layer(H, H)
        self.aggregate_head, self.individual_head = layer(H, K), layer(H, K)

    def parameters(self) -> list[Tensor]:
        heads = (*self.aggregate_head, *self.individual_head)
        return [self.gate_logits, *self.first, *self.second, *heads]

    def relaxed_gates(self, uniform: Tensor, temperature: float) -> Tensor:
        """Draw gates nearly 0 or 1, open with probability p; overwrites ``uniform``, (L, B, d)."""
        logits = uniform.logit_().add_(self.gate_logits.unsqueeze(1))
        return logits.div_(temperature).sigmoid_()

    def predict(self, deviations: Tensor, gates: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of all learners together, (B, K), and of each alone, (L, B, K).

        ``deviations`` (B, d) are those of the samples from the training mean, so that a closed
        gate, (L, B, d) or (L, 1, d), which gives zero, puts the mean in place of a value.
        """
        hidden = _linear(_linear(gates * deviations, self.first).relu(), self.second).relu()
        aggregate = _linear(hidden, self.aggregate_head).sum(0)
        # the individual heads only read: networks and gates learn from the aggregate alone
        return aggregate, _linear(hidden.detach(), self.individual_head)

    def penalty(self, sparsity_weight: float, diversity_weight: float) -> Tensor:
        r"""Return the price of open gates, and of gates that learners share; p of shape (L, d).

        .. math::
            \beta_s \frac{\sqrt d}{L} \sum_i \operatorname{mean}(p_i)^2
            + \beta_d \frac{2 \sqrt d}{L (L - 1)} \sum_{i<j} \operatorname{mean}(p_i p_j)

        Twice the sum over pairs is the square of the sum less the sum of squares. One learner has
        no pairs.
        """
        p = self.gate_logits.sigmoid()
        L, d = p.shape
        size = p.mean(1).square().sum() / L
        overlap = (p.sum(0).square() - p.square().sum(0)).mean() / (L * max(L - 1, 1))
        return d**0.5 * (sparsity_weight * size + diversity_weight * overlap)


def prediction_loss(aggregate: Tensor, individual: Tensor, y: Tensor) -> Tensor:
    """Return cross entropy of the aggregate plus that of all learners; (B, K), (L, B, K), (B,)."""
    L = len(individual)
    return cross_entropy(aggregate, y) + L * cross_entropy(individual.flatten(0, 1), y.repeat(L))


def _linear(x: Tensor, layer: list[Tensor]) -> Tensor:
    weight, bias = layer
    return torch.baddbmm(bias, x, weight)


class Split:
    """Rows and their classes, divided into those that train, (M,), and those that judge.

    Rows are given as deviations from the mean of the training rows.
    """

    def __init__(
        self, rows: Batches, codes: IntArray, training: IntArray, validation: IntArray
    ) -> None:
        self.rows, self.training, self.validation = rows, training, validation
        share = np.zeros((len(codes), 1))
        share[training] = 1 / len(training)
        example = rows.take(torch.zeros(1, dtype=torch.int64))
        self.center = torch.as_tensor(rows.rows.project(share)[:, 0]).to(example)
        self.codes = torch.as_tensor(codes, device=example.device)

    def batches(self, index: IntArray, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield deviations, (B, d), and classes, (B,), of rows by index."""
        for part in torch.as_tensor(index).to(self.codes.device).split(size):
            yield self.rows.take(part) - self.center, self.codes[part]


def split_rows(codes: IntArray, validation_fraction: float, seed: int) -> tuple[IntArray, IntArray]:
    """Split into rows to train on and rows to judge by, both with every class if possible."""
    N, sizes = len(codes), np.bincount(codes)
    n_validation = min(ceil(validation_fraction * N), N - 1)
    possible = sizes.min() >= 2 and len(sizes) <= min(n_validation, N - n_validation)
    how = {"stratify": codes if possible else None, "random_state": seed}
    training, validation = train_test_split(np.arange(N), test_size=n_validation, **how)
    return training, validation
