r"""A few features of every group that keep its score: short forms of scales.

Axes: m features of a group, k of them chosen.

With the correlations R of a group's features, reversed ones turned, and their weights w in the
score (:mod:`groupfs.data.row_scores`), the score of the features S correlates with that of all

.. math:: r(S) = \frac{w_S^\top (R w)_S}{\sqrt{w_S^\top R_{SS} w_S \; w^\top R w}} .

The weights of a short form are those of the full score, as for a row that has no other features.
The k most central features are a start, not the answer: of two that are nearly the same the second
says nothing new. So single features are swapped for others as long as r rises.
"""

from dataclasses import dataclass

import numpy as np

from groupfs.data.row_scores import NO_CENTER
from groupfs.discovery.items import cronbach_alpha
from groupfs.utils.types import FloatArray, IntArray

#: Swaps that raise r by less are none, and swaps at most: to choose 28 of 500 took 20.
LEAST_GAIN, MOST_SWAPS = 1e-9, 100
#: Correlations that differ by less are the same: then the more central feature is taken.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ShortForm:
    """Features that stand for a group, and how well; reliability is that of equal weights."""

    items: IntArray  #: places in the group, most central first
    correlation: float  #: of the score of these with the score of all, in these rows
    alpha: float  #: standardised alpha of these, NaN of one feature


def short_form(R: FloatArray, centrality: FloatArray, k: int) -> ShortForm:
    """Choose k features of a group; one that has no more is taken whole.

    Parameters
    ----------
    R : (m, m)
        Correlations of the features of the group, reversed ones turned.
    centrality : (m,)
        Their weights in the score.
    k
        Features to choose, one at least.
    """
    weights = np.abs(centrality)
    if weights.sum() < NO_CENTER:
        weights = np.ones(len(R))
    chosen = choose_items(R, weights, k)
    short = cronbach_alpha(R[np.ix_(chosen, chosen)])
    return ShortForm(chosen, correlate_with_full(R, weights, chosen), short)


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
