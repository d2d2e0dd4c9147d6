"""Types that every room speaks of: of arrays, and of a device where torch may not be imported."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@runtime_checkable
class TorchDevice(Protocol):
    """Whatever looks like a ``torch.device``, so that parameters are checked without torch."""

    __module__, __qualname__ = "torch", "device"  # what messages call it

    type: str
    index: int | None
