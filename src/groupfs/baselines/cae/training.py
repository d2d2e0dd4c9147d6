"""The training of concrete autoencoders: epochs, batches, falling temperature, early stop.

Axes: R replicas, K selectors, d features.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from groupfs.baselines.cae.autoencoders import Autoencoders, start
from groupfs.data.rows import Rows
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Training ends when the mean over selectors of the largest selection probability exceeds this.
DECIDED = 0.998


@dataclass(frozen=True)
class Hyperparameters:
    """Settings of training; ``ConcreteAutoencoderSelector`` has parameters of the same names."""

    hidden_width: int
    batch_size: int
    max_epochs: int
    learning_rate: float
    start_temperature: float
    end_temperature: float
    dropout: float


@dataclass
class Outcome:
    """The result of training a replica."""

    seed: int
    hidden_width: int
    batch_size: int
    history: list[dict[str, float]] = field(default_factory=list)  #: one record per epoch
    converged: bool = False
    logits: NDArray[np.floating[Any]] = field(default_factory=lambda: np.empty((0, 0)))  #: (K, d)
    error: float = np.inf  #: of the table with hard selection; inf if training diverged

    def summary(self) -> dict[str, Any]:
        last = {"mean_max_probability": self.history[-1]["mean_max_probability"]}
        n_collapsed = len(self.logits) - len(np.unique(self.logits.argmax(axis=1)))
        kept = {k: v for k, v in vars(self).items() if k not in ("history", "logits")}
        return {**kept, **last, "n_epochs": len(self.history), "n_collapsed": n_collapsed}


def train(
    seeds: list[int],
    K: int,
    rows: Rows,
    how: Hyperparameters,
    device: torch.device,
    dtype: torch.dtype,
    verbose: bool = False,
    decided: float = DECIDED,
) -> list[Outcome]:
    """Train a replica per seed, each until it has decided; none depends on the others."""
    outcomes = [Outcome(seed, how.hidden_width, how.batch_size) for seed in seeds]
    model = start(seeds, K, rows.shape[1], how.hidden_width, device, dtype)
    active = ActiveReplicas(outcomes, model, rows, how)
    n_epochs, name = how.max_epochs, "Concrete autoencoder"
    with tqdm(total=n_epochs, desc=name, unit="epoch", disable=not verbose) as progress:
        for epoch in range(n_epochs):
            loss, sureness = active.run_epoch(epoch)
            progress.set_postfix(loss=loss.min(), decided=sureness.max(), refresh=False)
            progress.update()
            done = (sureness > decided) | (epoch + 1 == n_epochs)
            if done.any():
                active.finish(np.flatnonzero(done), sureness > decided)
                active.keep(np.flatnonzero(~done))
            if not active.outcomes:
                break
    return outcomes


class ActiveReplicas:
    """The replicas still in training, with their moments, noise and orders of the rows."""

    def __init__(
        self, outcomes: list[Outcome], model: Autoencoders, rows: Rows, how: Hyperparameters
    ) -> None:
        self.outcomes, self.model, self.rows, self.how = outcomes, model, rows, how
        seeds = [outcome.seed for outcome in outcomes]
        self.noise = CounterNoise(seeds, model.logits.device)
        self.generators = [np.random.default_rng(seed) for seed in seeds]
        self.steps_per_epoch = -(-rows.shape[0] // how.batch_size)
        self.temperatures = np.geomspace(
            how.start_temperature, how.end_temperature, how.max_epochs * self.steps_per_epoch
        )
        self.optimizer = self._new_optimizer()

    def run_epoch(self, epoch: int) -> tuple[FloatArray, FloatArray]:
        """Return mean losses and then mean largest probabilities, (R,); note both in histories."""
        model, size = self.model, self.how.batch_size
        R, K, d = model.logits.shape
        n_noise = K * d + model.W1.shape[-1] * size
        total = torch.zeros_like(model.logits[:, 0, 0])
        first = epoch * self.steps_per_epoch
        temperatures = self.temperatures[first : first + self.steps_per_epoch]
        on_device = torch.as_tensor(temperatures).to(total)
        for batch, temperature in zip(self._batches(), on_device, strict=True):
            X = self.rows.take(batch.flatten()).view(R, size, d)
            uniform = self.noise.uniform(n_noise, X.dtype)
            loss = model.loss(X, uniform, temperature, self.how.dropout)
            self.optimizer.zero_grad()
            loss.sum().backward()
            self.optimizer.step()
            total += loss.detach()
        means = torch.stack([total / self.steps_per_epoch, model.mean_max_probability()])
        losses, sureness = means.cpu().double().numpy()
        for r, outcome in enumerate(self.outcomes):
            record = {"epoch": epoch, "loss": float(losses[r])}
            record["temperature"] = float(temperatures[-1])
            outcome.history.append(record | {"mean_max_probability": float(sureness[r])})
        return losses, sureness

    def finish(self, which: IntArray, converged: BoolArray) -> None:
        """Read off the results of some replicas."""
        model = self.model.select(torch.from_numpy(which).to(self.model.logits.device))
        errors = model.hard_error(self.rows, self.how.batch_size).cpu().double().numpy()
        logits = model.logits.detach().cpu().numpy()
        sound = np.isfinite(errors) & np.isfinite(logits).all(axis=(1, 2))
        for i, r in enumerate(which):
            outcome = self.outcomes[r]
            outcome.logits, outcome.converged = logits[i], bool(converged[r])
            outcome.error = float(errors[i]) if sound[i] else np.inf

    def keep(self, which: IntArray) -> None:
        """Go on with some replicas only."""
        states = [self.optimizer.state[parameter] for parameter in self.model.parameters()]
        index = torch.from_numpy(which).to(self.model.logits.device)
        self.model = self.model.select(index)
        self.optimizer = self._new_optimizer()
        for parameter, state in zip(self.model.parameters(), states, strict=True):
            self.optimizer.state[parameter] = {
                name: value if name == "step" else value[index] for name, value in state.items()
            }
        self.noise.keep(index)
        self.generators = [self.generators[r] for r in which]
        self.outcomes = [self.outcomes[r] for r in which]

    def _batches(self) -> tuple[Tensor, ...]:
        """Return indices of rows in random order, (R, B) for every step."""
        # every batch has the same size: the last is filled up with the first rows of the order
        N, n_taken = self.rows.shape[0], self.steps_per_epoch * self.how.batch_size
        orders = [np.resize(rng.permutation(N), n_taken) for rng in self.generators]
        index = torch.from_numpy(np.stack(orders)).to(self.rows.device)
        return index.split(self.how.batch_size, 1)

    def _new_optimizer(self) -> torch.optim.Adam:
        fused = self.model.logits.device.type in ("cpu", "cuda")
        return torch.optim.Adam(self.model.parameters(), lr=self.how.learning_rate, fused=fused)
