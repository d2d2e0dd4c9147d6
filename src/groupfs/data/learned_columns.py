"""Remember the columns of a fit: mean, deviation and levels, by which new rows are measured."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from groupfs.data.columns import StoredColumn, read_columns
from groupfs.data.standardize import unit_columns
from groupfs.data.table import Table
from groupfs.utils.types import FloatArray, IntArray


@dataclass
class LearnedColumns:
    """What a fit remembers of the columns: the standardised number that a new row has in each.

    A number is measured from the mean of the fit, in deviations. A level has the number that it had
    in the fit; one that is new counts as a gap. Gaps are zero, the mean. All of it is plain values,
    by place, so that ``vars`` of it can be stored in any file.
    """

    mean: FloatArray  #: (d,)
    spread: FloatArray  #: 0 where constant, (d,)
    levels: dict[int, dict[str, float]] = field(default_factory=dict)

    def standardized(self, frame: Any, features: IntArray) -> FloatArray:
        """Give every row of a data frame a number in each of some features, (n, m)."""
        columns = zip(features.tolist(), read_columns(frame, features), strict=True)
        found = [self._numbers(j, stored, frame.columns[j]) for j, stored in columns]
        return np.column_stack([np.zeros((len(frame), 0)), *found])

    def _numbers(self, feature: int, stored: StoredColumn, name: Any) -> FloatArray:
        learned = "levels" if feature in self.levels else "numbers"
        sort = "levels" if stored.sort == "order" else stored.sort
        if sort != learned:
            if sort == "numbers" and np.isnan(stored.values).all():  # a column of gaps has no sort
                return stored.values
            raise ValueError(
                f"column {name} holds {sort}, but {learned} when the selector was fitted; give it "
                "the type it had then."
            )
        if learned == "levels":
            by_code = [self.levels[feature].get(name, np.nan) for name in stored.names]
            return np.asarray(np.array([*by_code, np.nan])[stored.values])
        if np.isinf(stored.values).any():
            raise ValueError(
                f"column {name} contains infinity (inf); replace infinite values, e.g. by NaN."
            )
        return (stored.values - self.mean[feature]) / self.spread[feature]


def learn_levels(
    X: Any, table: Table, labels: IntArray, signs: IntArray
) -> dict[int, dict[str, float]]:
    """Remember the levels of features in groups.

    ``labels`` and ``signs`` (d,) are the groups of the user's columns and their signs in them.
    """
    own, every = table.columns, np.arange(table.rows.shape[0])
    values = unit_columns(table.rows.feature_values(every, labels[own], signs[own]))
    in_groups = np.flatnonzero(labels[own] >= 0)
    columns, levels = read_columns(X, own[in_groups]), dict[int, dict[str, float]]()
    for j, feature, stored in zip(in_groups, own[in_groups].tolist(), columns, strict=True):
        if stored.sort != "numbers":
            codes, first = np.unique(stored.values, return_index=True)
            found = zip(codes.tolist(), values[first, j].tolist(), strict=True)
            levels[feature] = {
                stored.names[code]: z for code, z in found if code >= 0 and not np.isnan(z)
            }
    return levels
