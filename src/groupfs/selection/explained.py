r"""Choose features that explain most of the variance of all: one after another, the best addition.

Axes: m coordinates, p columns, d features; k features of a columns each.

A feature adds the space of its columns, most often one. The columns have the residuals
:math:`R_s = F_s - UU^\top F_s` after the chosen ones, whose orthonormal basis is :math:`U`. With
the weighted targets :math:`M = \sum_j w_j\, t_j t_j^\top` the variance that feature s would explain
on top of them is

.. math:: g_s = \mathrm{tr}\,(R_s^\top R_s)^+ R_s^\top M R_s,

for a single column :math:`r_s^\top M r_s / r_s^\top r_s`. Both terms are brought up to date after
each pick by two products with :math:`F`.
"""

from dataclasses import dataclass

import numpy as np

from groupfs.utils.progress import doing
from groupfs.utils.types import FloatArray, IntArray

#: Share of its own variance that must be left of a column to be of any use: less is rounding.
LEAST_LEFT = {"float64": 1e-6, "float32": 1e-3}
#: Share of the variance of all targets that is nothing.
LEAST_MISSING = 1e-9


class ExplainedVariance:
    """The state of a greedy choice of features.

    F (m, p) are coordinates of the columns, of length one and orthogonal within a feature, M (m, m)
    the sum of w t t' over weighted targets, ``sizes`` (d,) how many columns each feature has.
    """

    def __init__(self, F: FloatArray, M: FloatArray, sizes: IntArray) -> None:
        self.F, self.M, self.sizes = F, M, sizes
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._alike = [self._of_size(int(size)) for size in np.unique(self.sizes)]
        self._least_left = LEAST_LEFT[F.dtype.name]
        self._basis = np.empty((min(F.shape), F.shape[0]), F.dtype)
        self._rank, self._total, self._explained = 0, max(float(M.trace()), 1e-300), 0.0

    def gains(self) -> FloatArray:
        """Compute what each feature would explain on top of the chosen ones, (d,)."""
        found = np.zeros(len(self.sizes))
        if self._rank < len(self._basis):
            for alike in self._alike:
                found[alike.features] = alike.gains(self._least_left)
        return found

    def pick(self, candidates: IntArray, n_picks: int) -> tuple[IntArray, FloatArray]:
        """Choose candidates until nothing is left to explain, and say what each adds, (c,) each."""
        allowed = np.zeros(len(self.sizes), dtype=bool)
        allowed[candidates] = True
        chosen: list[int] = []
        gains: list[float] = []
        while len(chosen) < n_picks and self.missing() > LEAST_MISSING:
            doing()
            worth = np.where(allowed, self.gains(), 0)
            best = int(worth.argmax())
            if worth[best] <= LEAST_MISSING * self._total:
                break
            chosen.append(best)
            gains.append(self.add(best))
            allowed[best] = False
        return np.array(chosen, dtype=np.int64), np.array(gains)

    def add(self, feature: int) -> float:
        """Choose a feature; return what it explains on top of those before."""
        total = 0.0
        for column in range(self._starts[feature], self._starts[feature + 1]):
            q = self._new_direction(self.F[:, column])
            if q is None:
                continue
            v = self.M @ q
            gain = float(q @ v)
            c, h = (np.stack([q, self._outside(v)]) @ self.F).astype(np.float64, copy=False)
            for alike in self._alike:
                alike.take_off(c, h, gain)
            self._keep(q)
            total += gain
        self._explained += total
        return total

    def add_in_order(self, features: IntArray) -> FloatArray:
        """Choose features as they come; return what each explains on top of those before, (c,).

        Cheaper than ``add``, after which gains of other features are no longer to be had.
        """
        first, place = self._rank, []
        for i, feature in enumerate(features if self.missing() >= LEAST_MISSING else []):
            for column in range(self._starts[feature], self._starts[feature + 1]):
                q = self._new_direction(self.F[:, column])
                if q is not None:
                    self._keep(q)
                    place.append(i)
        Q = self._basis[first : self._rank]
        gains = ((Q @ self.M) * Q).sum(1, dtype=np.float64)
        self._explained += gains.sum()
        return np.bincount(place, gains, minlength=len(features)).astype(np.float64)

    def missing(self) -> float:
        """Compute the share of the targets' variance that is not explained."""
        return 1 - self._explained / self._total

    def _new_direction(self, x: FloatArray) -> FloatArray | None:
        """Find the direction a column adds to the chosen ones; None if it adds none."""
        if self._rank == len(self._basis):
            return None
        q = self._outside(self._outside(x))  # twice, or rounding adds up
        length = np.linalg.norm(q)
        return q / length if length**2 > self._least_left else None

    def _keep(self, q: FloatArray) -> None:
        self._basis[self._rank] = q
        self._rank += 1

    def _outside(self, x: FloatArray) -> FloatArray:
        """Take away what lies in the span of the chosen columns, of (m,) or of rows (c, m)."""
        basis = self._basis[: self._rank]
        return x - (x @ basis.T) @ basis

    def _of_size(self, size: int) -> "_SameSize":
        features = np.flatnonzero(self.sizes == size)
        columns = self._starts[features][:, None] + np.arange(size)
        numerator = _products(self.F, self.M @ self.F, columns)
        return _SameSize(features, columns, numerator, _products(self.F, self.F, columns))


@dataclass
class _SameSize:
    """Residuals of k features of a columns each, double precision."""

    features: IntArray  #: (k,)
    columns: IntArray  #: (k, a)
    numerator: FloatArray  #: products with the targets, (k, a, a)
    left: FloatArray  #: products, (k, a, a)

    def gains(self, least_left: float) -> FloatArray:
        """Compute what each would explain, (k,)."""
        if self.left.shape[1] == 1:
            values, along = self.left[:, 0], np.maximum(self.numerator[:, 0], 0)
        else:
            values, vectors = np.linalg.eigh(self.left)
            along = ((self.numerator @ vectors) * vectors).sum(1)
        useful = values > least_left
        return np.divide(along, values, out=np.zeros_like(values), where=useful).sum(1)

    def take_off(self, c: FloatArray, h: FloatArray, gain: float) -> None:
        """Take off a chosen direction: products of all columns with it, and with its targets."""
        own, other = c[self.columns], h[self.columns]
        both, square = own[:, :, None] * other[:, None, :], own[:, :, None] * own[:, None, :]
        self.numerator -= both + both.transpose(0, 2, 1) - square * gain
        self.left -= square


def _products(A: FloatArray, B: FloatArray, columns: IntArray) -> FloatArray:
    """Multiply the columns of each feature with each other, (m, p) each to (k, a, a)."""
    pairs = [[(A[:, i] * B[:, j]).sum(0, dtype=np.float64) for j in columns.T] for i in columns.T]
    return np.stack([np.stack(row, -1) for row in pairs], -2)


def weighted_targets(T: FloatArray, weights: FloatArray) -> FloatArray:
    """Add up w t t' over the columns of T, (m, p) to (m, m)."""
    used = weights > 0
    root = T[:, used] * np.sqrt(weights[used]).astype(T.dtype)
    return root @ root.T
