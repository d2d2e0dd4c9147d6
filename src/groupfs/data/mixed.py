"""Make tables of features of any kinds, with gaps or without, or compared in other ways than by r.

Features that do not vary are left out; the others come in an order of their own.
"""

from collections.abc import Sequence

import numpy as np

from groupfs.data import checks
from groupfs.data.feature_rows import feature_moments, make_rows
from groupfs.data.feature_similarity import FeatureSimilarity
from groupfs.data.standardize import N_KEYS, order_by_keys, without_rounding
from groupfs.data.table import Table, TableOptions
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray, IntArray


def mixed_table(values: list[FloatArray], names: Sequence[str], options: TableOptions) -> Table:
    """Make a table of encoded columns: each (N, 1) of numbers or (N, a) of a category's levels."""
    _refuse_unusable(values, names, options)
    X = np.hstack(values)
    sizes = np.array([x.shape[1] for x in values])
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
