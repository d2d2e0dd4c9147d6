"""The yardsticks every table of results needs: all features, random ones, the most variable."""

from dataclasses import dataclass, field

import numpy as np

from groupfs.baselines.base import RandomState, RankingSelector, Table


class AllFeatures(RankingSelector):
    """Keep every feature, constant ones too; ranks are the order of the columns."""

    _fewest_columns = 0

    def _fit_table(self, table: Table) -> None:
        scores = np.zeros(len(table.columns))
        self._rank(table, scores, self.n_features_in_, tie_breaker=-table.columns.astype(float))


@dataclass(eq=False, repr=False)
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

    n_features_to_select: int | None = None
    random_state: RandomState = field(default=None, kw_only=True)

    def _fit_table(self, table: Table) -> None:
        (seed,) = self._seeds(1)
        self._rank(table, np.random.default_rng(seed).random(len(table.columns)))


@dataclass(eq=False, repr=False)
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

    n_features_to_select: int | None = None
    standardize = False

    def _fit_table(self, table: Table) -> None:
        deviations = table.deviations[table.columns]
        self._rank(table, deviations**2, tie_breaker=deviations)
