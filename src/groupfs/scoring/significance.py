"""How likely chance groups are as much one thing: groups of shuffled tables, p-values, discoveries.

Axes: C groups, m chance groups.
"""

import numpy as np

from groupfs.data.rows import Rows
from groupfs.graphs.chance_tables import ChanceTables
from groupfs.graphs.eigenvectors import DENSE_FEATURES, leading_eigenvectors
from groupfs.graphs.feature_clusters import as_groups, cluster_features
from groupfs.graphs.feature_graph import feature_walk
from groupfs.graphs.similarity import MATRIX_FEATURES, Correlations
from groupfs.scoring.cohesion import group_components, mean_cohesion
from groupfs.utils.false_discovery import adjust_p_values
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Chance groups that p-values are based on, if there are as many; of wide tables, which take long,
#: fewer will do.
CHANCE_GROUPS, FEW_GROUPS, WIDE = 100, 10, 4000
#: Relative error of the eigenvalues of a chance graph: what is found in it is chance anyway.
TOLERANCE = 0.01
#: Scale of the tail of chance cohesions, relative to their median, at least: few may be alike.
SMALLEST_SCALE = 0.15


def cohesion_of(
    rows: Rows, groups: list[IntArray], signed: bool, correlations: Correlations | None = None
) -> FloatArray:
    """Compute the cohesion of groups, (C,); ``correlations`` of the rows where they are known."""
    if signed:
        return mean_cohesion(rows, groups)
    return group_components(rows, groups, correlations).cohesion


def chance_cohesion(
    tables: ChanceTables,
    n_features: int,
    n_groups: int,
    known_labels: IntArray | None,
    *,
    n_neighbors: int,
    n_kept: int | None,
    signed: bool,
) -> FloatArray:
    """Compute the cohesion of groups found in tables whose columns were shuffled, (m,).

    Groups are found by looking for features that go together, so even in pure noise theirs do, a
    little: most of all with few samples. The chance groups are found the same way as those of the
    table, among as many features as stood out there. Groups that were known beforehand are compared
    with themselves after shuffling.
    """
    found: list[float] = []
    for table in tables.strongest(n_features):
        labels, correlations = known_labels, None
        if table.shape[1] <= MATRIX_FEATURES:
            correlations = Correlations(table)
            correlations.matrix()
        if labels is None:
            labels = np.zeros(table.shape[1], dtype=np.int64)
            if n_groups > 1:
                walk = feature_walk(table, n_neighbors, n_kept, signed, correlations)
                vectors = leading_eigenvectors(
                    walk, n_groups, dense_features=DENSE_FEATURES, tolerance=TOLERANCE
                )
                labels = cluster_features(vectors, n_groups)
        several = [group for group in as_groups(labels, n_groups) if len(group) > 1]
        found.extend(cohesion_of(table, several, signed, correlations))
        if len(found) >= (CHANCE_GROUPS if table.shape[1] <= WIDE else FEW_GROUPS):
            break
    return np.array(found)


def group_p_values(cohesion: FloatArray, sizes: IntArray, chance: FloatArray) -> FloatArray:
    """Estimate how likely chance groups are as cohesive, (C,) and (m,) to (C,).

    Beyond the median of the chance groups an exponential tail is fitted. Single features are no
    group and have p-value 1.
    """
    if not len(chance):
        return np.ones(len(sizes))
    median = float(np.median(chance))
    above = chance[chance > median] - median
    caution = 1 + 1 / np.sqrt(max(len(above), 1))  # the scale is known from few
    scale = above.mean() * caution if len(above) else 0.0
    scale = max(float(scale), SMALLEST_SCALE * abs(median), 1e-12)
    tail = 0.5 * np.exp(-np.maximum(cohesion - median, 0) / scale)
    return np.where((sizes > 1) & (cohesion > median), tail, 1.0)


def discoveries(p_values: FloatArray, alpha: float) -> BoolArray:
    """Find the p-values that stand out when a share alpha of false ones is allowed, (C,)."""
    found: BoolArray = adjust_p_values(p_values) <= alpha
    return found
