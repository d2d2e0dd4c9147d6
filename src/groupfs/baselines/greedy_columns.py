"""Columns chosen one after another because they speak for all others: two ways to say how well.

Both see correlations alone, so neither the unit nor the sign of a column matters. The order does
not depend on how many features are wanted: fewer are a beginning of more.
"""

from dataclasses import dataclass

import numpy as np
import torch

from groupfs.baselines.base import RankingSelector, Table
from groupfs.selection.column_factor import factor_columns
from groupfs.selection.coverage import Coverage
from groupfs.selection.feature_order import order_features


@dataclass(eq=False, repr=False)
class ColumnSubsetSelector(RankingSelector):
    r"""Keep the features from which all others can be predicted best, chosen greedily.

    Each feature is the one that adds most to the variance that a linear regression of all columns
    on the chosen ones explains, :math:`\sum_j \lVert P_S z_j \rVert^2` with :math:`P_S` the
    projection on the standardised columns S: greedy column subset selection. Copies of a column
    count as one. When nothing is left to explain, or after 1,024 features, the others follow by
    coverage, as in :class:`FacilityLocationSelector`.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features to keep. None takes half of those that vary.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features_in_,)
        Place of every feature in the order, 1 is first; ``scores_`` is minus that.
    explained_ : ndarray of shape (n_features that vary,)
        Share of the variance that the first k features explain, for k = 1, 2, ...

    Notes
    -----
    Where both sides of a table are long, features are proposed by random sums of the rows and the
    first of them put in order by exact correlations.

    Examples
    --------
    >>> from groupfs.baselines import ColumnSubsetSelector
    >>> selector = ColumnSubsetSelector(1).fit([[1, 0, 1], [2, 1, 1], [3, 1, 3], [4, 0, 4]])
    >>> selector.ranking_
    array([3, 2, 1])
    >>> selector.explained_.round(2)
    array([0.64, 0.98, 1.  ])
    """

    n_features_to_select: int | None = None

    def _fit_table(self, table: Table, device: torch.device) -> None:
        d = len(table.columns)
        found = order_features(table.rows, np.ones(d), [np.arange(d)], last=np.zeros(0, np.int64))
        self._rank_in_order(table, found.order)
        self.explained_ = found.explained


@dataclass(eq=False, repr=False)
class FacilityLocationSelector(RankingSelector):
    r"""Keep the features that every feature has a near one among, chosen greedily.

    Each feature is the one that adds most to the coverage
    :math:`\sum_j \max_{s \in S} r_{js}^2` of the chosen ones S, with :math:`r` the correlations.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features to keep. None takes half of those that vary.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features_in_,)
        Place of every feature in the order, 1 is first; ``scores_`` is minus that.

    Notes
    -----
    Where both sides of a table are long, correlations are estimated by random sums of the rows.

    Examples
    --------
    >>> from groupfs.baselines import FacilityLocationSelector
    >>> selector = FacilityLocationSelector(1).fit([[1, 0, 1], [2, 1, 1], [3, 1, 3], [4, 0, 4]])
    >>> selector.ranking_
    array([3, 2, 1])
    """

    n_features_to_select: int | None = None

    def _fit_table(self, table: Table, device: torch.device) -> None:
        F = factor_columns(table.rows).F
        coverage = Coverage(F, F.new_ones(F.shape[1]))
        self._rank_in_order(table, coverage.order(np.arange(F.shape[1]), F.shape[1]))
