"""One optimiser step on one batch: plain, or captured once as a CUDA graph and replayed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.models.gated_model import GatedModel
from groupfs.models.noise import NoiseSource
from groupfs.models.objective import Objective

#: Held by the thread that captures its step as a CUDA graph.
CAPTURE_LOCK = threading.Lock()


@dataclass(frozen=True)
class Schedule:
    """Length, rate and temperatures of a training run."""

    max_epochs: int
    batch_size: int
    learning_rate: float
    start_temperature: float
    end_temperature: float
    stop_early: bool
    steps_per_epoch: int | None = None  #: at most; None goes through all rows
    optimizer: str = "adam"  #: or "sgd", without momentum
    record_gates: bool = True


class TrainStep:
    """A step of models on batches of a table."""

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
            for i, parameter in enumerate(model.parameters()):
                self.optimizer.state[parameter] = {k: v[i] for k, v in moments.items()}
        on_cuda = device.type == "cuda"
        self.run: Callable[[], None] = self._capture() if on_cuda else self._step

    def epoch(self, rng: np.random.Generator) -> int:
        """Go through the rows in random order, in batches of one size; return how many."""
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

    def for_models(self, model: GatedModel, index: Tensor) -> "TrainStep":
        """Make the step of some of the models, with their moments."""
        states = [self._moments(parameter) for parameter in self.model.parameters()]
        moments = {
            name: [s[name] if name == "step" else s[name][index].clone() for s in states]
            for name in states[0]
        }
        return TrainStep(model, self.objective, self.rows, self.schedule, self.noise, moments)

    def _new_optimizer(self) -> torch.optim.Optimizer:
        parameters, rate = self.model.parameters(), self.schedule.learning_rate
        if self.schedule.optimizer == "sgd":
            return torch.optim.SGD(parameters, lr=rate)
        kind = self.model.mu.device.type
        return torch.optim.Adam(
            parameters, lr=rate, fused=kind in ("cpu", "cuda"), capturable=kind == "cuda"
        )

    def _step(self) -> None:
        draw = self.model.draw(self.noise)
        self.terms += self.model.loss_and_gradient(self.objective, self.X, draw, self.temperature)
        self.optimizer.step()

    def _capture(self) -> Callable[[], None]:
        """Capture the step, leaving model, optimiser and noise as they were."""
        if self.batch_size < self.rows.shape[0]:
            self.rows.take(torch.arange(self.batch_size), out=self.X)
        # Adam makes its moments in its first step; without any, they are zero and stay in place.
        fresh = not self.optimizer.state
        before = [t.clone() for t in self._changed_by_a_step()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # others may be at work on this device or another meanwhile, but not be capturing too
        with CAPTURE_LOCK, torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._step()
        for tensor, value in zip(self._changed_by_a_step(), before, strict=False):
            tensor.copy_(value)
        if fresh:
            for parameter in self.model.parameters():
                for value in self._moments(parameter).values():
                    value.zero_()
        return graph.replay

    def _changed_by_a_step(self) -> list[Tensor]:
        """List everything a step changes; the moments last, as they may not be there yet."""
        states = [self._moments(parameter) for parameter in self.model.parameters()]
        moments = [value for state in states for value in state.values()]
        return [*self.model.parameters(), self.noise.stream.step, self.terms, *moments]

    def _moments(self, parameter: Tensor) -> dict[str, Tensor]:
        """Return what the optimiser remembers of a parameter; nothing with SGD or at the start."""
        state = self.optimizer.state.get(parameter, {})
        return {name: value for name, value in state.items() if isinstance(value, Tensor)}
