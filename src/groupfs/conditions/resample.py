"""Draw samples again, or whole blocks of them, to see how far a number can be trusted.

Axes: B resamples, n samples, U units: blocks, or samples where there are none.
"""

import numpy as np

from groupfs.utils.types import FloatArray, IntArray


def units_of(blocks: IntArray | None, n_samples: int) -> IntArray:
    """Number what is drawn as a whole: blocks, or samples, (n,)."""
    if blocks is None:
        return np.arange(n_samples)
    found: IntArray = np.unique(blocks, return_inverse=True)[1]
    return found


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
