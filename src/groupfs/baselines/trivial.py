"""The yardsticks every table of results needs: all features, random ones, the most variable."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from groupfs.baselines.base import RankingSelector, shared_constraints
from groupfs.utils.device import derive_seeds


class AllFeatures(RankingSelector):
    """Keep every feature, constant ones too.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Zero for every feature, ``-inf`` for constant ones.
    ranking_ : ndarray of shape (n_features_in_,)
        1, 2, ... in the order of the columns.

    Examples
    --------
    >>> from groupfs.baselines import AllFeatures
    >>> from groupfs.datasets import load_two_moons
    >>> AllFeatures().fit_transform(load_two_moons(random_state=0).data).shape
    (1000, 20)
    """

    __module__ = "groupfs.baselines"

    _parameter_constraints: dict[str, list[Any]] = {}

    n_features_to_select = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Check X; ``y`` is ignored."""
        table = self._check_table(X, standardize=True, fewest=0)
        scores = np.zeros(len(table.columns))
        self._rank(table, scores, self.n_features_in_, tie_breaker=-table.columns.astype(float))
        return self


class RandomSelector(RankingSelector):
    """Keep features drawn at random.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes half of the features that vary.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Random numbers, the higher the better; ``-inf`` for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best.

    Examples
    --------
    >>> from groupfs.baselines import RandomSelector
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(random_state=0).data
    >>> RandomSelector(5, random_state=0).fit_transform(X).shape
    (1000, 5)
    """

    __module__ = "groupfs.baselines"

    _parameter_constraints: dict[str, list[Any]] = shared_constraints(
        "n_features_to_select", "random_state"
    )

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the features; ``y`` is ignored."""
        table = self._check_table(X, standardize=True)
        (seed,) = derive_seeds(check_random_state(self.random_state), 1)
        scores = np.random.default_rng(seed).random(len(table.columns))
        self._rank(table, scores, self._budget(table))
        return self


class VarianceSelector(RankingSelector):
    """Keep the features with the largest variances, in the units they came in.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes half of the features that vary.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Variances; ``-inf`` for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best.

    Examples
    --------
    >>> from groupfs.baselines import VarianceSelector
    >>> VarianceSelector(1).fit([[0, 1, 0], [1, 9, 0.5], [0, 5, 1]]).ranking_
    array([2, 1, 3])
    """

    __module__ = "groupfs.baselines"

    _parameter_constraints: dict[str, list[Any]] = shared_constraints("n_features_to_select")

    def __init__(self, n_features_to_select: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure the variances; ``y`` is ignored."""
        table = self._check_table(X, standardize=False)
        deviations = table.deviations[table.columns]
        self._rank(table, deviations**2, self._budget(table), tie_breaker=deviations)
        return self
