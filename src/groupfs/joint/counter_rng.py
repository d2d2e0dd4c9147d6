"""Random numbers that are a function of seed, step and place, the same on every device.

torch's generators give other numbers on a GPU than on the CPU, and a stream depends on what was
drawn from it before. Here a counter is mixed instead (the finaliser of SplitMix64), so a model's
noise depends neither on the device nor on the models beside it.
"""

import torch
from torch import Tensor

#: 2^64 over the golden ratio, and the two multipliers of SplitMix64, as signed 64-bit integers.
GOLDEN = 0x9E3779B97F4A7C15 - 2**64
MIX_1 = 0xBF58476D1CE4E5B9 - 2**64
MIX_2 = 0x94D049BB133111EB - 2**64
#: An odd number that sets the counters of successive steps far apart.
STRIDE = 0xD1B54A32D192ED03 - 2**64


class CounterNoise:
    """A stream of uniform numbers per seed, on a device."""

    def __init__(self, seeds: list[int], device: torch.device) -> None:
        keys = torch.tensor(seeds, dtype=torch.int64).mul_(GOLDEN)
        self.keys = _mix(keys).unsqueeze(-1).to(device)
        self.step = torch.zeros((), dtype=torch.int64, device=device)
        self.counter = torch.zeros(0, dtype=torch.int64, device=device)

    def uniform(self, n: int, dtype: torch.dtype) -> Tensor:
        """Draw the next ``n`` numbers of every stream, strictly between 0 and 1, (S, n)."""
        if len(self.counter) != n:
            self.counter = torch.arange(1, n + 1, device=self.step.device).mul_(GOLDEN)
        self.step += 1  # in place: on a GPU a step may be recorded and replayed
        bits = _mix(self.counter + (self.keys + self.step * STRIDE))
        # 23 of them: with more, the largest number would round to 1 in single precision
        bits = bits.bitwise_right_shift_(41).bitwise_and_(2**23 - 1)
        return bits.to(dtype).add_(0.5).mul_(2**-23)


def _mix(x: Tensor) -> Tensor:
    """Scramble 64-bit integers so that neighbours become unlike, in place."""
    x ^= (x >> 30) & (2**34 - 1)
    x *= MIX_1
    x ^= (x >> 27) & (2**37 - 1)
    x *= MIX_2
    x ^= (x >> 31) & (2**33 - 1)
    return x
