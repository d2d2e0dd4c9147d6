"""What a fit remembers of the columns: the standardised number that a new row has in each.

Axes: n new rows, d features, m features asked for.

A number is measured from the mean of the fit, in deviations. A level has the number that it had in
the fit; one that is new counts as a gap. A date has a linear function of its parts. Gaps are zero,
the mean.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from groupfs.data.encodings import DATE, date_columns, useful_parts
from groupfs.data.feature_rows import FeatureRows
from groupfs.data.feature_table import single_columns
from groupfs.data.frame_columns import StoredColumn
from groupfs.data.kinds import has_kinds, read_column
from groupfs.data.table import Table
from groupfs.utils.types import FloatArray, IntArray


@dataclass
class LearnedColumns:
    """Means and deviations of numbers, and what levels and dates stand for, by place.

    All of it is plain values, so that ``vars`` of it can be stored in any file.
    """

    mean: FloatArray  #: (d,)
    spread: FloatArray  #: 0 where constant, (d,)
    levels: dict[int, dict[str, float]] = field(default_factory=dict)
    dates: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def are_numbers(self) -> bool:
        return not (self.levels or self.dates)

    def standardized(self, frame: Any, features: IntArray) -> FloatArray:
        """Give every row of a data frame a number in each of some features, (n, m)."""
        Z = np.zeros((len(frame), len(features)))
        for j, feature in enumerate(features.tolist()):
            z = self._numbers(feature, read_column(frame, feature), frame.columns[feature])
            Z[:, j] = np.where(np.isnan(z), 0, z)
        return Z

    def _numbers(self, feature: int, stored: StoredColumn, name: Any) -> FloatArray:
        learned = "numbers"
        if feature in self.levels or feature in self.dates:
            learned = "levels" if feature in self.levels else "dates"
        sort = "levels" if stored.sort == "order" else stored.sort
        if sort != learned:
            if sort == "numbers" and np.isnan(stored.values).all():  # a column of gaps has no sort
                return stored.values
            raise ValueError(
                f"column {name} holds {sort}, but {learned} when the selector was fitted; give it "
                "the type it had then."
            )
        if learned == "levels":
            return _values_of(self.levels[feature], stored)
        if learned == "dates":
            date = self.dates[feature]
            first = np.datetime64(date["first"], "us")
            parts = date_columns(stored.values, first, date["parts"])
            return np.asarray(date["offset"] + parts @ date["weights"])
        if np.isinf(stored.values).any():
            raise ValueError(
                f"column {name} contains infinity (inf); replace infinite values, e.g. by NaN."
            )
        return (stored.values - self.mean[feature]) / self.spread[feature]


def learn_columns(X: Any, table: Table, labels: IntArray, signs: IntArray) -> LearnedColumns:
    """Remember the columns of a table; of levels and dates those of features in groups.

    ``labels`` and ``signs`` (d,) are the groups of the user's columns and their signs in them.
    """
    learned = LearnedColumns(table.means, table.deviations)
    if not (isinstance(table.rows, FeatureRows) and has_kinds(X)):
        return learned
    place = {column: j for j, column in enumerate(table.columns.tolist())}
    several = single_columns(table.rows, labels[table.columns], signs[table.columns])
    for feature in np.flatnonzero(labels >= 0).tolist():
        stored = read_column(X, feature)
        if stored.sort == "numbers":
            continue
        if stored.sort == "dates":
            learned.dates[feature] = _learn_date(stored, several[:, place[feature]])
            continue
        _, values = stored.encoded()
        z = several[:, place[feature]]
        if values.shape[1] == 1:
            z = (values[:, 0] - table.means[feature]) / table.deviations[feature]
        learned.levels[feature] = _learn_levels(stored, z)
    return learned


def _learn_levels(stored: StoredColumn, z: FloatArray) -> dict[str, float]:
    """Find the number of every level that occurs."""
    codes, first = np.unique(stored.values, return_index=True)
    found = zip(codes.tolist(), z[first].tolist(), strict=True)
    return {stored.names[code]: value for code, value in found if code >= 0 and not np.isnan(value)}


def _values_of(levels: dict[str, float], stored: StoredColumn) -> FloatArray:
    by_code = [levels.get(name, np.nan) if name.strip() else np.nan for name in stored.names]
    found: FloatArray = np.array([*by_code, np.nan])[stored.values]
    return found


def _learn_date(stored: StoredColumn, z: FloatArray) -> dict[str, Any]:
    """Find what the parts of a date are multiplied with, as plain values that files can hold."""
    times = stored.values.astype(DATE)
    present = ~np.isnat(times)
    first, parts = times[present].min(), useful_parts(times[present])
    columns = date_columns(times[present], first, parts)
    middle = columns.mean(0)
    weights = np.linalg.lstsq(columns - middle, z[present] - z[present].mean(), rcond=None)[0]
    return {
        "first": int(first.astype(np.int64)),
        "parts": parts,
        "weights": weights,
        "offset": float(z[present].mean() - middle @ weights),
    }
