"""Make tables of features of any kinds, with gaps or without, or compared in other ways than by r.

Axes: N samples, d features, m of them, p columns of the samples, q columns of their basis.

Features that do not vary are left out; the others come in an order of their own. The samples are
standardised columns: a number has variance one, a category's indicators have it together, so that
no feature outweighs another. Gaps are NaN in them; what multiplies rows
(:func:`groupfs.discovery.smoothness.gram`) knows what that means.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import final

import numpy as np

from groupfs.data import checks
from groupfs.data.basis import (
    FeatureBasis,
    PairSums,
    SimilarityFunction,
    basis_coordinates,
    columns_of,
    make_basis,
    pair_weights,
)
from groupfs.data.coordinates import DEFAULT, Coordinates, Limits
from groupfs.data.correlations import Correlations
from groupfs.data.dense import DenseRows
from groupfs.data.halves import N_ROW_BLOCKS, WIDE, BlockSums, first_halves, row_blocks
from groupfs.data.mixed_similarity import canonical_of, column_correlations, similarities
from groupfs.data.similarity import MATRIX_FEATURES, ComparedColumns, Similarity
from groupfs.data.standardize import (
    N_KEYS,
    at_least_rounding,
    column_scale,
    mean_and_deviation,
    order_by_keys,
    without_rounding,
)
from groupfs.data.table import Rows, Table, TableOptions
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray, IntArray

#: Squared similarity above which two features are duplicates.
DUPLICATE = (1 - 1e-6) ** 2


def mixed_table(values: list[FloatArray], names: Sequence[str], options: TableOptions) -> Table:
    """Make a table of encoded columns: each (N, 1) of numbers or (N, a) of a category's levels."""
    _refuse_unusable(values, names, options)
    X, sizes = np.hstack(values), np.array([x.shape[1] for x in values])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    mean, spread = feature_moments(X, owner)
    starts = np.searchsorted(owner, np.arange(len(sizes)))
    n_rows = np.count_nonzero(~np.isnan(X[:, starts]), axis=0)
    means = np.where(sizes == 1, mean[starts], 0.0)
    spread = without_rounding(means, spread, n_rows, names)
    kept = checks.varying_columns(spread, names, options.constant, options.fewest)
    rows = make_rows([values[i] for i in kept], options.similarity, options.standardize)
    order, twins = order_by_keys(_keys(rows.Z, rows.owner))
    similarity = FeatureSimilarity(rows.restricted(order))
    kinds = np.where(sizes == 1, "number", "category").tolist()
    return Table(similarity, kept[order], twins, names, spread, means, kinds)


def _refuse_unusable(values: list[FloatArray], names: Sequence[str], options: TableOptions) -> None:
    """Refuse tables without values, with infinity, or of kinds that a function cannot compare."""
    if all(np.isnan(x).all() for x in values):
        raise ValueError(f"X has no value in any of its {len(names)} columns; all are missing.")
    bad = np.array([i for i, x in enumerate(values) if np.isinf(x).any()], dtype=np.int64)
    if len(bad):
        checks.refuse_missing(checks.Missing(bad[:0], bad), names, options.who)
    categories = [names[i] for i, x in enumerate(values) if x.shape[1] > 1]
    if callable(options.similarity) and categories:
        raise ParameterError(
            f"a similarity of your own compares numbers, but {len(categories)} column(s) are "
            f"categories: {join_names(categories)}; encode them, or choose "
            'similarity="correlation".',
            "similarity",
        )


def _keys(Z: FloatArray, owner: IntArray) -> FloatArray:
    """Describe every feature by three numbers that depend on its contents alone, (d, 3)."""
    vectors = np.random.default_rng(0).standard_normal((len(Z), N_KEYS))
    products = np.nan_to_num(Z).T @ vectors / np.sqrt(len(Z))
    sizes = np.bincount(owner)
    starts = np.searchsorted(owner, np.arange(len(sizes)))
    lengths = np.sqrt(np.add.reduceat(np.square(products), starts, axis=0))
    # levels have no order: the length of their products has none either
    return np.where((sizes == 1)[:, None], products[starts], lengths)


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

    @property
    def n_values(self) -> FloatArray:
        return self.basis.counts

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


class FeatureSimilarity(Similarity):
    """Similarities of features of any kinds, from sums over the rows that two of them have."""

    rows: FeatureRows

    def __init__(self, rows: FeatureRows) -> None:
        super().__init__(rows)
        self.n_compared = len(rows.basis.owner)
        self._columns: FloatArray | None = None  #: correlations of the columns of the basis, (q, q)

    def restricted(self, features: IntArray) -> "FeatureSimilarity":
        part = FeatureSimilarity(self.rows.restricted(features))
        if self._matrix is not None:
            part._matrix = self._matrix[features][:, features]
        if self._columns is not None:
            columns, _ = columns_of(self.rows.basis.owner, features)
            part._columns = self._columns[np.ix_(columns, columns)]
        return part

    def halved_blocks(self, rows: IntArray, n_pairs: int) -> "HalvedBasis | BlockSums":
        """Compare features in halves; in wide tables of numbers gaps count as the mean there."""
        basis = self.rows.basis.rows(rows)
        is_correlation = basis.similarity in ("correlation", "rank")
        if self.shape[1] > WIDE and is_correlation and basis.is_single:
            return BlockSums(basis.E.astype(np.float32), n_pairs)
        return HalvedBasis(basis, n_pairs)

    def _compared(self, start: int, stop: int) -> FloatArray:
        return similarities(self.rows.basis, start, stop)

    def _beside_chance(self, start: int, stop: int) -> FloatArray:
        """Weigh pairs by the rows they have in common: those with few are alike by chance."""
        return super()._beside_chance(start, stop) * pair_weights(self.rows.basis, start, stop)

    def tails(self, n_rows: int, rng: np.random.Generator, by_chance: FloatArray) -> FloatArray:
        return by_chance.mean(0)

    def columns(self, features: IntArray, most: int = MATRIX_FEATURES) -> ComparedColumns:
        """Correlate the columns of the basis of some features, or compare these as they are.

        Similarities other than correlation have no columns.
        """
        basis = self.rows.basis
        if basis.similarity in ("correlation", "rank"):
            index, owner = columns_of(basis.owner, features)
            if self._columns is None:
                self._columns = column_correlations(basis)
            matrix, dims = self._columns[np.ix_(index, index)], basis.dims[features]
        else:
            owner, dims = np.arange(len(features)), np.ones(len(features), dtype=np.int64)
            matrix = self.part(features)
        weighted = self._weighted(matrix, features, owner)
        return ComparedColumns(matrix, weighted, owner, dims, basis.counts[features])

    def _weighted(self, matrix: FloatArray, features: IntArray, owner: IntArray) -> FloatArray:
        if self.rows.basis.present is None:
            return matrix
        weights = pair_weights(self.rows.basis.restricted(features))
        np.fill_diagonal(weights, 1)
        return matrix * weights[owner][:, owner]

    def with_sums(self, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
        central, rest = np.zeros(len(labels)), np.zeros(len(labels))
        for group in (np.flatnonzero(labels == j) for j in range(n_groups)):
            if not len(group):
                continue
            matrix = self.part(group)
            along = matrix.sum(1)
            central[group] = along / np.sqrt(max(float(along.sum()), 1e-300))
            weighted = self._weighted(matrix, group, np.arange(len(group)))
            sums = weighted.sum(1)
            left = weighted.sum() - 2 * sums + 1  # variance of the sum of the others
            rest[group] = np.clip((sums - 1) / np.sqrt(np.maximum(left, 1e-12)), -1, 1)
        return np.clip(central, -1, 1), rest

    def mean_of(self, group: IntArray) -> float:
        return float(self._weighted(self.part(group), group, np.arange(len(group))).mean())

    @cached_property
    def _numbers(self) -> Correlations:
        """Correlations of the columns of the basis, one of each feature, gaps at the mean."""
        return Correlations(DenseRows(self.rows.basis.E - self.rows.basis.E.mean(0)))

    def coordinates(self, limits: Limits = DEFAULT) -> Coordinates:
        """Find coordinates of the columns of the features.

        Similarities other than correlation know no residuals, and have no coordinates.
        """
        is_correlation = self.rows.basis.similarity in ("correlation", "rank")
        if is_correlation and self.rows.basis.is_single:
            return self._numbers.coordinates(limits)
        squared = np.square(self.matrix())
        n_duplicates = (squared > DUPLICATE).sum(1).astype(np.float64)
        F, sizes = None, np.ones(self.shape[1], dtype=np.int64)
        if is_correlation:
            F, sizes = basis_coordinates(self.rows.basis)
        return Coordinates(F, sizes, n_duplicates, squared=squared)

    def correlations_with(self, features: IntArray) -> FloatArray:
        return self._numbers.correlations_with(features)


class HalvedBasis:
    """Features of any kinds, rows as they were dealt, that are compared in halves of them."""

    def __init__(self, basis: FeatureBasis, n_pairs: int) -> None:
        self.basis, self.blocks = basis, row_blocks(len(basis.E))
        self.halves = [half for pair in first_halves(n_pairs) for half in (pair, ~pair)]

    def correlations(self, start: int, stop: int) -> FloatArray:
        """Compare features start..stop with all in every half, (2 S, b, m)."""
        if self.basis.similarity in ("correlation", "rank"):
            rows = (self.basis.rows(np.flatnonzero(self.blocks == k)) for k in range(N_ROW_BLOCKS))
            add = PairSums.of_blocks([PairSums(block, start, stop) for block in rows])
            return np.stack([canonical_of(add(half)) for half in self.halves])
        parts = [self.basis.rows(np.flatnonzero(half[self.blocks])) for half in self.halves]
        return np.stack([similarities(part, start, stop, exclude=False) for part in parts])
