"""What the baselines share: a score for every feature becomes a ranking and a selection."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from groupfs.data.open_table import open_table
from groupfs.data.table import Table, TableInMemory
from groupfs.utils.types import FloatArray

#: Constraints of parameters that several baselines have; each takes those it needs.
SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None],
    "standardize": ["boolean"],
    "device": [str, torch.device],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


def shared_constraints(*names: str) -> dict[str, list[Any]]:
    """Constraints of the shared parameters named."""
    return {name: SHARED_CONSTRAINTS[name] for name in names}


class RankingSelector(SelectorMixin, BaseEstimator):
    """Base of the baselines; subclasses write ``__init__`` and ``fit``.

    ``fit`` calls ``_check_table``, computes a score per column of the table and hands it to
    ``_rank``.
    """

    n_features_to_select: int | None

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask: NDArray[np.bool_] = self._support_mask
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_table(self, X: Any, standardize: bool, fewest: int = 2) -> TableInMemory:
        table = open_table(
            self, X, standardize, may_stream=False, constant="ranked last", fewest=fewest
        )
        assert isinstance(table, TableInMemory)
        wanted, n_features = self.n_features_to_select, table.rows.shape[1]
        if wanted is not None and wanted > n_features:
            raise ValueError(
                f"n_features_to_select={wanted} but X has {n_features} features that vary; choose "
                f"at most {n_features}."
            )
        return table

    def _budget(self, table: Table) -> int:
        """Features to select: as many as asked for, else half of those that vary."""
        wanted = self.n_features_to_select
        return max(1, table.rows.shape[1] // 2) if wanted is None else wanted

    def _rank(
        self,
        table: Table,
        scores: FloatArray,
        n_selected: int,
        tie_breaker: FloatArray | None = None,
    ) -> None:
        """Set ``scores_``, ``ranking_`` and the selection.

        Parameters
        ----------
        table : Table
            The table as it was checked.
        scores : (d,)
            Of the columns in the table's own order, higher is better.
        n_selected : int
            How many of the best are selected.
        tie_breaker : (d,) or None
            Orders columns with equal scores, higher is better.
        """
        ties = np.zeros(len(scores)) if tie_breaker is None else tie_breaker
        best_first = table.columns[np.lexsort((-ties, -scores))]
        varies = np.zeros(self.n_features_in_, dtype=bool)
        varies[table.columns] = True
        self.scores_ = np.full(self.n_features_in_, -np.inf)
        self.scores_[table.columns] = scores
        self.ranking_ = np.empty(self.n_features_in_, dtype=np.int64)
        self.ranking_[np.concatenate([best_first, np.flatnonzero(~varies)])] = np.arange(
            1, self.n_features_in_ + 1
        )
        self._support_mask = self.ranking_ <= n_selected
