r"""Give samples each other's conditions, so that chance can be seen; blocks stay in one piece.

Axes: P arrangements beside the given one, n samples.

If conditions do not matter, it does not matter which sample has which. Samples of one block (of one
donor, say) are alike, so they may not be mixed with others: where conditions vary within blocks,
they are exchanged within these; where every block has one condition, whole blocks exchange theirs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from groupfs.utils.types import FloatArray, IntArray
from groupfs.utils.warn import warn

#: Arrangements that are drawn, in all and for each group where groups are many.
USUAL, PER_GROUP = 999, 40
#: Arrangements below which no p-value can say anything.
FEWEST_ARRANGEMENTS = 3
#: Blocks of which each has a condition (a time, say) of its own, from which chance can be told.
FEWEST_BLOCKS = 4


@dataclass(frozen=True)
class Exchange:
    """Which samples may exchange their conditions."""

    blocks: IntArray  #: block of each sample, numbered from 0 without gaps, (n,)
    whole: bool  #: whether whole blocks exchange their conditions
    log_count: float  #: logarithm of the number of different arrangements

    @property
    def kind(self) -> str:
        """Whether conditions are exchanged "within" blocks or between "whole" ones."""
        return "whole" if self.whole else "within"

    def draw(self, n_arrangements: int, rng: np.random.Generator) -> IntArray:
        """Draw from which sample each takes its condition, (P + 1, n); the first is as given."""
        n = len(self.blocks)
        as_given = np.arange(n)[None]
        if self.whole:
            first = np.unique(self.blocks, return_index=True)[1]
            shuffled = rng.permuted(np.tile(first, (n_arrangements, 1)), axis=1)
            return np.concatenate([as_given, shuffled[:, self.blocks]])
        by_block = np.argsort(self.blocks, kind="stable")
        taken = np.empty((n_arrangements, n), dtype=np.int64)
        taken[:, by_block] = np.argsort(self.blocks + rng.random((n_arrangements, n)), axis=1)
        return np.concatenate([as_given, taken])


def enough_arrangements(asked_for: int | None, n_groups: int) -> int:
    """Choose how many arrangements to draw: a single group must be able to stand out."""
    return max(USUAL, PER_GROUP * n_groups) if asked_for is None else asked_for


def plan_exchange(labels: Any, blocks: IntArray | None, alpha: float) -> Exchange:
    """Find out who may exchange conditions; refuse where nobody may."""
    labels = np.unique(labels, return_inverse=True)[1]
    if blocks is None:
        return _checked(Exchange(np.zeros(len(labels), np.int64), False, _ways(labels)), alpha)
    blocks = np.unique(blocks, return_inverse=True)[1]
    first = np.unique(blocks, return_index=True)[1]
    if (labels != labels[first][blocks]).any():
        ways = sum(_ways(labels[blocks == block]) for block in range(len(first)))
        return _checked(Exchange(blocks, False, ways), alpha)
    of_blocks = labels[first]
    if np.bincount(of_blocks).max() == 1 and len(first) < FEWEST_BLOCKS:
        raise ValueError(
            f"the {len(first)} blocks have one condition each and no condition has two blocks, so "
            "a difference between conditions may be one between blocks; it takes several blocks in "
            "every condition, or several conditions in a block."
        )
    return _checked(Exchange(blocks, True, _ways(of_blocks)), alpha)


def _ways(labels: IntArray) -> float:
    """Return the logarithm of the number of different orders of labels."""
    counts = np.bincount(labels)
    return float(gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())


def _checked(exchange: Exchange, alpha: float) -> Exchange:
    count = np.exp(min(exchange.log_count, 50))
    if count < FEWEST_ARRANGEMENTS - 0.5:
        raise ValueError(
            f"conditions can be exchanged between samples in {count:.0f} way(s) that respect the "
            "blocks, so nothing can be compared with chance; it takes more blocks in every "
            "condition, or conditions that vary within blocks."
        )
    if 1 / count > alpha:
        warn(
            f"Conditions can be exchanged in only {count:.0f} ways that respect the blocks, so no "
            f"p-value can be below {1 / count:.2g}."
        )
    return exchange


def rearranged(weights: FloatArray, taken: IntArray) -> FloatArray:
    """Give every sample the weights of the one it takes its condition from.

    Weights (K, n) of K conditions and P arrangements (P, n) make (P K, n).
    """
    return weights[:, taken].swapaxes(0, 1).reshape(-1, weights.shape[1])
