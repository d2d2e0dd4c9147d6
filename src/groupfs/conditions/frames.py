"""Tables of comparisons and curves: a row per group and condition, a row per group."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: The estimates of a result, in the order of the columns.
ESTIMATES = ("score", "cohesion", "correlation", "mean")


def values_frame(result: Any, heading: str, places: Any) -> "pd.DataFrame":
    """Lay out a row per group and condition, or per group and place along a number."""
    import pandas as pd

    C, K = len(result.groups), len(places)
    columns: dict[str, Any] = {
        "group": np.repeat(np.array(result.groups, dtype=object), K),
        "representative": np.repeat(np.array(result.representatives, dtype=object), K),
        heading: [place for _ in range(C) for place in places],
        "n_samples": np.tile(result.n_samples, C),
    }
    for name in ESTIMATES:
        if hasattr(result, name):
            estimate = getattr(result, name)
            columns[name] = estimate.value.ravel()
            columns[f"{name}_low"], columns[f"{name}_high"] = (
                estimate.low.ravel(),
                estimate.high.ravel(),
            )
    return pd.DataFrame(columns).infer_objects()


def changes_frame(result: Any) -> "pd.DataFrame":
    """Lay out a row per group: p-values, q-values and what they say."""
    import pandas as pd

    columns: dict[str, Any] = {
        "group": result.groups,
        "representative": result.representatives,
        "size": result.sizes,
    }
    for name, change in (("mean", result.mean_change), ("cohesion", result.cohesion_change)):
        columns[f"{name}_p_value"] = change.p_values
        columns[f"{name}_q_value"] = change.q_values
        columns[f"{name}_changes"] = change.found(result.alpha)
    return pd.DataFrame(columns)


def checked_share(what: str, value: float) -> None:
    """Refuse what is no share between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{what}={value} is no share; give a number between 0 and 1.")


def titles_of_groups(result: Any) -> list[str]:
    """Call groups as the user does, or by their rank and their most central feature."""
    pairs = zip(result.groups, result.representatives, strict=True)
    return [f"{group}  {name}" if isinstance(group, int) else str(group) for group, name in pairs]
