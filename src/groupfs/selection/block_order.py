r"""The order of features of any kinds: by what their columns explain, or by how alike they are.

Axes: N samples, d features, p columns, m coordinates.

A feature of several columns adds a space, not a direction: with its residuals :math:`R_s` after the
chosen features it explains :math:`\mathrm{tr}\,(R_s^\top R_s)^+ R_s^\top M R_s` of the targets
:math:`M` (module ``explained``). A target feature of a dimensions counts with the mean of its R
squared over them. Similarities other than correlation know no residuals: there a feature is
explained by the most alike chosen one, with the square of their similarity.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from groupfs.data.feature_basis import FeatureBasis
from groupfs.data.feature_rows import FeatureRows
from groupfs.graphs.similarity import feature_similarities
from groupfs.selection.coverage import cover
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Share of a direction's variance that must be left to be of any use, and of all targets.
LEAST_LEFT, LEAST_MISSING = 1e-6, 1e-9


def order_blocks(
    rows: FeatureRows, weights: FloatArray, stages: list[IntArray], n_picks: int
) -> tuple[IntArray, FloatArray]:
    """Order the features of the stages; return them, and what each adds.

    ``weights`` (d,) sum to one; at most ``n_picks`` are chosen one by one.
    """
    squared = np.square(feature_similarities(rows))
    covered = np.zeros(rows.shape[1])
    linear = rows.basis.similarity in ("correlation", "rank")
    state = _Spaces(rows.basis, weights) if linear else None
    order: list[int] = []
    gains: list[float] = []
    for stage in stages:
        left = n_picks - len(order)
        chosen = stage[:0] if state is None else state.pick(stage, left, gains)
        covered = np.maximum(covered, squared[chosen].max(0, initial=0))
        others = np.setdiff1d(stage, chosen, assume_unique=True)
        picked, covered = cover(squared[others], weights, covered, left - len(chosen))
        others = others[picked]
        order += [*chosen.tolist(), *others.tolist()]
        if state is not None:
            gains += [state.add(feature) for feature in others.tolist()]
    found = np.array(order, dtype=np.int64)
    if state is None:
        reached = np.maximum.accumulate(squared[found], axis=0) @ weights
        return found, np.diff(reached, prepend=0.0)
    return found, np.array(gains)


class _Spaces:
    """The state of a greedy choice of features, each a space of columns."""

    def __init__(self, basis: FeatureBasis, weights: FloatArray) -> None:
        parts = np.split(basis.E, basis.starts[1:], axis=1)
        blocks = [_directions(E, basis.has_value(j)) for j, E in enumerate(parts)]
        sizes = np.array([block.shape[1] for block in blocks])
        columns = np.hstack(blocks)
        F: FloatArray = columns
        if len(columns) > columns.shape[1]:
            F = scipy.linalg.qr(columns, mode="r")[0][: columns.shape[1]]
        self.F = F
        self.M = (F * np.repeat(weights / sizes, sizes)) @ F.T
        self._basis = np.zeros((0, len(F)))
        self._missing = self._total = float(np.trace(self.M))
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        self._alike = [self._features(sizes, int(size)) for size in np.unique(sizes)]

    def _features(self, sizes: IntArray, size: int) -> "_SameSize":
        """Gather the features of so many columns."""
        features = np.flatnonzero(sizes == size)
        columns = self._starts[features][:, None] + np.arange(size)
        own = self.F[:, columns].transpose(1, 2, 0)  # (k, a, m)
        left = np.tile(np.eye(size), (len(features), 1, 1))
        return _SameSize(features, columns, own @ self.M @ own.transpose(0, 2, 1), left)

    def gains(self) -> FloatArray:
        """Compute what each feature would explain on top of the chosen ones, (d,)."""
        found = np.zeros(len(self._starts) - 1)
        for alike in self._alike:
            found[alike.features] = alike.gains()
        return found

    def pick(self, candidates: IntArray, n_picks: int, gains: list[float]) -> IntArray:
        """Choose candidates until nothing is left to explain; append what each adds."""
        allowed = np.zeros(len(self._starts) - 1, dtype=bool)
        allowed[candidates] = True
        chosen: list[int] = []
        while len(chosen) < n_picks and self._missing > LEAST_MISSING * self._total:
            worth = np.where(allowed, self.gains(), 0)
            best = int(worth.argmax())
            if worth[best] <= LEAST_MISSING * self._total:
                break
            chosen.append(best)
            gains.append(self.add(best))
            allowed[best] = False
        return np.array(chosen, dtype=np.int64)

    def add(self, feature: int) -> float:
        """Choose a feature; return what it explains on top of those before."""
        total = 0.0
        for column in self.F[:, self._starts[feature] : self._starts[feature + 1]].T:
            q = self._outside(self._outside(column))
            length = float(q @ q)
            if length <= LEAST_LEFT:
                continue
            q = q / np.sqrt(length)
            v = self.M @ q
            gain = float(q @ v)
            c, h = np.stack([q, self._outside(v)]) @ self.F
            self._basis = np.vstack([self._basis, q])
            for alike in self._alike:
                alike.take_off(c, h, gain)
            total += gain
        self._missing -= total
        return total

    def _outside(self, x: FloatArray) -> FloatArray:
        return x - self._basis.T @ (self._basis @ x)


@dataclass
class _SameSize:
    """Residuals of k features of a columns each."""

    features: IntArray  #: (k,)
    columns: IntArray  #: (k, a)
    numerator: FloatArray  #: products with the targets, (k, a, a)
    left: FloatArray  #: products, (k, a, a)

    def gains(self) -> FloatArray:
        """Compute what each would explain, (k,)."""
        if self.left.shape[1] == 1:
            left, numerator = self.left[:, 0, 0], self.numerator[:, 0, 0]
            return np.where(left > LEAST_LEFT, numerator / np.maximum(left, LEAST_LEFT), 0)
        values, vectors = np.linalg.eigh(self.left)
        along = ((self.numerator @ vectors) * vectors).sum(1)
        useful = values > LEAST_LEFT
        return np.where(useful, along / np.where(useful, values, 1), 0).sum(1)

    def take_off(self, c: FloatArray, h: FloatArray, gain: float) -> None:
        """Take off a chosen direction."""
        own, other = c[self.columns], h[self.columns]
        both = own[:, :, None] * other[:, None, :]
        square = own[:, :, None] * own[:, None, :]
        self.numerator += gain * square - both - both.transpose(0, 2, 1)
        self.left -= square


def _directions(E: FloatArray, has_value: BoolArray) -> FloatArray:
    """Find orthonormal directions of a feature's columns, gaps at the mean, (N, a)."""
    off = np.where(has_value[:, None], E - E[has_value].mean(0), 0)
    U, lengths, _ = np.linalg.svd(off, full_matrices=False)
    return U[:, lengths > 1e-6 * max(lengths[0], 1e-300)]
