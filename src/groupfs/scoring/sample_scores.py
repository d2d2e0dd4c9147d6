r"""How much of each group a sample has: the weighted mean of the group's standardised columns.

Axes: n samples, d features, C groups.

The weight of feature i in its group is :math:`s_i c_i / \sum_k c_k`, with its sign s and its
centrality c: features that run against their group are turned, and those that say little of it
count little.
"""

from typing import Any

import numpy as np

from groupfs.utils.types import FloatArray, IntArray

#: Centralities that sum to less are none: features that cancel out have no middle.
NO_CENTER = 1e-9


def score_weights(groups: list[IntArray], centrality: FloatArray, signs: IntArray) -> FloatArray:
    """Return what standardised columns are multiplied with to score samples, (d, C)."""
    weights = np.zeros((len(centrality), len(groups)))
    for rank, group in enumerate(groups):
        weight = np.abs(centrality[group])
        if weight.sum() < NO_CENTER:
            weights[group, rank] = 1 / len(group)
        else:
            weights[group, rank] = signs[group] * weight / weight.sum()
    return weights


def score_rows(X: Any, mean: FloatArray, spread: FloatArray, weights: FloatArray) -> FloatArray:
    """Score rows of numbers, dense or sparse, by the units of the columns, (n, C).

    ``mean`` and ``spread`` are (d,), ``weights`` (d, C). A gap (NaN) in a dense row counts as the
    mean, and so does a column that does not vary.
    """
    used = np.flatnonzero((spread > 0) & weights.any(axis=1))
    combine = weights[used] / spread[used, None]
    if isinstance(X, np.ndarray):
        away = X[:, used] - mean[used]
        return np.asarray(np.where(np.isnan(away), 0, away) @ combine)
    return np.asarray(X[:, used] @ combine - mean[used] @ combine)
