r"""Least angle regression (Efron et al., 2004), stopped at a number of features.

Axes: N samples, d features, n features taken so far.

It starts with no feature. The one with the largest absolute product with the residual joins, and
the fit moves along the direction that has equal angles with all features that joined, until another
has as large a product; that one joins next. All it needs of the table are products of its columns.

scikit-learn's ``Lars`` (1.9) does the same until a coefficient changes its sign. From there on it
turns the sign of that feature's angle too, which only the lasso variant calls for (there the
feature leaves), and the products of the features that joined are equal no more.
"""

from __future__ import annotations

import numpy as np
import torch

from groupfs.data.rows import RowsInMemory
from groupfs.utils.types import FloatArray

#: Features up to which all products of columns are computed at once (128 MB).
WHOLE = 4096
#: A feature this close to the span of those taken adds nothing: share of its squared norm left.
DEPENDENT = 1e-10
#: A step that leaves less than this share of the height leaves only rounding.
ROUNDING = 1e-9


class ColumnProducts:
    """Products of the columns of a table: all at once where there are few, else on demand."""

    def __init__(self, rows: RowsInMemory) -> None:
        rows.to(torch.device("cpu"), torch.float64)
        N, d = rows.shape
        self.rows = rows
        self.whole = rows.column_products(0, d).numpy() if d <= min(N, WHOLE) else None

    def of(self, j: int) -> FloatArray:
        """Products of column j with all, (d,)."""
        if self.whole is not None:
            return self.whole[j]
        products: FloatArray = self.rows.column_products(j, j + 1).numpy()[0]
        return products

    def with_sum(self, weights: FloatArray) -> FloatArray:
        """Products of all columns with a weighted sum of them, (d,) to (d,)."""
        if self.whole is not None:
            return self.whole @ weights
        return self.rows.project(self.rows.combine(weights[:, None]))[:, 0]


def least_angle_coefficients(
    products: ColumnProducts, target: FloatArray, n_nonzero: int
) -> FloatArray:
    """Coefficients when ``n_nonzero`` features have joined and one more is about to, (d,).

    Fewer join if they explain all that the table can. Columns that are combinations of those taken,
    copies above all, are passed over.

    Parameters
    ----------
    products : ColumnProducts
        Of the centred table.
    target : (d,)
        Products of the columns with what is to be explained.
    n_nonzero : int
        Features to take, at most d.
    """
    d = len(target)
    coefficients = np.zeros(d)
    residual = target.copy()  # products of the columns with what is not yet explained
    height = np.abs(target).max()  # the absolute value that those of the features taken share
    if height == 0:
        return coefficients
    taken: list[int] = []
    free = np.ones(d, dtype=bool)
    # Rows of ``inverse`` make the taken columns orthonormal; ``signs`` are theirs in that basis.
    inverse, signs = np.zeros((n_nonzero, n_nonzero)), np.zeros(n_nonzero)
    joining = int(np.abs(target).argmax())
    row, left = np.zeros(0), float(products.of(joining)[joining])
    while True:
        n = len(taken)
        inverse[n, :n] = -(row @ inverse[:n, :n]) / np.sqrt(left)
        inverse[n, n] = 1 / np.sqrt(left)
        signs[n] = (np.sign(residual[joining]) - row @ signs[:n]) / np.sqrt(left)
        taken.append(joining)
        free[joining] = False

        basis, n = inverse[: n + 1, : n + 1], n + 1
        direction = np.zeros(d)
        direction[taken] = signs[:n] @ basis
        # along it the height falls at rate one, so ``height`` is the longest step there is
        rates = products.with_sum(direction)
        steps = _steps_until_equal(residual, rates, height)
        steps[~free] = np.inf
        while True:
            joining = int(steps.argmin())
            if steps[joining] >= height * (1 - ROUNDING):
                return coefficients + height * direction
            own = products.of(joining)
            row = basis @ own[taken]
            left = float(own[joining] - row @ row)
            if left > DEPENDENT * own[joining]:
                break
            free[joining], steps[joining] = False, np.inf
        coefficients += steps[joining] * direction
        if n == n_nonzero:
            return coefficients
        residual -= steps[joining] * rates
        height -= steps[joining]


def _steps_until_equal(residual: FloatArray, rates: FloatArray, height: float) -> FloatArray:
    """How far to go until a product is as large as the height, which falls at rate one, (d,)."""
    up, down = 1 - rates, 1 + rates
    with np.errstate(divide="ignore", invalid="ignore"):
        steps_up = np.where(up > 0, (height - residual) / up, np.inf)
        steps_down = np.where(down > 0, (height + residual) / down, np.inf)
    return np.maximum(np.minimum(steps_up, steps_down), 0)
