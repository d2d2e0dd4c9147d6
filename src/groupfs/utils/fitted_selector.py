"""What plots, reports and notebooks read of a fitted GroupFS or GroupFSPath."""

from numbers import Integral
from typing import Any, Protocol

import numpy as np

from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Shares explained that differ by less are the same.
SAME_SHARE = 1e-9


class FittedSelector(Protocol):
    """Parameters and fitted attributes that ``GroupFS`` and ``GroupFSPath`` have in common."""

    n_features_to_select: float | None
    explain: float | None
    n_groups_to_select: int | str | None
    allocation: str | None
    output: str
    alpha: float
    preset: str
    signed: bool | None
    n_neighbors: int
    standardize: bool
    max_memory: float | str | None
    random_state: Any

    n_features_in_: int
    n_groups_: int
    groups_: list[IntArray]
    group_labels_: IntArray
    group_scores_: FloatArray
    group_pvalues_: FloatArray | None
    group_reliability_: FloatArray | None
    group_gates_: FloatArray
    group_selected_: BoolArray
    representatives_: IntArray
    centrality_: FloatArray
    group_signs_: IntArray
    relatedness_pvalues_: FloatArray | None
    replication_: Any  # a Replication, or None
    distortion_: dict[int, float]
    feature_scores_: FloatArray
    feature_order_: IntArray
    explained_: FloatArray
    feature_weights_: FloatArray
    history_: list[dict[str, Any]]
    n_iter_: int
    loss_: float
    gain_: float
    _group_replicates: BoolArray | None

    def get_support(self) -> BoolArray: ...

    def select(self, **changes: Any) -> Any: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


def features_asked_for(
    selector: Any, n_features: float | None, explain: float | None
) -> int | None:
    """Count the features of a budget, of a share of the features, or that explain a share.

    None stands for the features of the groups that are kept.
    """
    if explain is not None:
        return 1 + int(np.searchsorted(selector.explained_, explain - SAME_SHARE))
    if n_features is None or isinstance(n_features, Integral):
        return None if n_features is None else int(n_features)
    return max(1, int(n_features * len(selector.feature_order_) + SAME_SHARE))


def budget_of(selector: FittedSelector) -> int | None:
    """Count the features that the selector was asked for; None if it keeps whole groups."""
    return features_asked_for(selector, selector.n_features_to_select, selector.explain)


def feature_names(selector: FittedSelector) -> list[str]:
    """Return the names of the columns the selector has seen, or x0, x1, ..."""
    given = getattr(selector, "feature_names_in_", None)
    if given is None:
        return [f"x{i}" for i in range(selector.n_features_in_)]
    return [str(name) for name in given]


def marked_names(selector: FittedSelector, minus: str = "−") -> list[str]:
    """Return the names of the columns, a minus before those that run against their group."""
    names = feature_names(selector)
    signs = selector.group_signs_
    return [minus + n if sign < 0 else n for n, sign in zip(names, signs, strict=True)]


def group_names(selector: FittedSelector) -> list[str] | None:
    """Return the names of groups that the user has given, in rank order; None if there are none."""
    given = getattr(selector, "group_names_", None)
    return [str(name) for name in given] if given else None


def by_centrality(selector: FittedSelector, group: IntArray) -> IntArray:
    """Return the features of a group, most central first."""
    return group[np.argsort(-selector.centrality_[group], kind="stable")]
