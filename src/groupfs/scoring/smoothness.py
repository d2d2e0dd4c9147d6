r"""How smoothly a feature varies over the samples: the part of it that its neighbours share.

Axes: B samples, d features.

:math:`s_j = \sum_i x_{ij} (Px)_{ij} / \sum_i x_{ij}^2` with P the walk of the sample graph without
steps that stay: 1 for a feature that is the same in neighbouring samples, about 0 for noise.
"""

import numpy as np
import torch

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import Rows
from groupfs.graphs.affinity import fill_gaps, gram, plain_affinity
from groupfs.utils.types import FloatArray, IntArray

#: Rows of the sample graph, and numbers they may hold.
MOST_ROWS, MOST_ENTRIES = 2048, 2**25


def feature_smoothness(rows: Rows, among: IntArray, n_neighbors: int, seed: int) -> FloatArray:
    """Measure how smooth all features are on the sample graph of some, (d,); not below 0."""
    n_rows = max(64, min(MOST_ROWS, MOST_ENTRIES // rows.shape[1]))
    X = rows.random_rows(n_rows, np.random.default_rng(seed))
    seen = X[:, torch.as_tensor(rows.columns_of(among), device=X.device)]
    affinity = plain_affinity(gram(seen).double(), min(n_neighbors, len(X) - 1))
    affinity.fill_diagonal_(0)
    walk = (affinity / affinity.sum(1, keepdim=True).clamp(min=1e-300)).to(X.dtype)
    X = fill_gaps(X)
    shared = ((walk @ X) * X).sum(0, dtype=torch.float64)
    total = X.square().sum(0, dtype=torch.float64)
    if isinstance(rows, FeatureRows):
        owner = torch.as_tensor(rows.owner, device=X.device)
        none = shared.new_zeros(rows.shape[1])
        shared, total = none.index_add(0, owner, shared), none.index_add(0, owner, total)
    return (shared / total.clamp(min=1e-300)).clamp_(min=0).cpu().numpy()
