"""Groups within categories of samples or along a number: what each is worth, and which change.

Axes: C groups, K conditions, G places along the number, n samples.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupfs.conditions import inputs
from groupfs.conditions.estimates import Change, Estimate, GroupChanges
from groupfs.conditions.invariance import FeaturesOf, features_within, remarks, turned_groups
from groupfs.conditions.measure import measure
from groupfs.conditions.weighted import (
    effective_samples,
    kernel_weights,
    standardized_along,
    standardized_within,
)
from groupfs.utils.types import FloatArray
from groupfs.utils.warn import warn

if TYPE_CHECKING:
    import pandas as pd

#: Places at which curves are drawn, between these quantiles of the number: beyond lie few samples.
N_PLACES, ENDS = 25, (0.05, 0.95)
#: Samples that every place has the weight of, and the largest share of all that this may be.
FEWEST_EFFECTIVE, LARGEST_SHARE = 30, 1 / 3
#: By how much a bandwidth that is too narrow is widened, until it is wide enough.
WIDER = 1.1
#: Places that changes are looked for at: neighbours say nearly the same.
N_TESTED = 5


@dataclass(frozen=True, kw_only=True)
class Comparison(GroupChanges):
    """C groups in rank order within K conditions, and which change; made by :func:`compare`."""

    conditions: list[Any]  #: (K,)
    pairs: list[tuple[int, int]]  #: of conditions
    mean_difference: Estimate  #: of the two conditions of each pair, (C, pairs)
    cohesion_difference: Estimate
    features: list[FeaturesOf | None]  #: of each group in every condition; None of fewer than three
    related: list[tuple[int, int]]  #: pairs of groups, of the first 20
    relation: Estimate | None = (
        None  #: correlation of the scores of each pair of groups, (pairs, K)
    )
    relation_change: Change | None = None
    remarks: list[str]  #: what looks like reversed scoring, as sentences
    _along = ("condition", "conditions")

    def differences_frame(self) -> "pd.DataFrame":
        """Return a row per group and pair of conditions: how far the first is above the second."""
        import pandas as pd

        rows = []
        for j, group in enumerate(self.groups):
            for p, (k, other) in enumerate(self.pairs):
                names = self.conditions[k], self.conditions[other]
                row = {"group": group, "representative": self.representatives[j]}
                row |= dict(zip(("condition", "other"), names, strict=True))
                for name in ("mean", "cohesion"):
                    of: Estimate = getattr(self, f"{name}_difference")
                    row |= {name: of.value[j, p], f"{name}_low": of.low[j, p]}
                    row[f"{name}_high"] = of.high[j, p]
                rows.append(row)
        return pd.DataFrame(rows)

    def features_frame(self) -> "pd.DataFrame":
        """Return a row per feature of a group and condition: what differs beyond the group.

        ``state`` is "holds", "lost" or "reversed" beside the other conditions, ``item_rest`` the
        correlation with the sum of the others that hold, ``mean`` that of the feature in
        deviations, ``beyond`` what of it is not the group's, and ``is_off`` whether that is more
        than chance.
        """
        import pandas as pd

        rows = []
        for group, of in zip(self.groups, self.features, strict=True):
            if of is None:
                continue
            for i, name in enumerate(of.names):
                for k, condition in enumerate(self.conditions):
                    row = {"group": group, "feature": name, "condition": condition}
                    row["state"] = str(of.states[k][i])
                    figures = ("item_rest", "mean", "beyond", "is_off")
                    rows.append(row | {what: getattr(of, what)[k, i] for what in figures})
        return pd.DataFrame(rows)

    def relations_frame(self) -> "pd.DataFrame":
        """Return a row per pair of groups and condition: the correlation of their scores."""
        import pandas as pd

        if self.relation is None or self.relation_change is None:
            return pd.DataFrame()
        changes, rows = self.relation_change.found(self.alpha), []
        for p, (i, j) in enumerate(self.related):
            for k, condition in enumerate(self.conditions):
                of, change = self.relation, self.relation_change
                row = {"group": self.groups[i], "other": self.groups[j], "condition": condition}
                row |= {"r": of.value[p, k], "r_low": of.low[p, k], "r_high": of.high[p, k]}
                row |= {"p_value": change.p_values[p], "q_value": change.q_values[p]}
                rows.append(row | {"changes": changes[p]})
        return pd.DataFrame(rows)


@dataclass(frozen=True, kw_only=True)
class Curves(GroupChanges):
    """Groups along a number, and which of them change; made by :func:`curves`.

    It has G places where a :class:`Comparison` has K conditions, but for ``z`` of a change, (C, 5):
    how far off every sixth place is.
    """

    places: FloatArray  #: where along the number, (G,)
    bandwidth: float  #: standard deviation of the kernel, in units of the number
    _along = ("value", "places")


def compare(
    selector: Any,
    X: Any,
    conditions: ArrayLike,
    *,
    blocks: ArrayLike | None = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
    n_permutations: int | None = None,
    n_bootstrap: int = 400,
    random_state: int | np.random.RandomState | None = 0,
) -> Comparison:
    """Compare what groups are worth within each condition, and find those that change.

    Parameters
    ----------
    selector : fitted FeatureGroups or GroupFS
        Fitted without the conditions.
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table it was fitted on, or another with the same columns. Of more than 5,000 rows, as
        many are looked at, picked at random.
    conditions : array-like of shape (n_samples,)
        A category per sample. Samples where it is missing are left out, and so are conditions with
        fewer than 10 samples; a warning says so.
    blocks : array-like of shape (n_samples,) or None, default=None
        What samples come from, e.g. donors. Conditions are exchanged within blocks if they vary
        there, else between whole blocks, and whole blocks are resampled.
    confidence : float, default=0.95
        Of the intervals.
    alpha : float, default=0.05
        Share of false ones among the groups said to change.
    n_permutations : int or None, default=None
        Arrangements of the conditions that changes are compared with. None draws 999, or 40
        for each group where these are more than 25: with fewer, no single group among many could
        stand out.
    n_bootstrap : int, default=400
        Resamples that intervals of means and correlations are based on.
    random_state : int, RandomState instance or None, default=0
        The same result every time for the same number.

    Returns
    -------
    Comparison
        Tables by ``to_frame()`` and ``changes_frame()``, ``differences_frame()`` of two conditions
        each, ``features_frame()`` and ``relations_frame()``. ``remarks`` are warned of: features
        or groups that look scored the other way round in a condition.

    Notes
    -----
    Cohesion is the mean correlation of a group's features, reversed ones turned, of the 30 most
    central ones where there are more.

    Gaps (NaN) are left out: a sample that has less than half of a group's weight is left out of the
    group's mean, a correlation is that of the samples that have both features, and features that
    fewer than 5 samples of a condition have are correlated in none.

    Examples
    --------
    >>> from groupfs import FeatureGroups
    >>> from groupfs.conditions import compare
    >>> from groupfs.datasets import load_two_moons
    >>> moons = load_two_moons(200, random_state=0)
    >>> selector = FeatureGroups(random_state=0).fit(moons.data)
    >>> result = compare(selector, moons.data, moons.target)
    >>> result.mean_change.found(alpha=0.05).tolist()  # the moons lie beside and above each other
    [True, True]
    """
    samples, levels = inputs.read_conditions(selector, X, conditions, blocks)
    codes, every = samples.labels, np.arange(len(levels))
    weights = (codes == every[:, None]).astype(float)
    settings = (confidence, alpha, n_permutations, n_bootstrap, random_state)
    without_level = partial(standardized_within, codes=codes)
    measured = measure(samples, weights, every, without_level, codes, settings)
    groups, n = samples.groups, np.bincount(codes)
    features = [features_within(samples, j, weights, without_level) for j in range(len(groups))]
    turned = []
    if "relation" in measured:
        off = measured["mean_change"].z[: len(groups)]
        turned = turned_groups(measured["relation"].value.T, measured["related"], n, off)
    titles = [groups.title(j) for j in range(len(groups))]
    name = inputs.name_of(conditions)
    said = remarks(name, levels, titles, features, turned)
    for sentence in said:
        warn(sentence)
    named: Any = {"name": name, "conditions": levels, "n_samples": n}
    return Comparison(**named, **measured, features=features, remarks=said)


def curves(
    selector: Any,
    X: Any,
    values: ArrayLike,
    *,
    blocks: ArrayLike | None = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
    n_permutations: int | None = None,
    n_bootstrap: int = 400,
    random_state: int | np.random.RandomState | None = 0,
) -> Curves:
    """Follow mean and cohesion of groups along a number, and find the groups that change.

    At 25 places between the 5 % and the 95 % quantile of the number, samples are weighted by a
    Gaussian kernel. Its bandwidth is Silverman's, widened until every place has the weight of 30
    samples (of a third of all where these are fewer than 90).

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        A number per sample, e.g. time. Samples where it is missing are left out; a warning says so.
    confidence : float, default=0.95
        Of the bands, at each place on its own.
    n_permutations : int or None, default=None
        Arrangements of the numbers that changes are compared with, at 5 of the places.
    selector, X, blocks, alpha, n_bootstrap, random_state
        As in :func:`compare`.

    Returns
    -------
    Curves
        Tables by ``to_frame()`` and ``changes_frame()``.

    Examples
    --------
    >>> from groupfs import FeatureGroups
    >>> from groupfs.conditions import curves
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(200, random_state=0).data
    >>> result = curves(FeatureGroups(random_state=0).fit(X), X, X[:, 0], n_bootstrap=50)
    >>> result.mean.value.shape
    (2, 25)
    >>> bool(result.mean_change.found(alpha=0.05)[0])  # the group that the first column is in
    True
    """
    samples = inputs.read_samples(selector, X, *inputs.read_numbers(values), blocks)
    numbers, fewest = samples.labels, 2 * inputs.FEWEST_SAMPLES
    if len(numbers) < fewest:
        raise ValueError(f"{len(numbers)} samples have a number, and curves need {fewest}.")
    places = choose_places(numbers)
    bandwidth = choose_bandwidth(numbers, places)
    weights = kernel_weights(numbers, places, bandwidth)
    tested = np.linspace(0, N_PLACES - 1, N_TESTED).round().astype(np.int64)
    settings = (confidence, alpha, n_permutations, n_bootstrap, random_state)
    without_level = partial(standardized_along, values=numbers, bandwidth=bandwidth)
    measured = measure(samples, weights, tested, without_level, None, settings)
    measured |= {"name": inputs.name_of(values), "n_samples": effective_samples(weights)}
    return Curves(places=places, bandwidth=bandwidth, **measured)


def choose_places(values: FloatArray) -> FloatArray:
    """Spread places evenly over the numbers, (G,)."""
    low, high = np.quantile(values, ENDS)
    if low == high:
        raise ValueError(
            f"{(values == low).mean():.0%} of the values are {low:g}, so there is no course to "
            "follow; compare them as categories with groupfs.conditions.compare."
        )
    return np.linspace(low, high, N_PLACES)


def choose_bandwidth(values: FloatArray, places: FloatArray) -> float:
    r"""Choose :math:`0.9 \min(s, \mathrm{IQR} / 1.34)\, n^{-1/5}` (Silverman's rule), or wider."""
    low, high = np.quantile(values, [0.25, 0.75])
    spread, between = values.std(ddof=1), (high - low) / 1.34
    width = 0.9 * min(spread, between or spread) * len(values) ** -0.2
    enough = min(FEWEST_EFFECTIVE, LARGEST_SHARE * len(values))
    while effective_samples(kernel_weights(values, places, width)).min() < enough:
        width *= WIDER
    return float(width)
