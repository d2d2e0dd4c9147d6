r"""Least angle regression (Efron et al., 2004), stopped at a number of features.

Axes: N samples, d features, n features taken so far.

It starts with no feature. The one with the largest absolute product with the residual joins, and
the fit moves along the direction that has equal angles with all features that joined, until another
has as large a product; that one joins next. All it needs of the table are products of its columns.

scikit-learn's ``Lars`` (1.9) does the same until a coefficient changes its sign. From there on it
turns the sign of that feature's angle too, which only the lasso variant calls for (there the
feature leaves), and the products of the features that joined are equal no more.
"""

from typing import NamedTuple

import numpy as np
import torch

from groupfs.data.table import RowsInMemory
from groupfs.utils.types import BoolArray, FloatArray

#: Features up to which all products of columns are computed at once (128 MB).
MOST_COLUMNS = 4096
#: A feature this close to the span of those taken adds nothing: share of its squared norm left.
DEPENDENT = 1e-10
#: A step that leaves less than this share of the height leaves only rounding.
ROUNDING = 1e-9


class ColumnProducts:
    """Products of the columns of a table: all at once where there are few, else on demand."""

    def __init__(self, rows: RowsInMemory, most_columns: int = MOST_COLUMNS) -> None:
        rows.to(torch.device("cpu"), torch.float64)
        N, d = rows.shape
        self.rows = rows
        self.whole = rows.column_products(0, d).numpy() if d <= min(N, most_columns) else None

    def of(self, j: int) -> FloatArray:
        """Return the products of column j with all, (d,)."""
        whole = self.whole
        return self.rows.column_products(j, j + 1).numpy()[0] if whole is None else whole[j]

    def with_sum(self, weights: FloatArray) -> FloatArray:
        """Return the products of all columns with a weighted sum of them, (d,) to (d,)."""
        if self.whole is not None:
            return self.whole @ weights
        return self.rows.project(self.rows.combine(weights[:, None]))[:, 0]


class Candidate(NamedTuple):
    """A column that may join the active ones."""

    column: int
    coordinates: FloatArray  #: in the orthonormal basis of the active columns, (n,)
    outside: float  #: part of its squared norm that they do not span
    norm: float  #: squared


class ActiveColumns:
    """The columns that have joined, with an orthonormal basis of their span."""

    def __init__(self, products: ColumnProducts, most: int) -> None:
        self.products = products
        self.indices: list[int] = []
        # Rows of ``inverse`` make the columns orthonormal; ``signs`` are theirs in that basis.
        self.inverse, self.signs = np.zeros((most, most)), np.zeros(most)

    def candidate(self, j: int) -> Candidate:
        n, own = len(self.indices), self.products.of(j)
        coordinates = self.inverse[:n, :n] @ own[self.indices]
        return Candidate(j, coordinates, float(own[j] - coordinates @ coordinates), own[j])

    def add(self, candidate: Candidate, sign: float) -> None:
        n, root = len(self.indices), np.sqrt(candidate.outside)
        self.inverse[n, :n] = -(candidate.coordinates @ self.inverse[:n, :n]) / root
        self.inverse[n, n] = 1 / root
        self.signs[n] = (sign - candidate.coordinates @ self.signs[:n]) / root
        self.indices.append(candidate.column)

    def direction(self, d: int) -> FloatArray:
        """Return weights of a sum with equal angles with the active columns, (d,)."""
        n, weights = len(self.indices), np.zeros(d)
        weights[self.indices] = self.signs[:n] @ self.inverse[:n, :n]
        return weights


def least_angle_coefficients(
    products: ColumnProducts, target: FloatArray, n_nonzero: int
) -> FloatArray:
    """Return the coefficients when ``n_nonzero`` features have joined, one more about to, (d,).

    Fewer join if they explain all that the table can. Columns that are combinations of those taken,
    copies above all, are passed over.
    ``target`` (d,) are the products of the columns with what is to be explained.
    """
    coefficients = np.zeros(len(target))
    residual = target.copy()  # products of the columns with what is not yet explained
    height = np.abs(target).max()  # the absolute value that those of the active columns share
    if height == 0:
        return coefficients
    active, free = ActiveColumns(products, n_nonzero), np.ones(len(target), dtype=bool)
    joining: Candidate | None = active.candidate(int(np.abs(target).argmax()))
    while joining is not None:
        active.add(joining, np.sign(residual[joining.column]))
        free[joining.column] = False
        direction = active.direction(len(target))
        # along it the height falls at rate one, so ``height`` is the longest step there is
        rates = products.with_sum(direction)
        steps = np.where(free, _steps_until_equal(residual, rates, height), np.inf)
        joining = _next_to_join(active, free, steps, longest=height * (1 - ROUNDING))
        step = height if joining is None else steps[joining.column]
        coefficients += step * direction
        if len(active.indices) == n_nonzero:
            break
        residual -= step * rates
        height -= step
    return coefficients


def _steps_until_equal(residual: FloatArray, rates: FloatArray, height: float) -> FloatArray:
    """Return how far to go until products reach the height, which falls at rate one, (d,)."""
    up, down = 1 - rates, 1 + rates
    with np.errstate(divide="ignore", invalid="ignore"):
        steps_up = np.where(up > 0, (height - residual) / up, np.inf)
        steps_down = np.where(down > 0, (height + residual) / down, np.inf)
    return np.maximum(np.minimum(steps_up, steps_down), 0)


def _next_to_join(
    active: ActiveColumns, free: BoolArray, steps: FloatArray, longest: float
) -> Candidate | None:
    """Return the independent column that is nearest; dependent ones before it are free no more."""
    while steps.min() < longest:
        nearest = active.candidate(int(steps.argmin()))
        if nearest.outside > DEPENDENT * nearest.norm:
            return nearest
        free[nearest.column], steps[nearest.column] = False, np.inf
    return None
