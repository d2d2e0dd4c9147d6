r"""Measure the features of groups as the items of scales, from rows: all that later needs no rows.

Axes: n rows, d features of the table, m features of a group, C groups.

Correlations are those of pairs of features by the rows that have both, turned so that reversed
features agree with their group. Scores are those of :mod:`groupfs.data.row_scores`.
"""

import numpy as np

from groupfs.data.row_scores import NO_CENTER, score_rows, score_weights
from groupfs.groups import Groups, Items
from groupfs.utils.types import FloatArray, IntArray

#: Features of a group whose correlations are measured, and kept; entries of a table of
#: correlations with scores that is kept.
MEASURED, KEPT, MOST_ENTRIES = 1000, 100, 2**18


def measure_items(Z: FloatArray, groups: Groups, columns: IntArray) -> Items:
    """Measure groups in rows of standardised numbers, (n, d), NaN in gaps.

    ``columns`` (d,) are the places of these features among all; arrays of features are of all.
    """
    C, every = len(groups), len(groups.labels)
    central, signs = groups.centrality[columns], groups.signs[columns]
    place = np.full(every, -1)
    place[columns] = np.arange(len(columns))
    inside = [place[members] for members in groups.members]
    scores = score_rows(Z, score_weights(inside, central, signs))
    filled = np.nan_to_num(scores)
    mean, spread = np.zeros(C), np.zeros(C)
    n_scored = np.maximum((~np.isnan(scores)).sum(0), 1)
    mean = (filled.sum(0) / n_scored).round(12) + 0.0  # no -0
    spread = np.sqrt(np.maximum(np.square(filled).sum(0) / n_scored - mean**2, 0))
    alpha, n_rows, item_rest = np.full(C, np.nan), np.zeros(C), np.full(every, np.nan)
    within: list[FloatArray] = []
    for j, group in enumerate(inside):
        within.append(np.zeros((0, 0)))
        if not 2 <= len(group) <= MEASURED:
            continue
        R, n_rows[j] = pairwise_correlations(Z[:, group] * signs[group])
        alpha[j], item_rest[groups.members[j]] = cronbach_alpha(R), item_rest_correlations(R)
        if len(group) <= KEPT:
            within[j] = R
    with_scores = np.zeros((0, C))
    if every * C <= MOST_ENTRIES:
        with_scores = np.full((every, C), np.nan)
        with_scores[columns] = cross_correlations(Z, scores)
    return Items(
        alpha=alpha,
        item_rest=item_rest,
        n_rows=n_rows,
        score_mean=mean,
        score_sd=spread,
        within=within,
        with_scores=with_scores,
        between_scores=cross_correlations(scores, scores),
    )


def cronbach_alpha(R: FloatArray) -> float:
    r"""Compute alpha of the sum of m standardised features, :math:`\frac{m}{m-1}(1 - m/\sum R)`.

    NaN of one, or of those that cancel out.

    >>> round(cronbach_alpha(np.array([[1, 0.5], [0.5, 1]])), 3)
    0.667
    """
    m, total = len(R), float(R.sum())
    return m / (m - 1) * (1 - m / total) if m > 1 and total > NO_CENTER else float("nan")


def item_rest_correlations(R: FloatArray) -> FloatArray:
    """Correlate every feature with the sum of the others, (m,)."""
    to_all = R.sum(0)
    variance = R.sum() - 2 * to_all + 1
    found: FloatArray = (to_all - 1) / np.sqrt(np.maximum(variance, 1e-12))
    return found


def pairwise_correlations(Z: FloatArray) -> tuple[FloatArray, float]:
    """Correlate columns by the rows that both have, (m, m), and count those rows on average."""
    R, n = cross_correlations(Z, Z), float(len(Z))
    np.fill_diagonal(R, 1)
    present = ~np.isnan(Z)
    if not present.all():
        n = float(np.mean(present.T.astype(np.float64) @ present))
    return R, n


def cross_correlations(A: FloatArray, B: FloatArray) -> FloatArray:
    """Correlate the columns of A with those of B by the rows that both have; 0 where none vary."""
    has_a, has_b = ~np.isnan(A), ~np.isnan(B)
    if has_a.all() and has_b.all():
        A, B = A - A.mean(0), B - B.mean(0)
        product = A.T @ B
        square = np.outer(np.square(A).sum(0), np.square(B).sum(0))
    else:
        # sums over the rows of a pair: their means and spreads are its own
        a, b, of_a, of_b = np.nan_to_num(A), np.nan_to_num(B), has_a * 1.0, has_b * 1.0
        n = np.maximum(of_a.T @ of_b, 1)
        sum_a, sum_b = a.T @ of_b, of_a.T @ b
        product = a.T @ b - sum_a * sum_b / n
        square = (np.square(a).T @ of_b - sum_a**2 / n) * (of_a.T @ np.square(b) - sum_b**2 / n)
    varies = square > 1e-20
    found = np.divide(product, np.sqrt(np.where(varies, square, 1)), where=varies, out=product * 0)
    return np.clip(found, -1, 1)
