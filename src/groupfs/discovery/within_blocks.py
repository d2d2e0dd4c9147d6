r"""Say in which blocks of rows (cohorts, batches) groups hold.

Axes: n rows, m features of a group, C groups, B blocks.

In a block a group is measured by the mean correlation of its features, two at a time, reversed ones
turned, by the rows that have both. In shuffled columns it is zero on average, with variance
:math:`2 / (m (m - 1) (n - 1))`.
"""

import numpy as np

from groupfs.data.blocks import FEWEST_OF_BLOCK
from groupfs.discovery.items import pairwise_correlations
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Where a group holds: deviations above chance, and share of the mean over blocks, at least.
CHANCE_DEVIATIONS, LEAST_SHARE = 3.1, 0.5


def cohesion_within(
    Z: FloatArray, groups: list[IntArray], codes: IntArray, n_blocks: int
) -> tuple[FloatArray, BoolArray]:
    """Measure groups of turned columns, (n, d), NaN in gaps, in blocks of rows, (n,): (C, B) each.

    Returns mean correlations, NaN in blocks of few rows, and where groups hold.
    """
    sizes = np.bincount(codes, minlength=n_blocks)
    mean_r, chance = np.full((2, len(groups), len(sizes)), np.nan)
    for block in np.flatnonzero(sizes >= FEWEST_OF_BLOCK):
        rows = Z[codes == block]
        for j, group in enumerate(groups):
            mean_r[j, block], chance[j, block] = _mean_correlation(rows[:, group])
    counted = ~np.isnan(mean_r)
    over_all = np.where(counted, mean_r, 0) @ sizes / np.maximum(counted @ sizes, 1)
    holds = counted & (mean_r > CHANCE_DEVIATIONS * chance)
    return mean_r, holds & (mean_r >= LEAST_SHARE * over_all[:, None])


def _mean_correlation(columns: FloatArray) -> tuple[float, float]:
    """Return the mean correlation of columns, two at a time, and its deviation by chance."""
    there = ~np.isnan(columns)
    columns = columns[:, np.nanstd(np.where(there.any(0), columns, 0.0), axis=0) > 1e-9]
    m = columns.shape[1]
    if m < 2:
        return 0.0, 1.0
    R, n = pairwise_correlations(columns)
    pairs = m * (m - 1)
    return float((R.sum() - m) / pairs), float(np.sqrt(2 / (pairs * max(n - 1, 1))))
