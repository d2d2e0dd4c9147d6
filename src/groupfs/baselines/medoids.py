"""One feature of each cluster of features: what users of FeatureAgglomeration would do."""

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.cluster import FeatureAgglomeration

from groupfs.baselines.base import RankingSelector, Table


@dataclass(eq=False, repr=False)
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
        their correlation with the mean of their cluster; ``scores_`` is minus that. Another number
        of features gives other clusters, so fewer need not be a beginning of more.

    Examples
    --------
    >>> from groupfs.baselines import FeatureMedoids
    >>> X = [[0, 0, 1, 5], [1, 1, 2, 1], [2, 2, 2, 0], [3, 4, 3, 4]]
    >>> FeatureMedoids(2).fit(X).ranking_
    array([3, 1, 4, 2])
    """

    n_features_to_select: int | None = None

    def _fit_table(self, table: Table, device: torch.device) -> None:
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
