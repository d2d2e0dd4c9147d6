"""Adam on tensors whose gradients were written by hand.

torch's own takes more than a second to load when it is made, and many times as long
for a step on a few gates as the step itself takes.
"""

import torch
from torch import Tensor

#: Decay of the two moments, and what keeps the root of the second from zero.
DECAY, SQUARE_DECAY, SMALLEST_ROOT = 0.9, 0.999, 1e-8


class Adam:
    """Adam (Kingma and Ba, 2015), without weight decay."""

    def __init__(self, parameters: list[Tensor], rate: float) -> None:
        self.parameters, self.rate = parameters, rate
        self.means = [torch.zeros_like(parameter) for parameter in parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in parameters]
        # on the device, so that a step that was recorded counts on when it is replayed
        self.n_steps = torch.zeros((), dtype=torch.float32, device=parameters[0].device)

    @property
    def state(self) -> list[Tensor]:
        """List what is remembered between steps, models on the first axis where there is one."""
        return [*self.means, *self.squares, self.n_steps]

    @torch.no_grad()
    def step(self) -> None:
        """Take a step."""
        self.n_steps += 1
        mean_share = 1 - DECAY**self.n_steps
        square_share = 1 - SQUARE_DECAY**self.n_steps
        length = self.rate / mean_share
        root_share = square_share.sqrt()
        moments = zip(self.parameters, self.means, self.squares, strict=True)
        for parameter, mean, square in moments:
            gradient = parameter.grad
            assert gradient is not None
            mean.lerp_(gradient, 1 - DECAY)
            square.mul_(SQUARE_DECAY).addcmul_(gradient, gradient, value=1 - SQUARE_DECAY)
            root = square.sqrt().div_(root_share).add_(SMALLEST_ROOT)
            parameter.sub_((mean / root).mul_(length))
