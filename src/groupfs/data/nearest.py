"""Find the largest similarities of features, in blocks of numpy or on a device of torch.

Axes: n rows, d columns, b of them in a block, k neighbours of each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupfs.data.select_largest import select_largest
from groupfs.utils.device import as_array, on_device
from groupfs.utils.threads import spans
from groupfs.utils.types import FloatArray, IntArray

#: Numbers of columns that are multiplied in pairs, at a time.
PAIRED_ENTRIES = 2**20


class UnitColumns:
    """Columns of length one in single precision, whose products are correlations."""

    def __init__(self, Z: NDArray[Any], device: Any = None) -> None:
        self.Z: Any = on_device(np.asarray(Z, dtype=np.float32), device)

    def block(self, start: int, stop: int) -> Any:
        """Correlate columns start..stop with all, (b, d), where the columns are."""
        return self.Z[:, start:stop].T @ self.Z

    def along(self, first: IntArray, second: IntArray) -> FloatArray:
        """Correlate pairs of columns in double precision, (E,)."""
        step = max(1, PAIRED_ENTRIES // len(self.Z))
        parts = [(first[a:b], second[a:b]) for a, b in spans(len(first), step)]
        return np.concatenate([np.zeros(0), *(self._paired(i, j) for i, j in parts)])

    def _paired(self, i: IntArray, j: IntArray) -> FloatArray:
        if isinstance(self.Z, np.ndarray):
            found: FloatArray = np.einsum("ij,ij->j", self.Z[:, i], self.Z[:, j], dtype=np.float64)
            return found
        return as_array((self.Z[:, i].double() * self.Z[:, j].double()).sum(0))


def largest(
    values: Any, k: int, above: float = -np.inf, signed: bool = True
) -> tuple[NDArray[Any], IntArray]:
    """Find the k largest numbers of every row and their columns, (b, d) to (b, k) each.

    In any order; unless they are ``signed``, absolute values. Numbers that are not ``above`` a line
    may be left out, with minus infinity in their place.
    """
    if isinstance(values, np.ndarray):
        return select_largest(np.ascontiguousarray(values), k, above, signed)
    found = (values if signed else abs(values)).topk(k, dim=1)
    return as_array(found.values), found.indices.cpu().numpy()
