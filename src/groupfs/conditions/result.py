"""What comparisons and curves have in common: groups, estimates under each condition, changes.

Axes: C groups, K conditions or places along a number.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from groupfs.conditions.estimates import Change, Estimate
from groupfs.conditions.frames import changes_frame
from groupfs.conditions.inputs import Samples
from groupfs.conditions.measure import Measured
from groupfs.conditions.rearrange import Exchange

if TYPE_CHECKING:
    import pandas as pd


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
        return changes_frame(self)


def shared_fields(samples: Samples, measured: Measured, exchange: Exchange) -> dict[str, Any]:
    """Return the fields of a result that are the same for categories and numbers."""
    return {
        "groups": samples.group_labels,
        "representatives": samples.representatives,
        "sizes": [len(group) for group in samples.groups],
        **vars(measured),
        "blocks": exchange.kind if samples.blocks is not None else "none",
    }
