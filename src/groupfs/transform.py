"""What ``transform`` gives: the selected columns as they are, or a score for every kept group."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from groupfs.data.checks import find_missing, refuse_missing
from groupfs.data.columns import has_kinds
from groupfs.data.learned_columns import LearnedColumns
from groupfs.data.sources import as_source, is_lazy, read_blocks, read_whole
from groupfs.groups import Groups, feature_names
from groupfs.selection.row_scores import (
    score_blocks,
    score_on_device,
    score_rows,
    score_weights,
)
from groupfs.utils.device import find_gpu
from groupfs.utils.sklearn_compat import check_feature_names_in, check_n_features
from groupfs.utils.types import BoolArray, FloatArray


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
                'features, which it does not tell; use output="features" or "representatives".'
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
            group's most central feature, or the group's own name where groups were given.
        """
        if self.output != "scores":
            return super().get_feature_names_out(input_features)
        check_is_fitted(self)
        columns, groups = check_feature_names_in(self, input_features), Groups.of(self)
        called = groups.names or [
            f"group{j}_{columns[i]}" for j, i in enumerate(groups.representatives, start=1)
        ]
        return np.array(called, dtype=object)[self.group_kept_]

    def _score(self, X: Any) -> FloatArray:
        groups = Groups.of(self)
        kept = [groups.members[j] for j in np.flatnonzero(self.group_kept_)]
        weights = score_weights(kept, groups.centrality, groups.signs)
        columns = LearnedColumns(**self._learned_columns)
        if has_kinds(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            used = np.flatnonzero(weights.any(axis=1))
            return score_rows(columns.standardized(X, used), weights[used])
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
            X = validate_data(
                self, X, reset=False, accept_sparse="csr", ensure_all_finite=False, dtype=float
            )
            blocks: Iterable[Any] = [X]
        else:
            check_n_features(self, source, reset=False)
            blocks = read_blocks(source)
        checked = (self._refuse_infinite(block) for block in blocks)
        return score_blocks(checked, weights, columns.mean, columns.spread)

    def _refuse_infinite(self, block: Any) -> Any:
        """Return a block; refuse infinity, and gaps in sparse rows, where zeros are numbers."""
        missing = find_missing(block)
        if missing is not None and (issparse(block) or len(missing.infinite)):
            refuse_missing(missing, feature_names(self), type(self).__name__)
        return block
