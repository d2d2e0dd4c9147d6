r"""Correlations of samples that carry weights: those of a condition, near a time, of a resample.

Axes: Q sets of weights, n samples, m features of a group, C groups.

With the first eigenvalue :math:`\lambda` of the weighted correlation matrix of a group,
:math:`\rho = (\lambda - 1) / (m - 1)` is the correlation that its features would have if all pairs
had the same. Cohesion (``scoring.cohesion``) is this divided by what unrelated columns give with as
many samples; so it grows with their number, and :math:`\rho` is what conditions are compared by.
Where signs matter, :math:`\lambda` is the sum of the matrix over m.
"""

from collections.abc import Iterator

import numpy as np

from groupfs.conditions.pairwise import CONSTANT, PairSums, exclusive_pairs_with_gaps
from groupfs.data.rows import DenseRows
from groupfs.graphs.similarity import Correlations
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Features of a group that correlations are taken of, the most central ones: more say the same.
MOST_FEATURES = 30
#: Numbers that are worked on at a time (32 MB).
AT_ONCE = 2**22


class GroupColumns:
    """Columns of a group whose weighted correlations are asked for many times.

    Parameters
    ----------
    Z : (n, m)
        Columns about as large as standardised ones, NaN in gaps.
    signed : bool
        Whether a feature and its negative are different.
    excluded : (m, m)
        Pairs whose correlation counts as none.
    """

    def __init__(self, Z: FloatArray, signed: bool, excluded: BoolArray) -> None:
        self.Z, self.signed, self.excluded = Z, signed, excluded
        self._pairs = PairSums(Z) if np.isnan(Z).any() else None
        if self._pairs is not None:
            return
        # each pair twice: to write half of a matrix into the other takes longer
        self._products = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)

    def common_correlation(self, weights: FloatArray) -> FloatArray:
        r"""Compute :math:`\rho` for every set of weights, (Q, n) to (Q,)."""
        n, m = self.Z.shape
        found = []
        at_once = max(1, AT_ONCE // max(n, m * m))
        for start in range(0, len(weights), at_once):
            r = self._correlations(weights[start : start + at_once])
            if self.excluded.any():
                r[:, self.excluded] = 0
            r[:, range(m), range(m)] = 1
            first = r.sum((1, 2)) / m if self.signed else np.linalg.eigvalsh(r)[:, -1]
            found.append((first - 1) / (m - 1))
        return np.concatenate(found)

    def n_samples(self, weights: FloatArray) -> FloatArray:
        """Count the samples that weights are worth to a pair of columns, (K, n) to (K,)."""
        if self._pairs is not None:
            return self._pairs.n_samples(weights)
        return effective_samples(weights)

    def _correlations(self, weights: FloatArray) -> FloatArray:
        """Correlate the columns for every set of weights, (Q, n) to (Q, m, m)."""
        if self._pairs is not None:
            return self._pairs.correlations(weights)
        m = self.Z.shape[1]
        shares = weights / np.maximum(weights.sum(1, keepdims=True), 1e-300)
        means = shares @ self.Z
        r = (shares @ self._products).reshape(-1, m, m)
        r -= means[:, :, None] * means[:, None, :]
        variance = r[:, range(m), range(m)]
        scale = np.where(variance > CONSTANT, 1 / np.sqrt(np.maximum(variance, CONSTANT)), 0)
        r *= scale[:, :, None]
        r *= scale[:, None, :]
        return r


def most_central(group: IntArray, centrality: FloatArray) -> IntArray:
    """Return the features of a group that correlations are taken of."""
    return group[np.argsort(-np.abs(centrality[group]), kind="stable")][:MOST_FEATURES]


def exclusive_pairs(Z: FloatArray) -> BoolArray:
    """Find standardised columns whose correlation counts as none, (n, m) to (m, m)."""
    if np.isnan(Z).any():
        return exclusive_pairs_with_gaps(Z)
    found: BoolArray = Correlations(DenseRows(Z)).matrix().numpy() == 0
    return found


def weighted_means(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Average the scores of samples for every set of weights, (n, C) and (Q, n) to (Q, C).

    Samples without a score (NaN) do not count; where none has one, there is no mean.
    """
    gaps = np.isnan(scores)
    if gaps.any():
        total = weights @ (~gaps).astype(float)
        mean = weights @ np.nan_to_num(scores) / np.maximum(total, 1e-300)
        return np.where(total > 0, mean, np.nan)
    return (weights @ scores) / np.maximum(weights.sum(1, keepdims=True), 1e-300)


def effective_samples(weights: FloatArray) -> FloatArray:
    """Count the samples that weights are worth, (K, n) to (K,): all alike, each counts as one."""
    found: FloatArray = np.square(weights.sum(1)) / np.square(weights).sum(1)
    return found


def chunks(n: int, numbers_each: int) -> Iterator[slice]:
    """Yield slices that cover n things without holding too many numbers at a time."""
    size = max(1, AT_ONCE // numbers_each)
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))
