r"""Places along a number, and how much each sample counts at each of them.

Axes: n samples, G places.

A sample with number t counts :math:`\exp(-(t - g)^2 / 2h^2)` at place g. The bandwidth h is
Silverman's rule, :math:`0.9 \min(s, \mathrm{IQR} / 1.34)\, n^{-1/5}`, widened until every place has
the weight of 30 samples, or of a third of them where they are fewer than 90.
"""

import numpy as np

from groupfs.conditions.weighted import effective_samples
from groupfs.utils.types import FloatArray

#: Places at which curves are drawn, between these quantiles of the number: beyond lie few samples.
N_PLACES, ENDS = 25, (0.05, 0.95)
#: Samples that every place has the weight of, and the largest share of all that this may be.
FEWEST_EFFECTIVE, LARGEST_SHARE = 30, 1 / 3
#: By how much a bandwidth that is too narrow is widened, until it is wide enough.
WIDER = 1.1


def choose_places(values: FloatArray) -> FloatArray:
    """Spread places evenly over the numbers, (G,)."""
    low, high = np.quantile(values, ENDS)
    if low == high:
        raise ValueError(
            f"{(values == low).mean():.0%} of the values are {low:g}, so there is no course to "
            "follow; compare them as categories with groupfs.conditions.compare."
        )
    return np.linspace(low, high, N_PLACES)


def choose_bandwidth(values: FloatArray, places: FloatArray) -> float:
    """Choose h by Silverman's rule, wide enough that no place rests on few samples."""
    quarters = np.quantile(values, [0.25, 0.75])
    spread = values.std(ddof=1)
    between = (quarters[1] - quarters[0]) / 1.34
    width = 0.9 * min(spread, between or spread) * len(values) ** -0.2
    enough = min(FEWEST_EFFECTIVE, LARGEST_SHARE * len(values))
    while effective_samples(kernel_weights(values, places, width)).min() < enough:
        width *= WIDER
    return float(width)


def kernel_weights(values: FloatArray, places: FloatArray, bandwidth: float) -> FloatArray:
    """Weigh every sample at every place, (G, n)."""
    off = (values - places[:, None]) / bandwidth
    # relative to the nearest sample, or far from all of them every weight would be zero
    nearest = np.abs(off).min(1, keepdims=True)
    return np.exp(-(np.square(off) - np.square(nearest)) / 2)
