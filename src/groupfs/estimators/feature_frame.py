"""Everything a fitted selector says of each feature, as a pandas DataFrame."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.fitted_selector import FittedSelector, group_names
from groupfs.utils.types import FloatArray

if TYPE_CHECKING:
    import pandas


def feature_frame(selector: FittedSelector, names: Sequence[str]) -> "pandas.DataFrame":
    """List every feature with its group, best group first, most central feature first."""
    from groupfs.report.found import describe_found

    pd = _import_pandas()
    found = describe_found(selector, names)
    labels, central = selector.group_labels_, selector.centrality_
    inside = labels >= 0
    given = group_names(selector)
    groups = pd.array(np.where(inside, labels + 1, 0), dtype="Int64")
    groups[~inside] = pd.NA
    if given is not None:
        groups = [given[j] if j >= 0 else None for j in labels]
    p_values = selector.group_pvalues_
    adjusted = None if p_values is None else adjust_p_values(p_values)
    frame = pd.DataFrame(
        {
            "feature": list(names),
            "group": groups,
            "representative": np.isin(np.arange(len(labels)), selector.representatives_),
            "centrality": np.where(inside, selector.group_signs_ * np.abs(central), np.nan),
            "reliability": _of_group(selector, selector.group_reliability_),
            "p_adjusted": _of_group(selector, adjusted),
            "selected": selector.get_support(),
            "why": [found["reasons"][i] for i in found["features"]["reason"]],
        }
    )
    last = len(selector.groups_)
    order = np.lexsort((-np.abs(central), np.where(inside, labels, last)))
    return frame.iloc[order].reset_index(drop=True)


def _of_group(selector: FittedSelector, values: FloatArray | None) -> FloatArray:
    """Give every feature the figure of its group, NaN where there is none."""
    if values is None:
        return np.full(selector.n_features_in_, np.nan)
    return np.asarray(np.append(values, np.nan)[selector.group_labels_], dtype=np.float64)


def _import_pandas() -> Any:
    try:
        import pandas
    except ImportError as reason:
        raise ImportError(
            "to_frame needs pandas; install it with pip install pandas, or read the attributes "
            "groups_, centrality_ and group_reliability_."
        ) from reason
    return pandas
