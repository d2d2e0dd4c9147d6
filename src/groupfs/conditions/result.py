"""What comparisons and curves have in common: groups, estimates under each condition, changes.

Axes: C groups, K conditions or places along a number.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.conditions.estimates import Change, Estimate

if TYPE_CHECKING:
    import pandas as pd

#: The estimates of a result, in the order of the columns.
ESTIMATES = ("score", "cohesion", "correlation", "mean")


@dataclass(frozen=True, kw_only=True)
class GroupChanges:
    """Groups under several conditions, and which of them change."""

    name: str  #: what the conditions are called
    n_samples: Any  #: of each condition, or that the weights at each place are worth, (K,)
    groups: list[Any]  #: rank of each group from 1, or its name where groups were given, (C,)
    representatives: list[str]  #: most central feature of each group, (C,)
    sizes: list[int]  #: features of each group, (C,)
    cohesion: Estimate  #: how far features go together beyond chance; grows with the samples
    correlation: Estimate  #: the same as a correlation, for comparisons
    mean: Estimate  #: of the group's score per sample
    mean_change: Change  #: of the means
    cohesion_change: Change  #: of the correlations
    confidence: float  #: of the intervals
    alpha: float  #: false discovery rate of the changes
    blocks: str  #: which samples have exchanged conditions: "none", "within" blocks, "whole" blocks

    def changes_frame(self) -> "pd.DataFrame":
        """Return a row per group: p- and q-values of its changes, and whether it changes."""
        import pandas as pd

        columns: dict[str, Any] = {
            "group": self.groups,
            "representative": self.representatives,
            "size": self.sizes,
        }
        for name, change in (("mean", self.mean_change), ("cohesion", self.cohesion_change)):
            columns[f"{name}_p_value"] = change.p_values
            columns[f"{name}_q_value"] = change.q_values
            columns[f"{name}_changes"] = change.found(self.alpha)
        return pd.DataFrame(columns)

    def _values_frame(self, heading: str, places: Any) -> "pd.DataFrame":
        """Lay out a row per group and condition, or per group and place along a number."""
        import pandas as pd

        C, K = len(self.groups), len(places)
        columns: dict[str, Any] = {
            "group": np.repeat(np.array(self.groups, dtype=object), K),
            "representative": np.repeat(np.array(self.representatives, dtype=object), K),
            heading: [place for _ in range(C) for place in places],
            "n_samples": np.tile(self.n_samples, C),
        }
        for name in filter(lambda name: hasattr(self, name), ESTIMATES):
            estimate = getattr(self, name)
            columns[name] = estimate.value.ravel()
            columns[f"{name}_low"] = estimate.low.ravel()
            columns[f"{name}_high"] = estimate.high.ravel()
        return pd.DataFrame(columns).infer_objects()


def titles_of_groups(result: GroupChanges) -> list[str]:
    """Call groups as the user does, or by their rank and their most central feature."""
    pairs = zip(result.groups, result.representatives, strict=True)
    return [f"{group}  {name}" if isinstance(group, int) else str(group) for group, name in pairs]
