"""The training of concrete autoencoders: epochs, batches, falling temperature, early stop.

Axes: R replicas still in training, K selectors, d features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from groupfs.baselines.cae.autoencoders import Autoencoders, Setting, start
from groupfs.data.rows import Rows
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.types import FloatArray

#: Training ends when the mean over selectors of the largest selection probability exceeds this.
DECIDED = 0.998


@dataclass(frozen=True)
class Schedule:
    """How long, how fast, how hot."""

    max_epochs: int
    batch_size: int
    learning_rate: float
    start_temperature: float
    end_temperature: float
    dropout: float

    def temperatures(self, n_steps: int) -> FloatArray:
        """One per step, from ``start_temperature`` to ``end_temperature`` at a constant ratio."""
        return np.geomspace(self.start_temperature, self.end_temperature, n_steps)


@dataclass(frozen=True)
class Outcome:
    """A trained replica."""

    setting: Setting
    batch_size: int
    logits: NDArray[np.floating[Any]]  #: (K, d)
    error: float  #: of the table with hard selection; inf if training diverged
    history: list[dict[str, float]]  #: one record per epoch

    @property
    def mean_max_probability(self) -> float:
        return self.history[-1]["mean_max_probability"]

    @property
    def converged(self) -> bool:
        return self.mean_max_probability > DECIDED

    def summary(self) -> dict[str, Any]:
        return {
            "hidden_width": self.setting.hidden_width,
            "batch_size": self.batch_size,
            "seed": self.setting.seed,
            "error": self.error,
            "n_epochs": len(self.history),
            "n_collapsed": len(self.logits) - len(np.unique(self.logits.argmax(axis=1))),
            "mean_max_probability": self.mean_max_probability,
            "converged": self.converged,
        }


def train(
    settings: list[Setting],
    K: int,
    rows: Rows,
    schedule: Schedule,
    device: torch.device,
    dtype: torch.dtype,
    verbose: bool = False,
) -> list[Outcome]:
    """Train replicas, each until it has decided; none depends on the others beside it."""
    crew = Crew(settings, start(settings, K, rows.shape[1], device, dtype), rows, schedule)
    histories: list[list[dict[str, float]]] = [[] for _ in settings]
    outcomes: dict[int, Outcome] = {}
    bar: Any = None
    if verbose:
        from tqdm import tqdm

        bar = tqdm(total=schedule.max_epochs, desc="Concrete autoencoder", unit="epoch")
    for epoch in range(schedule.max_epochs):
        loss, sure, temperature = crew.run_epoch(epoch)
        for place, its_loss, its_sure in zip(crew.places.tolist(), loss, sure, strict=True):
            record = {"epoch": epoch, "loss": float(its_loss), "temperature": temperature}
            histories[place].append({**record, "mean_max_probability": float(its_sure)})
        if bar is not None:
            bar.set_postfix(loss=f"{loss.min():.4f}", decided=f"{sure.max():.3f}", refresh=False)
            bar.update()
        done = (sure > DECIDED) | (epoch + 1 == schedule.max_epochs)
        for leaver, logits, error in crew.dismiss(done):
            outcomes[leaver] = Outcome(
                settings[leaver], schedule.batch_size, logits, error, histories[leaver]
            )
        if done.all():
            break
    if bar is not None:
        bar.close()
    return [outcomes[place] for place in range(len(settings))]


class Crew:
    """The replicas still in training, with their moments, noise and orders of the rows."""

    def __init__(
        self, settings: list[Setting], model: Autoencoders, rows: Rows, schedule: Schedule
    ) -> None:
        self.model, self.rows, self.schedule = model, rows, schedule
        self.places = np.arange(len(settings))  # among the replicas that set out together
        device, dtype = model.logits.device, model.logits.dtype
        self.noise = CounterNoise([setting.seed for setting in settings], device)
        self.orders = [np.random.default_rng(setting.seed) for setting in settings]
        self.steps_per_epoch = -(-rows.shape[0] // schedule.batch_size)
        self.heat = schedule.temperatures(schedule.max_epochs * self.steps_per_epoch)
        self.temperatures = torch.as_tensor(self.heat, dtype=dtype, device=device)
        self.optimizer = self._adam()

    def run_epoch(self, epoch: int) -> tuple[FloatArray, FloatArray, float]:
        """Mean loss (R,) and mean largest probability (R,) after it, last temperature."""
        model, size = self.model, self.schedule.batch_size
        N, d = self.rows.shape
        R, K, _ = model.logits.shape
        n_noise = K * d + model.W1.shape[-1] * size
        # every batch has the same size: the last is filled up with the first rows of the order
        n_taken = self.steps_per_epoch * size
        orders = [np.resize(rng.permutation(N), n_taken) for rng in self.orders]
        index = torch.from_numpy(np.stack(orders)).to(self.rows.device)
        total = torch.zeros_like(model.logits[:, 0, 0])
        first = epoch * self.steps_per_epoch
        temperatures = self.temperatures[first : first + self.steps_per_epoch]
        for batch, temperature in zip(index.split(size, 1), temperatures, strict=True):
            X = self.rows.take(batch.flatten()).view(R, size, d)
            uniform = self.noise.uniform(n_noise, X.dtype)
            loss = model.loss(X, uniform, temperature, self.schedule.dropout)
            self.optimizer.zero_grad()
            loss.sum().backward()
            self.optimizer.step()
            total += loss.detach()
        standing = torch.stack([total / self.steps_per_epoch, model.mean_max_probability()])
        mean_loss, sure = standing.cpu().double().numpy()
        return mean_loss, sure, float(self.heat[first + self.steps_per_epoch - 1])

    def dismiss(self, done: NDArray[np.bool_]) -> list[tuple[int, NDArray[Any], float]]:
        """Place, logits and error of the replicas that are done; the others stay."""
        if not done.any():
            return []
        device = self.model.logits.device
        leaving = self.model.some(torch.from_numpy(np.flatnonzero(done)).to(device))
        errors = leaving.hard_error(self.rows, self.schedule.batch_size).cpu().double().numpy()
        logits = leaving.logits.detach().cpu().numpy()
        sound = np.isfinite(errors) & np.isfinite(logits).all(axis=(1, 2))
        errors = np.where(sound, errors, np.inf)
        places = self.places[done].tolist()
        if not done.all():
            self._keep(np.flatnonzero(~done))
        return list(zip(places, logits, errors.tolist(), strict=True))

    def _keep(self, which: NDArray[np.int64]) -> None:
        stay = torch.from_numpy(which).to(self.model.logits.device)
        states = [self.optimizer.state[parameter] for parameter in self.model.parameters()]
        self.model = self.model.some(stay)
        self.optimizer = self._adam()
        for parameter, state in zip(self.model.parameters(), states, strict=True):
            self.optimizer.state[parameter] = {
                name: value if name == "step" else value[stay] for name, value in state.items()
            }
        self.noise.keep(stay)
        self.orders = [self.orders[place] for place in which]
        self.places = self.places[which]

    def _adam(self) -> torch.optim.Adam:
        fused = self.model.logits.device.type in ("cpu", "cuda")
        rate = self.schedule.learning_rate
        return torch.optim.Adam(self.model.parameters(), lr=rate, fused=fused)
