r"""Measure how smooth every group is on the graph of the samples that the other groups make.

Axes: B samples, p columns, C groups.

A group that tells the same clusters or the same order of samples as the others varies smoothly on
their graph; one that is a shift of its own columns, such as a batch or light on pictures, does not.
With P the walk of that graph without steps that stay, A is the symmetric part of P, centred on both
sides. Of a standardised normal column x that knows nothing of the graph, :math:`x^\top A x` has
mean :math:`\mathrm{tr} A` and deviation :math:`\sqrt 2 \|A\|`: a group has the mean of its columns,
in deviations beyond it.
"""

import numpy as np

from groupfs.data.table import Rows
from groupfs.discovery.smoothness import SCORED_ROWS, TINY, sample_affinity, transform_rows
from groupfs.utils.types import FloatArray, IntArray


def shared_structure(
    rows: Rows, labels: IntArray, n_groups: int, n_neighbors: int, metric: str, seed: int
) -> FloatArray:
    """Measure groups by the labels of the features of a table, -1 for none, (d,) to (C,)."""
    of_column = rows.feature_of_column
    X = rows.random_rows(SCORED_ROWS, np.random.default_rng(seed))
    group = labels[of_column]
    found = np.zeros(n_groups)
    for j in range(n_groups):
        seen = (group >= 0) & (group != j)
        if seen.any() and (group == j).any():
            found[j] = beyond_chance(X[:, seen], X[:, group == j], n_neighbors, metric)
    return found


def beyond_chance(seen: FloatArray, of: FloatArray, n_neighbors: int, metric: str) -> float:
    """Measure the mean smoothness of columns on the graph of others, in deviations of chance."""
    walk = sample_affinity(seen, min(n_neighbors, len(seen) - 1), metric).astype(np.float64)
    np.fill_diagonal(walk, 0)
    walk /= np.maximum(walk.sum(1, keepdims=True), TINY)
    A = (walk + walk.T) / 2
    A -= A.mean(0)
    A -= A.mean(1, keepdims=True)
    x = np.nan_to_num(transform_rows(of, "rank") if metric == "rank" else of)
    x = x - x.mean(0)
    x /= np.maximum(np.sqrt(np.square(x).mean(0)), TINY)
    shared = ((A @ x) * x).sum() / x.shape[1]
    return float((shared - np.trace(A)) / (np.sqrt(2) * max(np.linalg.norm(A), TINY)))
