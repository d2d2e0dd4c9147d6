"""Hold the rows of a table whose features may be categories, have gaps, or know no correlation.

Axes: N samples, d features, p columns of the samples.

The samples are standardised columns: a number has variance one, a category's indicators have it
together, so that no feature outweighs another. Gaps are NaN in them; what multiplies rows
(:func:`groupfs.discovery.smoothness.gram`) knows what that means.
"""

from collections.abc import Sequence
from typing import final

import numpy as np

from groupfs.data.basis import FeatureBasis, SimilarityFunction, columns_of, make_basis
from groupfs.data.standardize import at_least_rounding, column_scale, mean_and_deviation
from groupfs.data.table import Rows
from groupfs.utils.types import FloatArray, IntArray


@final
class FeatureRows(Rows):
    """Rows of a table with features of any kind.

    Z (N, p) are standardised columns of the samples, NaN in gaps, ``owner`` (p,) their features,
    ascending; similarities are worked out from the ``basis``.
    """

    def __init__(self, Z: FloatArray, owner: IntArray, basis: FeatureBasis) -> None:
        self.Z, self.basis, self.shape = np.ascontiguousarray(Z), basis, basis.shape
        self.owner = self.feature_of_column = owner
        self.column_norms = np.full(self.shape[1], float(self.shape[0]))

    def take(self, index: IntArray) -> FloatArray:
        return np.asarray(self.Z[index])

    def restricted(self, features: IntArray) -> "FeatureRows":
        columns, owner = columns_of(self.owner, features)
        return FeatureRows(self.Z[:, columns], owner, self.basis.restricted(features))

    def shuffled(self, rng: np.random.Generator) -> "FeatureRows":
        N, d = self.shape
        order = rng.permuted(np.tile(np.arange(N)[:, None], (1, d)), axis=0)
        Z = np.take_along_axis(self.Z, order[:, self.owner], axis=0)
        return FeatureRows(Z, self.owner, self.basis.permuted(order))

    def resampled(self, index: IntArray) -> "FeatureRows":
        mean, spread = feature_moments(self.Z[index], self.owner)
        Z = (self.Z[index] - mean) / at_least_rounding(spread, 1.0)[self.owner]
        return FeatureRows(Z, self.owner, self.basis.rows(index))

    def feature_values(self, index: IntArray, labels: IntArray, signs: IntArray) -> FloatArray:
        """Give every feature one standardised column, NaN in gaps, some rows of them, (n, d).

        Numbers have one. A category has for each level what it says of the first component of the
        feature's group: the mean of its rows.
        """
        Z, d = np.nan_to_num(self.Z), self.shape[1]
        sizes = np.bincount(self.owner, minlength=d)
        starts = np.searchsorted(self.owner, np.arange(d))
        found = self.Z[:, starts]
        for feature in np.flatnonzero(sizes > 1):
            group = np.flatnonzero(labels == labels[feature])
            group = group if labels[feature] >= 0 else np.array([feature])
            component = self._component(Z, group, signs, sizes)
            own = Z[:, self.owner == feature]
            fitted = own @ np.linalg.lstsq(own, component, rcond=None)[0]
            fitted[np.isnan(found[:, feature])] = np.nan
            mean, deviation = mean_and_deviation(fitted[:, None])
            found[:, feature] = (fitted - mean) / np.maximum(deviation, 1e-12)
        return np.asarray(found[index])

    def _component(
        self, Z: FloatArray, group: IntArray, signs: IntArray, sizes: IntArray
    ) -> FloatArray:
        """Find the first component of a group's columns, (N,), along the features' signs."""
        columns = columns_of(self.owner, group)[0]
        U, lengths, Vt = np.linalg.svd(Z[:, columns], full_matrices=False)
        single = (sizes == 1)[self.owner[columns]]
        along = float((Vt[0] * signs[self.owner[columns]])[single].sum())
        if not single.any():
            along = float(Vt[0][np.abs(Vt[0]).argmax()])
        return U[:, 0] * lengths[0] * (-1 if along < 0 else 1)


def make_rows(
    values: Sequence[FloatArray], similarity: str | SimilarityFunction, standardize: bool = True
) -> FeatureRows:
    """Standardise the columns of features, each (N, a), and make what they are compared by."""
    Z, sizes = np.hstack(values), np.array([x.shape[1] for x in values])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    mean, spread = feature_moments(Z, owner)
    is_number = sizes == 1
    if not standardize and is_number.any():
        spread[is_number] = column_scale(spread[is_number], False)
    return FeatureRows((Z - mean) / spread[owner], owner, make_basis(values, similarity))


def feature_moments(Z: FloatArray, owner: IntArray) -> tuple[FloatArray, FloatArray]:
    """Find means of columns, (p,), and the deviation of all columns of a feature together, (d,)."""
    mean, deviation = mean_and_deviation(Z)
    with np.errstate(over="ignore", invalid="ignore"):
        return mean, np.sqrt(np.bincount(owner, np.square(deviation)))
