"""The training loop: epochs, batches, history, progress; plain, or captured as a CUDA graph."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs._progress import Progress
from groupfs._rows import Rows
from groupfs.model import OPEN, GroupModel, NoiseSource, Objective
from groupfs.relaxations import temperature

#: Epochs between two looks at whether training has settled.
LOOK_EVERY = 10
#: Looks in a row without change that end it.
PATIENCE = 3
#: Features that may still change groups between two looks, as a share of all.
RESTLESS = 0.002
#: A gate mean that moved less than this between two looks is at rest.
AT_REST = 0.02
TERMS = ("sample_smoothness", "feature_smoothness", "group_sparsity")


@dataclass(frozen=True)
class Schedule:
    """How long, how fast, how hot."""

    max_epochs: int
    batch_size: int
    learning_rate: float
    start_temperature: float
    end_temperature: float
    stop_early: bool


@dataclass
class History:
    """What happened in each epoch, for all R models."""

    terms: list[Tensor] = field(default_factory=list)  #: means over batches, (R, 3) each
    gates: list[Tensor] = field(default_factory=list)  #: gate means, (R, C) each
    temperature: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def of(self, model: int, weights: tuple[float, float, float]) -> list[dict[str, object]]:
        """One record per epoch of one model; ``weights`` combine the terms into the loss."""
        terms = torch.stack(self.terms)[:, model].double().cpu().numpy()
        gates = torch.stack(self.gates)[:, model].double().cpu().numpy()
        return [
            {
                "epoch": epoch,
                "loss": float(values @ np.array(weights)),
                **dict(zip(TERMS, values.tolist(), strict=True)),
                "gates": gates[epoch],
                "temperature": self.temperature[epoch],
                "seconds": self.seconds[epoch],
            }
            for epoch, values in enumerate(terms)
        ]


@torch.no_grad()
def train(
    model: GroupModel,
    objective: Objective,
    rows: Rows,
    schedule: Schedule,
    noise: NoiseSource,
    batch_seed: int,
    verbose: bool = False,
) -> History:
    """Train all models in place. Ctrl-C ends training after the first epoch with a warning."""
    step = TrainStep(model, objective, rows, schedule, noise)
    history = History()
    watch = Watch(model)
    progress = Progress(schedule.max_epochs, verbose)
    batches = np.random.default_rng(batch_seed)
    try:
        for epoch in range(schedule.max_epochs):
            _run_epoch(step, epoch, schedule, batches, history)
            if progress.shown:
                progress.advance(*_standing(history, model, objective))
            look = schedule.stop_early and (epoch + 1) % LOOK_EVERY == 0
            if look and watch.has_settled():
                break
    except KeyboardInterrupt:
        if not history.terms:
            raise
        warnings.warn(
            f"Training was interrupted after {len(history.terms)} of {schedule.max_epochs} epochs; "
            "groups and gates are those reached so far.",
            UserWarning,
            stacklevel=7,
        )
    finally:
        progress.close()
    return history


class TrainStep:
    """One optimiser step on one batch; on CUDA recorded once and replayed."""

    def __init__(
        self,
        model: GroupModel,
        objective: Objective,
        rows: Rows,
        schedule: Schedule,
        noise: NoiseSource,
    ) -> None:
        self.model, self.objective, self.noise, self.rows = model, objective, noise, rows
        N, d = rows.shape
        like = model.logits
        device = like.device
        self.batch_size = min(schedule.batch_size, N)
        self.X = torch.empty((self.batch_size, d), dtype=like.dtype, device=device)
        if self.batch_size == N:
            rows.take(torch.arange(N), out=self.X)
        self.temperature = torch.tensor(schedule.start_temperature, dtype=like.dtype, device=device)
        self.terms = torch.zeros((len(like), 3), dtype=like.dtype, device=device)
        on_cuda = device.type == "cuda"
        self.optimizer = torch.optim.Adam(
            model.parameters(),
            lr=schedule.learning_rate,
            fused=device.type in ("cpu", "cuda"),
            capturable=on_cuda,
        )
        self.run: Callable[[], None] = self._capture() if on_cuda else self._step

    def on_batches(self, order: NDArray[np.int64]) -> int:
        """Go through the rows in the given order; returns the number of steps.

        Every batch has the same size: the last is filled up with the first rows of the order.
        """
        if self.batch_size == len(order):
            self.run()
            return 1
        n_steps = -(-len(order) // self.batch_size)
        index = torch.from_numpy(np.resize(order, n_steps * self.batch_size))
        for batch in index.to(self.rows.device).split(self.batch_size):
            self.rows.take(batch, out=self.X)
            self.run()
        return n_steps

    def _step(self) -> None:
        draw = self.noise.draw(self.model.logits)
        self.terms += self.model.loss_and_gradient(self.objective, self.X, draw, self.temperature)
        self.optimizer.step()

    def _capture(self) -> Callable[[], None]:
        """Record the step, leaving model, optimiser and noise as they were."""
        kept = [parameter.clone() for parameter in self.model.parameters()]
        if self.batch_size < self.rows.shape[0]:
            self.rows.take(torch.arange(self.batch_size), out=self.X)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        for parameter, value in zip(self.model.parameters(), kept, strict=True):
            parameter.copy_(value)
        for state in self.optimizer.state.values():
            for value in state.values():
                value.zero_()
        self.terms.zero_()
        self.noise.stream.step.zero_()
        return graph.replay


class Watch:
    """Notices when groups have stopped changing and gates have been decided or come to rest."""

    def __init__(self, model: GroupModel) -> None:
        self.model = model
        self.quiet = 0
        self._remember()

    def has_settled(self) -> bool:
        labels, mu = self.labels, self.mu
        self._remember()
        moved = (labels != self.labels).double().mean(-1).max()
        same = (moved <= RESTLESS) & ((mu > OPEN) == (self.mu > OPEN)).all()
        decided = ((self.mu <= 0) | (self.mu >= 1) | ((self.mu - mu).abs() < AT_REST)).all()
        self.quiet = self.quiet + 1 if bool(same & decided) else 0
        return self.quiet >= PATIENCE

    def _remember(self) -> None:
        self.labels = self.model.logits.argmax(-1)
        self.mu = self.model.mu.clone()


def _run_epoch(
    step: TrainStep,
    epoch: int,
    schedule: Schedule,
    batches: np.random.Generator,
    history: History,
) -> None:
    began = time.perf_counter()
    heat = temperature(
        epoch, schedule.max_epochs, schedule.start_temperature, schedule.end_temperature
    )
    step.temperature.fill_(heat)
    step.terms.zero_()
    n_steps = step.on_batches(batches.permutation(step.rows.shape[0]))
    history.terms.append(step.terms / n_steps)
    history.gates.append(step.model.mu.clone())
    history.temperature.append(heat)
    history.seconds.append(time.perf_counter() - began)


def _standing(history: History, model: GroupModel, objective: Objective) -> tuple[float, float]:
    """Loss of the best model in the last epoch, and open groups on average."""
    smooth, coherent, sparse = history.terms[-1].unbind(-1)
    loss = smooth + objective.smoothness_weight * coherent + model.sparsity_weight * sparse
    return float(loss.min()), float((model.mu > OPEN).sum(-1).double().mean())
