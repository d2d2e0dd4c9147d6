r"""Choose features that explain most of the variance of all: one after another, the best addition.

Axes: m coordinates, p columns, d features; k features of a columns each.

A feature adds the space of its columns, most often one. The columns have the residuals
:math:`R_s = F_s - UU^\top F_s` after the chosen ones, whose orthonormal basis is :math:`U`. With
the weighted targets :math:`M = \sum_j w_j\, t_j t_j^\top` the variance that feature s would explain
on top of them is

.. math:: g_s = \mathrm{tr}\,(R_s^\top R_s)^+ R_s^\top M R_s,

for a single column :math:`r_s^\top M r_s / r_s^\top r_s`. Both terms are brought up to date after
each pick by two products with :math:`F`. Of many features only those that come first are brought up
to date, the others after a few picks: what a feature adds hardly ever grows as others are chosen.
"""

from dataclasses import dataclass

import numpy as np

from groupfs.utils.progress import doing
from groupfs.utils.threads import in_threads, spans
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Share of its own variance that must be left of a column to be of any use: less is rounding.
LEAST_LEFT = {"float64": 1e-6, "float32": 1e-3}
#: Features brought up to date together where there are more than so many, and picks after which
#: all of them are.
LOOKED_AT, FEW_FEATURES, PICKS = 64, 512, 32
#: Features that a thread works on together.
TOGETHER = 2048
#: Length squared of what a column adds, below which it is made orthogonal to the others twice.
SHORT = 0.01
#: Share of the variance of all targets that is nothing.
LEAST_MISSING = 1e-9


class ExplainedVariance:
    """The state of a greedy choice of features.

    F (m, p) are coordinates of the columns, of length one and orthogonal within a feature, M (m, m)
    the sum of w t t' over weighted targets, ``sizes`` (d,) how many columns each feature has.
    """

    def __init__(self, F: FloatArray, M: FloatArray, sizes: IntArray) -> None:
        self.M, self.sizes = M, sizes
        self._columns = np.ascontiguousarray(F.T)  # a few are looked at at a time, (p, m)
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._alike = [self._of_size(int(size)) for size in np.unique(self.sizes)]
        self._least_left = LEAST_LEFT[F.dtype.name]
        # directions that were chosen, what they are for the targets, and what they explain
        self._basis = np.empty((min(F.shape), F.shape[0]), F.dtype)
        self._of_targets, self._adds = np.empty_like(self._basis), np.zeros(len(self._basis))
        self._rank, self._total, self._explained = 0, max(float(M.trace()), 1e-300), 0.0

    def gains(self) -> FloatArray:
        """Compute what each feature would explain on top of the chosen ones, (d,)."""
        return self._gains_of(np.ones(len(self.sizes), dtype=bool))

    def _gains_of(self, asked: BoolArray) -> FloatArray:
        """Compute what some features would explain, 0 for the others, (d,)."""
        found, chosen = np.zeros(len(self.sizes)), slice(self._rank)
        directions = (self._basis[chosen], self._of_targets[chosen], self._adds[chosen])
        if self._rank < len(self._basis):
            for alike in self._alike:
                some = np.flatnonzero(asked[alike.features])
                cut = spans(len(some), TOGETHER)
                parts = [(some[a:b], self._columns, *directions) for a, b in cut]
                list(in_threads(alike.take_off, parts))
                found[alike.features[some]] = alike.gains(some, self._least_left)
        return found

    def pick(
        self, candidates: IntArray, n_picks: int, may_miss: float = LEAST_MISSING
    ) -> tuple[IntArray, FloatArray]:
        """Choose candidates until no more is missing, and say what each adds, (c,) each."""
        allowed = np.zeros(len(self.sizes), dtype=bool)
        allowed[candidates] = True
        chosen: list[int] = []
        gains: list[float] = []
        worth = np.zeros(len(self.sizes))
        while len(chosen) < n_picks and self.missing() > may_miss:
            doing()
            if len(candidates) <= FEW_FEATURES or len(chosen) % PICKS == 0:
                worth = self._gains_of(allowed)
                best = int(worth.argmax())
            else:
                best = self._best(worth)
            if worth[best] <= LEAST_MISSING * self._total:
                break
            chosen.append(best)
            gains.append(self.add(best))
            allowed[best], worth[best] = False, 0
        return np.array(chosen, dtype=np.int64), np.array(gains)

    def _best(self, worth: FloatArray) -> int:
        """Find the feature that adds most, where what they are worth, (d,), may be out of date."""
        fresh = np.zeros(len(worth), dtype=bool)
        while True:
            first = np.argpartition(-worth, LOOKED_AT)[:LOOKED_AT]
            asked = np.zeros_like(fresh)
            asked[first] = ~fresh[first] & (worth[first] > 0)
            worth[asked] = self._gains_of(asked)[asked]
            fresh |= asked
            best = int(worth.argmax())
            if fresh[best] or worth[best] <= 0:
                return best

    def add(self, feature: int) -> float:
        """Choose a feature; return what it explains on top of those before."""
        total = 0.0
        for column in range(self._starts[feature], self._starts[feature + 1]):
            q = self._new_direction(self._columns[column])
            if q is None:
                continue
            v = self.M @ q
            gain = float(q @ v)
            self._of_targets[self._rank], self._adds[self._rank] = self._outside(v), gain
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
                q = self._new_direction(self._columns[column])
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
        q = self._outside(x)
        length = np.linalg.norm(q)
        if length**2 < SHORT:  # or rounding adds up
            q = self._outside(q)
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

        def of_some(start: int, stop: int) -> tuple[FloatArray, FloatArray]:
            F = self._columns[columns[start:stop].ravel()].T
            own = np.arange(F.shape[1]).reshape(-1, size)
            return _products(F, self.M @ F, own), _products(F, F, own)

        parts = in_threads(of_some, spans(len(features), TOGETHER))
        numerator, left = (np.concatenate(both) for both in zip(*parts, strict=True))
        return _SameSize(features, columns, numerator, left, np.zeros(len(features), dtype=int))


@dataclass
class _SameSize:
    """Residuals of k features of a columns each, double precision."""

    features: IntArray  #: (k,)
    columns: IntArray  #: (k, a)
    numerator: FloatArray  #: products with the targets, (k, a, a)
    left: FloatArray  #: products, (k, a, a)
    taken: IntArray  #: directions that were taken off each, (k,)

    def gains(self, some: IntArray, least_left: float) -> FloatArray:
        """Compute what some would explain, (b,)."""
        left, numerator = self.left[some], self.numerator[some]
        if left.shape[1] == 1:
            values, along = left[:, 0], np.maximum(numerator[:, 0], 0)
        else:
            values, vectors = np.linalg.eigh(left)
            along = ((numerator @ vectors) * vectors).sum(1)
        useful = values > least_left
        return np.divide(along, values, out=np.zeros_like(values), where=useful).sum(1)

    def take_off(
        self, some: IntArray, columns: FloatArray, Q: FloatArray, V: FloatArray, adds: FloatArray
    ) -> None:
        """Take off some the directions Q that were chosen since, of which V is for the targets."""
        first, shape = int(self.taken[some].min()), (-1, len(some), self.columns.shape[1])
        if first == len(Q):
            return
        X = columns[self.columns[some].ravel()].T
        own, other = (
            np.asarray(D[first:] @ X, dtype=np.float64).reshape(shape) for D in (Q, V)
        )  # (r, b, a)
        own[np.arange(first, len(Q))[:, None] < self.taken[some]] = 0
        half = own * adds[first:, None, None] / 2 - other  # of those that were taken off it is 0
        both = np.einsum("rba,rbc->bac", own, half)
        self.numerator[some] += both + both.transpose(0, 2, 1)
        self.left[some] -= np.einsum("rba,rbc->bac", own, own)
        self.taken[some] = len(Q)


def _products(A: FloatArray, B: FloatArray, columns: IntArray) -> FloatArray:
    """Multiply the columns of each feature with each other, (m, p) each to (k, a, a)."""
    pairs = [[(A[:, i] * B[:, j]).sum(0, dtype=np.float64) for j in columns.T] for i in columns.T]
    return np.stack([np.stack(row, -1) for row in pairs], -2)


def weighted_targets(T: FloatArray, weights: FloatArray) -> FloatArray:
    """Add up w t t' over the columns of T, (m, p) to (m, m)."""
    used = weights > 0
    root = T[:, used] * np.sqrt(weights[used]).astype(T.dtype)
    parts = [(root[:, a:b],) for a, b in spans(root.shape[1], TOGETHER)]
    return sum(in_threads(lambda part: part @ part.T, parts), np.zeros((len(T), len(T)), T.dtype))
