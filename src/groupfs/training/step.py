"""One optimiser step on one batch: plain, or captured once as a CUDA graph and replayed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.models.gated_model import GatedModel
from groupfs.models.group_products import Samples
from groupfs.models.noise import NoiseSource
from groupfs.models.objective import Objective
from groupfs.training.early_stopping import CHECK_EVERY
from groupfs.training.optimizers import OPTIMIZERS
from groupfs.training.row_pool import RowPool

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
    check_every: int = CHECK_EVERY  #: epochs between two looks at whether models have settled
    optimizer: str = "adam"  #: or "sgd", without momentum
    record_gates: bool = True


class TrainStep:
    """A step of models on batches of a table, or of a pool of its rows."""

    def __init__(
        self,
        model: GatedModel,
        objective: Objective,
        rows: Rows | RowPool,
        schedule: Schedule,
        noise: NoiseSource,
        state: list[Tensor] | None = None,
    ) -> None:
        self.model, self.objective, self.noise, self.rows = model, objective, noise, rows
        self.schedule = schedule
        like = model.mu
        device = like.device
        self.X: Any = self._first_batch()
        self.temperature = torch.tensor(schedule.start_temperature, dtype=like.dtype, device=device)
        self.terms = torch.zeros((len(like), 3), dtype=like.dtype, device=device)
        parameters = model.parameters()
        self.optimizer = OPTIMIZERS[schedule.optimizer](parameters, schedule.learning_rate)
        if state is not None:
            for own, value in zip(self.optimizer.state, state, strict=True):
                own.copy_(value)
        on_cuda = device.type == "cuda"
        self.run: Callable[[], None] = self._capture() if on_cuda else self._step

    def epoch(self, rng: np.random.Generator) -> int:
        """Go through the rows in random order, in batches of one size; return how many."""
        n_steps = self.steps_per_epoch
        if isinstance(self.rows, RowPool):
            for batch in self.rows:
                if n_steps > 1:
                    self._use(batch)
                self.run()
        elif len(self.X) == self.rows.shape[0]:
            self.run()
        else:
            for _ in self.rows.batches(n_steps, rng, self.X):
                self.run()
        return n_steps

    @property
    def steps_per_epoch(self) -> int:
        if isinstance(self.rows, RowPool):
            return len(self.rows)
        n_steps = -(-self.rows.shape[0] // len(self.X))
        return min(n_steps, self.schedule.steps_per_epoch or n_steps)

    def for_models(self, model: GatedModel, index: Tensor) -> "TrainStep":
        """Make the step of some of the models, with their moments."""
        state = [part[index] if part.ndim else part for part in self.optimizer.state]
        return TrainStep(model, self.objective, self.rows, self.schedule, self.noise, state)

    def _use(self, batch: Samples) -> None:
        """Make a batch that of the next step; steps that are replayed look for it in one place."""
        if self.model.mu.device.type == "cuda":
            self.X.copy_(batch)
        else:
            self.X = batch

    def _first_batch(self) -> Any:
        """Take the first rows; batches are written over them."""
        rows, like = self.rows, self.model.mu
        if isinstance(rows, RowPool):
            return rows.batches[0].clone() if like.device.type == "cuda" else rows.batches[0]
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
