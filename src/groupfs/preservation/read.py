"""Read other rows for a fitted selector: what they have of its columns, in units of their own.

Axes: n rows, d features of the fit.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from groupfs.data.columns import has_kinds
from groupfs.data.learned_columns import LearnedColumns
from groupfs.data.open_table import read_rows
from groupfs.groups import FEWEST_HALVED, feature_names
from groupfs.utils.text import count, join_names
from groupfs.utils.types import BoolArray, FloatArray

#: Rows that are looked at, at most, and numbers that these rows may hold (400 MB).
MOST_ROWS, MOST_NUMBERS = 5000, 50_000_000
#: Deviation, in units of the fit, below which a column is constant but for rounding.
NO_SPREAD = 1e-9
#: Deviations of the fit that a mean is off, and ratio of deviations, that are far.
FAR_MEAN, FAR_SPREAD = 4.0, 5.0


@dataclass(frozen=True)
class OtherRows:
    """Rows of another table."""

    Z: FloatArray  #: standardised in these rows, NaN in gaps and missing columns, (n, d)
    n_rows: int  #: of the table, of which some may have been picked
    notes: list[str] = field(default_factory=list)  #: what was noticed, as sentences


def read_other_rows(selector: Any, X: Any) -> OtherRows:
    """Read the columns of a fit from another table; a frame may have others, or lack some."""
    names, missing = feature_names(selector), np.zeros(selector.n_features_in_, dtype=bool)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X is no table of rows and columns, its shape is {X.shape}; give one.")
    if hasattr(X, "columns") and hasattr(selector, "feature_names_in_"):
        X = X.compute() if hasattr(X, "compute") else X  # of dask
        X = X if hasattr(X, "reindex") else X.to_pandas()
        if twice := sorted({str(name) for name in X.columns[X.columns.duplicated()]}):
            raise ValueError(f"X has names of columns more than once: {join_names(twice)}; rename.")
        missing = ~np.isin(names, [str(name) for name in X.columns])
        if missing.all():
            raise ValueError(
                f"X has none of the {count(len(names), 'column')} that the groups were found in "
                f"({join_names(names)}); give a table with these names."
            )
        X = X.reindex(columns=selector.feature_names_in_)
    n_rows = len(X) if hasattr(X, "columns") else X.shape[0]
    if n_rows < FEWEST_HALVED:
        raise ValueError(
            f"X has {count(n_rows, 'row')}, and groups cannot be checked in fewer than "
            f"{FEWEST_HALVED}; give more."
        )
    Z, mean, spread = _in_units_of_the_fit(selector, X, missing)
    few = ~missing & ((~np.isnan(Z)).sum(0) < FEWEST_HALVED)
    constant = ~missing & ~few & ~(spread > NO_SPREAD)
    varies = ~(constant | missing | few)
    in_groups = selector.group_labels_ >= 0
    ratio = np.where(varies & (spread > 0), spread, 1)
    far = (np.abs(mean) > FAR_MEAN) | (np.maximum(ratio, 1 / ratio) > FAR_SPREAD)
    notes = []
    for which, words in (
        (missing, "{what} of the groups {are} not in X: {names}."),
        (few, "{what} of the groups {are} in too few rows of X and left out: {names}."),
        (constant, "{what} of the groups {are} the same in every row of X and left out: {names}."),
        (far & varies, "{what} of the groups {are} far in X from the rows of the fit, in mean or "
         "spread (other units, or codes?): {names}. Correlations do not mind, but scores do."),
    ):  # fmt: skip
        if named := [names[i] for i in np.flatnonzero(which & in_groups)]:
            verb = "is" if len(named) == 1 else "are"
            what = count(len(named), "column")
            notes.append(words.format(what=what, are=verb, names=join_names(named, 12)))
    Z[:, ~varies] = np.nan
    Z[:, varies] -= np.nanmean(Z[:, varies], axis=0)
    Z[:, varies] /= np.nanstd(Z[:, varies], axis=0)
    return OtherRows(Z, n_rows, notes)


def _in_units_of_the_fit(
    selector: Any, X: Any, missing: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rows, NaN in gaps, (n, d), at random if too many; means and deviations, (d,) each.

    Of categories that are in no group nothing is known, and they are gaps throughout.
    """
    most = min(MOST_ROWS, max(500, MOST_NUMBERS // selector.n_features_in_))
    learned = LearnedColumns(**selector._learned_columns)
    if not has_kinds(X):
        Z, table, _ = read_rows(selector, X, most)
        unit = np.where(learned.spread > 0, learned.spread, 1)
        return Z, (table.means - learned.mean) / unit, table.deviations / unit
    some = X.sample(most, random_state=0) if len(X) > most else X
    known = (np.array(getattr(selector, "feature_kinds_", "number")) == "number") & (
        learned.spread > 0
    )
    used = np.flatnonzero(((selector.group_labels_ >= 0) | known) & ~missing)
    Z = np.full((len(some), selector.n_features_in_), np.nan)
    Z[:, used] = learned.standardized(some, used)
    mean, spread = np.zeros((2, len(missing)))
    there = ~np.isnan(Z).all(axis=0)
    mean[there], spread[there] = np.nanmean(Z[:, there], axis=0), np.nanstd(Z[:, there], axis=0)
    return Z, mean, spread
