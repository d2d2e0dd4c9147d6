r"""Columns that explain most of the variance of all: one after another, each the best addition.

Axes: m coordinates, d columns, p chosen ones.

Column s of the coordinates :math:`F` has the residual :math:`r_s = f_s - UU^\top f_s` after the
chosen ones, whose orthonormal basis is :math:`U`. With the weighted targets
:math:`M = \sum_j w_j\, t_j t_j^\top` the variance that s would explain on top of them is

.. math:: g_s = \frac{r_s^\top M\, r_s}{r_s^\top r_s},

and both terms are brought up to date after each pick by two products with :math:`F`.
"""

import numpy as np
import torch
from torch import Tensor

from groupfs.utils.types import FloatArray, IntArray

#: Share of its own variance that must be left of a column to be of any use: less is rounding.
LEAST_LEFT = {torch.float64: 1e-6, torch.float32: 1e-3}


class ExplainedVariance:
    """The state of a greedy choice of columns.

    Parameters
    ----------
    F : Tensor of shape (m, d)
        Coordinates of the columns, of length one.
    M : Tensor of shape (m, m)
        Targets, each weighted, in these coordinates: the sum of w t t'.
    """

    def __init__(self, F: Tensor, M: Tensor) -> None:
        self.F, self.M = F, M
        self.numerator = (F * (M @ F)).sum(0, dtype=torch.float64)
        self.left = F.square().sum(0, dtype=torch.float64)  #: of the variance of each column
        self._least_left = LEAST_LEFT[F.dtype]
        self._basis = F.new_empty((min(F.shape), F.shape[0]))
        self._rank = 0

    @property
    def useful(self) -> Tensor:
        """Which columns are not yet explained by the chosen ones, (d,)."""
        found = self.left > self._least_left
        return found if self._rank < len(self._basis) else torch.zeros_like(found)

    def gains(self) -> Tensor:
        """Compute what each column would explain on top of the chosen ones, (d,)."""
        return torch.where(self.useful, self.numerator / self.left, 0)

    def add(self, column: int) -> float:
        """Choose a column; return what it explains on top of those before."""
        q, _ = self._direction(column)
        v = self.M @ q
        gain = (q @ v).double()
        c = (q @ self.F).double()
        h = (self._outside(v) @ self.F).double()
        self.numerator = (self.numerator - 2 * c * h + c.square() * gain).clamp_(min=0)
        self.left = (self.left - c.square()).clamp_(min=0)
        self.left[column] = 0
        self._keep(q)
        return float(gain)

    def add_in_order(self, columns: IntArray) -> FloatArray:
        """Choose columns as they come; return what each explains on top of those before, (p,).

        Cheaper than ``add``, after which gains of other columns are no longer to be had.
        """
        found = np.zeros(len(columns))
        for place, column in enumerate(columns.tolist()):
            if self._rank == len(self._basis):
                break
            q, length = self._direction(column)
            if length**2 > self._least_left:
                found[place] = float(q @ (self.M @ q))
                self._keep(q)
        return found

    def _direction(self, column: int) -> tuple[Tensor, float]:
        """Find what of a column lies outside the span of the chosen ones: unit vector, length."""
        q = self._outside(self._outside(self.F[:, column]))  # twice, or rounding adds up
        length = float(q.norm())
        return q / max(length, 1e-30), length

    def _outside(self, x: Tensor) -> Tensor:
        basis = self._basis[: self._rank]
        return x - (basis @ x) @ basis

    def _keep(self, q: Tensor) -> None:
        self._basis[self._rank] = q
        self._rank += 1


def weighted_targets(T: Tensor, weights: Tensor) -> Tensor:
    """Add up w t t' over the columns of T, (m, d) to (m, m)."""
    used = weights > 0
    root = T[:, used] * weights[used].sqrt().to(T.dtype)
    return root @ root.T
