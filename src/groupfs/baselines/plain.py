"""Plain ways to choose columns: all, random ones, the most variable, some that stand for others.

The greedy ones see correlations alone, so neither the unit nor the sign of a column matters, and
the order does not depend on how many features are wanted: fewer are a beginning of more. Their
scores, and those of medoids, are minus the rank.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import FeatureAgglomeration
from sklearn.utils import check_random_state

from groupfs.baselines.base import RandomState, RankingSelector, Table, parameter
from groupfs.selection.coverage import Coverage
from groupfs.selection.feature_order import order_features
from groupfs.selector import derive_seeds


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
    coverage, as in :class:`FacilityLocationSelector`. Where both sides of a table are long, columns
    are proposed by random sums of the rows and the first put in order by exact correlations.

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
        d = len(table.columns)
        every = np.arange(d)
        ordered = order_features(table.similarity, np.ones(d), [every], last=every[:0])
        self._rank_in_order(table, ordered.order)
        self.explained_ = ordered.explained


class FacilityLocationSelector(RankingSelector):
    r"""Keep the features that every feature has a near one among, chosen greedily.

    Each feature is the one that adds most to the coverage
    :math:`\sum_j \max_{s \in S} r_{js}^2` of the chosen ones S, with :math:`r` the correlations.
    Where both sides of a table are long, these are estimated by random sums of the rows.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features to keep. None takes half of those that vary.

    Examples
    --------
    >>> from groupfs.baselines import FacilityLocationSelector
    >>> selector = FacilityLocationSelector(1).fit([[1, 0, 1], [2, 1, 1], [3, 1, 3], [4, 0, 4]])
    >>> selector.ranking_
    array([3, 2, 1])
    """

    def _fit_table(self, table: Table) -> None:
        d = len(table.columns)
        coverage = Coverage.of(table.similarity.coordinates(), np.ones(d))
        self._rank_in_order(table, coverage.order(np.arange(d), d))


class FeatureMedoids(RankingSelector):
    """Keep one feature of each cluster of features: the one most like the cluster's mean.

    The standardised columns are clustered by scikit-learn's ``FeatureAgglomeration`` (Ward), into
    as many clusters as features are wanted; of each, the feature with the largest correlation with
    the mean of its columns is kept. Columns have their signs: a feature and its negative are far
    apart.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features to keep. None takes half of those that vary.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best: those kept, of larger clusters first, then the others by
        their correlation with the mean of their cluster. Another number of features gives other
        clusters, so fewer need not be a beginning of more.

    Examples
    --------
    >>> from groupfs.baselines import FeatureMedoids
    >>> X = [[0, 0, 1, 5], [1, 1, 2, 1], [2, 2, 2, 0], [3, 4, 3, 4]]
    >>> FeatureMedoids(2).fit(X).ranking_
    array([3, 1, 4, 2])
    """

    def _fit_table(self, table: Table) -> None:
        d = len(table.columns)
        Z = table.rows.columns(0, d)
        clusters = FeatureAgglomeration(self._budget(table)).fit(Z)
        labels = clusters.labels_
        means = clusters.transform(Z)[:, labels]
        # a mean of zero, as of a feature and its negative, goes with none
        norms = np.maximum(np.linalg.norm(means, axis=0) * np.linalg.norm(Z, axis=0), 1e-12)
        # both of a pair are as near to their mean, and rounding shall not choose
        correlation = np.round(np.einsum("ij,ij->j", Z, means) / norms, 9)

        best_first = np.lexsort((-correlation, labels))
        is_medoid = np.zeros(d, dtype=bool)
        is_medoid[best_first[np.unique(labels[best_first], return_index=True)[1]]] = True
        sizes = np.where(is_medoid, np.bincount(labels)[labels], 0)
        self._rank_in_order(table, np.lexsort((-correlation, -sizes)))
