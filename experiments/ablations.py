"""GroupFS with parts taken away or added, to see what training adds to the clusters it starts from.

By default gates alone are learned; ``learn_memberships=True`` learns both.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from groupfs import GroupFS
from groupfs.selection.describe import GroupResult
from groupfs.training.problem import Problem


class WatchedGroupFS(GroupFS):
    """GroupFS that also says which share of the features left the cluster it started in."""

    def _describe(self, problem: Problem, result: GroupResult) -> None:
        super()._describe(problem, result)
        labels = result.order[result.membership.argmax(1)]
        stayed = [float(np.mean(labels == clusters)) for clusters in problem.start.clusters]
        self.share_moved_ = 1 - max(stayed)  # of the seed that was kept: others are numbered anew


class WarmStartOnly(GroupFS):
    """Nothing is learned: clusters ranked by excess, all gates open."""

    def fit(self, X: Any, y: Any = None) -> Self:
        super().fit(X)
        self.group_gates_ = np.ones(self.n_groups_)
        self._select()
        return self
