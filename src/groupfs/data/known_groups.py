"""Groups known beforehand: however a user wrote them down, one label per feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def parse_groups(groups: Any, names: Sequence[str]) -> tuple[NDArray[np.int64], list[Any]]:
    """Labels of the features, -1 for those in no group, and the names of the groups.

    Parameters
    ----------
    groups : array-like of shape (n_features,), or list of lists, or mapping from name to list
        One label per feature (missing ones: below zero, None, NaN), or the members of every group,
        as names of features or as their places. A Series may have the names as its index.
    names : sequence of str
        Of the features.
    """
    if isinstance(groups, Mapping):
        return _from_members(list(groups.values()), list(groups), names)
    if not hasattr(groups, "__len__") or isinstance(groups, str):
        raise ValueError(
            f"groups={groups!r}; give one label per feature, or a list with the members of each "
            "group."
        )
    if hasattr(groups, "reindex"):
        groups = _in_order(groups, names)
    if not hasattr(groups, "dtype") and any(_is_list(members) for members in groups):
        return _from_members(list(groups), list(range(len(groups))), names)
    return _from_labels(groups, names)


def check_places(groups: Any, X: Any) -> None:
    """Refuse numbers as members where the columns themselves are called by other numbers."""
    names = list(getattr(X, "columns", []))
    if not names or not all(isinstance(name, (int, np.integer)) for name in names):
        return
    if names == list(range(len(names))) or hasattr(groups, "dtype"):
        return
    members = groups.values() if isinstance(groups, Mapping) else groups
    if any(_is_list(listed) for listed in members):
        raise ValueError(
            f"the columns of X are called by numbers ({names[0]}, {names[1]}, ...), which may be "
            "names or places in groups; rename them, e.g. X.columns = X.columns.astype(str)."
        )


def _in_order(series: Any, names: Sequence[str]) -> Any:
    """A pandas Series with the features as its index, in their order; others as they are."""
    index = list(series.index)
    if set(index) == set(names):
        return series.reindex(list(names))
    if index != list(range(len(index))):
        raise ValueError(
            f"groups is a Series whose index ({index[0]!r}, ...) is not the features of X; index "
            "it by them, or give an array of labels."
        )
    return series


def _from_labels(labels: Any, names: Sequence[str]) -> tuple[NDArray[np.int64], list[Any]]:
    values = labels.tolist() if hasattr(labels, "tolist") else labels
    given = [value.item() if isinstance(value, np.generic) else value for value in values]
    if len(given) != len(names):
        raise ValueError(
            f"groups has {len(given)} labels but X has {len(names)} features; give one label per "
            "feature, or a list with the members of each group."
        )
    if any(_is_list(label) for label in given):
        raise ValueError(
            "groups has more than one axis; give one label per feature, or a list with the members "
            "of each group."
        )
    kept = [label for label in dict.fromkeys(given) if not _is_missing(label)]
    places = {label: place for place, label in enumerate(kept)}
    return np.array([places.get(label, -1) for label in given], dtype=np.int64), kept


def _from_members(
    members: list[Any], group_names: list[Any], names: Sequence[str]
) -> tuple[NDArray[np.int64], list[Any]]:
    labels = np.full(len(names), -1, dtype=np.int64)
    places = {name: place for place, name in enumerate(names)}
    for group, listed in enumerate(members):
        if not _is_list(listed):
            raise ValueError(
                f"group {group_names[group]!r} is {listed!r}; give a list of its features."
            )
        for feature in list(listed):
            place = _place(feature, places, len(names), group_names[group])
            if labels[place] not in (-1, group):
                raise ValueError(
                    f"feature {names[place]} is in two groups, {group_names[labels[place]]!r} and "
                    f"{group_names[group]!r}; groups must not overlap."
                )
            labels[place] = group
    return labels, group_names


def _place(feature: Any, places: dict[str, int], n_features: int, group: Any) -> int:
    if isinstance(feature, (int, np.integer)) and not isinstance(feature, (bool, np.bool_)):
        if 0 <= feature < n_features:
            return int(feature)
        raise ValueError(
            f"group {group!r} lists feature {feature}, but X has {n_features} features; places run "
            f"from 0 to {n_features - 1}."
        )
    if feature in places:
        return places[feature]
    known = ", ".join(list(places)[:5])
    raise ValueError(
        f"group {group!r} lists feature {feature!r}, which X does not have; its features are "
        f"{known}{' ...' if n_features > 5 else ''}."
    )


def _is_list(value: Any) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, Mapping))


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):  # pandas' missing values
        return True
    return isinstance(label, (int, float)) and not isinstance(label, bool) and not label >= 0
