r"""Take the level of conditions off columns: their mean there, in units of their spread there.

Axes: n samples, m columns, G places along a number.

Along a number the mean is a local line: at place g, the line through samples weighted by the
kernel, which unlike a local mean does not lag behind at the ends.
"""

import numpy as np

from groupfs.conditions.kernel import kernel_weights
from groupfs.conditions.weighted import CONSTANT
from groupfs.utils.types import FloatArray, IntArray

#: Places from the smallest to the largest number at which the level is found; lines between.
N_LEVELS = 50


def standardized_within(Z: FloatArray, codes: IntArray) -> FloatArray:
    """Standardise columns within each condition, (n, m); constant ones become zero there."""
    counts = np.bincount(codes)[:, None]
    weights = (codes == np.arange(len(counts))[:, None]).astype(float)
    off = Z - (weights @ Z / counts)[codes]
    return _divided(off, np.sqrt(weights @ np.square(off) / counts)[codes])


def standardized_along(Z: FloatArray, values: FloatArray, bandwidth: float) -> FloatArray:
    """Standardise columns along a number, (n, m)."""
    places = np.linspace(values.min(), values.max(), N_LEVELS)
    weights = kernel_weights(values, places, bandwidth)
    off = Z - _between(values, places, _local_lines(Z, values, places, weights))
    variance = weights @ np.square(off) / weights.sum(1, keepdims=True)
    return _divided(off, np.sqrt(_between(values, places, variance)))


def _local_lines(
    Z: FloatArray, values: FloatArray, places: FloatArray, weights: FloatArray
) -> FloatArray:
    """Evaluate at each place the line through the samples around it, (G, m)."""
    total = weights.sum(1, keepdims=True)
    tilted = weights * (values - places[:, None])
    tilt = tilted.sum(1, keepdims=True) / total
    spread = (tilted * (values - places[:, None])).sum(1, keepdims=True) / total - np.square(tilt)
    mean = weights @ Z / total
    together = tilted @ Z / total - tilt * mean
    slope = np.divide(together, spread, out=np.zeros_like(mean), where=spread > CONSTANT)
    return mean - slope * tilt


def _between(values: FloatArray, places: FloatArray, of_places: FloatArray) -> FloatArray:
    """Interpolate columns that are known at some places, (G, m) to (n, m)."""
    return np.stack([np.interp(values, places, column) for column in of_places.T], axis=1)


def _divided(off: FloatArray, spread: FloatArray) -> FloatArray:
    varies = spread > np.sqrt(CONSTANT)
    return np.divide(off, spread, out=np.zeros_like(off), where=varies)
