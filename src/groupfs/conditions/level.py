r"""Take the level of conditions off columns: their mean there, in units of their spread there.

Axes: n samples, m columns, G places along a number. Gaps are NaN and stay so.

Along a number, a sample with number t counts :math:`\exp(-(t - g)^2 / 2h^2)` at place g, and the
mean is a local line: that through the samples so weighted, which unlike a local mean does not lag
behind at the ends.
"""

import numpy as np

from groupfs.conditions.weighted import CONSTANT, weighted_means
from groupfs.utils.types import FloatArray, IntArray

#: Places from the smallest to the largest number at which the level is found; lines between.
N_LEVELS = 50


def centered_within(Z: FloatArray, codes: IntArray) -> FloatArray:
    """Subtract from every column its mean within each condition, (n, m); equal values become 0."""
    centered = np.array(Z, dtype=np.float64)
    for code in np.unique(codes):
        inside = np.flatnonzero(codes == code)
        values = centered[inside]
        mean = np.nansum(values, axis=0) / np.maximum((~np.isnan(values)).sum(axis=0), 1)
        lowest, highest = np.fmin.reduce(values), np.fmax.reduce(values)
        # the mean of equal values is rounded, and what is left of them would look like a column
        centered[inside] = values - np.where(lowest == highest, lowest, mean)
    return centered


def standardized_within(Z: FloatArray, codes: IntArray) -> FloatArray:
    """Standardise columns within each condition, (n, m); constant ones become zero there."""
    weights = (codes == np.arange(codes.max() + 1)[:, None]).astype(float)
    off = centered_within(Z, codes)
    return _divided(off, weighted_means(np.square(off), weights)[codes])


def kernel_weights(values: FloatArray, places: FloatArray, bandwidth: float) -> FloatArray:
    """Weigh every sample at every place, (G, n)."""
    off = (values - places[:, None]) / bandwidth
    # relative to the nearest sample, or far from all of them every weight would be zero
    nearest = np.abs(off).min(1, keepdims=True)
    return np.exp(-(np.square(off) - np.square(nearest)) / 2)


def standardized_along(Z: FloatArray, values: FloatArray, bandwidth: float) -> FloatArray:
    """Standardise columns along a number, (n, m)."""
    places = np.linspace(values.min(), values.max(), N_LEVELS)
    weights = kernel_weights(values, places, bandwidth)
    off = Z - _between(values, places, _local_lines(Z, values, places, weights))
    variance = np.nan_to_num(weighted_means(np.square(off), weights))
    return _divided(off, _between(values, places, variance))


def _local_lines(
    Z: FloatArray, values: FloatArray, places: FloatArray, weights: FloatArray
) -> FloatArray:
    """Evaluate at each place the line through the samples around it, (G, m)."""
    present, Z = (~np.isnan(Z)).astype(float), np.nan_to_num(Z)
    total, away = np.maximum(weights @ present, 1e-300), values - places[:, None]
    tilted = weights * away
    tilt = tilted @ present / total
    spread, mean = (tilted * away) @ present / total - np.square(tilt), weights @ Z / total
    together = tilted @ Z / total - tilt * mean
    slope = np.divide(together, spread, out=np.zeros_like(mean), where=spread > CONSTANT)
    return mean - slope * tilt


def _between(values: FloatArray, places: FloatArray, of_places: FloatArray) -> FloatArray:
    """Interpolate columns that are known at some places, (G, m) to (n, m)."""
    return np.stack([np.interp(values, places, column) for column in of_places.T], axis=1)


def _divided(off: FloatArray, variance: FloatArray) -> FloatArray:
    """Divide by the root of the variance, (n, m) each; where there is none, zero, and gaps stay."""
    zero = np.where(np.isnan(off), np.nan, 0.0)
    return np.divide(off, np.sqrt(variance), out=zero, where=variance > CONSTANT)
