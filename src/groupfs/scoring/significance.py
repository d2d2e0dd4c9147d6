"""How likely chance groups score as high: groups of shuffled tables, p-values, discoveries."""

import numpy as np
import torch
from scipy.stats import false_discovery_control

from groupfs.data.rows import Rows
from groupfs.graphs.eigenvectors import leading_eigenvectors
from groupfs.graphs.feature_clusters import as_groups, cluster_features
from groupfs.graphs.feature_graph import feature_walk
from groupfs.scoring.excess import GroupScores, score_on_rows
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Shape of the tail of chance scores, and the least its scale may be.
TAIL_SHAPE, SMALLEST_SCALE = 0.3, 0.3
#: Chance groups that p-values are based on, at least, and tables they may come from, at most.
CHANCE_GROUPS, CHANCE_TABLES = 40, 7
#: Shuffles that a group found, or a chance group, is compared with.
FINAL_SHUFFLES = 20


def group_p_values(scores: GroupScores, sizes: IntArray, chance: FloatArray) -> FloatArray:
    """Estimate how likely groups found in a table without groups score as high, (C,).

    Single features have no excess and p-value 1.
    """
    p = np.ones(len(sizes))
    if len(chance) > 1:
        several = sizes > 1
        p[several] = tail_p_values(scores.z[several], chance)
    return p


def chance_scores(
    rows: Rows,
    n_groups: int,
    known_labels: IntArray | None,
    *,
    n_neighbors: int,
    n_kept: int | None,
    steps: int,
    seed: int,
    device: torch.device,
    dtype: torch.dtype,
) -> FloatArray:
    """Find groups in tables whose columns were shuffled, and score them, z of shape (m,).

    Groups are found by looking for features that go together, so even in pure noise theirs do, a
    little: most of all with few samples. The chance groups are found the same way as those of the
    table. Groups that were known beforehand are compared with themselves after shuffling.
    """
    rng = np.random.default_rng(seed)
    found: list[FloatArray] = []
    for _ in range(CHANCE_TABLES):
        shuffled = rows.shuffled(rng)
        shuffled.to(device, dtype)
        labels = known_labels
        if labels is None:
            walk = feature_walk(shuffled, n_neighbors, n_kept)
            labels = cluster_features(leading_eigenvectors(walk, n_groups), n_groups, rng)
        scores = score_on_rows(
            shuffled,
            [group for group in as_groups(labels, n_groups) if len(group) > 1],
            n_neighbors=n_neighbors,
            steps=steps,
            n_shuffles=FINAL_SHUFFLES,
            seed=int(rng.integers(2**31)),
        )
        found.append(scores.z)
        if sum(map(len, found)) >= CHANCE_GROUPS:
            break
    return np.concatenate(found)


def discoveries(p_values: FloatArray, alpha: float) -> BoolArray:
    """Find the p-values that stand out when a share alpha of false ones is allowed, (C,)."""
    found: BoolArray = false_discovery_control(p_values) <= alpha
    return found


def tail_p_values(z: FloatArray, chance: FloatArray) -> FloatArray:
    """Estimate how likely chance groups reach z, from the z of m of them, (C,) and (m,) to (C,).

    Beyond the median of the chance groups a generalised Pareto tail is fitted, with the shape fixed
    on the heavy side: chance groups of skewed or heavy-tailed columns now and then score far above
    the rest, and a normal tail would call them discoveries.
    """
    median = np.median(chance)
    above = chance[chance > median] - median
    caution = 1 + 1 / np.sqrt(max(len(above), 1))  # the scale is known from few
    scale = max((1 - TAIL_SHAPE) * above.mean() * caution if len(above) else 0.0, SMALLEST_SCALE)
    reach = np.maximum(z - median, 0)
    return np.where(z > median, 0.5 * (1 + TAIL_SHAPE * reach / scale) ** (-1 / TAIL_SHAPE), 1.0)
