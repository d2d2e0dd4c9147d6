"""Make tables of features of any kinds, with gaps or without, or compared in other ways than by r.

Features that do not vary are left out; the others come in an order of their own.
"""

from collections.abc import Sequence

import numpy as np

from groupfs.data import checks
from groupfs.data.basis import make_basis
from groupfs.data.columns import EncodedColumns
from groupfs.data.feature_rows import FeatureRows, feature_moments
from groupfs.data.feature_similarity import FeatureSimilarity
from groupfs.data.standardize import N_KEYS, column_scale, order_by_keys, without_rounding
from groupfs.data.table import Table, TableOptions
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray, IntArray


def mixed_table(columns: EncodedColumns, names: Sequence[str], options: TableOptions) -> Table:
    """Make a table of encoded columns."""
    _refuse_unusable(columns, names, options)
    X = np.hstack(columns.values)
    sizes = np.array([x.shape[1] for x in columns.values])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    mean, spread = feature_moments(X, owner)
    starts = np.searchsorted(owner, np.arange(len(sizes)))
    n_rows = np.count_nonzero(~np.isnan(X[:, starts]), axis=0)
    means = np.where(sizes == 1, mean[starts], 0.0)
    spread = without_rounding(means, spread, n_rows, names)
    kept = checks.varying_columns(spread, names, options.constant, options.fewest)
    Z, owner = sample_columns(*_chosen(columns, kept), options.standardize)
    order, twins = order_by_keys(_keys(Z, owner))
    kept = kept[order]
    values, kinds = _chosen(columns, kept)
    Z, owner = sample_columns(values, kinds, options.standardize)
    rows = FeatureRows(Z, owner, make_basis(values, kinds, options.similarity))
    similarity = FeatureSimilarity(rows)
    return Table(similarity, kept, twins, names, spread, means, columns.kinds)


def numbers(matrix: FloatArray) -> EncodedColumns:
    """Take every column of a matrix for a feature, NaN for gaps."""
    return EncodedColumns(list(matrix.T[:, :, None]), ["number"] * matrix.shape[1])


def sample_columns(
    values: Sequence[FloatArray], kinds: Sequence[str], standardize: bool
) -> tuple[FloatArray, IntArray]:
    """Standardise the columns of features, each (N, a), and say whose they are: (N, p), (p,)."""
    owner = np.repeat(np.arange(len(values)), [x.shape[1] for x in values])
    Z = np.hstack(values)
    mean, spread = feature_moments(Z, owner)
    is_number = np.array([kind == "number" for kind in kinds])
    if not standardize and is_number.any():
        spread[is_number] = column_scale(spread[is_number], False)
    return (Z - mean) / spread[owner], owner


def _refuse_unusable(columns: EncodedColumns, names: Sequence[str], options: TableOptions) -> None:
    """Refuse tables without values, with infinity, or of kinds that a function cannot compare."""
    if all(np.isnan(x).all() for x in columns.values):
        raise ValueError(f"X has no value in any of its {len(names)} columns; all are missing.")
    bad = np.array([i for i, x in enumerate(columns.values) if np.isinf(x).any()], dtype=np.int64)
    if len(bad):
        checks.refuse_missing(checks.Missing(bad[:0], bad), names, options.who)
    categories = [names[i] for i, kind in enumerate(columns.kinds) if kind != "number"]
    if callable(options.similarity) and categories:
        raise ParameterError(
            f"a similarity of your own compares numbers, but {len(categories)} column(s) are "
            f"categories: {join_names(categories)}; encode them, or choose "
            'similarity="correlation".',
            "similarity",
        )


def _chosen(columns: EncodedColumns, index: IntArray) -> tuple[list[FloatArray], list[str]]:
    return [columns.values[i] for i in index], [columns.kinds[i] for i in index]


def _keys(Z: FloatArray, owner: IntArray) -> FloatArray:
    """Describe every feature by three numbers that depend on its contents alone, (d, 3)."""
    vectors = np.random.default_rng(0).standard_normal((len(Z), N_KEYS))
    products = np.nan_to_num(Z).T @ vectors / np.sqrt(len(Z))
    sizes = np.bincount(owner)
    starts = np.searchsorted(owner, np.arange(len(sizes)))
    lengths = np.sqrt(np.add.reduceat(np.square(products), starts, axis=0))
    # levels have no order: the length of their products has none either
    return np.where((sizes == 1)[:, None], products[starts], lengths)
