r"""Say in which blocks of rows (cohorts, batches) groups hold.

Axes: n rows, m features of a group, C groups, B blocks.

In a block a group is measured by the mean correlation of its features, two at a time, reversed ones
turned: with standardised columns and their sum s it is
:math:`\bar r = (\mathrm{var}(s) - m) / (m (m - 1))`. In shuffled columns it is zero on average,
with variance :math:`2 / (m (m - 1) (n - 1))`.
"""

import numpy as np

from groupfs.data.blocks import FEWEST_OF_BLOCK
from groupfs.data.standardize import unit_columns
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Where a group holds: deviations above chance, and share of the mean over blocks, at least.
CHANCE_DEVIATIONS, LEAST_SHARE = 3.1, 0.5


def cohesion_within(
    Z: FloatArray, groups: list[IntArray], codes: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Measure groups of turned columns, (n, d), in blocks of rows, (n,): (C, B) each.

    Returns mean correlations, NaN in blocks of few rows, and where groups hold.
    """
    sizes = np.bincount(codes)
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
    columns = columns[:, columns.std(axis=0) > 1e-9]
    n, m = columns.shape
    if m < 2:
        return 0.0, 1.0
    total, pairs = unit_columns(columns).sum(axis=1), m * (m - 1)
    return float((np.square(total).mean() - m) / pairs), float(np.sqrt(2 / (pairs * (n - 1))))
