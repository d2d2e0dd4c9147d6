"""GroupFS with parts taken away, to see what training adds to the clusters it starts from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils import check_random_state

from groupfs import GroupFS
from groupfs.data.open_table import open_table
from groupfs.training.problem import Problem, prepare
from groupfs.utils.device import derive_seeds, resolve_device


class WatchedGroupFS(GroupFS):
    """GroupFS that also says which share of the features left the cluster it started in."""

    def _falling_back(self, solve: Callable[[torch.device], Any], device: torch.device) -> Any:
        problem, result = super()._falling_back(solve, device)
        labels = result.places[result.membership.argmax(1)]
        stayed = [float(np.mean(labels == clusters)) for clusters in problem.clusters]
        self.share_moved_ = 1 - max(stayed)  # of the seed that was kept: others are numbered anew
        return problem, result


class OnWarmStart(GroupFS):
    """Gates alone are learned, on the clusters that GroupFS starts from."""

    def fit(self, X: Any, y: Any = None) -> Self:
        self.groups = None
        table = open_table(self, X, self.standardize)
        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        problem = prepare(table, self._settings(table), seeds, resolve_device(self.device))
        self.groups = np.full(self.n_features_in_, -1)
        self.groups[table.columns] = problem.clusters[0]
        super().fit(X)
        if self.group_pvalues_ is not None:
            self._found_not_given(problem)
        return self

    def _found_not_given(self, problem: Problem) -> None:
        """Compare with chance as groups that were found are, which is stricter."""
        places = np.full(self.n_features_in_, -1)
        places[problem.table.columns] = np.arange(len(problem.table.columns))
        rated = problem.score([places[group] for group in self.groups_])
        sizes = np.array([len(group) for group in self.groups_])
        self.group_pvalues_ = problem.p_values(rated, sizes)
        self._select()


class WarmStartOnly(OnWarmStart):
    """Nothing is learned: clusters ranked by excess, all gates open."""

    def fit(self, X: Any, y: Any = None) -> Self:
        super().fit(X)
        self.group_gates_ = np.ones(self.n_groups_)
        self._select()
        return self
