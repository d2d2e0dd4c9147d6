r"""Take the level of conditions off columns: their mean there, in units of their spread there.

Axes: n samples, m columns, G places along a number. Gaps are NaN and stay so.

Along a number the mean is a local line: at place g, the line through samples weighted by the
kernel, which unlike a local mean does not lag behind at the ends.
"""

import numpy as np

from groupfs.conditions.kernel import kernel_weights
from groupfs.conditions.pairwise import CONSTANT
from groupfs.utils.types import FloatArray, IntArray

#: Places from the smallest to the largest number at which the level is found; lines between.
N_LEVELS = 50


def standardized_within(Z: FloatArray, codes: IntArray) -> FloatArray:
    """Standardise columns within each condition, (n, m); constant ones become zero there."""
    weights = (codes == np.arange(codes.max() + 1)[:, None]).astype(float)
    counts = np.maximum(weights @ _present(Z), 1)
    off = Z - (weights @ np.nan_to_num(Z) / counts)[codes]
    return _divided(off, np.sqrt(weights @ np.square(np.nan_to_num(off)) / counts)[codes])


def standardized_along(Z: FloatArray, values: FloatArray, bandwidth: float) -> FloatArray:
    """Standardise columns along a number, (n, m)."""
    places = np.linspace(values.min(), values.max(), N_LEVELS)
    weights = kernel_weights(values, places, bandwidth)
    off = Z - _between(values, places, _local_lines(Z, values, places, weights))
    total = np.maximum(weights @ _present(Z), 1e-300)
    variance = weights @ np.square(np.nan_to_num(off)) / total
    return _divided(off, np.sqrt(_between(values, places, variance)))


def _local_lines(
    Z: FloatArray, values: FloatArray, places: FloatArray, weights: FloatArray
) -> FloatArray:
    """Evaluate at each place the line through the samples around it, (G, m)."""
    present, Z = _present(Z), np.nan_to_num(Z)
    total = np.maximum(weights @ present, 1e-300)
    tilted = weights * (values - places[:, None])
    tilt = tilted @ present / total
    spread = (tilted * (values - places[:, None])) @ present / total - np.square(tilt)
    mean = weights @ Z / total
    together = tilted @ Z / total - tilt * mean
    slope = np.divide(together, spread, out=np.zeros_like(mean), where=spread > CONSTANT)
    return mean - slope * tilt


def _between(values: FloatArray, places: FloatArray, of_places: FloatArray) -> FloatArray:
    """Interpolate columns that are known at some places, (G, m) to (n, m)."""
    return np.stack([np.interp(values, places, column) for column in of_places.T], axis=1)


def _present(Z: FloatArray) -> FloatArray:
    return (~np.isnan(Z)).astype(float)


def _divided(off: FloatArray, spread: FloatArray) -> FloatArray:
    varies = spread > np.sqrt(CONSTANT)
    return np.divide(off, spread, out=np.where(np.isnan(off), np.nan, 0.0), where=varies)
