"""The attributes that a fit sets: groups, in the user's order of the columns."""

from typing import TYPE_CHECKING

import numpy as np

from groupfs.selection.membership_table import place_rows
from groupfs.utils.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from groupfs.graphs.replication import Replication
    from groupfs.selection.describe import GroupResult
    from groupfs.training.history import EpochRecord
    from groupfs.training.problem import Problem


class GroupAttributes:
    """Fitted attributes that speak of groups, and how they are set."""

    n_features_in_: int
    groups_: list[IntArray]
    group_pvalues_: FloatArray | None
    group_reliability_: FloatArray | None
    _group_replicates: BoolArray | None
    relatedness_pvalues_: FloatArray | None
    replication_: "Replication | None"
    distortion_: dict[int, float]
    history_: "list[EpochRecord]"

    def _describe_nothing(self) -> None:
        """Set the fitted attributes of a table in which no feature goes with another."""
        d, none = self.n_features_in_, np.zeros(0)
        self.n_groups_, self.groups_ = 0, []
        self.group_labels_, self.membership_ = np.full(d, -1), np.zeros((d, 0))
        self.centrality_, self.feature_scores_ = np.zeros(d), np.zeros(d)
        self.group_signs_ = np.zeros(d, dtype=np.int64)
        self.group_scores_ = self.group_gates_ = self.group_pvalues_ = none
        self.group_reliability_, self._group_replicates = none, None
        self.representatives_ = np.zeros(0, dtype=np.int64)
        self.replication_, self.distortion_ = None, {}
        self.critical_sparsity_weight_ = self.sparsity_weight_ = self.smoothness_weight_ = 0.0
        self.loss_ = self.gain_ = 0.0
        self.history_, self.n_iter_ = [], 0

    def _describe(self, problem: "Problem", result: "GroupResult") -> None:
        """Set the fitted attributes that speak of groups, in the user's order of the columns."""
        columns, d = problem.table.columns, self.n_features_in_
        self.n_groups_ = len(result.groups)
        self.groups_ = [np.sort(columns[group]) for group in result.groups]
        self.group_labels_ = np.full(d, -1)
        self.membership_ = place_rows(result.membership, columns, d)
        self.centrality_ = np.zeros(d)
        self.centrality_[columns] = result.centrality
        self.group_signs_ = np.zeros(d, dtype=np.int64)
        self.group_signs_[columns] = result.signs
        for rank, group in enumerate(self.groups_):
            self.group_labels_[group] = rank
        self.group_scores_ = result.scores
        self.group_pvalues_ = result.p_values
        self.group_reliability_ = result.reliability
        self._group_replicates = result.replicates
        evidence = problem.evidence
        self.replication_ = None if evidence is None else evidence.replication
        self.group_gates_ = result.gates
        self.representatives_ = np.array(
            [columns[group[np.argmax(result.centrality[group])]] for group in result.groups]
        )
        worth = np.append(np.maximum(result.scores, 0), 0)  # the last one for features in no group
        self.feature_scores_ = worth[self.group_labels_] * np.maximum(self.centrality_, 0)
        self.distortion_ = problem.start.distortion or {}
        self.critical_sparsity_weight_ = problem.critical_sparsity_weight
        self.sparsity_weight_ = result.sparsity_weight
        self.smoothness_weight_ = problem.objective.smoothness_weight
        self.loss_, self.gain_ = result.loss, result.gain
        self.history_ = result.history
        self.n_iter_ = len(result.history)
