from typing import Any

from numpy.typing import NDArray

from groupfs.utils.types import IntArray

def select_largest(
    values: NDArray[Any], k: int, above: float, signed: bool
) -> tuple[NDArray[Any], IntArray]:
    """Select the k largest numbers of every row above a line, and their columns, (b, k) each."""
