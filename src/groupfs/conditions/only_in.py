"""Groups that are there in one condition and in no other.

Axes: K conditions, G groups found in them.

In every condition groups are looked for in its rows alone. One is *only here* if it is kept there
(beyond chance, and found again in halves of these rows), if in no other condition its features go
together more than shuffled columns do (at a false discovery rate of 5 %), and if its correlation
differs between conditions by more than exchanged conditions give: that it cannot be seen among few
samples is not enough.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from groupfs.conditions.estimates import change_from, q_values
from groupfs.conditions.frames import checked_share
from groupfs.conditions.inputs import (
    Samples,
    enough_samples,
    name_of,
    read_categories,
    read_samples,
)
from groupfs.conditions.level import standardized_within
from groupfs.conditions.measure import chance_values, columns_of_group
from groupfs.conditions.rearrange import enough_arrangements, plan_exchange
from groupfs.conditions.weighted import GroupColumns, most_central
from groupfs.utils.fitted_selector import feature_names
from groupfs.utils.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

#: Shuffles of the columns that say what unrelated features give in a condition.
N_SHUFFLES = 199
#: False discovery rate at which a group is seen in a condition.
SEEN = 0.05
#: Jaccard index with a group of all rows from which a group is the same one.
SAME_GROUP = 0.5


@dataclass(frozen=True)
class OnlyIn:
    """Groups found and kept in single conditions; made by :func:`only_in`.

    G groups, K conditions.
    """

    name: str  #: what the conditions are called
    conditions: list[Any]  #: (K,)
    found_in: IntArray  #: condition that each group was found in, (G,)
    features: list[IntArray]  #: of each group, most central first
    feature_names: list[list[str]]
    reliability: FloatArray  #: how well each is found again in halves of these rows, (G,)
    correlation: FloatArray  #: of its features in each condition, (G, K)
    absence_q_values: FloatArray  #: how likely shuffled columns go together as much, (G, K)
    change_p_values: FloatArray  #: how likely exchanged conditions differ as much, (G,)
    change_q_values: FloatArray  #: with the false discovery rate over the groups in view, (G,)
    jaccard: FloatArray  #: with the most alike group of all rows, (G,)
    nearest_group: list[Any]  #: that group: its rank or name, (G,)
    alpha: float

    @property
    def is_only_here(self) -> BoolArray:
        """Which groups are there in their condition and in no other, (G,)."""
        elsewhere = np.arange(len(self.conditions)) != self.found_in[:, None]
        seen = (self.absence_q_values <= SEEN) & elsewhere
        found: BoolArray = ~seen.any(1) & (self.change_q_values <= self.alpha)
        return found

    @property
    def is_new(self) -> BoolArray:
        """Which groups are not among those of all rows, by a Jaccard index below one half, (G,)."""
        return self.jaccard < SAME_GROUP

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per group that was found in a condition."""
        import pandas as pd

        rows = range(len(self.features))
        elsewhere = np.arange(len(self.conditions)) != self.found_in[:, None]
        return pd.DataFrame(
            {
                "condition": [self.conditions[k] for k in self.found_in],
                "representative": [names[0] for names in self.feature_names],
                "size": [len(group) for group in self.features],
                "reliability": self.reliability,
                "correlation": self.correlation[rows, self.found_in],
                "highest_elsewhere": np.where(elsewhere, self.correlation, -np.inf).max(1),
                "smallest_q_elsewhere": np.where(elsewhere, self.absence_q_values, 1).min(1),
                "change_q_value": self.change_q_values,
                "is_only_here": self.is_only_here,
                "jaccard": self.jaccard,
                "nearest_group": self.nearest_group,
                "is_new": self.is_new,
                "features": [", ".join(names) for names in self.feature_names],
            }
        )


def only_in(
    selector: Any,
    X: Any,
    conditions: ArrayLike,
    *,
    blocks: ArrayLike | None = None,
    alpha: float = 0.01,
    n_permutations: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> OnlyIn:
    """Look for groups that are there in one condition and in no other: a fit per condition.

    Parameters
    ----------
    selector : fitted GroupFS or GroupFSPath
        Its parameters are those of the fits. One with known ``groups`` finds none.
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table it was fitted on.
    conditions : array-like of shape (n_samples,)
        A category per sample, as in :func:`compare`.
    blocks : array-like of shape (n_samples,) or None, default=None
        What samples come from, as in :func:`compare`.
    alpha : float, default=0.01
        Share of false ones among the groups said to differ between conditions.
    n_permutations : int or None, default=None
        Arrangements of the conditions that differences are compared with; None as in
        :func:`compare`.
    random_state : int, RandomState instance or None, default=0
        The same result every time for the same number, if the selector has one, too.

    Returns
    -------
    OnlyIn
        A table by ``to_frame()``.

    Notes
    -----
    A group is measured on the rows it was found in, which flatters it there. What keeps accidents
    out is that it must be kept by its own fit, which compares it with groups found in shuffled
    tables and in halves of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs import GroupFS
    >>> from groupfs.conditions import only_in
    >>> rng = np.random.default_rng(0)
    >>> X, day = rng.standard_normal((300, 12)), np.repeat(["one", "two"], 150)
    >>> X[:, :4] += rng.standard_normal((300, 1))  # these go together on both days
    >>> X[150:, 4:8] += rng.standard_normal((150, 1))  # and these on day two
    >>> found = only_in(GroupFS(random_state=0).fit(X), X, day)
    >>> found.to_frame()[["condition", "size", "is_only_here"]].to_numpy().tolist()
    [['one', 4, False], ['two', 4, True], ['two', 4, False]]
    """
    checked_share("alpha", alpha)
    if selector.get_params(deep=False).get("groups") is not None:
        raise ValueError(
            "the selector has known groups, so nothing else can be found in a condition; use one "
            "that discovers its groups."
        )
    codes, levels, missing = read_categories(conditions)
    samples = read_samples(selector, X, codes, missing, blocks)
    kept = enough_samples(samples.labels, levels)
    samples = samples.part(np.isin(samples.labels, kept))
    codes = np.searchsorted(kept, samples.labels)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    exchange = plan_exchange(codes, samples.blocks, alpha)
    weights = (codes == np.arange(len(kept))[:, None]).astype(float)
    found = list(_groups_of_conditions(selector, X, samples.rows, codes))
    taken = exchange.draw(enough_arrangements(n_permutations, 5 * len(found)), rng)
    r, seen, moved = [], [], []
    for group in found:
        Z = samples.Z[:, most_central(group.features, group.centrality)]
        columns = columns_of_group(
            Z, samples.signed, weights, lambda Z: standardized_within(Z, codes)
        )
        if columns is None:  # gaps leave no pair of features that all conditions have
            r.append(np.full(len(kept), np.nan))
            seen.append(r[-1])
            moved.append(np.full((len(taken), len(kept)), np.nan))
            continue
        r.append(columns.common_correlation(weights))
        seen.append(_chance_p_values(columns, codes, r[-1], rng))
        moved.append(chance_values(columns.common_correlation, weights, taken))
    K, names = len(kept), feature_names(selector)
    change = change_from(np.stack(moved, axis=2)) if moved else change_from(np.zeros((1, K, 0)))
    seen_p = np.array(seen).reshape(-1, K)
    jaccard, nearest = _most_alike([group.features for group in found], samples)
    return OnlyIn(
        name=name_of(conditions),
        conditions=[levels[k] for k in kept],
        found_in=np.array([group.condition for group in found], dtype=np.int64),
        features=[group.features for group in found],
        feature_names=[[names[i] for i in group.features] for group in found],
        reliability=np.array([group.reliability for group in found]),
        correlation=np.array(r).reshape(-1, K),
        absence_q_values=q_values(seen_p.ravel()).reshape(-1, K),
        change_p_values=change.p_values,
        change_q_values=change.q_values,
        jaccard=jaccard,
        nearest_group=nearest,
        alpha=alpha,
    )


@dataclass(frozen=True)
class _Found:
    """A group that was kept in a condition."""

    condition: int
    features: IntArray  #: most central first
    centrality: FloatArray  #: of all features there, (d,)
    reliability: float  #: NaN where it was not looked at


def _groups_of_conditions(
    selector: Any, X: Any, rows: IntArray, codes: IntArray
) -> Iterator[_Found]:
    """Fit every condition on its own, and yield the groups of two features or more it keeps."""
    for k in range(int(codes.max()) + 1):
        fitted = clone(selector).fit(_safe_indexing(X, rows[codes == k]))
        reliability = fitted.group_reliability_
        for j in np.flatnonzero(fitted.group_selected_):
            group = fitted.groups_[j]
            if len(group) < 2:
                continue
            order = group[np.argsort(-np.abs(fitted.centrality_[group]), kind="stable")]
            again = np.nan if reliability is None else float(reliability[j])
            yield _Found(k, order, fitted.centrality_, again)


def _chance_p_values(
    columns: GroupColumns, codes: IntArray, correlation: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Find how likely shuffled columns go together as much in each condition, (K,)."""
    found = np.zeros(len(correlation))
    for k, r in enumerate(correlation):
        inside = columns.Z[codes == k]
        every = np.ones((1, len(inside)))
        chance = np.array(
            [
                GroupColumns(
                    rng.permuted(inside, axis=0), columns.signed, columns.excluded
                ).common_correlation(every)[0]
                for _ in range(N_SHUFFLES)
            ]
        )
        found[k] = (1 + (chance >= r).sum()) / (1 + N_SHUFFLES)
    return found


def _most_alike(groups: list[IntArray], samples: Samples) -> tuple[FloatArray, list[Any]]:
    """Find the group of all rows that is most like each, by Jaccard index."""
    best, which = np.zeros(len(groups)), []
    for i, group in enumerate(groups):
        index = [
            len(np.intersect1d(group, other)) / len(np.union1d(group, other))
            for other in samples.groups
        ]
        best[i] = max(index)
        which.append(samples.group_labels[int(np.argmax(index))])
    return best, which
