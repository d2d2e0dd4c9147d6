"""Correlations of the features by group: which features a figure shows, and their correlations.

Axes: n samples, d features, k features shown.
"""

from dataclasses import dataclass

import numpy as np

from groupfs.training.settings import is_signed
from groupfs.utils.fitted_selector import FittedSelector, by_centrality
from groupfs.utils.types import FloatArray, IntArray

#: Features of a group that are shown at least, if it has so many.
FEWEST_PER_GROUP = 3
#: Share of the pairs within groups whose correlations are within the colours.
WITHIN_COLOURS = 0.9


@dataclass(frozen=True)
class FeatureCorrelations:
    """Correlations of some features, ordered by group and by centrality within it."""

    features: IntArray  #: (k,)
    sizes: IntArray  #: features shown of each group, of the first groups where these are many
    values: FloatArray  #: (k, k); features that run against their group are turned round
    turned: bool  #: whether they are: not where the fit was signed
    limit: float  #: where colours end: what most pairs within groups do not exceed


def correlate_features(selector: FittedSelector, Z: FloatArray, most: int) -> FeatureCorrelations:
    """Correlate the features in groups; of more than ``most``, a like share of every group.

    Z (n, d) are standardised rows. A share is spread evenly over the group, from the most to the
    least central feature. A feature's correlation with itself has no part in the limit.
    """
    groups = [by_centrality(selector, group) for group in selector.groups_]
    sizes = share_out(np.array([len(group) for group in groups], dtype=np.int64), most)
    shown = [g[(np.arange(n) * len(g)) // n] for g, n in zip(groups, sizes, strict=False)]
    features = np.concatenate([np.zeros(0, dtype=np.int64), *shown])
    columns = Z[:, features] - Z[:, features].mean(0)
    columns /= np.maximum(np.linalg.norm(columns, axis=0), 1e-12)
    turned = not is_signed(selector.get_params(deep=False))
    if turned:
        columns *= np.where(selector.group_signs_[features] < 0, -1, 1)
    values = np.clip(columns.T @ columns, -1, 1)
    return FeatureCorrelations(features, sizes, values, turned, _limit(values, sizes))


def share_out(sizes: IntArray, most: int) -> IntArray:
    """Share out so many places among groups in proportion to their sizes, a few to each at least.

    Where there are not even places for these, the first groups get them.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.plotting.feature_correlations import share_out
    >>> share_out(np.array([400, 4, 100]), 50)
    array([38,  3,  9])
    """
    if sizes.sum() <= most:
        return sizes
    sizes = sizes[: max(1, most // FEWEST_PER_GROUP)]
    fewest = np.minimum(sizes, FEWEST_PER_GROUP)
    shares = np.maximum(fewest, sizes * most // max(sizes.sum(), most))
    while shares.sum() > most:
        shares[shares.argmax()] -= 1
    return shares


def _limit(values: FloatArray, sizes: IntArray) -> float:
    """Choose where the colours end, in steps of 0.05: tight groups shall look tight."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    pairs = (group[:, None] == group) & ~np.eye(len(group), dtype=bool)
    if not pairs.any():
        return 1.0
    strong = float(np.quantile(np.abs(values[pairs]), WITHIN_COLOURS))
    return float(np.clip(np.ceil(20 * strong) / 20, 0.2, 1.0))
