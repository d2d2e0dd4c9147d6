"""GroupFS with one part left out or put in, to see what each part of it adds.

A budget is spent on features that explain the related ones: the first three classes leave out that
unrelated features do not count, that smooth ones count more, and that features in groups come
first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groupfs import GroupFS
from groupfs.data.table import Table
from groupfs.graphs.relatedness import Relatedness
from groupfs.selection.describe import GroupResult
from groupfs.selection.feature_order import order_features
from groupfs.training.problem import Problem
from groupfs.utils.types import BoolArray


class WithoutRelatedness(GroupFS):
    """All features count and may be chosen, in groups or not."""

    def _order(self, table: Table, relatedness: Relatedness | None, seed: int, metric: Any) -> None:
        super()._order(table, None, seed, metric)

    def _first_features(self, unrelated_left_out: bool) -> BoolArray:
        return np.ones(self.n_features_in_, dtype=bool)


class WithoutGroups(GroupFS):
    """Related features in no group may be chosen like any other."""

    def _first_features(self, unrelated_left_out: bool) -> BoolArray:
        return np.ones(self.n_features_in_, dtype=bool)


class WithoutWeights(GroupFS):
    """Every related feature counts the same, smooth or not."""

    def _order(self, table: Table, relatedness: Relatedness | None, seed: int, metric: Any) -> None:
        super()._order(table, relatedness, seed, metric)
        counts = (self.feature_weights_[table.columns] > 0).astype(float)
        grouped = self.group_labels_[table.columns] >= 0
        stages = [np.flatnonzero(grouped), np.flatnonzero(~grouped & (counts > 0))]
        last = np.flatnonzero(~grouped & (counts == 0))
        found = order_features(table.rows, counts, stages, last)
        self.feature_order_, self.explained_ = table.columns[found.order], found.explained


class WatchedGroupFS(GroupFS):
    """GroupFS that also says which share of the features left the cluster it started in."""

    def _describe(self, problem: Problem, result: GroupResult) -> None:
        super()._describe(problem, result)
        labels = result.order[result.membership.argmax(1)]
        stayed = [float(np.mean(labels == clusters)) for clusters in problem.start.clusters]
        self.share_moved_ = 1 - max(stayed)  # of the seed that was kept: others are numbered anew
