"""How the learners of CompFS are trained: which rows train and which judge, epochs, best epoch.

Axes as in ``_composite.py``: L learners, B samples of a batch, d features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from torch import Tensor

from groupfs.baselines.compfs.learners import Learners, gate_penalty, prediction_loss
from groupfs.data.rows import RowsInMemory
from groupfs.utils.counter_rng import CounterNoise


@dataclass(frozen=True)
class Training:
    """How to train; ``CompFS`` has parameters of the same names."""

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
        self,
        rows: RowsInMemory,
        codes: NDArray[np.int64],
        training: NDArray[np.int64],
        validation: NDArray[np.int64],
    ) -> None:
        self.rows, self.training, self.validation = rows, training, validation
        share = np.zeros((len(codes), 1))
        share[training] = 1 / len(training)
        example = rows.take(torch.zeros(1, dtype=torch.int64))
        self.center = torch.as_tensor(rows.project(share)[:, 0]).to(example)
        self.codes = torch.as_tensor(codes, device=example.device)

    def batches(self, index: NDArray[np.int64], size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Deviations, (B, d), and classes, (B,), of rows by index."""
        for part in torch.as_tensor(index).to(self.codes.device).split(size):
            yield self.rows.take(part) - self.center, self.codes[part]


def divided(
    codes: NDArray[np.int64], validation_fraction: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and rows to judge by; both with every class where that is possible."""
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
    how: Training,
    rng: np.random.Generator,
    noise: CounterNoise,
    shown: bool,
) -> tuple[int, Tensor, list[dict[str, float]]]:
    """Best epoch, its gate logits of shape (L, d), and the history; on a progress bar if shown."""
    optimizer = torch.optim.Adam(learners.parameters(), lr=how.learning_rate)
    history: list[dict[str, float]] = []
    best, best_epoch, best_logits = (-1.0, 0.0), 0, learners.gate_logits
    for epoch in _counted(how.max_epochs, shown):
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
def validate(learners: Learners, split: Split, how: Training) -> tuple[float, float]:
    """Accuracy of the aggregate prediction and loss on the validation rows, with hard gates."""
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
    how: Training,
    order: NDArray[np.int64],
    noise: CounterNoise,
) -> float:
    """One pass over the training rows in the order given; the mean loss of its batches."""
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


def _counted(n_epochs: int, shown: bool) -> Iterable[int]:
    """Epochs from 1, on a progress bar if shown."""
    epochs = range(1, n_epochs + 1)
    if not shown:
        return epochs
    from tqdm import tqdm

    return tqdm(epochs, desc="CompFS", unit="epoch")
