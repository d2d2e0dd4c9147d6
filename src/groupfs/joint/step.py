"""One optimiser step on one batch: plain, or captured once as a CUDA graph and replayed."""

import threading
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from groupfs.data.table import Rows
from groupfs.joint.adam import Adam
from groupfs.joint.model import GatedModel
from groupfs.joint.noise import NoiseSource
from groupfs.joint.objective import Objective
from groupfs.joint.settings import Schedule

#: Held by the thread that captures its step as a CUDA graph.
CAPTURE_LOCK = threading.Lock()


class TrainStep:
    """A step of models on batches of a table."""

    def __init__(
        self,
        model: GatedModel,
        objective: Objective,
        rows: Rows,
        schedule: Schedule,
        noise: NoiseSource,
        state: list[Tensor] | None = None,
    ) -> None:
        self.model, self.objective, self.noise, self.rows = model, objective, noise, rows
        self.schedule = schedule
        like = model.mu
        device = like.device
        self.X = self._first_batch()
        self.temperature = torch.tensor(schedule.start_temperature, dtype=like.dtype, device=device)
        self.terms = torch.zeros((len(like), 3), dtype=like.dtype, device=device)
        parameters = model.parameters()
        self.optimizer = Adam(parameters, schedule.learning_rate)
        if state is not None:
            for own, value in zip(self.optimizer.state, state, strict=True):
                own.copy_(value)
        on_cuda = device.type == "cuda"
        self.run: Callable[[], None] = self._capture() if on_cuda else self._step

    def epoch(self, rng: np.random.Generator) -> int:
        """Go through the rows in random order, in batches of one size; return how many."""
        n_steps = self.steps_per_epoch
        if len(self.X) == self.rows.shape[0]:
            self.run()
        else:
            for _ in self.rows.batches(n_steps, rng, self.X):
                self.run()
        return n_steps

    @property
    def steps_per_epoch(self) -> int:
        n_steps = -(-self.rows.shape[0] // len(self.X))
        return min(n_steps, self.schedule.steps_per_epoch or n_steps)

    def for_models(self, model: GatedModel, index: Tensor) -> "TrainStep":
        """Make the step of some of the models, with their moments."""
        state = [part[index] if part.ndim else part for part in self.optimizer.state]
        return TrainStep(model, self.objective, self.rows, self.schedule, self.noise, state)

    def _first_batch(self) -> Tensor:
        """Take the first rows; batches are written over them."""
        rows, like = self.rows, self.model.mu
        N, d = rows.shape
        batch_size = min(self.schedule.batch_size, N)
        X = torch.empty((batch_size, d), dtype=like.dtype, device=like.device)
        if batch_size == N or like.device.type == "cuda":
            rows.take(torch.arange(batch_size), out=X)
        return X

    def _step(self) -> None:
        draw = self.model.draw(self.noise)
        self.terms += self.model.loss_and_gradient(self.objective, self.X, draw, self.temperature)
        self.optimizer.step()

    def _capture(self) -> Callable[[], None]:
        """Capture the step, leaving model, optimiser and noise as they were."""
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
        for tensor, value in zip(self._changed_by_a_step(), before, strict=True):
            tensor.copy_(value)
        return graph.replay

    def _changed_by_a_step(self) -> list[Tensor]:
        """List everything a step changes."""
        model, optimizer = self.model, self.optimizer
        return [*model.parameters(), self.noise.stream.step, self.terms, *optimizer.state]
