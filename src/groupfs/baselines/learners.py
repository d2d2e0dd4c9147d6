"""The learners of CompFS side by side, their loss, and the rows they are trained and judged on.

Axes: L learners, B samples of a batch, d features, H hidden units, K classes. The largest tensors
are the gates and what they let through, (L, B, d).
"""

from collections.abc import Iterator
from math import ceil
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from torch import Tensor
from torch.nn.functional import cross_entropy

from groupfs.joint.batches import Batches
from groupfs.utils.types import IntArray


class Learners:
    """L networks, each behind gates of its own.

    A learner is two ReLU layers followed by two linear heads. The sum of the aggregate heads is the
    prediction of all learners together; an individual head says what one learner knows alone.
    Gate logits start N(0, 1), weights and biases uniform within one over the root of the inputs.
    """

    def __init__(
        self,
        n_learners: int,
        n_features: int,
        hidden_width: int,
        n_classes: int,
        rng: np.random.Generator,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        def parameter(values: NDArray[Any]) -> Tensor:
            return torch.as_tensor(values, dtype=dtype, device=device).requires_grad_()

        def layer(n_inputs: int, n_outputs: int) -> list[Tensor]:
            """Return weights (L, inputs, outputs) and biases (L, 1, outputs)."""
            uniform = (rng.random((n_learners, n, n_outputs), np.float32) for n in (n_inputs, 1))
            return [parameter((2 * u - 1) * n_inputs**-0.5) for u in uniform]

        self.gate_logits = parameter(rng.standard_normal((n_learners, n_features)))
        self.first, self.second = layer(n_features, hidden_width), layer(hidden_width, hidden_width)
        self.aggregate_head = layer(hidden_width, n_classes)
        self.individual_head = layer(hidden_width, n_classes)

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
        hidden = _linear(gates * deviations, self.first).relu()
        hidden = _linear(hidden, self.second).relu()
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
    each = cross_entropy(individual.flatten(0, 1), y.repeat(L))
    return cross_entropy(aggregate, y) + L * each


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
    stratify = codes if possible else None
    training, validation = train_test_split(
        np.arange(N), test_size=n_validation, stratify=stratify, random_state=seed
    )
    return training, validation
