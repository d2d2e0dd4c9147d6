"""Find the largest similarities of features, in blocks of numpy or on a device of torch.

Axes: n rows, d columns, b of them in a block.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupfs.utils.device import as_array, on_device
from groupfs.utils.types import FloatArray, IntArray


class UnitColumns:
    """Columns of length one in single precision, whose products are correlations."""

    def __init__(self, Z: NDArray[Any], device: Any = None) -> None:
        self.Z: Any = on_device(np.asarray(Z, dtype=np.float32), device)

    def block(self, start: int, stop: int) -> Any:
        """Correlate columns start..stop with all, (b, d), where the columns are."""
        return self.Z[:, start:stop].T @ self.Z


def largest(values: Any, k: int) -> tuple[FloatArray, IntArray]:
    """Find the k largest numbers of every row and their columns, (b, d) to (b, k) each.

    In any order. Columns are folded first, a few onto one: the largest numbers are among those on
    the k with the largest maxima, and there are about as many of these as of maxima.
    """
    if not isinstance(values, np.ndarray):
        found = values.topk(k, dim=1)
        return as_array(found.values), found.indices.cpu().numpy()
    b, d = values.shape
    n_folded, row = max(1, math.isqrt(d // k)), np.arange(b)[:, None]
    width = d // n_folded
    maxima = values[:, : width * n_folded].reshape(b, n_folded, width).max(1)
    first = np.argpartition(maxima, width - k, axis=1)[:, -k:]
    column = (first[:, None] + width * np.arange(n_folded)[:, None]).reshape(b, -1)
    rest = np.broadcast_to(np.arange(width * n_folded, d), (b, d - width * n_folded))
    column = np.concatenate([column, rest], axis=1)
    some = values[row, column]
    place = np.argpartition(some, some.shape[1] - k, axis=1)[:, -k:]
    return some[row, place], column[row, place]
