r"""Give samples each other's conditions to see chance, or draw them again to see how far to trust.

Axes: P arrangements beside the given one, B resamples, n samples, U units: blocks, or samples.

If conditions do not matter, it does not matter which sample has which. Samples of one block (of one
donor, say) are alike, so they may not be mixed with others: where conditions vary within blocks,
they are exchanged within these; where every block has one condition, whole blocks exchange theirs.
Resamples are of whole blocks, too.
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
    whole: bool  #: whether whole blocks exchange their conditions, and not samples within them

    def draw(self, n_arrangements: int, rng: np.random.Generator) -> IntArray:
        """Draw from which sample each takes its condition, (P + 1, n); the first is as given."""
        taken = np.tile(np.arange(len(self.blocks)), (1 + n_arrangements, 1))
        if self.whole:
            first = np.unique(self.blocks, return_index=True)[1]
            shuffled = rng.permuted(np.tile(first, (n_arrangements, 1)), axis=1)
            taken[1:] = shuffled[:, self.blocks]
        else:
            by_block = np.argsort(self.blocks, kind="stable")
            taken[1:, by_block] = np.argsort(self.blocks + rng.random(taken[1:].shape), axis=1)
        return taken


def enough_arrangements(asked_for: int | None, n_groups: int) -> int:
    """Choose how many arrangements to draw: a single group must be able to stand out."""
    return max(USUAL, PER_GROUP * n_groups) if asked_for is None else asked_for


def plan_exchange(labels: Any, blocks: IntArray | None, alpha: float) -> Exchange:
    """Find out who may exchange conditions; refuse where nobody may."""
    labels = np.unique(labels, return_inverse=True)[1]
    given = np.zeros(len(labels)) if blocks is None else blocks
    _, first, own = np.unique(given, return_index=True, return_inverse=True)
    whole = blocks is not None and bool((labels == labels[first][own]).all())
    if whole and np.bincount(labels[first]).max() == 1 and len(first) < FEWEST_BLOCKS:
        raise ValueError(
            f"the {len(first)} blocks have one condition each and no condition has two blocks, so "
            "a difference between conditions may be one between blocks; it takes several blocks in "
            "every condition, or several conditions in a block."
        )
    exchanged = [labels[first]] if whole else [labels[own == b] for b in range(len(first))]
    count = np.exp(min(sum(map(_log_orders, exchanged)), 50))
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
    return Exchange(own, whole)


def _log_orders(labels: IntArray) -> float:
    counts = np.bincount(labels)
    return float(gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())


def rearranged(weights: FloatArray, taken: IntArray) -> FloatArray:
    """Give every sample the weights of the one it takes its condition from.

    Weights (K, n) of K conditions and P arrangements (P, n) make (P K, n).
    """
    return weights[:, taken].swapaxes(0, 1).reshape(-1, weights.shape[1])


def draw_counts(
    units: IntArray, strata: IntArray | None, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Draw how often each sample is in each resample, (B, n).

    As many units as there are are drawn with replacement; if each lies in one stratum (a
    condition), within the strata, so that none of these is ever empty.
    """
    first = np.unique(units, return_index=True)[1]
    of_units = np.zeros(len(first), dtype=np.int64)
    if strata is not None and (strata == strata[first][units]).all():
        of_units = strata[first]
    counts = np.zeros((n_resamples, len(first)))
    for stratum in np.unique(of_units):
        inside = np.flatnonzero(of_units == stratum)
        shares = np.full(len(inside), 1 / len(inside))
        counts[:, inside] = rng.multinomial(len(inside), shares, size=n_resamples)
    return counts[:, units]


def resampled(weights: FloatArray, counts: FloatArray) -> FloatArray:
    """Count every sample as often as it was drawn: weights (K, n), counts (B, n) to (B K, n)."""
    return (counts[:, None] * weights).reshape(-1, weights.shape[1])
