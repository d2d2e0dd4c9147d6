"""The training loop: epochs, batches, history, progress; plain, or captured as a CUDA graph."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.models.all_groups import OPEN, GatedModel, NoiseSource, Objective
from groupfs.models.relaxations import temperature
from groupfs.training.checkpoints import Keeper, State
from groupfs.training.history import History
from groupfs.utils.device import working_on
from groupfs.utils.progress import Progress
from groupfs.utils.warn import InterruptedTrainingWarning, warn

#: Epochs between two looks at whether training has settled.
LOOK_EVERY = 10
#: Looks in a row without change that end it.
PATIENCE = 3
#: Features that may still change groups between two looks, as a share of all.
RESTLESS = 0.002
#: Held by the thread that records its step as a CUDA graph.
ONE_RECORDS = threading.Lock()
#: A gate mean that moved less than this between two looks is at rest.
AT_REST = 0.02


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
    keeper: Keeper | None = None,
) -> History:
    """Train all models in place, each until it has settled, whatever the others do.

    Ctrl-C ends training after the first epoch with a warning.
    A ``keeper`` is given the state of training between epochs; if it has one from before, training
    goes on from there, to the same end.
    """
    with working_on(model.mu.device):
        state = None if keeper is None else keeper.last()
        history, batches = History(), np.random.default_rng(batch_seed)
        if state is not None:
            history = History.from_state(state.part("history"), model.mu.device)
            batches.bit_generator.state = state.facts["batches"]
        standing = None if state is None else state.part("crew")
        crew = Crew(model, objective, rows, schedule, noise, standing)
        progress = Progress(schedule.max_epochs, verbose, name, done=len(history.terms))
        try:
            for epoch in range(len(history.terms), schedule.max_epochs):
                _run_epoch(crew, epoch, schedule, batches, history)
                if progress.shown:
                    progress.advance(*_standing(history, crew.model, objective))
                look = schedule.stop_early and (epoch + 1) % LOOK_EVERY == 0
                if look and crew.dismiss_settled(history):
                    break
                if keeper is not None:
                    keeper.offer(partial(_state, crew, history, batches))
        except KeyboardInterrupt:
            if not history.terms:
                raise
            history.interrupted = True
            warn(
                f"Training was interrupted after {len(history.terms)} of {schedule.max_epochs} "
                "epochs; groups and gates are those reached so far.",
                InterruptedTrainingWarning,
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
        state: State | None = None,
    ) -> None:
        self.all = model
        self.noise = noise
        self.names = np.arange(len(model))  # places in all of the models in training
        self.at_work = np.ones(len(model), dtype=bool)
        if state is not None:
            self.names, self.at_work = state.arrays["names"], state.arrays["at_work"]
        self.model = model.some(torch.from_numpy(self.names).to(model.mu.device))
        moments = None if state is None else self._recall(state)
        self.step = TrainStep(self.model, objective, rows, schedule, noise, moments)
        self.watch = Watch(self.model)
        if state is not None:
            self.watch.recall(state)

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

    def state(self) -> State:
        """Parameters, moments, the noise's counter and what the watch remembers."""
        kept = {"quiet": self.watch.quiet, "labels": self.watch.labels, "mu": self.watch.mu}
        for place, own in enumerate(self.model.parameters()):
            kept[f"all.{place}"] = self.all.parameters()[place]
            kept[f"own.{place}"] = own
            for name, value in self.step.moments(own).items():
                kept[f"{name}.{place}"] = value
        arrays = {name: value.cpu().numpy() for name, value in kept.items()}
        names = list(self.step.moments(self.model.mu))
        return State(
            {**arrays, "names": self.names, "at_work": self.at_work},
            {"noise": int(self.noise.stream.step), "moments": names},
        )

    def _recall(self, state: State) -> dict[str, list[Tensor]]:
        """Put parameters and noise back as they were; returns the moments."""
        # torch's own memory, and not numpy's: how sums round may depend on where numbers lie
        device = self.all.mu.device
        kept = {name: torch.tensor(a, device=device) for name, a in state.arrays.items()}
        places = range(len(self.model.parameters()))
        for place in places:
            self.all.parameters()[place].copy_(kept[f"all.{place}"])
            self.model.parameters()[place].copy_(kept[f"own.{place}"])
        self.noise.stream.go_to(state.facts["noise"])
        return {name: [kept[f"{name}.{p}"] for p in places] for name in state.facts["moments"]}

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
        states = [self.moments(parameter) for parameter in self.model.parameters()]
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
        # others may be at work on this device or another meanwhile, but not be recording too
        with ONE_RECORDS, torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._step()
        for tensor, value in zip(self._touched(), before, strict=False):
            tensor.copy_(value)
        if fresh:
            for parameter in self.model.parameters():
                for value in self.moments(parameter).values():
                    value.zero_()
        return graph.replay

    def _touched(self) -> list[Tensor]:
        """Everything a step changes; the moments last, as they may not be there yet."""
        states = [self.moments(parameter) for parameter in self.model.parameters()]
        moments = [value for state in states for value in state.values()]
        return [*self.model.parameters(), self.noise.stream.step, self.terms, *moments]

    def moments(self, parameter: Tensor) -> dict[str, Tensor]:
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

    def recall(self, state: State) -> None:
        """Go on from what was remembered before."""
        device = self.model.mu.device
        self.quiet = torch.tensor(state.arrays["quiet"], device=device)
        self.labels = torch.tensor(state.arrays["labels"], device=device)
        self.mu = torch.tensor(state.arrays["mu"], device=device)

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


def _state(crew: Crew, history: History, batches: np.random.Generator) -> State:
    """All that the next epoch depends on, and what is known of those before."""
    order = State(facts=dict(batches.bit_generator.state))
    return State.joined(crew=crew.state(), history=history.state(), batches=order)


def _standing(history: History, model: GatedModel, objective: Objective) -> tuple[float, float]:
    """Loss of the best model in the last epoch, and open gates on average."""
    loss = model.total(objective, history.terms[-1])
    return float(loss.min()), float((model.mu > OPEN).sum(-1).double().mean())
