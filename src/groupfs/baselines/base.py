"""The base of the baselines, which makes a selection of scores, and the plain baselines."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from groupfs.data.open_table import open_matrix
from groupfs.data.table import TableInMemory
from groupfs.selection.feature_order import order_features
from groupfs.selection.select import refuse_too_many
from groupfs.selector import DeclaredParameters, derive_seeds
from groupfs.utils.device import resolve_device
from groupfs.utils.sklearn_compat import COUNT, checked, parameter
from groupfs.utils.threads import threads_for
from groupfs.utils.types import BoolArray, FloatArray, TorchDevice
from groupfs.utils.warn import SelectionWarning, warn

if TYPE_CHECKING:
    import torch

    from groupfs.joint.batches import Batches

Table: TypeAlias = TableInMemory  # baselines need all of it in memory
RandomState: TypeAlias = int | np.random.RandomState | None


@dataclass(eq=False, repr=False)
class RankingSelector(DeclaredParameters, SelectorMixin, BaseEstimator):
    """Base of the baselines; subclasses have their parameters as fields and a ``_fit_table``."""

    n_features_to_select: int | None = parameter(None, COUNT, None)

    standardize = True  # a parameter of some
    _fewest_columns = 2  # that must vary

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score and rank the features.

        Parameters
        ----------
        X : array, DataFrame, sparse array or tensor of shape (n_samples, n_features)
            The table.
        y : ignored
            Labels are never looked at.
        """
        table = self._open_table(X)
        with threads_for(table.rows.shape):
            self._fit_table(table)
        return self

    def _fit_table(self, table: Table) -> None:
        """Score the columns of the table and hand the scores to ``_rank``."""
        raise NotImplementedError

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self._support_mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _open_table(self, X: Any) -> Table:
        table = open_matrix(self, X, self.standardize, "ranked last", self._fewest_columns)
        refuse_too_many(self.n_features_to_select, table.rows.shape[1])
        return table

    def _budget(self, table: Table) -> int:
        """Return how many features to select: those asked for, else half of those that vary."""
        return self.n_features_to_select or max(1, table.rows.shape[1] // 2)

    def _rank(
        self,
        table: Table,
        scores: FloatArray,
        n_selected: int | None = None,
        tie_breaker: FloatArray | None = None,
    ) -> None:
        """Set ``scores_``, ``ranking_`` and the selection of the best; higher is better.

        Scores and what orders equal ones are of the table's columns in their order, (d,).
        ``n_selected`` of None takes the budget.
        """
        ties = np.zeros(len(scores)) if tie_breaker is None else tie_breaker
        best_first, d = table.columns[np.lexsort((-ties, -scores))], self.n_features_in_
        constant = np.setdiff1d(np.arange(d), table.columns)
        self.scores_, self.ranking_ = np.full(d, -np.inf), np.empty(d, dtype=np.int64)
        self.scores_[table.columns] = scores
        self.ranking_[np.concatenate([best_first, constant])] = np.arange(1, d + 1)
        self._support_mask = self.ranking_ <= (n_selected or self._budget(table))


@dataclass(eq=False, repr=False, kw_only=True)
class DeviceSelector(RankingSelector):
    """Base of the baselines that compute with standardised columns, on a device."""

    standardize: bool = parameter(True, "boolean")
    device: "str | torch.device" = parameter("auto", str, TorchDevice)


@dataclass(eq=False, repr=False, kw_only=True)
class TrainedSelector(DeviceSelector):
    """Base of the baselines that train networks or gates."""

    random_state: RandomState = parameter(None, "random_state")
    verbose: int = parameter(0, "verbose")

    def _seeds(self, n_seeds: int) -> list[int]:
        return derive_seeds(check_random_state(self.random_state), n_seeds)

    def _batches(self, table: Table) -> "Batches":
        from groupfs.joint.batches import Batches
        from groupfs.joint.problem import DTYPE

        return Batches(table.rows, resolve_device(self.device), DTYPE)

    def _rank_open(self, table: Table, scores: FloatArray, n_open: int, if_none: str) -> None:
        """Rank, and select what is open unless a number was asked for; warn where none is open."""
        self._rank(table, scores, self.n_features_to_select or max(n_open, 1))
        if self.n_features_to_select is None and n_open == 0:
            warn(if_none, SelectionWarning)


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
