r"""Numbers with their uncertainty, and whether they change: what comparisons and curves consist of.

Axes: C groups, K conditions (or places along a number), P arrangements, B resamples.

**Change.** With :math:`x_k` the value in condition k and :math:`\mu_k, \sigma_k` its mean and
spread over arrangements in which samples have exchanged their conditions,
:math:`T = \frac1K \sum_k (n_k / \bar n_k) ((x_k - \mu_k) / \sigma_k)^2`, with the samples
:math:`n_k` that k is worth in an arrangement and their mean :math:`\bar n_k`. p is the share of
arrangements with a T as large, the given one counted. Chance alone decides :math:`\mu_k`, so
unequal numbers of samples and blocks with levels of their own are allowed for, and by :math:`n_k`
unequal gaps.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from groupfs.groups import adjust_p_values
from groupfs.utils.types import BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

#: The estimates of a result, in the order of the columns.
ESTIMATES = ("cohesion", "mean")
#: Spread over arrangements that is none but for rounding.
NO_SPREAD = 1e-12
#: Relative difference below which two values of T are the same.
SAME = 1e-9
#: Correlations are this far from one at least, where their Fisher transform is taken.
NEARLY_ONE = 1e-9


@dataclass(frozen=True)
class Estimate:
    """Values with an interval, (C, K) each; NaN where a group of one feature has none."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Change:
    """Whether a quantity changes between conditions."""

    p_values: FloatArray  #: (C,); NaN for groups that were not tested
    q_values: FloatArray  #: p-values with the false discovery rate over groups in view, (C,)
    z: FloatArray  #: how many spreads of chance each condition is off, (C, K)

    def found(self, alpha: float) -> BoolArray:
        """Return which groups change, when a share alpha of false ones is allowed, (C,)."""
        return np.nan_to_num(self.q_values, nan=1.0) <= alpha


@dataclass(frozen=True, kw_only=True)
class GroupChanges:
    """Groups under several conditions, and which of them change."""

    name: str  #: what the conditions are called
    n_samples: Any  #: of each condition, or that the weights at each place are worth, (K,)
    groups: list[Any]  #: rank of each group from 1, or its name where groups were given, (C,)
    representatives: list[str]  #: most central feature of each group, (C,)
    sizes: list[int]  #: features of each group, (C,)
    cohesion: Estimate  #: mean correlation of the group's features, reversed ones turned
    mean: Estimate  #: of the group's score per sample
    mean_change: Change  #: of the means
    cohesion_change: Change
    confidence: float  #: of the intervals
    alpha: float  #: false discovery rate of the changes
    blocks: str  #: which samples have exchanged conditions: "none", "within" blocks, "whole" blocks

    _along: ClassVar[tuple[str, str]]  #: heading of the conditions in a table, and their field

    @property
    def titles(self) -> list[str]:
        """Groups as the user calls them, or their ranks and most central features, (C,)."""
        pairs = zip(self.groups, self.representatives, strict=True)
        return [f"{group}  {name}" if isinstance(group, int) else group for group, name in pairs]

    def changes_frame(self) -> "pd.DataFrame":
        """Return a row per group: p- and q-values of its changes, and whether it changes."""
        import pandas as pd

        columns: dict[str, Any] = {"group": self.groups, "representative": self.representatives}
        columns["size"] = self.sizes
        for name, change in (("mean", self.mean_change), ("cohesion", self.cohesion_change)):
            columns[f"{name}_p_value"] = change.p_values
            columns[f"{name}_q_value"] = change.q_values
            columns[f"{name}_changes"] = change.found(self.alpha)
        return pd.DataFrame(columns)

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per group and condition, or place along a number: samples and estimates."""
        import pandas as pd

        heading, field = self._along
        places = getattr(self, field)
        C, K = len(self.groups), len(places)
        columns: dict[str, Any] = {
            "group": np.repeat(np.array(self.groups, dtype=object), K),
            "representative": np.repeat(np.array(self.representatives, dtype=object), K),
            heading: list(places) * C,
            "n_samples": np.tile(self.n_samples, C),
        }
        for name in ESTIMATES:
            for end, values in vars(getattr(self, name)).items():
                columns[name if end == "value" else f"{name}_{end}"] = values.ravel()
        return pd.DataFrame(columns).infer_objects()


def change_from(values: FloatArray, worth: FloatArray | None = None) -> Change:
    """Compare the first arrangement with the others, (P + 1, K, C); NaN where nothing is known.

    Conditions in which a group has no value are left out, and it takes two that have one. Values
    count by the root of the samples they are ``worth``: a condition with more gaps varies more.
    """
    known = ~np.isnan(values[0])
    counts = np.maximum((~np.isnan(values)).sum(0), 1)
    off = values - np.nansum(values, 0) / counts
    spread = np.sqrt(np.nansum(np.square(off), 0) / counts)
    z = np.divide(off, spread, out=np.zeros_like(off), where=known & (spread > NO_SPREAD))
    if worth is not None:
        z *= np.sqrt(worth / np.maximum(worth.mean(0), 1e-300))
    T = np.nansum(np.square(z), 1) / np.maximum(known.sum(0), 1)
    p_values = (T[0] * (1 - SAME) <= T).mean(0)  # the first is as large as itself: the "+ 1"
    p_values[known.sum(0) < 2] = np.nan
    return Change(p_values, adjust_p_values(p_values), z[0].T)


def interval(
    value: FloatArray, resampled: FloatArray, confidence: float, n_units: FloatArray
) -> Estimate:
    """Return the basic bootstrap interval, (K, C) and (B, K, C) to (C, K) each.

    What resamples are above the value, the value is above the truth: an interval of their quantiles
    alone would have that error twice. Resamples of few units (K,) vary too little, by the divisor
    of the variance and by how much wider Student's distribution is than the normal one.
    """
    tails, few = (1 - confidence) / 2, np.maximum(n_units, 2.0)
    wider = np.sqrt(few / (few - 1)) * student.ppf(1 - tails, few - 1) / norm.ppf(1 - tails)
    resampled = np.where(np.isnan(resampled), value, resampled)  # of gaps alone: they say nothing
    low, high = np.quantile(resampled, [tails, 1 - tails], axis=0) - value
    down, up = (np.maximum(reach * wider[:, None], 0) for reach in (high, -low))
    return Estimate(value.T, (value - down).T, (value + up).T)


def correlation_interval(
    value: FloatArray, again: FloatArray, confidence: float, n_units: FloatArray
) -> Estimate:
    """Return the interval of correlations, on Fisher's scale, where their spread is even."""
    most = 1 - NEARLY_ONE
    of, resampled = (np.arctanh(np.clip(r, -most, most)) for r in (value, again))
    on_scale = interval(of, resampled, confidence, n_units)
    return Estimate(value.T, np.tanh(on_scale.low), np.tanh(on_scale.high))
