"""Training of the learners of CompFS: rows to train on and to judge by, epochs, the best epoch.

Axes as in ``learners``: L learners, B samples of a batch, d features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import Tensor
from tqdm import tqdm

from groupfs.baselines.compfs.learners import Learners, gate_penalty, prediction_loss
from groupfs.data.rows import RowsInMemory
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.types import IntArray


@dataclass(frozen=True)
class Hyperparameters:
    """Settings of training; ``CompFS`` has parameters of the same names."""

    sparsity_weight: float
    diversity_weight: float
    threshold: float
    temperature: float
    batch_size: int
    max_epochs: int
    learning_rate: float

    def penalty(self, learners: Learners) -> Tensor:
        p = learners.gate_logits.sigmoid()
        return gate_penalty(p, self.sparsity_weight, self.diversity_weight)


class Split:
    """Rows and their classes, divided into those that train, (M,), and those that judge.

    Rows are given as deviations from the mean of the training rows.
    """

    def __init__(
        self, rows: RowsInMemory, codes: IntArray, training: IntArray, validation: IntArray
    ) -> None:
        self.rows, self.training, self.validation = rows, training, validation
        share = np.zeros((len(codes), 1))
        share[training] = 1 / len(training)
        example = rows.take(torch.zeros(1, dtype=torch.int64))
        self.center = torch.as_tensor(rows.project(share)[:, 0]).to(example)
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
    training, validation = train_test_split(
        np.arange(N),
        test_size=n_validation,
        stratify=codes if possible else None,
        random_state=seed,
    )
    return training, validation


def train(
    learners: Learners,
    split: Split,
    how: Hyperparameters,
    rng: np.random.Generator,
    noise: CounterNoise,
    verbose: bool,
) -> tuple[int, Tensor, list[dict[str, float]]]:
    """Train the learners; return the best epoch, its gate logits, (L, d), and the history."""
    optimizer = torch.optim.Adam(learners.parameters(), lr=how.learning_rate)
    history: list[dict[str, float]] = []
    best, best_epoch, best_logits = (-1.0, 0.0), 0, learners.gate_logits
    epochs = range(1, how.max_epochs + 1)
    for epoch in tqdm(epochs, desc="CompFS", unit="epoch", disable=not verbose):
        loss = _train_epoch(learners, optimizer, split, how, rng.permutation(split.training), noise)
        accuracy, validation_loss = validate(learners, split, how)
        if not np.isfinite(loss + validation_loss):
            raise ValueError(
                f"training diverged: in epoch {epoch} the loss is {loss} on training and "
                f"{validation_loss} on validation rows; choose a learning_rate below "
                f"{how.learning_rate}."
            )
        history.append(
            {"loss": loss, "validation_accuracy": accuracy, "validation_loss": validation_loss}
        )
        if (accuracy, -validation_loss) > best:
            best, best_epoch = (accuracy, -validation_loss), epoch
            best_logits = learners.gate_logits.detach().clone()
    return best_epoch, best_logits, history


@torch.no_grad()
def validate(learners: Learners, split: Split, how: Hyperparameters) -> tuple[float, float]:
    """Return accuracy of the aggregate prediction and loss on validation rows, with hard gates."""
    gates = learners.hard_gates(how.threshold)
    hits, loss = torch.zeros(2, device=split.codes.device)
    for x, y in split.batches(split.validation, how.batch_size):
        aggregate, individual = learners.predict(x, gates)
        hits += (aggregate.argmax(1) == y).sum()
        loss += prediction_loss(aggregate, individual, y) * len(y)
    n = len(split.validation)
    return float(hits) / n, float(loss / n + how.penalty(learners))


def _train_epoch(
    learners: Learners,
    optimizer: torch.optim.Optimizer,
    split: Split,
    how: Hyperparameters,
    order: IntArray,
    noise: CounterNoise,
) -> float:
    """Pass over the training rows in the order given; return the mean loss of the batches."""
    losses = []
    for x, y in split.batches(order, how.batch_size):
        uniform = noise.uniform(x.numel(), x.dtype).view(-1, *x.shape)
        gates = learners.relaxed_gates(uniform, how.temperature)
        loss = prediction_loss(*learners.predict(x, gates), y) + how.penalty(learners)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return float(torch.stack(losses).mean())
