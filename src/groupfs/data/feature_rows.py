"""Rows whose features may own several columns, have gaps, and a similarity of their own.

Axes: N samples, d features, p columns of the samples.

The samples are standardised columns: a number has variance one, a category's indicators and a
date's parts have it together, so that no feature outweighs another. Gaps are NaN in them; what
multiplies rows (:func:`groupfs.graphs.affinity.gram`) knows what that means.
"""

from collections.abc import Sequence

import numpy as np
import torch
from scipy.stats import rankdata
from torch import Tensor

from groupfs.data.feature_basis import FeatureBasis, columns_of
from groupfs.data.rows import DenseRows, RowsInMemory
from groupfs.data.standardize import column_scale
from groupfs.utils.types import FloatArray, IntArray


class FeatureRows(RowsInMemory):
    """Rows of a table with features of any kind.

    Parameters
    ----------
    Z : (N, p)
        Standardised columns of the samples, NaN in gaps.
    owner : (p,)
        Feature of every column, ascending.
    basis : FeatureBasis
        What similarities are worked out from.
    """

    owner: IntArray

    def __init__(self, Z: FloatArray, owner: IntArray, basis: FeatureBasis) -> None:
        self.samples = DenseRows(Z)
        self.Z = Z
        self.owner = owner
        self.basis = basis
        self.shape = basis.shape
        self.column_norms = np.full(self.shape[1], float(self.shape[0]))
        self.similarities: FloatArray | None = None  #: once they are known, (d, d)

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self.samples.device

    def to(self, device: torch.device, dtype: torch.dtype) -> None:
        self.samples.to(device, dtype)

    def take(self, index: Tensor, out: Tensor | None = None) -> Tensor:
        return self.samples.take(index, out)

    def columns_of(self, features: IntArray) -> IntArray:
        return columns_of(self.owner, features)[0]

    def restricted(self, features: IntArray) -> "FeatureRows":
        columns, owner = columns_of(self.owner, features)
        part = self._like(self.Z[:, columns], owner, self.basis.restricted(features))
        if self.similarities is not None:
            part.similarities = self.similarities[np.ix_(features, features)]
        return part

    def shuffled(self, rng: np.random.Generator) -> "FeatureRows":
        N, d = self.shape
        order = rng.permuted(np.tile(np.arange(N)[:, None], (1, d)), axis=0)
        Z = np.take_along_axis(self.Z, order[:, self.owner], axis=0)
        return self._like(Z, self.owner, self.basis.permuted(order))

    def resampled(self, index: IntArray, standardize: bool) -> "FeatureRows":
        Z = self.Z[index]
        Z = Z - _mean(Z)
        if standardize:
            Z = Z / _block_spread(Z, self.owner, self.shape[1])[self.owner]
        return self._like(Z, self.owner, self.basis.rows(index))

    @property
    def is_plain(self) -> bool:
        """Whether every feature is one column, and similarity its correlation, of ranks or not."""
        return self.basis.is_single and self.basis.similarity in ("correlation", "rank")

    def filled(self) -> DenseRows:
        """Return the columns of the basis with gaps at the mean, where every feature is one."""
        rows = DenseRows(self.basis.E - self.basis.E.mean(0))
        rows.device = self.device
        return rows

    def ranked(self) -> "FeatureRows":
        """Put ranks in place of the values of numbers; other features and gaps stay."""
        sizes = np.bincount(self.owner)
        single = sizes[self.owner] == 1
        Z = self.Z.copy()
        Z[:, single] = rankdata(Z[:, single], axis=0, nan_policy="omit")
        Z[:, single] -= _mean(Z[:, single])
        Z[:, single] /= np.sqrt(np.nanmean(np.square(Z[:, single]), axis=0))
        part = self._like(Z, self.owner, self.basis)
        part.similarities = self.similarities
        return part

    def _like(self, Z: FloatArray, owner: IntArray, basis: FeatureBasis) -> "FeatureRows":
        rows = FeatureRows(np.ascontiguousarray(Z), owner, basis)
        rows.samples.device, rows.samples._dtype = self.samples.device, self.samples._dtype
        return rows

    # What multiplies columns has no meaning where features own several: all who would ask for it
    # look at similarities instead.
    def columns(self, start: int, stop: int) -> FloatArray:
        raise NotImplementedError("features of any kind are compared by their similarities")

    project = combine = row_products = column_products = products_of = columns  # type: ignore
    group_products = column_ends = columns  # type: ignore[assignment]


def sample_columns(
    values: Sequence[FloatArray], kinds: Sequence[str], standardize: bool
) -> tuple[FloatArray, IntArray]:
    """Standardise the columns of features, each (N, a), and say whose they are: (N, p), (p,)."""
    sizes = [x.shape[1] for x in values]
    owner = np.repeat(np.arange(len(values)), sizes)
    Z = np.hstack(values)
    Z = Z - _mean(Z)
    is_number = np.array([kind == "number" for kind in kinds])
    spread = _block_spread(Z, owner, len(values))
    if not standardize and is_number.any():
        spread[is_number] = column_scale(spread[is_number], False)
    is_date = np.array([kind == "date" for kind in kinds])[owner]
    if is_date.any():  # days and parts of a year have other units
        Z[:, is_date] /= np.sqrt(np.nanmean(np.square(Z[:, is_date]), axis=0))
        spread = np.where([k == "date" for k in kinds], np.sqrt(sizes), spread)
    return Z / spread[owner], owner


def _mean(Z: FloatArray) -> FloatArray:
    found: FloatArray = np.nanmean(Z, axis=0)
    return found


def _block_spread(Z: FloatArray, owner: IntArray, n_features: int) -> FloatArray:
    """Find the root of the variance of all columns of a feature together, (d,)."""
    variance = np.nanmean(np.square(Z), axis=0)
    total = np.bincount(owner, variance, minlength=n_features)
    return np.sqrt(np.where(total > 1e-24, total, 1.0))
