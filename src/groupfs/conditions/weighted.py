r"""Correlations of samples that carry weights: those of a condition, near a time, of a resample.

Axes: Q sets of weights, n samples, m features of a group, C groups.

*Cohesion* is the mean correlation :math:`\bar r` of the pairs of a group's features, turned by the
signs of the fit. Unlike a first eigenvalue it is not higher where samples are few, so that
conditions of any size can be compared.

A gap that is filled in pulls correlations towards zero, so that a condition with more gaps would
seem to hold together less: correlations, means and variances are those over the samples that have
both features.

Columns lose the level of conditions first: their mean there, in units of their spread there. Along
a number, a sample with number t counts :math:`\exp(-(t - g)^2 / 2h^2)` at place g of G, and the
mean is a local line: that through the samples so weighted, which unlike a local mean does not lag
behind at the ends.
"""

from collections.abc import Callable

import numpy as np
from sklearn.utils import gen_batches

from groupfs.data.basis import exclusive_pairs, make_basis
from groupfs.data.blocks import centered_within
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: From columns to columns without the level of conditions, or from sets of weights to numbers.
Function = Callable[[FloatArray], FloatArray]
#: Features of a group that correlations are taken of, the most central ones: more say the same.
MOST_FEATURES = 30
#: Numbers that are worked on at a time (32 MB).
AT_ONCE = 2**22
#: Variance of a standardised column below which it is constant but for rounding.
CONSTANT = 1e-12
#: Samples that a feature, and a pair of features, needs in every condition.
FEWEST_VALUES = 5
#: Places from the smallest to the largest number at which the level is found; lines between.
N_LEVELS = 50


class GroupColumns:
    """Columns Z (n, m) of a group, turned to agree, whose weighted correlations are asked for.

    ``excluded`` (m, m) says which correlations count as none, ``places`` (m,) which columns they
    were.
    """

    def __init__(
        self, Z: FloatArray, excluded: BoolArray | None = None, places: IntArray | None = None
    ) -> None:
        m = Z.shape[1]
        self.Z = Z
        self.excluded = np.zeros((m, m), dtype=bool) if excluded is None else excluded
        self.places = np.arange(m) if places is None else places
        present, values = (~np.isnan(Z)).astype(float), np.nan_to_num(Z)
        # without gaps, sums over the samples of a pair are the same for all pairs
        other = present[:, :1] if present.all() else present
        self._both, self._sums = _pairs(present, other), _pairs(values, other)
        self._squares = _pairs(np.square(values), other)
        # each pair twice: to write half of a matrix into the other takes longer
        self._products = _pairs(values, values)

    def pairs(self, weights: FloatArray) -> FloatArray:
        """Correlate pairs of columns for every set of weights, (Q, n) to (Q, m (m - 1) / 2)."""
        n, m = self.Z.shape
        parts = gen_batches(len(weights), max(1, AT_ONCE // max(n, m * m)))
        upper = np.triu_indices(m, 1)
        return np.concatenate([self.correlations(weights[part])[:, *upper] for part in parts])

    def cohesion(self, weights: FloatArray) -> FloatArray:
        """Average the correlations of pairs for every set of weights, (Q, n) to (Q,)."""
        return np.asarray(self.pairs(weights).mean(1))

    def n_samples(self, weights: FloatArray) -> FloatArray:
        """Count the samples that weights are worth to a pair, on average over pairs, (Q,)."""
        m = self.Z.shape[1]
        others = ~np.eye(m, self._both.shape[1] // m, dtype=bool).ravel()
        return np.asarray(_worth(weights, self._both)[:, others].mean(1))

    def correlations(self, weights: FloatArray) -> FloatArray:
        """Correlate the columns for every set of weights, (Q, n) to (Q, m, m)."""
        Q, m = len(weights), self.Z.shape[1]
        total = np.maximum(weights @ self._both, 1e-300).reshape(Q, m, -1)
        mean = (weights @ self._sums).reshape(Q, m, -1) / total  # of i where j is there, too
        variance = (weights @ self._squares).reshape(Q, m, -1) / total - np.square(mean)
        scale = np.where(variance > CONSTANT, 1 / np.sqrt(np.maximum(variance, CONSTANT)), 0)
        r: FloatArray = (weights @ self._products).reshape(Q, m, m)
        r /= total
        r -= mean * mean.swapaxes(1, 2)
        r *= scale
        r *= scale.swapaxes(1, 2)
        r[:, self.excluded] = 0
        r[:, range(m), range(m)] = 1
        return r


def columns_of_group(
    Z: FloatArray, weights: FloatArray, without_level: Function
) -> GroupColumns | None:
    """Prepare columns of a group, the most central first, (n, m); None if there are not two.

    They are turned to agree already.

    Features that a condition has too few values of are left out of all, and pairs that too few
    samples have both of count as unrelated in all: else conditions would differ by their gaps.
    """
    Z = Z[:, :MOST_FEATURES]
    present = (~np.isnan(Z)).astype(float)
    few = (_worth(weights, _pairs(present, present)) < FEWEST_VALUES).any(0)
    few = few.reshape(Z.shape[1], -1)
    known = ~few.diagonal()
    m = int(known.sum())
    if m < 2:
        return None
    Z, few = Z[:, known], few[np.ix_(known, known)]
    basis = make_basis(list(Z.T[:, :, None]), "correlation")
    return GroupColumns(without_level(Z), few | exclusive_pairs(basis, 0, m), np.flatnonzero(known))


def weighted_means(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Average scores that are there for every set of weights, (n, C) and (Q, n) to (Q, C)."""
    total = weights @ (~np.isnan(scores)).astype(float)
    mean = weights @ np.nan_to_num(scores) / np.maximum(total, 1e-300)
    return np.where(total > 0, mean, np.nan)


def n_scored(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Count the samples with a score that weights are worth, (n, C) and (Q, n) to (Q, C)."""
    return _worth(weights, (~np.isnan(scores)).astype(float))


def effective_samples(weights: FloatArray) -> FloatArray:
    """Count the samples that weights are worth, (K, n) to (K,): all alike, each counts as one."""
    return np.asarray(np.square(weights.sum(1)) / np.maximum(np.square(weights).sum(1), 1e-300))


def _pairs(left: FloatArray, right: FloatArray) -> FloatArray:
    """Multiply every column with every other, (n, m) and (n, k) to (n, m k)."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _worth(weights: FloatArray, present: FloatArray) -> FloatArray:
    """Count the samples that weights are worth among those present, (Q, n) and (n, p) to (Q, p)."""
    squares = np.maximum(np.square(weights) @ present, 1e-300)
    return np.asarray(np.square(weights @ present) / squares)


def standardized_within(Z: FloatArray, codes: IntArray) -> FloatArray:
    """Standardise columns within each condition, (n, m); constant ones become zero there."""
    weights = (codes == np.arange(codes.max() + 1)[:, None]).astype(float)
    off = centered_within(Z, codes)
    return _divided(off, weighted_means(np.square(off), weights)[codes])


def kernel_weights(values: FloatArray, places: FloatArray, bandwidth: float) -> FloatArray:
    """Weigh every sample at every place, (G, n)."""
    off = (values - places[:, None]) / bandwidth
    # relative to the nearest sample, or far from all of them every weight would be zero
    nearest = np.abs(off).min(1, keepdims=True)
    return np.exp(-(np.square(off) - np.square(nearest)) / 2)


def standardized_along(Z: FloatArray, values: FloatArray, bandwidth: float) -> FloatArray:
    """Standardise columns along a number, (n, m)."""
    places = np.linspace(values.min(), values.max(), N_LEVELS)
    weights = kernel_weights(values, places, bandwidth)
    off = Z - _between(values, places, _local_lines(Z, values, places, weights))
    variance = np.nan_to_num(weighted_means(np.square(off), weights))
    return _divided(off, _between(values, places, variance))


def _local_lines(
    Z: FloatArray, values: FloatArray, places: FloatArray, weights: FloatArray
) -> FloatArray:
    """Evaluate at each place the line through the samples around it, (G, m)."""
    present, Z = (~np.isnan(Z)).astype(float), np.nan_to_num(Z)
    total, away = np.maximum(weights @ present, 1e-300), values - places[:, None]
    tilted = weights * away
    tilt = tilted @ present / total
    spread, mean = (tilted * away) @ present / total - np.square(tilt), weights @ Z / total
    together = tilted @ Z / total - tilt * mean
    slope = np.divide(together, spread, out=np.zeros_like(mean), where=spread > CONSTANT)
    return mean - slope * tilt


def _between(values: FloatArray, places: FloatArray, of_places: FloatArray) -> FloatArray:
    """Interpolate columns that are known at some places, (G, m) to (n, m)."""
    return np.stack([np.interp(values, places, column) for column in of_places.T], axis=1)


def _divided(off: FloatArray, variance: FloatArray) -> FloatArray:
    """Divide by the root of the variance, (n, m) each; where there is none, zero, and gaps stay."""
    zero = np.where(np.isnan(off), np.nan, 0.0)
    return np.divide(off, np.sqrt(variance), out=zero, where=variance > CONSTANT)
