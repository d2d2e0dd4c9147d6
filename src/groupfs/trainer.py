"""The training loop: epochs, batches, history, progress; plain, or captured as a CUDA graph."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs._progress import Progress
from groupfs._rows import Rows
from groupfs.model import OPEN, GatedModel, NoiseSource, Objective
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
    steps_per_epoch: int | None = None  #: at most; None goes through all rows
    optimizer: str = "adam"  #: or "sgd", without momentum
    record_gates: bool = True


@dataclass
class History:
    """What happened in each epoch, for the models that were still being trained."""

    models: list[NDArray[np.int64]] = field(default_factory=list)  #: which, (A,) each
    terms: list[Any] = field(default_factory=list)  #: means over batches, (A, 3) each
    gates: list[Any] = field(default_factory=list)  #: gate means, (A, C) each
    temperature: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    n_epochs: dict[int, int] = field(default_factory=dict)  #: epochs until a model settled

    def off_device(self) -> History:
        """The same in numpy arrays, fetched together."""
        self.terms, self.gates = _fetched(self.terms), _fetched(self.gates)
        return self

    def of(self, model: int, weights: tuple[float, float, float]) -> list[dict[str, Any]]:
        """One record per epoch of one model; ``weights`` combine the terms into the loss."""
        records = []
        for epoch in range(self.n_epochs.get(model, len(self.terms))):
            place = int(np.flatnonzero(self.models[epoch] == model)[0])
            terms = self.terms[epoch][place]
            records.append(
                {
                    "epoch": epoch,
                    "loss": float(terms @ np.array(weights)),
                    **dict(zip(TERMS, terms.tolist(), strict=True)),
                    "gates": self.gates[epoch][place],
                    "temperature": self.temperature[epoch],
                    "seconds": self.seconds[epoch],
                }
            )
        return records

    def last_terms(self, model: int) -> NDArray[np.float64]:
        """The terms of a model in its last epoch, (3,)."""
        epoch = self.n_epochs.get(model, len(self.terms)) - 1
        return self.terms[epoch][int(np.flatnonzero(self.models[epoch] == model)[0])]


def _fetched(tensors: list[Tensor]) -> list[NDArray[np.float64]]:
    """Tensors of a few shapes as arrays, with one transfer per run of equal shapes."""
    arrays: list[NDArray[np.float64]] = []
    for _, run in itertools.groupby(tensors, key=lambda tensor: tensor.shape):
        arrays.extend(torch.stack(list(run)).double().cpu().numpy())
    return arrays


@torch.no_grad()
def train(
    model: GatedModel,
    objective: Objective,
    rows: Rows,
    schedule: Schedule,
    noise: NoiseSource,
    batch_seed: int,
    verbose: bool = False,
    name: str = "GroupFS",
    stacklevel: int = 9,
) -> History:
    """Train all models in place, each until it has settled, whatever the others do.

    Ctrl-C ends training after the first epoch with a warning, ``stacklevel`` calls up from here.
    """
    crew = Crew(model, objective, rows, schedule, noise)
    history = History()
    progress = Progress(schedule.max_epochs, verbose, name)
    batches = np.random.default_rng(batch_seed)
    try:
        for epoch in range(schedule.max_epochs):
            _run_epoch(crew, epoch, schedule, batches, history)
            if progress.shown:
                progress.advance(*_standing(history, crew.model, objective))
            look = schedule.stop_early and (epoch + 1) % LOOK_EVERY == 0
            if look and crew.dismiss_settled(history):
                break
    except KeyboardInterrupt:
        if not history.terms:
            raise
        warnings.warn(
            f"Training was interrupted after {len(history.terms)} of {schedule.max_epochs} epochs; "
            "groups and gates are those reached so far.",
            UserWarning,
            stacklevel=stacklevel,
        )
    finally:
        progress.close()
    crew.hand_back_the_rest()
    return history.off_device()


class Crew:
    """The models still in training; settled ones are handed back, and left out when many."""

    def __init__(
        self,
        model: GatedModel,
        objective: Objective,
        rows: Rows,
        schedule: Schedule,
        noise: NoiseSource,
    ) -> None:
        self.all = model
        self.names = np.arange(len(model))  # places in all of the models in training
        self.model = model.some(torch.from_numpy(self.names))
        self.step = TrainStep(self.model, objective, rows, schedule, noise)
        self.watch = Watch(self.model)
        self.at_work = np.ones(len(model), dtype=bool)

    def dismiss_settled(self, history: History) -> bool:
        """Hand back the models that have just settled; True when no one is left."""
        settled = self.watch.settled().cpu().numpy() & self.at_work
        self._hand_back(settled)
        for name in self.names[settled]:
            history.n_epochs[int(name)] = len(history.terms)
        self.at_work &= ~settled
        if 2 * self.at_work.sum() <= len(self.names) and self.at_work.any():
            self._close_ranks()
        return not self.at_work.any()

    def hand_back_the_rest(self) -> None:
        self._hand_back(self.at_work)

    def _hand_back(self, which: NDArray[np.bool_]) -> None:
        theirs = torch.from_numpy(np.flatnonzero(which)).to(self.all.mu.device)
        ours = torch.from_numpy(self.names[which]).to(self.all.mu.device)
        self.all.put(ours, self.model, theirs)

    def _close_ranks(self) -> None:
        stay = torch.from_numpy(np.flatnonzero(self.at_work)).to(self.all.mu.device)
        self.names = self.names[self.at_work]
        self.model = self.model.some(stay)
        self.step = self.step.without_the_others(self.model, stay)
        self.watch = self.watch.without_the_others(self.model, stay)
        self.at_work = np.ones(len(self.names), dtype=bool)


class TrainStep:
    """One optimiser step on one batch; on CUDA recorded once and replayed."""

    def __init__(
        self,
        model: GatedModel,
        objective: Objective,
        rows: Rows,
        schedule: Schedule,
        noise: NoiseSource,
        moments: dict[str, list[Tensor]] | None = None,
    ) -> None:
        self.model, self.objective, self.noise, self.rows = model, objective, noise, rows
        self.schedule = schedule
        N, d = rows.shape
        like = model.mu
        device = like.device
        self.batch_size = min(schedule.batch_size, N)
        self.X = torch.empty((self.batch_size, d), dtype=like.dtype, device=device)
        if self.batch_size == N:
            rows.take(torch.arange(N), out=self.X)
        self.temperature = torch.tensor(schedule.start_temperature, dtype=like.dtype, device=device)
        self.terms = torch.zeros((len(like), 3), dtype=like.dtype, device=device)
        self.optimizer = self._new_optimizer()
        if moments is not None:
            for place, parameter in enumerate(model.parameters()):
                self.optimizer.state[parameter] = {k: v[place] for k, v in moments.items()}
        on_cuda = device.type == "cuda"
        self.run: Callable[[], None] = self._capture() if on_cuda else self._step

    def _new_optimizer(self) -> torch.optim.Optimizer:
        parameters, rate = self.model.parameters(), self.schedule.learning_rate
        if self.schedule.optimizer == "sgd":
            return torch.optim.SGD(parameters, lr=rate)
        kind = self.model.mu.device.type
        return torch.optim.Adam(
            parameters, lr=rate, fused=kind in ("cpu", "cuda"), capturable=kind == "cuda"
        )

    def without_the_others(self, model: GatedModel, stay: Tensor) -> TrainStep:
        """The step for some of the models, with their moments."""
        states = [self._moments(parameter) for parameter in self.model.parameters()]
        moments = {
            name: [s[name] if name == "step" else s[name][stay].clone() for s in states]
            for name in states[0]
        }
        return TrainStep(model, self.objective, self.rows, self.schedule, self.noise, moments)

    def epoch(self, rng: np.random.Generator) -> int:
        """Go through the rows in random order, in batches of one size; returns how many."""
        N = self.rows.shape[0]
        if self.batch_size == N:
            self.run()
            return 1
        n_steps = -(-N // self.batch_size)
        if self.schedule.steps_per_epoch is not None:
            n_steps = min(n_steps, self.schedule.steps_per_epoch)
        for _ in self.rows.batches(n_steps, rng, self.X):
            self.run()
        return n_steps

    def _step(self) -> None:
        self.terms += self.model.step(self.objective, self.X, self.noise, self.temperature)
        self.optimizer.step()

    def _capture(self) -> Callable[[], None]:
        """Record the step, leaving model, optimiser and noise as they were."""
        if self.batch_size < self.rows.shape[0]:
            self.rows.take(torch.arange(self.batch_size), out=self.X)
        # Adam makes its moments in its first step; without any, they are zero and stay in place.
        fresh = not self.optimizer.state
        before = [t.clone() for t in self._touched()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        for tensor, value in zip(self._touched(), before, strict=False):
            tensor.copy_(value)
        if fresh:
            for parameter in self.model.parameters():
                for value in self._moments(parameter).values():
                    value.zero_()
        return graph.replay

    def _touched(self) -> list[Tensor]:
        """Everything a step changes; the moments last, as they may not be there yet."""
        states = [self._moments(parameter) for parameter in self.model.parameters()]
        moments = [value for state in states for value in state.values()]
        return [*self.model.parameters(), self.noise.stream.step, self.terms, *moments]

    def _moments(self, parameter: Tensor) -> dict[str, Tensor]:
        """What the optimiser remembers of a parameter; with SGD or at the start, nothing."""
        state = self.optimizer.state.get(parameter, {})
        return {name: value for name, value in state.items() if isinstance(value, Tensor)}


class Watch:
    """Notices when groups have stopped changing and gates have been decided or come to rest."""

    def __init__(self, model: GatedModel, quiet: Tensor | None = None) -> None:
        self.model = model
        self.quiet = torch.zeros_like(model.stream) if quiet is None else quiet
        self._remember()

    def settled(self) -> Tensor:
        """Which models have been quiet for long enough, (R,)."""
        labels, mu = self.labels, self.mu
        self._remember()
        moved = (labels != self.labels).double().mean(-1)
        same = (moved <= RESTLESS) & ((mu > OPEN) == (self.mu > OPEN)).all(-1)
        decided = ((self.mu <= 0) | (self.mu >= 1) | ((self.mu - mu).abs() < AT_REST)).all(-1)
        self.quiet = torch.where(same & decided, self.quiet + 1, 0)
        return self.quiet >= PATIENCE

    def without_the_others(self, model: GatedModel, stay: Tensor) -> Watch:
        return Watch(model, self.quiet[stay])

    def _remember(self) -> None:
        self.labels = self.model.labels()
        self.mu = self.model.mu.clone()


def _run_epoch(
    crew: Crew,
    epoch: int,
    schedule: Schedule,
    batches: np.random.Generator,
    history: History,
) -> None:
    began = time.perf_counter()
    step = crew.step
    heat = temperature(
        epoch, schedule.max_epochs, schedule.start_temperature, schedule.end_temperature
    )
    step.temperature.fill_(heat)
    step.terms.zero_()
    n_steps = step.epoch(batches)
    history.models.append(crew.names)
    history.terms.append(step.terms / n_steps)
    if schedule.record_gates:
        history.gates.append(step.model.mu.clone())
    history.temperature.append(heat)
    history.seconds.append(time.perf_counter() - began)


def _standing(history: History, model: GatedModel, objective: Objective) -> tuple[float, float]:
    """Loss of the best model in the last epoch, and open gates on average."""
    loss = model.total(objective, history.terms[-1])
    return float(loss.min()), float((model.mu > OPEN).sum(-1).double().mean())
