"""Concrete autoencoders side by side: their parameters, loss, training, and what they pick.

Axes: R replicas from different seeds, N rows, B rows of a batch, d features, K selectors, H hidden
units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import leaky_relu
from tqdm import tqdm

from groupfs.data.rows import Rows
from groupfs.models.relaxations import gumbel_noise, membership
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Slope of the hidden units below zero.
SLOPE = 0.2
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


class Autoencoders:
    """Parameters of R replicas.

    Parameters
    ----------
    logits : (R, K, d)
        Of the selectors.
    W1, b1, W2, b2 : (R, K, H), (R, 1, H), (R, H, d), (R, 1, d)
        Weights and biases of the decoder's two layers.
    """

    def __init__(self, logits: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> None:
        self.logits, self.W1, self.b1, self.W2, self.b2 = logits, W1, b1, W2, b2
        for parameter in self.parameters():
            parameter.requires_grad_()

    def parameters(self) -> list[Tensor]:
        return [self.logits, self.W1, self.b1, self.W2, self.b2]

    def select(self, index: Tensor) -> Autoencoders:
        """Return a copy of some of the replicas."""
        return Autoencoders(*(parameter.detach()[index] for parameter in self.parameters()))

    def decode(self, selected: Tensor, kept: Tensor | None = None) -> Tensor:
        """Rebuild all features from the selected ones, (R, B, K) to (R, B, d).

        ``kept`` (R, B, H) multiplies the hidden units, zero for those that are dropped.
        """
        hidden = leaky_relu(torch.baddbmm(self.b1, selected, self.W1), SLOPE)
        if kept is not None:
            hidden = hidden * kept
        return torch.baddbmm(self.b2, hidden, self.W2)

    def loss(self, X: Tensor, uniform: Tensor, temperature: Tensor, dropout: float) -> Tensor:
        """Return the mean squared error of batches (R, B, d) under noise (R, n_noise), (R,)."""
        R, K, d = self.logits.shape
        gumbel = gumbel_noise(uniform[:, : K * d]).view(R, K, d)
        M = membership(self.logits, gumbel, temperature)
        kept = (uniform[:, K * d :] >= dropout).to(X.dtype).view(R, -1, X.shape[1]).mT
        reconstructed = self.decode(X @ M.mT, kept / (1 - dropout))
        return (reconstructed - X).square().mean((-2, -1))

    @torch.no_grad()
    def mean_max_probability(self) -> Tensor:
        """Return the mean over selectors of their largest selection probability, (R,)."""
        return (self.logits.amax(-1) - self.logits.logsumexp(-1)).exp().mean(-1)

    @torch.no_grad()
    def hard_error(self, rows: Rows, batch_size: int) -> Tensor:
        """Return the mean squared error from the selectors' most likely features alone, (R,)."""
        N, d = rows.shape
        picks = self.logits.argmax(-1)
        total = torch.zeros_like(self.logits[:, 0, 0])
        for index in torch.arange(N).split(batch_size):
            X = rows.take(index)
            total += (self.decode(X[:, picks].transpose(0, 1)) - X).square().sum((-2, -1))
        return total / (N * d)


def start(
    seeds: list[int], K: int, d: int, H: int, device: torch.device, dtype: torch.dtype
) -> Autoencoders:
    """Return untrained replicas: weights Glorot normal, biases zero."""
    weights: list[list[FloatArray]] = []
    for seed in seeds:
        rng = np.random.default_rng([seed, H])
        weights.append([_glorot(rng, *shape) for shape in ((K, d), (K, H), (H, d))])
    logits, W1, W2 = (np.stack(layer) for layer in zip(*weights, strict=True))
    R = len(seeds)
    arrays = (logits, W1, np.zeros((R, 1, H)), W2, np.zeros((R, 1, d)))
    return Autoencoders(*(torch.as_tensor(a, dtype=dtype, device=device) for a in arrays))


def _glorot(rng: np.random.Generator, n_in: int, n_out: int) -> FloatArray:
    return rng.standard_normal((n_in, n_out)) * math.sqrt(2 / (n_in + n_out))


def memory_of_a_replica(K: int, d: int, H: int, batch_size: int) -> int:
    """Estimate the bytes that the training of one replica takes in single precision."""
    noise_and_relaxation = 40 * (K * d + H * batch_size)
    parameters_with_moments = 16 * (K * d + K * H + H * d)
    return noise_and_relaxation + parameters_with_moments + 20 * batch_size * (d + H)


def distinct_features(log_probability: FloatArray) -> tuple[IntArray, int]:
    """Give every selector a feature of its own, (K, d) to (K,); return how many gave way, too."""
    K = len(log_probability)
    features = log_probability.argmax(axis=1)
    surest_first = np.argsort(-log_probability.max(axis=1), kind="stable")
    _, first = np.unique(features[surest_first], return_index=True)
    gives_way = np.ones(K, dtype=bool)
    gives_way[first] = False
    free = np.ones(log_probability.shape[1], dtype=bool)
    free[features] = False
    for selector in surest_first[gives_way]:
        features[selector] = np.where(free, log_probability[selector], -np.inf).argmax()
        free[features[selector]] = False
    return features, int(gives_way.sum())
