"""Plain ways to choose columns: all, random ones, the most variable, some that explain others."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from groupfs.baselines.base import RandomState, RankingSelector, Table
from groupfs.selection.feature_order import order_features
from groupfs.selector import derive_seeds
from groupfs.utils.sklearn_compat import parameter


class AllFeatures(RankingSelector):
    """Keep every feature, constant ones too; ranks are the order of the columns."""

    _fewest_columns = 0

    def __init__(self) -> None:
        """There is nothing to choose."""

    def _fit_table(self, table: Table) -> None:
        scores = np.zeros(len(table.columns))
        self._rank(table, scores, self.n_features_in_, tie_breaker=-table.columns.astype(float))


@dataclass(eq=False, repr=False, kw_only=True)
class RandomSelector(RankingSelector):
    """Keep features drawn at random.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes half of the features that vary.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Examples
    --------
    >>> from groupfs.baselines import RandomSelector
    >>> RandomSelector(1, random_state=0).fit_transform([[0, 1, 0], [1, 9, 0.5], [0, 5, 1]]).shape
    (3, 1)
    """

    random_state: RandomState = parameter(None, "random_state")

    def _fit_table(self, table: Table) -> None:
        (seed,) = derive_seeds(check_random_state(self.random_state), 1)
        self._rank(table, np.random.default_rng(seed).random(len(table.columns)))


class VarianceSelector(RankingSelector):
    """Keep the features with the largest variances, in the units they came in.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes half of the features that vary.

    Examples
    --------
    >>> from groupfs.baselines import VarianceSelector
    >>> VarianceSelector(1).fit([[0, 1, 0], [1, 9, 0.5], [0, 5, 1]]).ranking_
    array([2, 1, 3])
    """

    standardize = False

    def _fit_table(self, table: Table) -> None:
        deviations = table.deviations[table.columns]
        self._rank(table, deviations**2, tie_breaker=deviations)


class ColumnSubsetSelector(RankingSelector):
    r"""Keep the features from which all others can be predicted best, chosen greedily.

    Each feature is the one that adds most to the variance that a linear regression of all columns
    on the chosen ones explains, :math:`\sum_j \lVert P_S z_j \rVert^2` with :math:`P_S` the
    projection on the standardised columns S: greedy column subset selection. Copies of a column
    count as one. When nothing is left to explain, or after 1,024 features, the others follow by
    coverage :math:`\sum_j \max_{s \in S} r_{js}^2`. Where both sides of a table are long, columns
    are proposed by random sums of the rows and the first put in order by exact correlations. Fewer
    features are a beginning of more, and scores are minus the rank.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features to keep. None takes half of those that vary.

    Attributes
    ----------
    explained_ : ndarray of shape (n_features that vary,)
        Share of the variance that the first k features explain, for k = 1, 2, ...

    Examples
    --------
    >>> from groupfs.baselines import ColumnSubsetSelector
    >>> selector = ColumnSubsetSelector(1).fit([[1, 0, 1], [2, 1, 1], [3, 1, 3], [4, 0, 4]])
    >>> selector.ranking_
    array([3, 2, 1])
    >>> selector.explained_.round(2)
    array([0.64, 0.98, 1.  ])
    """

    def _fit_table(self, table: Table) -> None:
        every = np.arange(len(table.columns))
        ordered = order_features(table.similarity, np.ones(len(every)), [every], last=every[:0])
        self._rank(table, -1 - np.argsort(ordered.order).astype(np.float64))
        self.explained_ = ordered.explained
