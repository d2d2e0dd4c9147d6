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
#: Share of the variance of all targets that is nothing.
LEAST_MISSING = 1e-9
#: Columns that are added to the curve at a time.
AT_ONCE = 128


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
        self._total, self._explained = max(float(M.trace()), 1e-300), 0.0

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
        q = self._outside(self._outside(self.F[:, column]))  # twice, or rounding adds up
        q = q / q.norm()
        v = self.M @ q
        gain = (q @ v).double()
        c, h = (torch.stack([q, self._outside(v)]) @ self.F).double()
        self.numerator = (self.numerator - 2 * c * h + c.square() * gain).clamp_(min=0)
        self.left = (self.left - c.square()).clamp_(min=0)
        self.left[column] = 0
        self._keep(q)
        self._explained += float(gain)
        return float(gain)

    def add_in_order(self, columns: IntArray) -> FloatArray:
        """Choose columns as they come; return what each explains on top of those before, (p,).

        Cheaper than ``add``, after which gains of other columns are no longer to be had.
        """
        found = np.zeros(len(columns))
        index = torch.as_tensor(columns, device=self.F.device)
        for start in range(0, len(columns), AT_ONCE):
            if self._rank == len(self._basis) or self.missing() < LEAST_MISSING:
                break
            first = self._rank
            rest = self._outside(self.F[:, index[start : start + AT_ONCE]].T)
            places = [start + i for i, x in enumerate(rest) if self._extend(x)]
            Q = self._basis[first : self._rank]
            gains = ((Q @ self.M) * Q).sum(1, dtype=torch.float64)
            found[places] = gains.cpu().numpy()
            self._explained += float(gains.sum())
        return found

    def missing(self) -> float:
        """Compute the share of the targets' variance that is not explained."""
        return 1 - self._explained / self._total

    def _extend(self, x: Tensor) -> bool:
        """Add the direction of a column to the basis, if it is a new one."""
        q = self._outside(self._outside(x))
        length = float(q.norm())
        is_new = length**2 > self._least_left and self._rank < len(self._basis)
        if is_new:
            self._keep(q / length)
        return is_new

    def _outside(self, x: Tensor) -> Tensor:
        """Take away what lies in the span of the chosen columns, of (m,) or of rows (p, m)."""
        basis = self._basis[: self._rank]
        return x - (x @ basis.T) @ basis

    def _keep(self, q: Tensor) -> None:
        self._basis[self._rank] = q
        self._rank += 1


def weighted_targets(T: Tensor, weights: Tensor) -> Tensor:
    """Add up w t t' over the columns of T, (m, d) to (m, m)."""
    used = weights > 0
    root = T[:, used] * weights[used].sqrt().to(T.dtype)
    return root @ root.T
