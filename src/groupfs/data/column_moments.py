"""One pass over a table that is read in blocks: means, deviations, keys of its columns, a sample.

Means and squared deviations of blocks are merged as they come, each about its own mean, so that
nothing is lost where columns are far from zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from groupfs.data.block_sources import Block, Source, stacked
from groupfs.data.prefetch import ahead
from groupfs.utils.progress import Steps
from groupfs.utils.types import FloatArray


def _as_it_is(block: Block) -> Block:
    return block


@dataclass
class Moments:
    """What one pass has gathered; arrays have one entry per column."""

    n_rows: int
    mean: FloatArray
    squares: FloatArray  #: sum of squared deviations from the mean
    keys: FloatArray  #: products of the centred columns with fixed random vectors, (d, 3)
    sample: Block  #: some rows as they came

    @property
    def spread(self) -> FloatArray:
        """Standard deviations."""
        return np.sqrt(self.squares / self.n_rows)


def blocks(
    source: Source, size: int, what: str, verbose: bool, stage: Callable[[Block], Any] = _as_it_is
) -> Iterator[tuple[int, Any]]:
    """All rows in order with the place of the first, read and staged ahead, under a bar."""
    N = source.shape[0]
    with Steps(N, verbose, what) as steps:
        spans = ((a, min(a + size, N)) for a in range(0, N, size))
        for start, stop, block in ahead((a, b, stage(source.read(a, b))) for a, b in spans):
            yield start, block
            steps.advance(stop - start)


def gather_moments(
    source: Source,
    sample_rows: int,
    block_rows: int,
    refuse: Callable[[Block], None],
    verbose: bool,
) -> Moments:
    """Go through the rows once; ``refuse`` raises on blocks with values that cannot be used."""
    N, d = source.shape
    chosen = np.sort(np.random.default_rng(0).choice(N, sample_rows, replace=False))
    vectors = np.random.default_rng(0)
    mean, squares, keys = np.zeros(d), np.zeros(d), np.zeros((d, 3))
    total = np.zeros(3)
    shift: FloatArray | None = None
    sample: list[Block] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for start, block in blocks(source, block_rows, "mean and variance", verbose):
            refuse(block)
            n = block.shape[0]
            sums, apart = _of_block(block)
            shift = sums / n if shift is None else shift
            away = sums / n - mean
            mean += away * (n / (start + n))
            squares += apart + away**2 * (start * n / (start + n))
            drawn = vectors.standard_normal((n, 3))
            keys += _products(block, shift, drawn)
            total += drawn.sum(0)
            first, last = np.searchsorted(chosen, [start, start + n])
            sample.append(block[chosen[first:last] - start])
        assert shift is not None
        keys -= np.outer(mean - shift, total)
    return Moments(N, mean, squares, keys, stacked(sample))


def _of_block(block: Block) -> tuple[FloatArray, FloatArray]:
    """Sums of the columns, and of their squared deviations from their means."""
    n, d = block.shape
    if isinstance(block, np.ndarray):
        sums: FloatArray = block.sum(axis=0, dtype=np.float64)
        apart = block - sums / n
        return sums, np.einsum("ij,ij->j", apart, apart)
    values = block.data.astype(np.float64)
    sums = np.bincount(block.indices, values, minlength=d).astype(np.float64)
    center = sums / n
    squares = np.bincount(block.indices, (values - center[block.indices]) ** 2, minlength=d)
    n_zeros = n - np.bincount(block.indices, minlength=d)
    return sums, squares + n_zeros * center**2


def _products(block: Block, shift: FloatArray, vectors: FloatArray) -> FloatArray:
    """Products of the columns, less a shift, with vectors over the rows, (d, 3)."""
    if isinstance(block, np.ndarray):
        return (block - shift).T @ vectors
    return np.asarray(block.T.astype(np.float64) @ vectors - np.outer(shift, vectors.sum(0)))
