"""Adjust p-values for their number, so that each can be held against the share of false ones."""

import numpy as np

from groupfs.utils.types import BoolArray, FloatArray

#: Share of features called related that may be so by chance.
RELATED_RATE = 0.05


def adjust_p_values(p_values: FloatArray) -> FloatArray:
    """Adjust p-values by Benjamini and Hochberg, (m,) to (m,); NaN stays NaN and does not count.

    Examples
    --------
    >>> adjust_p_values(np.array([0.01, np.nan, 0.04, 0.5])).round(2).tolist()
    [0.03, nan, 0.06, 0.5]
    """
    from scipy.stats import false_discovery_control  # slow to import, and pages need it not

    adjusted = np.array(p_values, dtype=np.float64)
    known = ~np.isnan(adjusted)
    if known.any():
        adjusted[known] = false_discovery_control(adjusted[known])
    return adjusted


def related_features(p_values: FloatArray) -> BoolArray:
    """Find the features that are related to others beyond chance by their p-values, (d,)."""
    related: BoolArray = adjust_p_values(p_values) <= RELATED_RATE
    return related
