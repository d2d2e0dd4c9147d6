r"""Groups whose parts have little to do with each other are divided.

Axes: n rows, m features, C groups.

One number of groups suits the large ones: small groups beside them are merged before it is reached.
So every group is looked at on its own. It is divided if its parts are found again in halves of the
rows, and if features of different parts correlate much less than those of the same part,

.. math:: \\frac{\\bar r_{ab}}{\\sqrt{\\bar r_{aa} \\bar r_{bb}}} < 0.4.

For features that measure one thing each this is the correlation of the two things.
"""

import numpy as np
import torch
from torch import Tensor

from groupfs.data.feature_rows import FeatureRows
from groupfs.graphs.eigenvectors import first_component
from groupfs.graphs.feature_clusters import as_groups, cluster_features
from groupfs.graphs.pair_sums import exclusive_pairs
from groupfs.graphs.replication import FEWEST_FEATURES, Halves, leading_of, walks_of
from groupfs.utils.types import FloatArray, IntArray

#: Agreement of halves on the parts, at least, and what two parts may have in common, at most.
FOUND_AGAIN, LITTLE_IN_COMMON = 0.5, 0.4
#: Parts that a group is divided into at a time, and splits of the rows.
MOST_PARTS, MOST_SPLITS = 10, 10


def divide_groups(
    X: Tensor | FeatureRows,
    correlations: Tensor,
    labels: IntArray,
    n_neighbors: int,
    signed: bool,
    seed: int,
) -> IntArray:
    """Divide groups whose parts have little to do with each other, again and again, (m,).

    ``X`` are rows (n, m), ``correlations`` those of the whole table (m, m).
    """
    divided = np.full(len(labels), -1)
    left = as_groups(labels, int(labels.max()) + 1)
    n_groups = 0
    while left:
        group = left.pop(0)
        part = X.restricted(group) if isinstance(X, FeatureRows) else X[:, group]
        parts = _parts(part, correlations[group][:, group], n_neighbors, signed, seed)
        if parts is None:
            divided[group] = n_groups
            n_groups += len(group) > 0
        else:
            left += [group[part] for part in as_groups(parts, int(parts.max()) + 1)]
    return divided


def _parts(
    X: Tensor | FeatureRows, correlations: Tensor, n_neighbors: int, signed: bool, seed: int
) -> IntArray | None:
    """Find the parts of one group, (m,); None if it is one thing."""
    m = X.shape[1]
    if m < FEWEST_FEATURES:
        return None
    most, K = min(MOST_PARTS, m // 2), min(n_neighbors, m - 1)
    (embedding,) = leading_of(walks_of(correlations[None], K, signed), most)
    r = correlations.cpu().numpy()
    parts = {C: cluster_features(embedding, C) for C in range(2, most + 1)}
    apart = [C for C in parts if in_common(r, parts[C], signed) < LITTLE_IN_COMMON]
    if not apart:  # most groups; halves take longer
        return None
    excluded = correlations == 0
    if isinstance(X, FeatureRows):
        excluded = torch.from_numpy(exclusive_pairs(X.basis, 0, m))
    halves = Halves(X, excluded, K, most, signed, seed, MOST_SPLITS)
    found = halves.replication(most)
    at = int(found.information.argmax())
    n_parts = int(found.n_groups[at])
    if found.agreement[at] < FOUND_AGAIN or n_parts not in apart:
        return None
    return parts[n_parts]


def in_common(correlations: FloatArray, labels: IntArray, signed: bool) -> float:
    """Measure the most that two groups have in common: between over within; 1 for lone features."""
    n_groups = int(labels.max()) + 1
    sizes = np.bincount(labels)
    if n_groups < 2 or sizes.min() < 2:
        return 1.0
    signs = np.ones(len(labels))
    if not signed:
        for group in as_groups(labels, n_groups):
            vector = first_component(correlations[np.ix_(group, group)])[1]
            signs[group] = np.where(vector < 0, -1, 1)
    member = np.eye(n_groups)[labels] * signs[:, None]
    total = member.T @ correlations @ member
    within = (np.diag(total) - sizes) / (sizes * (sizes - 1))
    between = np.abs(total) / np.outer(sizes, sizes)
    np.fill_diagonal(between, 0)
    within = np.maximum(within, 1e-12)
    return float((between / np.sqrt(np.outer(within, within))).max())
