"""What ``transform`` gives: the selected columns as they are, or a score for every kept group."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from groupfs.data.checks import find_missing, refuse_missing
from groupfs.data.columns import has_kinds
from groupfs.data.learned_columns import LearnedColumns
from groupfs.data.row_scores import (
    LEAST_WEIGHT,
    ROUNDING,
    score_blocks,
    score_on_device,
    score_rows,
    score_weights,
)
from groupfs.data.sources import as_source, is_lazy, read_blocks, read_whole
from groupfs.groups import Groups, feature_names
from groupfs.utils.device import find_gpu
from groupfs.utils.errors import ParameterError
from groupfs.utils.packages import import_optional
from groupfs.utils.sklearn_compat import check_feature_names_in, check_n_features
from groupfs.utils.text import count, join_names
from groupfs.utils.types import BoolArray, FloatArray
from groupfs.utils.warn import ColumnsWarning, warn

if TYPE_CHECKING:
    import pandas


class GroupTransform(SelectorMixin):
    """Tables to selected columns or to scores of groups, by ``output``."""

    output: str
    device: Any
    group_kept_: BoolArray
    _has_kinds: bool
    _learned_columns: dict[str, Any]

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, or with ``output="scores"`` scores of the kept groups.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            A table like the one ``fit`` has seen. One that is not in memory, as a memory-mapped
            array, is read in blocks, and only the selected columns or the scores are kept.

        Returns
        -------
        array, sparse matrix or DataFrame of shape (n_samples, n_selected)
            A DataFrame with columns of other kinds than numbers stays one, its columns as they
            were. Scores are an array of shape (n_samples, n_groups_kept): the mean of the
            standardised features of a group that the row has, weighted by centrality, reversed ones
            turned; NaN where less than half of the group's weight is there.
        """
        check_is_fitted(self)
        if self.output == "scores":
            return self._score(X)
        if self._has_kinds and hasattr(X, "columns"):
            validate_data(self, X, reset=False, skip_check_array=True)
            support = self.get_support(indices=True)
            return X.iloc[:, support] if hasattr(X, "iloc") else X[:, support.tolist()]
        source = as_source(X) if is_lazy(X) else None
        if source is None:
            return super().transform(X)
        check_n_features(self, source, reset=False)
        return read_whole(source.restricted(self.get_support(indices=True)))

    def inverse_transform(self, X: Any) -> Any:
        """Put selected columns back among the others, which become zero.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_selected)
            Numbers; for categories zero is no value. Scores are refused: many rows have the same.
        """
        check_is_fitted(self)
        if self.output == "scores":
            raise ValueError(
                'inverse_transform is not there for output="scores": a score is a mean of many '
                'features, which it does not tell; use output="features".'
            )
        if has_kinds(X):
            raise ValueError(
                "inverse_transform puts zeros in place of features that were not selected, and X "
                "has columns that are not numbers; join the selected columns to your table by name."
            )
        return super().inverse_transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X; None takes those that ``fit`` has seen, else x0, x1, ...

        Returns
        -------
        ndarray of str
            Names of the selected features. With ``output="scores"`` "group1_" and the name of the
            group's most central feature that is not reversed, or the group's own name where groups
            were given.
        """
        if self.output != "scores":
            return super().get_feature_names_out(input_features)
        check_is_fitted(self)
        return self._score_names(check_feature_names_in(self, input_features))

    def _score_names(self, columns: Sequence[str]) -> NDArray[Any]:
        groups = Groups.of(self)
        named = [f"group{j + 1}_{columns[groups.representatives[j]]}" for j in range(len(groups))]
        return np.array(groups.names or named, dtype=object)[self.group_kept_]

    def scores_frame(self, X: Any, *, least: float = LEAST_WEIGHT) -> "pandas.DataFrame":
        """Return the scores of rows on the kept groups as a table, one column for each group.

        A score is the mean of the standardised features of a group, weighted by centrality,
        reversed ones turned: 0 is the mean of the rows of the fit, and a score above it is in the
        direction of the feature that the column is named after.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            A table like the one ``fit`` has seen. A DataFrame may have its columns in another
            order, others beside, and lack some, of which a warning tells: its rows are scored by
            the features that are there.
        least : float, default=0.5
            Share of a group's weight that a row must have, or its score is NaN.

        Examples
        --------
        >>> from groupfs import FeatureGroups
        >>> from groupfs.datasets import load_two_moons
        >>> X = load_two_moons(100, random_state=0).data
        >>> FeatureGroups(random_state=0).fit(X).scores_frame(X).columns.tolist()
        ['group1_x1', 'group2_x5']
        """
        check_is_fitted(self)
        if not 0 <= least <= 1:
            raise ParameterError(f"least={least} is no share; give a number from 0 to 1.", "least")
        pd = import_optional("pandas", "scores_frame needs pandas; transform gives an array.")
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        if hasattr(X, "columns") and hasattr(self, "feature_names_in_"):
            X = self._with_gaps(X if hasattr(X, "iloc") else X.to_pandas(), least)
        names = self._score_names(feature_names(self))
        return pd.DataFrame(self._score(X, least), index=index, columns=names)

    def _with_gaps(self, X: Any, least: float) -> Any:
        """Return the columns of the fit, missing ones as gaps, with a warning that names them."""
        known, there, groups = self.feature_names_in_, set(X.columns), Groups.of(self)
        if absent := [i for i in np.flatnonzero(groups.labels >= 0) if known[i] not in there]:
            weights = np.abs(score_weights(groups.members, groups.centrality, groups.signs))
            left = 1 - weights[absent].sum(0)
            lost = [groups.title(int(j)) for j in np.flatnonzero(left < least - ROUNDING)]
            told = f"; less than {least:.0%} is left of {join_names(lost)}, without scores"
            told = told if lost else ""
            warn(
                f"X lacks {count(len(absent), 'column')} of the groups "
                f"({join_names([known[i] for i in absent], 12)}): rows are scored by the features "
                f"that are there{told}.",
                ColumnsWarning,
            )
        levels = [known[i] for i in self._learned_columns["levels"] if known[i] not in there]
        return X.reindex(columns=known).astype(dict.fromkeys(levels, "category"))  # not floats

    def _score(self, X: Any, least: float = LEAST_WEIGHT) -> FloatArray:
        groups = Groups.of(self)
        kept = [groups.members[j] for j in np.flatnonzero(self.group_kept_)]
        weights = score_weights(kept, groups.centrality, groups.signs)
        columns = LearnedColumns(**self._learned_columns)
        if has_kinds(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            used = np.flatnonzero(weights.any(axis=1))
            return score_rows(columns.standardized(X, used), weights[used], least_weight=least)
        if columns.levels:
            raise ValueError(
                f"{type(self).__name__} was fitted on a DataFrame with categories, but X is "
                f"{type(X).__name__} of numbers; give a DataFrame of the same columns."
            )
        source = as_source(X) if is_lazy(X) else None
        gpu = find_gpu(self.device, X.shape) if issparse(X) else None
        if gpu is not None and (held := as_source(X)) is not None:
            check_n_features(self, held, reset=False)
            scores = score_on_device(held, weights, columns.mean, columns.spread, gpu)
            if scores is not None:
                return scores
        if source is None:
            how = {"accept_sparse": "csr", "ensure_all_finite": False, "dtype": float}
            blocks: Iterable[Any] = [validate_data(self, X, reset=False, **how)]
        else:
            check_n_features(self, source, reset=False)
            blocks = read_blocks(source)
        checked = (self._refuse_infinite(block) for block in blocks)
        return score_blocks(checked, weights, columns.mean, columns.spread, least)

    def _refuse_infinite(self, block: Any) -> Any:
        """Return a block; refuse infinity, and gaps in sparse rows, where zeros are numbers."""
        if (missing := find_missing(block)) and (issparse(block) or len(missing.infinite)):
            refuse_missing(missing, feature_names(self), type(self).__name__)
        return block
