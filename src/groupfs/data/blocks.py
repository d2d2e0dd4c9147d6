"""A few rows as they came, dense or sparse: made sure of, put together, taken apart."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from groupfs.utils.types import IntArray

#: A few rows as they came: a dense array or a scipy CSR array.
Block: TypeAlias = Any


def stack_blocks(blocks: list[Block]) -> Block:
    """Put blocks one below the other."""
    if len(blocks) == 1:
        return blocks[0]
    if sp.issparse(blocks[0]):
        return sp.csr_array(sp.vstack(blocks, format="csr"))
    return np.concatenate(blocks)


def sum_duplicates(block: sp.csr_array) -> sp.csr_array:
    """Add up entries at the same place, in a copy: the arrays may be those of the user."""
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    return block


def checked_block(block: Any, wanted: tuple[int, int], what: str) -> Block:
    """Return rows as an array or CSR array; refuse what is no block of numbers of this shape."""
    if sp.issparse(block):
        return sum_duplicates(sp.csr_array(block))
    block = np.asarray(block)
    if block.dtype.kind not in "fiub" or block.shape != wanted:
        raise ValueError(
            f"{what} holds {block.dtype} in shape {block.shape}, not {wanted[0]} rows of "
            f"{wanted[1]} numbers; give a table of numbers whose slices are its rows."
        )
    return block


def pieces_of(grid: Sequence[Sequence[Any]], rows: IntArray | None, size: int) -> Iterator[Block]:
    """Yield the rows of blocks that lie side by side and one below the other, so many at a time.

    ``rows`` are those wanted, ascending, counted from the first of the blocks; None for all. No
    more than a piece is copied at a time, however tall the blocks are.
    """
    first = 0
    for line in grid:
        n = line[0].shape[0]
        if rows is None:
            index: Any = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        else:
            own = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + n)] - first
            index = [own[start : start + size] for start in range(0, len(own), size)]
        for chosen in index:
            yield _side_by_side([_take(block, chosen) for block in line])
        first += n


def _take(block: Any, rows: Any) -> Block:
    if sp.issparse(block):
        return sum_duplicates(sp.csr_array(sp.csr_array(block)[rows]))
    taken = block[rows]
    return checked_block(taken, (taken.shape[0], block.shape[1]), "X")


def _side_by_side(parts: list[Block]) -> Block:
    if sp.issparse(parts[0]):
        return parts[0] if len(parts) == 1 else sp.csr_array(sp.hstack(parts, format="csr"))
    return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))
