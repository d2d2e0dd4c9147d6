"""One optimiser step on one batch: plain, or captured once as a CUDA graph and replayed."""

import threading
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from groupfs.joint.batches import Batches
from groupfs.joint.losses import Objective
from groupfs.joint.model import GatedModel
from groupfs.joint.relaxations import CounterNoise
from groupfs.joint.settings import Schedule

#: Decay of Adam's two moments, and what keeps the root of the second from zero.
DECAY, SQUARE_DECAY, SMALLEST_ROOT = 0.9, 0.999, 1e-8
#: Held by the thread that captures its step as a CUDA graph.
CAPTURE_LOCK = threading.Lock()


class TrainStep:
    """A step of models on batches of a table."""

    def __init__(
        self,
        model: GatedModel,
        objective: Objective,
        rows: Batches,
        schedule: Schedule,
        noise: CounterNoise,
    ) -> None:
        self.objective, self.rows, self.schedule, self.noise = objective, rows, schedule, noise
        N, d = rows.shape
        self.X = model.mu.new_empty((min(schedule.batch_size, N), d))  # batches are written over it
        rows.take(torch.arange(len(self.X)), out=self.X)
        n_steps = -(-N // len(self.X))
        self.n_steps = min(n_steps, schedule.steps_per_epoch or n_steps)  # of an epoch
        self.temperature = model.mu.new_tensor(schedule.start_temperature)
        self._train(model, Adam(model.parameters(), schedule.learning_rate))

    def epoch(self, rng: np.random.Generator) -> None:
        """Go through the rows in random order, in batches of one size."""
        if len(self.X) == self.rows.shape[0]:
            self.run()
        else:
            for _ in self.rows.fill(self.n_steps, rng, self.X):
                self.run()

    def keep(self, index: Tensor) -> None:
        """Go on with some of the models, and with their moments."""
        model = self.model.select(index)
        self._train(model, self.optimizer.select(index, model.parameters()))

    def _train(self, model: GatedModel, optimizer: "Adam") -> None:
        self.model, self.optimizer = model, optimizer
        self.terms = model.mu.new_zeros((len(model), 3))  # of the loss, summed over an epoch
        on_cuda = model.mu.device.type == "cuda"
        self.run: Callable[[], None] = self._capture() if on_cuda else self._step

    def _step(self) -> None:
        draw = self.model.draw(self.noise, self.objective.gate_noise)
        self.terms += self.model.loss_and_gradient(self.objective, self.X, draw, self.temperature)
        self.optimizer.step()

    def _capture(self) -> Callable[[], None]:
        """Capture the step, leaving model, optimiser and noise as they were."""
        changed = [*self.model.parameters(), self.noise.step, *self.optimizer.state]
        before = [tensor.clone() for tensor in changed]
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
        for tensor, value in zip(changed, before, strict=True):
            tensor.copy_(value)
        return graph.replay


class Adam:
    """Adam (Kingma and Ba, 2015), without weight decay, on gradients written by hand.

    torch's own takes more than a second to load when it is made, and many times as long for a step
    on a few gates as the step itself takes.
    """

    def __init__(self, parameters: list[Tensor], rate: float) -> None:
        self.parameters, self.rate = parameters, rate
        self.means = [torch.zeros_like(parameter) for parameter in parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in parameters]
        # on the device, so that a step that was captured counts on when it is replayed
        self.n_steps = torch.zeros((), dtype=torch.float32, device=parameters[0].device)

    @property
    def state(self) -> list[Tensor]:
        """List what is remembered between steps."""
        return [*self.means, *self.squares, self.n_steps]

    def select(self, index: Tensor, parameters: list[Tensor]) -> "Adam":
        """Go on with some of the models, on the first axis, whose parameters are given."""
        rest = Adam(parameters, self.rate)
        rest.means, rest.squares = ([of[index] for of in m] for m in (self.means, self.squares))
        rest.n_steps = self.n_steps
        return rest

    @torch.no_grad()
    def step(self) -> None:
        """Take a step."""
        self.n_steps += 1
        mean_share, square_share = 1 - DECAY**self.n_steps, 1 - SQUARE_DECAY**self.n_steps
        length, root_share = self.rate / mean_share, square_share.sqrt()
        for parameter, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            gradient = parameter.grad
            assert gradient is not None
            mean.lerp_(gradient, 1 - DECAY)
            square.mul_(SQUARE_DECAY).addcmul_(gradient, gradient, value=1 - SQUARE_DECAY)
            root = square.sqrt().div_(root_share).add_(SMALLEST_ROOT)
            parameter.sub_((mean / root).mul_(length))
