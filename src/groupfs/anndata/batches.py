r"""Groups within batches: differences between batches taken out, and where each group holds.

Axes: n cells, m genes of a group, C groups, B batches.

Means of batches are subtracted, so that correlations are those within batches. In a batch a group
is measured by the mean correlation of its genes, two at a time, those that run against it turned:
with standardised columns and their sum s it is
:math:`\bar r = (\mathrm{var}(s) - m) / (m (m - 1))`. In shuffled columns it is zero on average,
with variance :math:`2 / (m (m - 1) (n - 1))`.
"""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.anndata.matrix import blocks_of, find_column
from groupfs.conditions.weighted import centered_within
from groupfs.data.standardize import unit_columns
from groupfs.feature_groups import FeatureGroups
from groupfs.groups import Groups, feature_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray
from groupfs.utils.warn import SelectionWarning

#: Cells of a batch in which groups are looked at, at least.
FEWEST_CELLS = 20
#: Where a group holds: deviations above chance, and share of the mean over batches, at least.
CHANCE_DEVIATIONS, LEAST_SHARE = 3.1, 0.5


def read_batches(adata: Any, batch_key: str) -> tuple[IntArray, list[str]]:
    """Return the batch of every cell from 0, (n,), and the batches' names."""
    column = find_column(adata, "obs", "batch_key", batch_key)
    missing = int(column.isna().sum())
    if missing:
        raise ValueError(
            f"batch_key={batch_key!r} is missing for {missing} of {adata.n_obs} cells; fill it in, "
            "or leave these cells out."
        )
    names, codes = np.unique(column.astype(str).to_numpy(dtype=str), return_inverse=True)
    if np.bincount(codes).max() < FEWEST_CELLS:
        raise ValueError(
            f"batch_key={batch_key!r} has {len(names)} values, none with {FEWEST_CELLS} cells or "
            "more, and groups cannot be looked at in fewer; give the column of larger batches."
        )
    return codes, names.tolist()


def center_within(X: Any, batches: IntArray) -> FloatArray:
    """Subtract from every gene its mean in the cell's batch; a dense copy, (n, d). Gaps stay."""
    parts = [b.toarray() if sp.issparse(b) else np.asarray(b) for b in blocks_of(X)]
    return centered_within(np.concatenate(parts), batches)


def keep_what_holds(
    X: FloatArray, batches: IntArray, names: list[str], selector: FeatureGroups
) -> tuple[Any, list[str]]:
    """Let go of kept groups that do not hold in most batches.

    Returns the mean correlation of every group's genes in every batch as a frame, with the number
    of batches in which the group holds, and remarks on groups that were let go.
    """
    import pandas as pd

    mean_r, holds = _correlations_in_batches(X, batches, selector)
    n_holds, n_counted = holds.sum(axis=1), np.sum(~np.isnan(mean_r), axis=1)
    in_most, known = 2 * n_holds > n_counted, selector._group_replicates
    before = selector.group_kept_
    selector._group_replicates = in_most if known is None else known & in_most
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)  # the fit has said it, or we do
        selector._select()
    genes, groups = feature_names(selector), Groups.of(selector)
    remarks = [
        f"Group {rank + 1} ({genes[groups.representatives[rank]]}) holds in {n_holds[rank]} of "
        f"{n_counted[rank]} batches only, and is not kept."
        for rank in np.flatnonzero(before & ~selector.group_kept_)
    ]
    called = [str(groups.label(rank)) for rank in range(len(groups))]
    index = pd.Index(called, name="group", dtype=object)
    frame = pd.DataFrame(mean_r, index=index, columns=[name.replace("/", "-") for name in names])
    frame.insert(0, "n_batches", n_holds)
    return frame, remarks


def _correlations_in_batches(
    X: FloatArray, batches: IntArray, selector: FeatureGroups
) -> tuple[FloatArray, BoolArray]:
    """Measure groups in batches: mean correlations, NaN in small ones, and where groups hold."""
    sizes = np.bincount(batches)
    mean_r, chance = np.full((2, selector.n_groups_, len(sizes)), np.nan)
    for batch in np.flatnonzero(sizes >= FEWEST_CELLS):
        cells = np.flatnonzero(batches == batch)
        for rank, group in enumerate(selector.groups_):
            turned = X[np.ix_(cells, group)] * selector.group_signs_[group]
            mean_r[rank, batch], chance[rank, batch] = _mean_correlation(np.nan_to_num(turned))
    counted = ~np.isnan(mean_r)
    over_all = np.where(counted, mean_r, 0) @ sizes / np.maximum(counted @ sizes, 1)
    holds = counted & (mean_r > CHANCE_DEVIATIONS * chance)
    return mean_r, holds & (mean_r >= LEAST_SHARE * over_all[:, None])


def _mean_correlation(columns: FloatArray) -> tuple[float, float]:
    """Return the mean correlation of columns, two at a time, and its deviation by chance."""
    columns = columns[:, columns.std(axis=0) > 1e-9]
    n, m = columns.shape
    if m < 2:
        return 0.0, 1.0
    total, pairs = unit_columns(columns).sum(axis=1), m * (m - 1)
    return float((np.square(total).mean() - m) / pairs), float(np.sqrt(2 / (pairs * (n - 1))))
