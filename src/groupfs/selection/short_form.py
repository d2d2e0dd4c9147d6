r"""A few features of every group that keep its score: short forms of scales.

Axes: C groups, m features of a group, k of them chosen.

With the correlations R of a group's features, reversed ones turned, and their weights w in the
score (:mod:`groupfs.selection.row_scores`), the score of the features S correlates with that of all

.. math:: r(S) = \frac{w_S^\top (R w)_S}{\sqrt{w_S^\top R_{SS} w_S \; w^\top R w}} .

The weights of a short form are those of the full score, as for a row that has no other features.
The k most central features are a start, not the answer: of two that are nearly the same the second
says nothing new. So single features are swapped for others as long as r rises.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from groupfs.selection.row_scores import NO_CENTER
from groupfs.utils.types import FloatArray, IntArray

#: Swaps that raise r by less are none, and swaps at most: to choose 28 of 500 took 20.
LEAST_GAIN, MOST_SWAPS = 1e-9, 100
#: Correlations that differ by less are the same: then the more central feature is taken.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ShortForm:
    """Features that stand for every group, and how well; reliability is that of equal weights."""

    items: list[IntArray]  #: features of every group, most central first
    correlation: FloatArray  #: of the score of these with the score of all, in these rows, (C,)
    alpha_short: FloatArray  #: standardised alpha of these, NaN of one feature, (C,)
    alpha_full: FloatArray  #: standardised alpha of all features of the group, (C,)


def short_forms(
    groups: Sequence[IntArray],
    correlations: Iterable[FloatArray],
    centrality: FloatArray,
    k: int,
) -> ShortForm:
    """Choose k features of every group; one that has no more is taken whole.

    Parameters
    ----------
    groups
        Features of every group.
    correlations
        Of the features of every group, reversed ones turned, (m, m) each. They are asked for one by
        one, so that those of one group alone need be in memory.
    centrality : (d,)
        Of all features: their weights in the score.
    k
        Features of a group, one at least.
    """
    items, figures = [], []
    for group, R in zip(groups, correlations, strict=True):
        weights = np.abs(centrality[group])
        if weights.sum() < NO_CENTER:
            weights = np.ones(len(group))
        chosen = choose_items(R, weights, k)
        items.append(group[chosen])
        short = R[np.ix_(chosen, chosen)]
        r = correlate_with_full(R, weights, chosen)
        figures.append((r, cronbach_alpha(short), cronbach_alpha(R)))
    columns = np.array(figures, dtype=np.float64).reshape(-1, 3).T
    return ShortForm(items, *columns)


def choose_items(R: FloatArray, weights: FloatArray, k: int) -> IntArray:
    """Choose the k features whose score keeps the full score best, most central first.

    Ties go to the more central feature, then to the first.
    """
    order = np.argsort(-weights, kind="stable")
    chosen = order[:k]
    if k >= len(order):
        return chosen
    with_full = weights * (R @ weights)
    kept = correlate_with_full(R, weights, chosen)
    for _ in range(MOST_SWAPS):
        r = _after_swaps(R, weights, with_full, chosen)[::-1, order]  # least central one goes first
        best = r.max()
        if best <= kept + LEAST_GAIN:
            break
        place, last = np.argwhere(np.abs(r.T - best) < ROUNDING)[0]
        stay = np.delete(chosen, k - 1 - last)
        chosen, kept = order[np.isin(order, np.append(stay, order[place]))], best
    return chosen


def correlate_with_full(R: FloatArray, weights: FloatArray, chosen: IntArray) -> float:
    """Correlate the score of the chosen features with that of all; 1 if they are all."""
    if len(chosen) == len(weights):
        return 1.0
    with_full, some = R @ weights, weights[chosen]
    variance = some @ R[np.ix_(chosen, chosen)] @ some
    return float(_correlation(some @ with_full[chosen], variance, weights @ with_full))


def cronbach_alpha(R: FloatArray) -> float:
    """Compute Cronbach's alpha of standardised features; NaN of one, or of those that cancel out.

    >>> round(cronbach_alpha(np.array([[1, 0.5], [0.5, 1]])), 3)
    0.667
    """
    m, total = len(R), R.sum()
    return float(m / (m - 1) * (1 - m / total)) if m > 1 and total > NO_CENTER else np.nan


def _after_swaps(
    R: FloatArray, weights: FloatArray, with_full: FloatArray, chosen: IntArray
) -> FloatArray:
    """Compute r with each feature in place of each chosen one, (k, m); -1 for those chosen."""
    rows = weights[chosen, None] * R[chosen] * weights  # covariances of what is added up, (k, m)
    own, all_rows = weights**2 * np.diagonal(R), rows.sum(0)
    variance = all_rows[chosen].sum()
    left = variance - 2 * all_rows[chosen] + own[chosen]  # variance without each, (k,)
    variances = left[:, None] + 2 * (all_rows - rows) + own
    covariances = (with_full[chosen].sum() - with_full[chosen])[:, None] + with_full
    r = _correlation(covariances, variances, with_full.sum())
    r[:, chosen] = -1
    return r


def _correlation(covariance: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Divide a covariance by the roots of the variances; 0 where there is no variance."""
    product = np.asarray(a * b)
    known = product > NO_CENTER**2
    r = np.divide(covariance, np.sqrt(np.where(known, product, 1)))
    return np.clip(np.where(known, r, 0), -1, 1)
