"""Find the nearest features of each: from all distances, or among candidates from a sketch.

Axes: d features, k of them that are kept. Distances are squared and in double precision.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch

from groupfs.data.table import NumberRows, Rows
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    from groupfs.data.similarity import Similarity

#: Columns whose mean squared distance is below this share of their norms count as nearly one.
ALIKE = 1e-6
#: Candidates from a sketch of the rows for each neighbour that is kept, and multiplications that
#: choosing among them may take.
CANDIDATES, RERANKED_PRODUCTS = 3, {"cpu": 2e11, "cuda": 2e13}

#: Squared distances and indices, (d, k + 1) each, and the mean squared distance of all pairs.
Neighbors = tuple[FloatArray, IntArray, float]


def nearest(similarity: "Similarity", n_kept: int, signed: bool) -> Neighbors:
    r"""Find the nearest features of each from all distances.

    Without signs those of columns of equal norm n, :math:`2 n (1 - |r|)`, from the largest abs(r):
    that takes a third of the time.
    """
    rows, d = similarity.rows, similarity.shape[1]
    norm = float(rows.column_norms.mean())
    by_similarity = not signed and _equally_long(rows)
    found, index, total = [], [], 0.0
    for start in range(0, d, rows.columns_at_once):
        stop = min(d, start + rows.columns_at_once)
        if by_similarity:
            block = similarity.block(start, stop).abs_()
            total += float(block.sum())
            block.diagonal(start).fill_(2)  # itself comes first
        else:
            block = similarity.distances(start, stop, signed)
            total += float(block.sum())
        best = torch.topk(block, n_kept + 1, largest=by_similarity)
        found.append(best.values.cpu().numpy())
        index.append(best.indices.cpu().numpy())
    values, mean = np.concatenate(found), total / d**2
    if by_similarity:
        values, mean = 2 * norm * (1 - np.minimum(values, 1)), 2 * norm * (1 - mean)
        values[values < 1e-12 * norm] = 0  # equal columns
    return values, np.concatenate(index), mean


def _equally_long(rows: Rows) -> bool:
    """Tell whether columns are standardised, and none of them nearly one."""
    norms = rows.column_norms
    return bool(np.ptp(norms) <= ALIKE * norms.max()) and rows.without_common_column(ALIKE) is rows


def nearest_by_sketch(
    rows: NumberRows, sketch: "Similarity", n_kept: int, signed: bool
) -> Neighbors:
    """Find the nearest columns of a table with too many products, among candidates.

    Candidates are a column's nearest in a sketch of random sums of the rows, several times as many
    as are kept; among them the distances over the whole table decide.
    """
    d = rows.shape[1]
    n_candidates = min(CANDIDATES * n_kept, d - 1)
    _, candidates, _ = sketch.neighbors(n_candidates, signed)
    most = RERANKED_PRODUCTS.get(sketch.rows.device.type, RERANKED_PRODUCTS["cpu"])
    distances = rows.pair_distances(candidates, int(most / (d * n_candidates)), signed)
    distances[candidates == np.arange(d)[:, None]] = 0
    order = np.argsort(distances, axis=1, kind="stable")[:, : n_kept + 1]
    squared = np.take_along_axis(distances, order, axis=1)
    found = np.take_along_axis(candidates, order, axis=1)
    return squared, found, float(2 * rows.column_norms.mean())
