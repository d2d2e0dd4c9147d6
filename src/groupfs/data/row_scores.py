r"""How much of each group a row has: the one definition of a score.

Axes: n rows, d features, C groups.

With the standardised value z, the sign s and the centrality c of a feature, and K the features of
the group that the row has, the score is
:math:`\sum_{k \in K} s_k c_k z_k / \sum_{k \in K} c_k`: features that run against their group are
turned, and those that say little of it count little. A row that has less than half of the group's
weight has no score (NaN).
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from groupfs.data.sources import Source

#: Share of a group's weight that a row must have.
LEAST_WEIGHT = 0.5
#: Centralities that sum to less are none: features that cancel out have no middle.
NO_CENTER = 1e-9
#: Sums of weights that differ by less are the same.
ROUNDING = 1e-9


def score_weights(groups: list[IntArray], centrality: FloatArray, signs: IntArray) -> FloatArray:
    """Return what standardised columns are multiplied with to score rows without gaps, (d, C)."""
    weights = np.zeros((len(centrality), len(groups)))
    for rank, group in enumerate(groups):
        weight = np.abs(centrality[group])
        even, total = 1 / len(group), weight.sum()
        weights[group, rank] = even if total < NO_CENTER else signs[group] * weight / total
    return weights


def score_rows(
    X: Any,
    weights: FloatArray,
    mean: FloatArray | None = None,
    spread: FloatArray | None = None,
    *,
    least_weight: float = LEAST_WEIGHT,
) -> FloatArray:
    """Score rows of numbers, dense with NaN in gaps, or sparse, whose zeros are numbers, (n, C).

    ``weights`` (d, C) are made by :func:`score_weights`; ``mean`` and ``spread`` (d,) are the units
    of the columns, None if X is standardised; one that does not vary counts as its mean. A row must
    have ``least_weight`` of a group's weight, or its score is NaN.
    """
    mean = np.zeros(len(weights)) if mean is None else mean
    combine = _by_units(weights, spread)
    if not isinstance(X, np.ndarray):  # a feature is in one group: most weights are zero, too
        return np.asarray((X @ sp.csr_array(combine)).toarray() - mean @ combine)
    used = np.flatnonzero(weights.any(axis=1))
    weights, combine, away = weights[used], combine[used], X[:, used] - mean[used]
    gaps = np.isnan(away)
    scores: FloatArray = np.where(gaps, 0, away) @ combine
    some = gaps.any(axis=1)
    weight = ~gaps[some] @ np.abs(weights)  # of the features that are there
    enough = weight > max(least_weight - ROUNDING, ROUNDING)
    scores[some] = np.divide(scores[some], weight, np.full_like(weight, np.nan), where=enough)
    return scores


def _by_units(weights: FloatArray, spread: FloatArray | None) -> FloatArray:
    """Turn weights of standardised columns into those of columns as they come, (d, C)."""
    unit = np.ones((len(weights), 1)) if spread is None else spread[:, None]
    return np.divide(weights, unit, out=np.zeros_like(weights), where=unit > 0)


def score_on_device(
    source: "Source", weights: FloatArray, mean: FloatArray, spread: FloatArray, device: Any
) -> FloatArray | None:
    """Score rows without gaps on a device of torch, (N, C); None where there are gaps."""
    from groupfs.data.all_rows import DeviceRows

    combine = _by_units(weights, spread)
    scores = DeviceRows(source, device).times(combine)
    return None if scores is None else scores - mean @ combine


def score_blocks(
    blocks: Iterable[Any],
    weights: FloatArray,
    mean: FloatArray,
    spread: FloatArray,
    least: float = LEAST_WEIGHT,
) -> FloatArray:
    """Score a table that comes in blocks of rows, (n, C)."""
    scores = [score_rows(block, weights, mean, spread, least_weight=least) for block in blocks]
    return np.concatenate([np.zeros((0, weights.shape[1])), *scores])
