"""Look for groups that are there in one condition and in no other.

Axes: K conditions, G groups found in them.

In every condition groups are looked for in its rows alone. One is *only here* if it is kept there
(beyond chance, and found again in halves of these rows), if in no other condition its features go
together more than shuffled columns do (at a false discovery rate of 5 %), and if its cohesion
differs between conditions by more than exchanged conditions give: that it cannot be seen among few
samples is not enough.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from groupfs.conditions.estimates import change_from
from groupfs.conditions.inputs import check_share, name_of, read_conditions
from groupfs.conditions.measure import (
    enough_arrangements,
    generator,
    plan_exchange,
    rearranged,
    repeated,
)
from groupfs.conditions.weighted import GroupColumns, columns_of_group, standardized_within
from groupfs.groups import Groups, adjust_p_values
from groupfs.utils.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

#: Shuffles of the columns that say what unrelated features give in a condition.
N_SHUFFLES = 199
#: False discovery rate at which a group is seen in a condition.
SEEN = 0.05


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
    replication: FloatArray  #: how well each is found again in halves of these rows, (G,)
    cohesion: FloatArray  #: mean correlation of its features in each condition, (G, K)
    absence_q_values: FloatArray  #: how likely shuffled columns go together as much, (G, K)
    change_p_values: FloatArray  #: how likely exchanged conditions differ as much, (G,)
    change_q_values: FloatArray  #: with the false discovery rate over the groups in view, (G,)
    jaccard: FloatArray  #: with the most alike group of all rows, (G,)
    nearest_group: list[Any]  #: that group: its rank or name, (G,)
    alpha: float

    @property
    def is_only_here(self) -> BoolArray:
        """Which groups are there in their condition and in no other, (G,)."""
        seen = (self.absence_q_values <= SEEN) & self._elsewhere
        return np.asarray(~seen.any(1) & (self.change_q_values <= self.alpha))

    @property
    def _elsewhere(self) -> BoolArray:
        """Which conditions are not that of the group, (G, K)."""
        return np.asarray(np.arange(len(self.conditions)) != self.found_in[:, None])

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per group that was found in a condition."""
        import pandas as pd

        rows, elsewhere = range(len(self.features)), self._elsewhere
        return pd.DataFrame(
            {
                "condition": [self.conditions[k] for k in self.found_in],
                "representative": [names[0] for names in self.feature_names],
                "size": [len(group) for group in self.features],
                "replication": self.replication,
                "cohesion": self.cohesion[rows, self.found_in],
                "highest_elsewhere": np.where(elsewhere, self.cohesion, -np.inf).max(1),
                "smallest_q_elsewhere": np.where(elsewhere, self.absence_q_values, 1).min(1),
                "change_q_value": self.change_q_values,
                "is_only_here": self.is_only_here,
                "jaccard": self.jaccard,
                "nearest_group": self.nearest_group,
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
    selector : fitted FeatureGroups
        Its parameters are those of the fits. One with known ``groups`` finds none.
    alpha : float, default=0.01
        Share of false ones among the groups said to differ between conditions.
    random_state : int, RandomState instance or None, default=0
        The same result every time for the same number, if the selector has one, too.
    X, conditions, blocks, n_permutations
        As in :func:`compare`.

    Returns
    -------
    OnlyIn
        A table by ``to_frame()``.

    Notes
    -----
    A group is measured on the rows it was found in, which flatters it there. Accidents are kept out
    by its own fit, which compares it with groups in shuffled tables and in halves of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs import FeatureGroups
    >>> from groupfs.conditions import only_in
    >>> rng = np.random.default_rng(0)
    >>> X, day = rng.standard_normal((300, 12)), np.repeat(["one", "two"], 150)
    >>> X[:, :4] += rng.standard_normal((300, 1))  # these go together on both days
    >>> X[150:, 4:8] += rng.standard_normal((150, 1))  # and these on day two
    >>> result = only_in(FeatureGroups(random_state=0).fit(X), X, day)
    >>> result.to_frame()[["condition", "size", "is_only_here"]].to_numpy().tolist()
    [['one', 4, False], ['two', 4, True], ['two', 4, False]]
    """
    check_share("alpha", alpha)
    if selector.get_params(deep=False).get("groups") is not None:
        raise ValueError(
            "the selector has known groups, so nothing else can be found in a condition; use one "
            "that discovers its groups."
        )
    if not hasattr(selector, "group_replication_"):
        raise ValueError(
            f"{type(selector).__name__} does not tell which groups are beyond chance; give a "
            "fitted FeatureGroups."
        )
    samples, levels = read_conditions(selector, X, conditions, blocks)
    rng, codes, K = generator(random_state), samples.labels, len(levels)
    exchange = plan_exchange(codes, samples.blocks, alpha)
    found_in, groups, turned, replication = [], [], [], []
    for k in range(K):
        fitted = clone(selector).fit(_safe_indexing(X, samples.rows[codes == k]))
        found, again = Groups.of(fitted), fitted.group_replication_
        for j in np.flatnonzero(fitted.group_kept_ & (found.sizes > 1)).tolist():
            found_in.append(k)
            groups.append(found.by_centrality(j))
            turned.append(samples.Z[:, groups[-1]] * found.signs[groups[-1]])
            replication.append(np.nan if again is None else again[j])
    taken = exchange.draw(enough_arrangements(n_permutations, 5 * len(groups)), rng)
    weights = (codes == np.arange(K)[:, None]).astype(float)
    measured = [_measure(Z, codes, weights, taken, rng) for Z in turned]
    r, chance, moved = zip(*measured, strict=True) if measured else ((), (), ())
    change = change_from(np.moveaxis(np.reshape(moved, (-1, len(taken), K)), 0, 2))
    of_all = samples.groups.members
    alike = [len(np.intersect1d(a, b)) / len(np.union1d(a, b)) for a in groups for b in of_all]
    jaccard = np.reshape(alike, (-1, len(of_all)))
    return OnlyIn(
        name=name_of(conditions),
        conditions=levels,
        found_in=np.array(found_in, dtype=np.int64),
        features=groups,
        feature_names=[[samples.names[i] for i in group] for group in groups],
        replication=np.array(replication),
        cohesion=np.reshape(r, (-1, K)),
        absence_q_values=adjust_p_values(np.ravel(chance)).reshape(-1, K),
        change_p_values=change.p_values,
        change_q_values=change.q_values,
        jaccard=jaccard.max(axis=1),
        nearest_group=[samples.groups.label(j) for j in jaccard.argmax(axis=1).tolist()],
        alpha=alpha,
    )


def _measure(
    Z: FloatArray, codes: IntArray, weights: FloatArray, taken: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Measure the turned columns of a group, (n, m), in every condition, and as chance has it.

    Returns its cohesion, (K,), how likely shuffled columns go together as much, (K,), and its
    cohesion where conditions are exchanged, (P + 1, K); NaN where gaps leave no pair.
    """
    columns = columns_of_group(Z, weights, lambda Z: standardized_within(Z, codes))
    if columns is None:
        unknown = np.full((len(taken), len(weights)), np.nan)
        return unknown[0], unknown[0], unknown
    r = columns.cohesion(weights)
    chance = np.ones(len(r))
    for k in range(len(r)):
        inside = columns.Z[codes == k]
        every = np.ones((1, len(inside)))
        for _ in range(N_SHUFFLES):
            shuffled = GroupColumns(rng.permuted(inside, axis=0), columns.excluded)
            chance[k] += shuffled.cohesion(every)[0] >= r[k]
    return r, chance / (1 + N_SHUFFLES), repeated(columns.cohesion, weights, taken, rearranged)
