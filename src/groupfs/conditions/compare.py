"""Groups within categories of samples: what each is worth there, and which groups change.

Axes: C groups, K conditions, n samples.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupfs.conditions.estimates import GroupChanges
from groupfs.conditions.inputs import name_of, read_conditions
from groupfs.conditions.level import standardized_within
from groupfs.conditions.measure import measure


@dataclass(frozen=True, kw_only=True)
class Comparison(GroupChanges):
    """Groups within each condition, and which of them change; made by :func:`compare`.

    C groups in rank order, K conditions. Every :class:`Estimate` holds ``value``, ``low`` and
    ``high`` of shape (C, K); every :class:`Change` holds ``p_values`` and ``q_values`` of shape
    (C,), and ``z`` of shape (C, K), which says in which condition a group is off.
    """

    conditions: list[Any]  #: (K,)
    _along = ("condition", "conditions")


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
        Tables by ``to_frame()`` and ``changes_frame()``.

    Notes
    -----
    Of groups with more than 30 features the 30 most central ones are correlated. Cohesion is
    relative to unrelated columns with as many samples, so that it grows with these; whether it
    changes is tested by the correlation of the features, which does not.

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
    samples, levels = read_conditions(selector, X, conditions, blocks)
    codes, every = samples.labels, np.arange(len(levels))
    weights = (codes == every[:, None]).astype(float)
    settings = (confidence, alpha, n_permutations, n_bootstrap, random_state)
    without_level = partial(standardized_within, codes=codes)
    measured = measure(samples, weights, every, without_level, codes, settings)
    return Comparison(
        name=name_of(conditions), conditions=levels, n_samples=np.bincount(codes), **measured
    )
