r"""Correlations of columns with gaps: of every pair over the samples that have both.

Axes: Q sets of weights, n samples, m features of a group.

A gap that is filled in pulls correlations towards zero, so that a condition with more gaps would
seem to hold together less. Mean and variance are those over the samples of the pair, too.
"""

import numpy as np

from groupfs.utils.types import BoolArray, FloatArray

#: Variance of a standardised column below which it is constant but for rounding.
CONSTANT = 1e-12
#: Samples that a feature, and a pair of features, needs in every condition.
FEWEST_VALUES = 5


class PairSums:
    """Columns with gaps, (n, m), whose weighted correlations are asked for many times."""

    def __init__(self, Z: FloatArray) -> None:
        self.m = Z.shape[1]
        present = (~np.isnan(Z)).astype(float)
        values = np.nan_to_num(Z)
        self._both = _pairs(present, present)
        self._first = _pairs(values, present)
        self._squares = _pairs(np.square(values), present)
        self._products = _pairs(values, values)

    def correlations(self, weights: FloatArray) -> FloatArray:
        """Correlate the columns for every set of weights, (Q, n) to (Q, m, m)."""
        total = np.maximum(weights @ self._both, 1e-300)

        def average(of_pairs: FloatArray) -> FloatArray:
            found: FloatArray = (weights @ of_pairs / total).reshape(-1, self.m, self.m)
            return found

        mean = average(self._first)  # of feature i where j is there, too
        variance = average(self._squares) - np.square(mean)
        scale = np.where(variance > CONSTANT, 1 / np.sqrt(np.maximum(variance, CONSTANT)), 0)
        r = average(self._products) - mean * mean.swapaxes(1, 2)
        return r * scale * scale.swapaxes(1, 2)

    def n_samples(self, weights: FloatArray) -> FloatArray:
        """Count the samples that weights are worth to a pair, on average over pairs, (Q,)."""
        others = ~np.eye(self.m, dtype=bool).ravel()
        found: FloatArray = _worth(weights, self._both)[:, others].mean(1)
        return found


def known_everywhere(Z: FloatArray, weights: FloatArray) -> BoolArray:
    """Find the features that have enough values under every set of weights, (m,)."""
    present = (~np.isnan(Z)).astype(float)
    return np.asarray((_worth(weights, present) >= FEWEST_VALUES).all(0))


def seldom_together(Z: FloatArray, weights: FloatArray) -> BoolArray:
    """Find the pairs that under some set of weights too few samples have both of, (m, m)."""
    m = Z.shape[1]
    present = (~np.isnan(Z)).astype(float)
    few = _worth(weights, _pairs(present, present)) < FEWEST_VALUES
    return np.asarray(few.any(0)).reshape(m, m)


def exclusive_pairs_with_gaps(Z: FloatArray) -> BoolArray:
    """Find columns of two values that no sample has the higher one of both of, (m, m)."""
    lowest, highest = np.nanmin(Z, axis=0), np.nanmax(Z, axis=0)
    is_low, is_high = lowest == Z, highest == Z
    has_two = (is_low | is_high | np.isnan(Z)).all(0) & (lowest < highest)
    on = (is_high & has_two).astype(float)
    found: BoolArray = (on.T @ on == 0) & has_two & has_two[:, None]
    return found


def _pairs(left: FloatArray, right: FloatArray) -> FloatArray:
    """Multiply every column with every other, (n, m) each to (n, m m)."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _worth(weights: FloatArray, present: FloatArray) -> FloatArray:
    """Count the samples that weights are worth among those present, (Q, n) and (n, p) to (Q, p)."""
    squares = np.maximum(np.square(weights) @ present, 1e-300)
    found: FloatArray = np.square(weights @ present) / squares
    return found
