"""Train models side by side: epochs, temperature, history, progress, and who has converged.

Axes: E epochs, R models side by side, C groups.
"""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from groupfs.groups import OPEN
from groupfs.joint.batches import Batches
from groupfs.joint.losses import Objective
from groupfs.joint.model import GatedModel
from groupfs.joint.relaxations import CounterNoise
from groupfs.joint.settings import Schedule
from groupfs.joint.step import TrainStep
from groupfs.utils.types import FloatArray, IntArray
from groupfs.utils.warn import InterruptedTrainingWarning, warn

#: Epochs between two checks of whether training has converged.
CHECK_EVERY = 10
#: Checks in a row without change that end it.
PATIENCE = 3
#: Features that may still change groups between two checks, as a share of all.
MOVING_SHARE = 0.002
#: A gate mean that moved less than this between two checks is at rest, and less than this share of
#: what steps all in one direction would have moved it.
AT_REST, RESTING_SHARE = 0.02, 0.1


@dataclass
class History:
    """All epochs of all models; entries of models that have left training are NaN."""

    terms: FloatArray  #: L_s, L_f and L_reg, unweighted, means over batches, (E, R, 3)
    gates: FloatArray  #: gate means mu, (E, R, C)
    temperature: list[float]  #: T, E of them
    seconds: list[float]  #: E of them
    n_epochs: IntArray  #: until each model converged, (R,)
    interrupted: bool  #: whether Ctrl-C ended training

    @property
    def last_terms(self) -> FloatArray:
        """Terms of every model in its last epoch, (R, 3)."""
        return self.terms[self.n_epochs - 1, np.arange(len(self.n_epochs))]

    def every(self, start: int, step: int) -> "History":
        """Take every ``step``-th model from ``start`` on."""
        own = np.s_[start::step]
        terms, gates = self.terms[:, own], self.gates[:, own]
        return replace(self, terms=terms, gates=gates, n_epochs=self.n_epochs[own])

    def records(self, model: int, weights: Sequence[float]) -> list[dict[str, Any]]:
        """Return one record per epoch of one model; ``weights`` combine the terms into the loss."""
        records = []
        for epoch in range(self.n_epochs[model]):
            terms = self.terms[epoch, model]
            record = {"epoch": epoch, "loss": float(terms @ np.array(weights))}
            record |= dict(zip(("L_s", "L_f", "L_reg"), terms.tolist(), strict=True))
            record |= {"gates": self.gates[epoch, model], "temperature": self.temperature[epoch]}
            records.append({**record, "seconds": self.seconds[epoch]})
        return records


@torch.no_grad()
def train(
    model: GatedModel,
    objective: Objective,
    rows: Batches,
    schedule: Schedule,
    noise: CounterNoise,
    batch_seed: int,
    verbose: bool = False,
    name: str = "GroupFS",
) -> History:
    """Train all models in place, each until it has converged, whatever the others do.

    Ctrl-C ends training after the first epoch with a warning.
    """
    terms, gates, heats, seconds = [], [], [], []
    interrupted, device = False, model.mu.device
    with (
        # streams and captured graphs belong to the current device
        torch.cuda.device(device) if device.type == "cuda" else nullcontext(),
        tqdm(total=schedule.max_epochs, desc=name, unit="epoch", disable=not verbose) as bar,
    ):
        batches = np.random.default_rng(batch_seed)
        copies = model.select(torch.arange(len(model), device=device))
        step = TrainStep(copies, objective, rows, schedule, noise)
        models = ActiveModels(model, step)
        try:
            for epoch in range(schedule.max_epochs):
                began = time.perf_counter()
                heats.append(temperature(epoch, schedule))
                step.temperature.fill_(heats[-1])
                step.terms.zero_()
                step.epoch(batches)
                terms.append(models.among_all(step.terms / step.n_steps))
                gates.append(models.among_all(step.model.mu))
                seconds.append(time.perf_counter() - began)
                bar.update()
                check = schedule.early_stopping and (epoch + 1) % CHECK_EVERY == 0
                if check and models.stop_converged(epoch + 1):
                    break
        except KeyboardInterrupt:
            if not seconds:
                raise
            interrupted = True
            warn(
                f"Training was interrupted after {len(seconds)} of {schedule.max_epochs} "
                "epochs; groups and gates are those reached so far.",
                InterruptedTrainingWarning,
            )
        models.write_back(models.active, len(seconds))
    n, n_epochs = len(seconds), models.n_epochs.cpu().numpy()
    found = [torch.stack(of[:n]).double().cpu().numpy() for of in (terms, gates)]
    return History(found[0], found[1], heats[:n], seconds, n_epochs, interrupted)


class ActiveModels:
    """The models of a step, copies of all, of which each is written back when it has converged.

    It has when its groups have stopped changing and its gates are decided. When half of the models
    have converged these leave, so that the others cost less.
    """

    def __init__(self, model: GatedModel, step: TrainStep) -> None:
        self.all, self.step = model, step
        self.n_epochs = torch.zeros_like(step.model.seed_index)  # of all models
        self.index = torch.arange(len(model), device=model.mu.device)  # of those in the step
        self.active = torch.ones_like(self.index, dtype=torch.bool)  # which have not converged
        most = step.schedule.learning_rate * CHECK_EVERY * step.n_steps
        self.at_rest = min(AT_REST, RESTING_SHARE * most)
        self.n_quiet = torch.zeros_like(self.index)  # checks in a row without change
        self.labels, self.mu = step.model.labels(), step.model.mu.clone()  # at the last check

    def stop_converged(self, n_epochs: int) -> bool:
        """Write back the models that have just converged; return True when none is left."""
        converged = self._converged() & self.active
        self.write_back(converged, n_epochs)
        self.active &= ~converged
        n_active, rest = int(self.active.sum()), self.active
        if 0 < 2 * n_active <= len(rest):
            self.step.keep(rest)
            self.index, self.n_quiet, self.active = self.index[rest], self.n_quiet[rest], rest[rest]
            self.labels, self.mu = self.labels[rest], self.mu[rest]
        return n_active == 0

    def write_back(self, which: Tensor, n_epochs: int) -> None:
        """Write some of the models in the step, as they are now, over those of all."""
        index = self.index[which]
        for own, theirs in zip(self.all.parameters(), self.step.model.parameters(), strict=True):
            own[index] = theirs[which]
        self.n_epochs[index] = n_epochs

    def among_all(self, values: Tensor) -> Tensor:
        """Put values of the models in training among those of all, NaN for the others."""
        spread = values.new_full((len(self.all), *values.shape[1:]), torch.nan)
        spread[self.index] = values
        return spread

    def _converged(self) -> Tensor:
        labels, mu = self.step.model.labels(), self.step.model.mu.clone()
        moved = (self.labels != labels).double().mean(-1)
        same = (moved <= MOVING_SHARE) & ((self.mu > OPEN) == (mu > OPEN)).all(-1)
        decided = ((mu <= 0) | (mu >= 1) | ((mu - self.mu).abs() < self.at_rest)).all(-1)
        self.n_quiet = torch.where(same & decided, self.n_quiet + 1, 0)
        self.labels, self.mu = labels, mu
        return self.n_quiet >= PATIENCE


def temperature(epoch: int, schedule: Schedule) -> float:
    """Lower T linearly from the start at epoch 0 and never below the end."""
    start, end = schedule.start_temperature, schedule.end_temperature
    return max(end, start - (start - end) * epoch / schedule.max_epochs)
