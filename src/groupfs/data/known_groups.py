"""Groups known beforehand: however a user wrote them down, one label per feature."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.utils.errors import ParameterError
from groupfs.utils.text import join_names
from groupfs.utils.types import IntArray

if TYPE_CHECKING:
    from groupfs.data.table import Table


def parse_groups(groups: Any, names: Sequence[str]) -> tuple[IntArray, list[Any]]:
    """Return labels of the features, -1 for those in no group, and the names of the groups.

    ``groups`` are one label per feature (missing ones: below zero, None, NaN), or lists of the
    members of every group, as names of features or their indices, in a list or a mapping from the
    groups' names. A Series may have the ``names`` of the features as its index.
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
    if not hasattr(groups, "dtype") and any(is_list(members) for members in groups):
        return _from_members(list(groups), list(range(len(groups))), names)
    return _from_labels(groups, names)


def known_labels(groups: Any, table: "Table") -> tuple[IntArray, list[Any]]:
    """Turn groups that a user gave into labels of the table's own columns from 0, and names."""
    labels, names = parse_groups(groups, table.names)
    labels = labels[table.columns]
    without = np.sort(table.columns[labels < 0])
    if len(without):
        raise ParameterError(
            f"{len(without)} feature(s) of X are in none of the groups: "
            f"{join_names([table.names[i] for i in without])}; give every feature a group, or "
            "leave these columns out of X.",
            "groups",
        )
    # numbered as the table's own order meets them, whatever the user's order of the columns
    numbers = {group: j for j, group in enumerate(dict.fromkeys(labels.tolist()))}
    if len(numbers) < 2:
        raise ParameterError(
            f"groups has {len(numbers)} group with features that vary; choosing among groups needs "
            "at least 2.",
            "groups",
        )
    own_labels = np.array([numbers[group] for group in labels.tolist()])
    return own_labels, [names[group] for group in numbers]


def refuse_ambiguous_members(groups: Any, X: Any) -> None:
    """Refuse numbers as members where the columns themselves are called by other numbers."""
    names = list(getattr(X, "columns", []))
    are_numbers = all(isinstance(name, (int, np.integer)) for name in names)
    if names == list(range(len(names))) or not are_numbers or hasattr(groups, "dtype"):
        return
    if any(map(is_list, groups.values() if isinstance(groups, Mapping) else groups)):
        raise ValueError(
            f"the columns of X are called by numbers ({names[0]}, {names[1]}, ...), which may be "
            "names or indices in groups; rename them, e.g. X.columns = X.columns.astype(str)."
        )


def _in_order(series: Any, names: Sequence[str]) -> Any:
    """Sort a pandas Series that has the features as its index by them; leave others alone."""
    index = list(series.index)
    if set(index) == set(names):
        return series.reindex(list(names))
    if index != list(range(len(index))):
        raise ValueError(
            f"groups is a Series whose index ({index[0]!r}, ...) is not the features of X; index "
            "it by them, or give an array of labels."
        )
    return series


def _from_labels(labels: Any, names: Sequence[str]) -> tuple[IntArray, list[Any]]:
    values = labels.tolist() if hasattr(labels, "tolist") else labels
    given = [value.item() if isinstance(value, np.generic) else value for value in values]
    if len(given) != len(names) or any(is_list(label) for label in given):
        raise ValueError(
            f"groups has {' x '.join(map(str, np.shape(given)))} labels but X has {len(names)} "
            "features; give one label per feature, or a list with the members of each group."
        )
    group_names = [label for label in dict.fromkeys(given) if not _is_missing(label)]
    number = {label: index for index, label in enumerate(group_names)}
    return np.array([number.get(label, -1) for label in given], dtype=np.int64), group_names


def _from_members(
    members: list[Any], group_names: list[Any], names: Sequence[str]
) -> tuple[IntArray, list[Any]]:
    labels = np.full(len(names), -1, dtype=np.int64)
    by_name = {name: index for index, name in enumerate(names)}
    for group, listed in enumerate(members):
        called = group_names[group]
        if not is_list(listed):
            raise ValueError(f"group {called!r} is {listed!r}; give a list of its features.")
        for feature in list(listed):
            index = feature_index(feature, by_name, len(names), called)
            if labels[index] not in (-1, group):
                raise ValueError(
                    f"feature {names[index]} is in two groups, {group_names[labels[index]]!r} and "
                    f"{called!r}; groups must not overlap."
                )
            labels[index] = group
    return labels, group_names


def feature_index(feature: Any, by_name: dict[str, int], n_features: int, group: Any) -> int:
    """Return the index of a feature that a group lists, by its name or its index."""
    if isinstance(feature, (int, np.integer)):
        if 0 <= feature < n_features:
            return int(feature)
        raise ValueError(
            f"group {group!r} lists feature {feature}, but X has {n_features} features; indices "
            f"run from 0 to {n_features - 1}."
        )
    if feature not in by_name:
        raise ValueError(
            f"group {group!r} lists feature {feature!r}, which X does not have; its features are "
            f"{join_names(by_name)}."
        )
    return by_name[feature]


def is_list(value: Any) -> bool:
    """Tell a list of members, of any kind, from a label."""
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, Mapping))


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):  # pandas' missing values
        return True
    return isinstance(label, (int, float)) and not isinstance(label, bool) and not label >= 0
