r"""Measure how much the first features explain in rows that were left out.

Axes: n rows, K columns of the first features, T columns of the targets.

Regressions on few rows flatter themselves. With :math:`A = QR` the first columns, centred, the
first k leave the residuals :math:`E = Y - Q_k Q_k^\top Y`, and a row that the regression has not
seen would have the residual :math:`E_i / (1 - h_i)` with its leverage :math:`h_i = 1/n + \sum_{j
\le k} Q_{ij}^2`: leaving out every row in turn takes no second regression. With :math:`P = Q^\top
Y`, the weights W of the targets and :math:`G = P W P^\top` the weighted squares of a row fall with
column k by :math:`2 Q_{ik} D_{ik} - Q_{ik}^2 G_{kk}`, where :math:`D = Y W P^\top - Q\,
\mathrm{triu}(G)` has what is left before it.
"""

import numpy as np
import scipy.linalg

from groupfs.data.coordinates import cholesky
from groupfs.data.similarity import Similarity
from groupfs.data.standardize import unit_columns
from groupfs.utils.types import FloatArray, IntArray

#: Numbers in the rows that are looked at, features and targets, at most.
ENTRIES, MOST_FEATURES, MOST_TARGETS = 2**22, 1024, 2048
#: Share of the variance that is left to explain, of a column's that is left of it, and of a row's
#: that others do not determine: as good as none.
ALL_EXPLAINED, LEAST_LEFT, LEAST_FREE = 1e-4, 1e-6, 1e-3


def explained_held_out(
    similarity: Similarity, order: IntArray, explained: FloatArray, weights: FloatArray
) -> FloatArray:
    """Measure what the first 1, 2, ... features explain in rows left out, (m,).

    As many as there are rows for, and as explain nearly all.

    ``explained`` (d,) is what they explain in all rows, ``weights`` (d,) what each feature counts.
    """
    rows, rng = similarity.in_memory().measured, np.random.default_rng(0)
    owner, n = rows.feature_of_column, rows.shape[0]
    index = rng.permutation(n)[: max(2, ENTRIES // len(owner))]
    order = order[: min(MOST_FEATURES, 1 + int(np.searchsorted(explained, 1 - ALL_EXPLAINED)))]
    order = order[np.cumsum(np.bincount(owner)[order]) < len(index) - 1]
    counted = np.sort(rng.permutation(np.flatnonzero(weights > 0))[:MOST_TARGETS])
    X = unit_columns(np.nan_to_num(rows.take(index)))
    first, of_order = _columns(owner, order)
    targets, of_target = _columns(owner, counted)
    w = weights[counted][of_target] / np.bincount(of_target)[of_target]
    if not len(first):
        return np.zeros(0)
    missing = squares_left_out(X[:, first], X[:, targets], w)
    total = np.square(X[:, targets]).sum(0) @ w * (len(X) / (len(X) - 1)) ** 2
    last = np.searchsorted(of_order, np.arange(len(order)), side="right") - 1
    return np.asarray(1 - missing[last] / max(total, 1e-300))


def squares_left_out(A: FloatArray, Y: FloatArray, w: FloatArray) -> FloatArray:
    """Sum weighted squares of what the first 1, 2, ... columns leave in rows left out, (K,).

    A (n, K) and Y (n, T) are centred, w (T,) are weights.
    """
    scale = np.linalg.norm(A, axis=0)
    scale[scale == 0] = 1.0  # of columns that do not vary in these rows
    R = cholesky(A.T @ A / np.outer(scale, scale)) * scale
    adds = np.square(np.diagonal(R)) >= LEAST_LEFT * len(A)  # of duplicates rounding is left
    if not adds.all():
        return squares_left_out(A[:, adds], Y, w)[np.maximum(np.cumsum(adds) - 1, 0)]
    Q = scipy.linalg.solve_triangular(R, A.T, trans=1).T
    P = Q.T @ Y
    G = (P * w) @ P.T
    D = Y @ (P * w).T - Q @ np.triu(G, 1)
    left = (np.square(Y) @ w)[:, None] - np.cumsum(2 * Q * D - np.square(Q) * np.diagonal(G), 1)
    free = np.maximum(1 - 1 / len(A) - np.cumsum(np.square(Q), 1), LEAST_FREE)
    return np.asarray((left / free**2).sum(0))


def _columns(owner: IntArray, features: IntArray) -> tuple[IntArray, IntArray]:
    """List the columns of features in their order, and the place of the feature of each."""
    starts = np.searchsorted(owner, features)
    sizes = np.searchsorted(owner, features, side="right") - starts
    place = np.repeat(np.arange(len(features)), sizes)
    return np.arange(len(place)) + (starts - (np.cumsum(sizes) - sizes))[place], place
