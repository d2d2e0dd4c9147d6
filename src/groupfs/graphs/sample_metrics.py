r"""The geometry of the samples: which are near each other, by one of several metrics.

Axes: S tables side by side, B samples, m columns that are looked at.

Every metric ends in self-tuning affinities (:mod:`groupfs.graphs.affinity`); they differ in the
distances that these are made of:

- *euclidean*: :math:`\|x_i - x_j\|`.
- *cosine*: the chord of the angle between two samples, :math:`\sqrt{2 - 2\cos(x_i, x_j)}`.
- *rank*: euclidean, every column replaced by its ranks.
- *geodesic*: the length of the shortest path along the nearest-neighbour graph. Parts of it that do
  not touch are linked where they are nearest, by edges of the minimum spanning tree.
- *diffusion*: how far apart :math:`\tau` steps of the walk on the euclidean graph lead,
  :math:`\sum_k (P^\tau_{ik} - P^\tau_{jk})^2 / d_k` with degrees d; nearness by many short ways
  rather than by the shortest.
"""

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree, shortest_path
from scipy.stats import rankdata
from torch import Tensor

from groupfs.graphs.affinity import (
    TINY,
    fill_gaps,
    gram,
    plain_affinity,
    self_tuning_graph,
    squared_distances,
)
from groupfs.utils.types import FloatArray

#: Metrics whose graph has no simple gradient: it is built from all features before training.
FIXED_METRICS = ("geodesic", "diffusion")
#: Steps of the walk that diffusion distances compare; a power of two, reached by squaring.
DIFFUSION_STEPS = 8
#: Edges are at least this share of the mean distance: scipy takes an edge of length zero for none.
SHORTEST_EDGE = 1e-6


def sample_affinity(
    X: Tensor, n_neighbors: int, metric: str = "euclidean", dtype: torch.dtype | None = None
) -> Tensor:
    """Compute affinities of the rows of each table, (..., B, m) to (..., B, B).

    ``dtype`` is the precision in which distances are worked out; None is that of X.
    """
    seen = transform_rows(X, metric)
    products = gram(seen).to(dtype or X.dtype)
    if metric == "geodesic":
        distances = geodesic_distances(squared_distances(products), n_neighbors)
        return self_tuning_graph(distances, n_neighbors).affinity
    if metric == "diffusion":
        products = diffusion_gram(plain_affinity(products.double(), n_neighbors))
    return plain_affinity(products, n_neighbors).to(dtype or X.dtype)


def transform_rows(X: Tensor, metric: str) -> Tensor:
    """Replace the rows by those whose euclidean distances the metric looks at, (..., B, m).

    Where lengths or values are not to count in distances, they are not to count in what varies
    smoothly either: scores and training see these rows in place of their own, once, from all
    features that take part. To shuffle columns of rows that were not scaled would part the lengths
    of their values, and what was left to compare with had other angles altogether.
    """
    if metric == "rank":
        return rank_columns(X)
    return X * unit_scale(X) if metric == "cosine" else X


def rank_columns(X: Tensor) -> Tensor:
    """Replace every column by its ranks, centred, with variance one where ranks differ.

    Equal values have the mean of their ranks.
    """
    ranks = torch.from_numpy(rankdata(X.cpu().numpy(), axis=-2))
    ranks -= (X.shape[-2] + 1) / 2
    spread = ranks.square().mean(-2, keepdim=True).sqrt_()
    return ranks.div_(spread.clamp_(min=TINY)).to(X)


def unit_scale(X: Tensor) -> Tensor:
    """Find what brings every row to the length of standardised columns, the root of m, (..., B, 1).

    Rows would rather have length one; this way columns keep a variance of about one.
    """
    length = fill_gaps(X).norm(dim=-1, keepdim=True).clamp_(min=TINY)
    n_known = (~X.isnan()).sum(-1, keepdim=True).to(X.dtype)
    return n_known.sqrt() / length


def geodesic_distances(distances: Tensor, n_neighbors: int) -> Tensor:
    """Turn squared distances into those along the nearest-neighbour graph, (..., B, B)."""
    B = distances.shape[-1]
    tables = distances.reshape(-1, B, B).double().sqrt().cpu().numpy()
    paths = np.stack([_shortest_paths(table, n_neighbors) for table in tables])
    return torch.from_numpy(paths).square_().reshape(distances.shape).to(distances)


def diffusion_gram(affinity: Tensor, steps: int = DIFFUSION_STEPS) -> Tensor:
    r"""Compute inner products whose distances are diffusion distances, (..., B, B).

    With :math:`A = D^{-1/2} W D^{-1/2}` they are :math:`D^{-1/2} A^{2\tau} D^{-1/2}`.
    """
    scale = affinity.sum(-1, keepdim=True).rsqrt_()
    symmetric = affinity * scale * scale.mT
    return torch.linalg.matrix_power(symmetric, 2 * steps) * scale * scale.mT


def _shortest_paths(distances: FloatArray, n_neighbors: int) -> FloatArray:
    """Find the lengths of the shortest paths between all samples, (B, B)."""
    B = len(distances)
    distances = np.maximum(distances, SHORTEST_EDGE * distances.mean() + TINY)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argpartition(distances, n_neighbors - 1, axis=1)[:, :n_neighbors]
    own = np.repeat(np.arange(B), n_neighbors)
    edges = csr_array((distances[own, nearest.ravel()], (own, nearest.ravel())), shape=(B, B))
    n_parts, part = connected_components(edges, directed=False)
    if n_parts > 1:
        np.fill_diagonal(distances, 0)
        tree = minimum_spanning_tree(distances).tocoo()
        links = part[tree.row] != part[tree.col]
        ends = (tree.row[links], tree.col[links])
        edges = edges + csr_array((tree.data[links], ends), shape=(B, B))
    return np.asarray(shortest_path(edges, method="D", directed=False))
