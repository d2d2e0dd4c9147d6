"""What a selection keeps of a table, without clusters: nearest neighbours, and explained variance.

Axes: N rows, k selected columns, d columns of the whole table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Distances that are held at a time: 64 MB.
BLOCK = 2**23
#: Squared distances that differ by less, relative to themselves, are equal: columns are rounded.
EQUAL = 1e-9


def neighbor_accuracy(S: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Compute the share of rows whose nearest other row, by Euclidean distance, has their class.

    Without columns all rows are alike, and the best guess is the largest class.

    Parameters
    ----------
    S : (N, k)
        Selected columns, standardised.
    y : (N,)
        Classes.
    """
    if not S.shape[1]:
        return float(np.unique(y, return_counts=True)[1].max() / len(y))
    return float(np.mean(y[nearest_rows(S)] == y))


def nearest_rows(S: NDArray[np.float64]) -> NDArray[np.int64]:
    r"""Find the nearest other row of every row, the first of those that are equally near.

    Distances are :math:`|a|^2 + |b|^2 - 2ab`, a product of matrices. Rounding hides which of almost
    equal ones is smallest; where that is in doubt, differences are summed instead.
    """
    N, k = S.shape
    squares = np.einsum("ij,ij->i", S, S)
    doubt = 4 * np.finfo(np.float64).eps * (k + 2) * (squares + squares.max())
    nearest = np.empty(N, dtype=np.int64)
    step = max(1, BLOCK // N)
    for start in range(0, N, step):
        rows = np.arange(start, min(start + step, N))
        distances = S[rows] @ S.T
        distances *= -2
        distances += squares
        distances[rows - start, rows] = np.inf  # a row is not its own neighbour
        least = distances.min(axis=1)  # without |a|^2, which all distances of a row share
        near = distances <= (least + doubt[rows])[:, None]
        nearest[rows] = near.argmax(axis=1)
        for i in np.flatnonzero(near.sum(axis=1) > 1):
            among = np.flatnonzero(near[i])
            exact = ((S[among] - S[start + i]) ** 2).sum(axis=1)
            nearest[start + i] = among[exact <= exact.min() * (1 + EQUAL)][0]
    return nearest


def explained_variance(Z: NDArray[np.float64], selected: NDArray[np.int64]) -> float:
    r"""Compute the mean of :math:`R^2` over all columns that vary, regressed on the selected ones.

    With :math:`Q` an orthonormal basis of the selected columns, a centred column :math:`z` has
    :math:`R^2 = |Q^\top z|^2 / |z|^2`.

    Parameters
    ----------
    Z : (N, d)
        Standardised table.
    selected : (k,)
        Indices of columns.
    """
    varies = Z.max(axis=0) > Z.min(axis=0)
    centred = Z - Z.mean(axis=0)
    Q, spread, _ = np.linalg.svd(centred[:, selected[varies[selected]]], full_matrices=False)
    # directions within rounding of none belong to columns that others already give
    rounding = np.finfo(np.float64).eps * max(Z.shape)
    Q = Q[:, spread > rounding * spread.max(initial=0)]
    centred = centred[:, varies]
    kept = ((Q.T @ centred) ** 2).sum(axis=0) / (centred**2).sum(axis=0)
    return float(kept.mean())
