"""Groups along a number such as time: curves of mean and cohesion, and which groups change.

Axes: C groups, G places along the number.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupfs.conditions.inputs import (
    FEWEST_SAMPLES,
    name_of,
    read_numbers,
    read_samples,
)
from groupfs.conditions.kernel import N_PLACES, choose_bandwidth, choose_places, kernel_weights
from groupfs.conditions.level import standardized_along
from groupfs.conditions.measure import generator, measure
from groupfs.conditions.result import GroupChanges
from groupfs.conditions.weighted import effective_samples
from groupfs.utils.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd

#: Places that changes are looked for at: neighbours say nearly the same.
N_TESTED = 5


@dataclass(frozen=True, kw_only=True)
class Curves(GroupChanges):
    """Groups along a number, and which of them change; made by :func:`curves`.

    C groups in rank order, G places. Every :class:`Estimate` holds ``value``, ``low`` and ``high``
    of shape (C, G); every :class:`Change` holds ``p_values`` and ``q_values`` of shape (C,), and
    ``z`` of shape (C, 5): how far off every sixth place is.
    """

    places: FloatArray  #: where along the number, (G,)
    bandwidth: float  #: standard deviation of the kernel, in units of the number

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per group and place: weight in samples, and all estimates with bands."""
        return self._values_frame("value", self.places)


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
    selector : fitted FeatureGroups or GroupFS
        Fitted without the number.
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table it was fitted on, or another with the same columns, as in :func:`compare`.
    values : array-like of shape (n_samples,)
        A number per sample, e.g. time. Samples where it is missing are left out; a warning says so.
    blocks : array-like of shape (n_samples,) or None, default=None
        What samples come from, e.g. donors, as in :func:`compare`.
    confidence : float, default=0.95
        Of the bands, at each place on its own.
    alpha : float, default=0.05
        Share of false ones among the groups said to change.
    n_permutations : int or None, default=None
        Arrangements of the numbers that changes are compared with, at 5 of the places; None as in
        :func:`compare`.
    n_bootstrap : int, default=400
        Resamples that bands are based on.
    random_state : int, RandomState instance or None, default=0
        The same result every time for the same number.

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
    samples = read_samples(selector, X, *read_numbers(values), blocks)
    numbers = samples.labels
    if len(numbers) < 2 * FEWEST_SAMPLES:
        raise ValueError(
            f"{len(numbers)} samples have a number, and curves need {2 * FEWEST_SAMPLES}."
        )
    places = choose_places(numbers)
    bandwidth = choose_bandwidth(numbers, places)
    weights = kernel_weights(numbers, places, bandwidth)
    measured = measure(
        samples,
        weights,
        tested=np.linspace(0, N_PLACES - 1, N_TESTED).round().astype(np.int64),
        without_level=lambda Z: standardized_along(Z, numbers, bandwidth),
        strata=None,
        confidence=confidence,
        alpha=alpha,
        n_permutations=n_permutations,
        n_bootstrap=n_bootstrap,
        rng=generator(random_state),
    )
    return Curves(
        name=name_of(values),
        places=places,
        bandwidth=bandwidth,
        n_samples=effective_samples(weights),
        **measured,
    )
