"""Tables whose columns are of several kinds, have gaps, or are compared in other ways than by r.

They are held in memory. Features that do not vary are left out; the others come in an order of
their own, as in other tables.
"""

from collections.abc import Sequence

import numpy as np

from groupfs.data import checks
from groupfs.data.feature_basis import SimilarityFunction, make_basis
from groupfs.data.feature_rows import FeatureRows, sample_columns
from groupfs.data.kinds import EncodedColumns
from groupfs.data.standardize import SMALLEST_SPREAD, order_by_keys
from groupfs.data.table import TableInMemory
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names
from groupfs.utils.types import FloatArray, IntArray


def feature_table(
    columns: EncodedColumns,
    names: Sequence[str],
    standardize: bool,
    similarity: str | SimilarityFunction,
    constant: str | None,
    fewest: int,
) -> TableInMemory:
    """Make a table of encoded columns; parameters are those of ``open_table``."""
    if all(np.isnan(x).all() for x in columns.values):
        raise ValueError(f"X has no value in any of its {len(names)} columns; all are missing.")
    refuse_infinite(columns, names)
    _refuse_categories(columns, names, similarity)
    spread = _spread(columns)
    checks.refuse_overflow(spread, names)
    varies = spread > 0
    checks.refuse_too_few(varies, names, fewest)
    if constant is not None:
        checks.report_constant(varies, names, constant)
    kept = np.flatnonzero(varies)
    Z, owner = sample_columns(*_chosen(columns, kept), standardize)
    order, twins = order_by_keys(_keys(Z, owner))
    kept = kept[order]
    values, kinds = _chosen(columns, kept)
    Z, owner = sample_columns(values, kinds, standardize)
    rows = FeatureRows(Z, owner, make_basis(values, kinds, similarity))
    return TableInMemory(rows, kept, twins, names, spread, _means(columns), columns.kinds)


def numbers(matrix: FloatArray) -> EncodedColumns:
    """Take every column of a matrix for a feature, NaN for gaps."""
    return EncodedColumns(list(matrix.T[:, :, None]), ["number"] * matrix.shape[1])


def single_columns(
    rows: FeatureRows, labels: IntArray, signs: IntArray, keep_gaps: bool = False
) -> FloatArray:
    """Give every feature one standardised column, gaps at the mean, (N, d), or NaN if so wanted.

    Numbers have one. A category has for each level, and a date for its parts, what they say of the
    first component of the feature's group: the mean of its rows. ``labels`` (d,) are the groups,
    ``signs`` those of the features in them.
    """
    Z, d = np.nan_to_num(rows.Z), rows.shape[1]
    sizes = np.bincount(rows.owner, minlength=d)
    starts = np.searchsorted(rows.owner, np.arange(d))
    found = Z[:, starts]
    for feature in np.flatnonzero(sizes > 1):
        group = np.array([feature])
        if labels[feature] >= 0:
            group = np.flatnonzero(labels == labels[feature])
        component = _component(Z, rows, group, signs, sizes)
        own = Z[:, rows.owner == feature]
        fitted = own @ np.linalg.lstsq(own, component, rcond=None)[0]
        present = ~np.isnan(rows.Z[:, starts[feature]])
        fitted -= fitted[present].mean()
        found[:, feature] = np.where(present, fitted, 0) / max(fitted[present].std(), 1e-12)
    if keep_gaps:
        found[np.isnan(rows.Z[:, starts])] = np.nan
    return found


def refuse_infinite(columns: EncodedColumns, names: Sequence[str]) -> None:
    """Refuse infinity by the names of the columns."""
    bad = np.array([i for i, x in enumerate(columns.values) if np.isinf(x).any()], dtype=np.int64)
    if len(bad):
        checks.refuse_missing(checks.Missing(bad[:0], bad), names, "GroupFS")


def _refuse_categories(
    columns: EncodedColumns, names: Sequence[str], similarity: str | SimilarityFunction
) -> None:
    bad = [names[i] for i, kind in enumerate(columns.kinds) if kind != "number"]
    if callable(similarity) and bad:
        raise ParameterError(
            f"a similarity of your own compares numbers, but {len(bad)} column(s) are categories "
            f'or dates: {join_names(bad)}; encode them, or choose similarity="correlation".',
            "similarity",
        )


def _spread(columns: EncodedColumns) -> FloatArray:
    """Find deviations of features by the values they have, 0 where these are one."""
    found = np.zeros(len(columns.values))
    for i, x in enumerate(columns.values):
        present = x[~np.isnan(x[:, 0])]
        if len(present):
            with np.errstate(over="ignore", invalid="ignore"):
                deviation = np.sqrt(np.square(present - present.mean(0)).mean(0).sum())
            rounding = 10 * np.finfo(float).eps * np.sqrt(len(present)) * np.abs(present).max()
            found[i] = 0.0 if deviation <= max(rounding, SMALLEST_SPREAD) else deviation
    return found


def _means(columns: EncodedColumns) -> FloatArray:
    """Find means of features by the values they have, 0 without any and for several columns."""
    found = np.zeros(len(columns.values))
    for i, x in enumerate(columns.values):
        if x.shape[1] == 1 and not np.isnan(x).all():
            found[i] = np.nanmean(x)
    return found


def _chosen(columns: EncodedColumns, index: IntArray) -> tuple[list[FloatArray], list[str]]:
    return [columns.values[i] for i in index], [columns.kinds[i] for i in index]


def _keys(Z: FloatArray, owner: IntArray) -> FloatArray:
    """Describe every feature by three numbers that depend on its contents alone, (d, 3)."""
    vectors = np.random.default_rng(0).standard_normal((len(Z), 3))
    products = np.nan_to_num(Z).T @ vectors / np.sqrt(len(Z))
    sizes = np.bincount(owner)
    starts = np.searchsorted(owner, np.arange(len(sizes)))
    lengths = np.sqrt(np.add.reduceat(np.square(products), starts, axis=0))
    # levels have no order: the length of their products has none either
    return np.where((sizes == 1)[:, None], products[starts], lengths)


def _component(
    Z: FloatArray, rows: FeatureRows, group: IntArray, signs: IntArray, sizes: IntArray
) -> FloatArray:
    """Find the first component of a group's columns, (N,), along the features' signs."""
    columns = rows.columns_of(group)
    U, lengths, Vt = np.linalg.svd(Z[:, columns], full_matrices=False)
    single = (sizes == 1)[rows.owner[columns]]
    along = float((Vt[0] * signs[rows.owner[columns]])[single].sum())
    if not single.any():
        along = float(Vt[0][np.abs(Vt[0]).argmax()])
    component: FloatArray = U[:, 0] * lengths[0] * (-1 if along < 0 else 1)
    return component
