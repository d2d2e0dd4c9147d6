r"""The order of features of any kinds: by what their columns explain, or by how alike they are.

Axes: N samples, d features, p columns, m coordinates.

A feature of several columns adds a space, not a direction: with its residuals :math:`R_s` after the
chosen features it explains :math:`\mathrm{tr}\,(R_s^\top R_s)^+ R_s^\top M R_s` of the targets
:math:`M` (module ``explained``). A target feature of a dimensions counts with the mean of its R
squared over them. Similarities other than correlation know no residuals: there a feature is
explained by the most alike chosen one, with the square of their similarity.
"""

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
        sizes = [block.shape[1] for block in blocks]
        columns = np.hstack(blocks)
        F: FloatArray = columns
        if len(columns) > columns.shape[1]:
            F = scipy.linalg.qr(columns, mode="r")[0][: columns.shape[1]]
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.F = F
        counted = np.repeat(weights / sizes, sizes)
        self.M = (F * counted) @ F.T
        self._basis = np.zeros((0, len(F)))
        self._missing, self._total = float(np.trace(self.M)), float(np.trace(self.M))
        self._left = [np.eye(size) for size in sizes]
        MF = self.M @ F
        own = [slice(a, b) for a, b in zip(self.starts, self.starts[1:], strict=False)]
        self._own = own
        self._numerator = [F[:, s].T @ MF[:, s] for s in own]

    def gain(self, feature: int) -> float:
        """Compute what a feature would explain on top of the chosen ones."""
        left = self._left[feature]
        if len(left) == 1:
            return float(self._numerator[feature][0, 0] / left[0, 0]) if left > LEAST_LEFT else 0.0
        inverse = np.linalg.pinv(left, rcond=LEAST_LEFT, hermitian=True)
        return float(np.sum(inverse * self._numerator[feature]))

    def pick(self, candidates: IntArray, n_picks: int, gains: list[float]) -> IntArray:
        """Choose candidates until nothing is left to explain; append what each adds."""
        waiting = candidates.tolist()
        chosen: list[int] = []
        while waiting and len(chosen) < n_picks and self._missing > LEAST_MISSING * self._total:
            worth = [self.gain(feature) for feature in waiting]
            best = int(np.argmax(worth))
            if worth[best] <= LEAST_MISSING * self._total:
                break
            chosen.append(waiting.pop(best))
            gains.append(self.add(chosen[-1]))
        return np.array(chosen, dtype=np.int64)

    def add(self, feature: int) -> float:
        """Choose a feature; return what it explains on top of those before."""
        total = 0.0
        for column in self.F[:, self._own[feature]].T:
            q = self._outside(self._outside(column))
            length = float(q @ q)
            if length <= LEAST_LEFT:
                continue
            q = q / np.sqrt(length)
            v = self.M @ q
            gain = float(q @ v)
            c, h = np.stack([q, self._outside(v)]) @ self.F
            self._basis = np.vstack([self._basis, q])
            for i, s in enumerate(self._own):
                both = np.outer(c[s], h[s])
                square = np.outer(c[s], c[s])
                self._numerator[i] = self._numerator[i] - both - both.T + gain * square
                self._left[i] = self._left[i] - square
            total += gain
        self._missing -= total
        return total

    def _outside(self, x: FloatArray) -> FloatArray:
        return x - self._basis.T @ (self._basis @ x)


def _directions(E: FloatArray, has_value: BoolArray) -> FloatArray:
    """Find orthonormal directions of a feature's columns, gaps at the mean, (N, a)."""
    off = np.where(has_value[:, None], E - E[has_value].mean(0), 0)
    U, lengths, _ = np.linalg.svd(off, full_matrices=False)
    return U[:, lengths > 1e-6 * max(lengths[0], 1e-300)]
