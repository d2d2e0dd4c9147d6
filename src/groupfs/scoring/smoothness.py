r"""How smoothly a feature varies over the samples: the part of it that its neighbours share.

Axes: B samples, d features.

:math:`s_j = \sum_i x_{ij} (Px)_{ij} / \sum_i x_{ij}^2` with P the walk of the sample graph without
steps that stay: 1 for a feature that is the same in neighbouring samples, about 0 for noise. By the
metrics "rank" and "cosine" x are ranks, and rows scaled to one length.
"""

import numpy as np
import torch
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.graphs.affinity import fill_gaps
from groupfs.graphs.sample_graph import SampleGraph
from groupfs.graphs.sample_metrics import (
    FIXED_METRICS,
    rank_columns,
    sample_affinity,
    unit_scale,
)
from groupfs.scoring.known_graph import walked_rows
from groupfs.utils.types import FloatArray, IntArray

#: Rows of the sample graph, and numbers they may hold.
MOST_ROWS, MOST_ENTRIES = 2048, 2**25
#: Rows at most where the graph takes time that grows with the cube of their number.
FEWER_ROWS = 1024


def feature_smoothness(
    rows: Rows,
    among: IntArray,
    n_neighbors: int,
    seed: int,
    metric: str | SampleGraph = "euclidean",
) -> FloatArray:
    """Measure how smooth all features are on the sample graph of some, (d,); not below 0."""
    rng = np.random.default_rng(seed)
    if isinstance(metric, SampleGraph):
        X, smoothed = map(torch.from_numpy, walked_rows(rows, metric, 1, rng))
        return _shared_part(X, smoothed, rows)
    most = FEWER_ROWS if metric in FIXED_METRICS else MOST_ROWS
    n_rows = max(64, min(most, MOST_ENTRIES // rows.shape[1]))
    X = rows.random_rows(n_rows, rng)
    if metric == "rank":
        X, metric = rank_columns(X), "euclidean"
    seen = X[:, torch.as_tensor(rows.columns_of(among), device=X.device)]
    if metric == "cosine":
        X = X * unit_scale(seen)
    affinity = sample_affinity(seen, min(n_neighbors, len(X) - 1), metric, torch.float64)
    affinity.fill_diagonal_(0)
    walk = (affinity / affinity.sum(1, keepdim=True).clamp(min=1e-300)).to(X.dtype)
    X = fill_gaps(X)
    return _shared_part(X, walk @ X, rows)


def _shared_part(X: Tensor, smoothed: Tensor, rows: Rows) -> FloatArray:
    """Compute s of every feature, (B, p) each to (d,)."""
    shared = (smoothed * X).sum(0, dtype=torch.float64)
    total = X.square().sum(0, dtype=torch.float64)
    if rows.owner is not None:
        owner = torch.as_tensor(rows.owner, device=X.device)
        none = shared.new_zeros(rows.shape[1])
        shared, total = none.index_add(0, owner, shared), none.index_add(0, owner, total)
    return (shared / total.clamp(min=1e-300)).clamp_(min=0).cpu().numpy()
