r"""Graphs of the samples for the baselines that need one: built from the table, or the user's own.

Axes: N samples, d features, k neighbours of a sample, itself not counted.

Every graph is a symmetric affinity W (N, N) of non-negative weights, a plain array or, where only
neighbours are joined, a CSR array. In the graphs built here :math:`W_{ii} = 1`.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils import check_array
from torch import Tensor

from groupfs.baselines.base import COUNT, POSITIVE, RankingSelector, fewer_than_samples
from groupfs.data.memory_plan import BLOCK_ENTRIES
from groupfs.data.rows import DenseRows, RowsInMemory
from groupfs.graphs.affinity import TINY, self_tuning_graph
from groupfs.utils.sklearn_compat import StrOptions
from groupfs.utils.types import FloatArray, IntArray

Affinity: TypeAlias = FloatArray | sp.csr_array

#: Samples up to which the self-tuning graph keeps all affinities (some matrices of 128 MB each),
#: and neighbours that each sample keeps above that.
DENSE_SAMPLES, KEPT_ABOVE = 4096, 50
#: Squared bandwidths are at least this share of the mean squared distance. Distances are in double
#: precision here, so close rows of far clusters, or those beside an outlier, need not look equal.
BANDWIDTH_FLOOR = 1e-9
#: Squared distances below this share of the squared norms of the two rows are rounding.
ROUNDING = 1e-12
#: A user's graph may depart from symmetry by this share of its largest weight.
ASYMMETRY = 1e-6


@dataclass(eq=False, repr=False, kw_only=True)
class SampleGraphSelector(RankingSelector):
    """Base of the baselines that need a graph of the samples; it has the graph's parameters."""

    n_features_to_select: int | None = field(default=None, kw_only=False)
    graph: Any = "self-tuning"
    n_neighbors: int = 7
    kept_neighbors: int | str | None = None
    bandwidth: float | None = None
    standardize: bool = True
    device: str | torch.device = "auto"

    _parameter_constraints = {
        **RankingSelector._parameter_constraints,
        "graph": [StrOptions({"self-tuning", "cosine", "heat"}), "array-like", "sparse matrix"],
        "n_neighbors": [COUNT],
        "kept_neighbors": [COUNT, StrOptions({"all"}), None],
        "bandwidth": [POSITIVE, None],
    }

    def _sample_affinity(self, rows: RowsInMemory, device: torch.device) -> Affinity:
        """Build the graph that the parameters ask for, (N, N).

        Distances are computed on the device, or the CPU for MPS, which has no double precision.
        Afterwards the rows are back on the CPU, in double precision.
        """
        cpu = torch.device("cpu")
        if not isinstance(self.graph, str):
            affinity = check_affinity(self.graph, rows.shape[0])
        else:
            n_neighbors = fewer_than_samples("n_neighbors", self.n_neighbors, rows.shape[0])
            rows.to(cpu if device.type == "mps" else device, torch.float64)
            if self.graph == "cosine":
                affinity = cosine_affinity(rows, n_neighbors)
            elif self.graph == "heat":
                affinity = heat_affinity(rows, n_neighbors, self.bandwidth)
            else:
                affinity = self_tuning_affinity(rows, n_neighbors, self.kept_neighbors)
        rows.to(cpu, torch.float64)
        return affinity


def self_tuning_affinity(
    rows: RowsInMemory,
    n_neighbors: int,
    kept_neighbors: int | str | None,
    dense_samples: int = DENSE_SAMPLES,
) -> Affinity:
    r"""Return :math:`\exp(-d_{ij}^2 / (g_i g_j))`, :math:`g_i` the distance to K-th neighbours."""
    N = rows.shape[0]
    if kept_neighbors is None:
        kept_neighbors = "all" if dense_samples >= N else KEPT_ABOVE
    if isinstance(kept_neighbors, str) or kept_neighbors >= N - 1:
        distances = _dissimilarities(rows, _row_norms(rows), 0, N, cosine=False)
        graph = self_tuning_graph(distances, n_neighbors, BANDWIDTH_FLOOR)
        dense: FloatArray = graph.affinity.cpu().numpy()
        return dense
    squared, nearest, mean = nearest_rows(rows, max(kept_neighbors, n_neighbors))
    g = np.sqrt(np.maximum(squared[:, n_neighbors - 1], BANDWIDTH_FLOOR * mean + TINY))
    return _join_neighbors(nearest, np.exp(-squared / (g[:, None] * g[nearest])))


def cosine_affinity(rows: RowsInMemory, n_neighbors: int) -> sp.csr_array:
    """Return the cosines between a row and the k rows where they are largest.

    Neighbours more than a right angle away get no weight.
    """
    dissimilarity, nearest, _ = nearest_rows(rows, n_neighbors, cosine=True)
    return _join_neighbors(nearest, np.maximum(1 - dissimilarity, 0))


def heat_affinity(rows: RowsInMemory, n_neighbors: int, bandwidth: float | None) -> sp.csr_array:
    r"""Return :math:`\exp(-d_{ij}^2 / 2t^2)` between each row and its k nearest rows."""
    squared, nearest, _ = nearest_rows(rows, n_neighbors)
    t = float(np.sqrt(squared).mean()) if bandwidth is None else bandwidth
    return _join_neighbors(nearest, np.exp(-squared / max(2 * t**2, TINY)))


def nearest_rows(
    rows: RowsInMemory, n_kept: int, cosine: bool = False, block_entries: int = BLOCK_ENTRIES
) -> tuple[FloatArray, IntArray, float]:
    """Return squared distances (or 1 - cosine) to the nearest other rows, their indices, a mean.

    Shapes (N, n_kept) and (N, n_kept), nearest first; the mean is over all N x N pairs.
    """
    N = rows.shape[0]
    norms = _row_norms(rows)
    size = max(1, block_entries // N)
    near, nearest, total = [], [], 0.0
    for start in range(0, N, size):
        block = _dissimilarities(rows, norms, start, min(N, start + size), cosine)
        total += float(block.sum())
        block.diagonal(start).fill_(torch.inf)
        values, indices = torch.topk(block, n_kept, largest=False)
        near.append(values.cpu().numpy())
        nearest.append(indices.cpu().numpy())
    return np.concatenate(near), np.concatenate(nearest), total / N**2


def check_affinity(graph: Any, n_samples: int) -> Affinity:
    """Return the user's own graph in double precision; refuse one that is none."""
    W = check_array(
        graph, accept_sparse="csr", dtype=np.float64, ensure_non_negative=True, input_name="graph"
    )
    W = sp.csr_array(W) if sp.issparse(W) else W
    if W.shape != (n_samples, n_samples):
        raise ValueError(
            f"graph has shape {W.shape} but X has {n_samples} samples; give an affinity of every "
            f"two samples, shape ({n_samples}, {n_samples})."
        )
    largest = W.max()
    if largest == 0:
        raise ValueError("graph contains no edges: all its affinities are zero.")
    difference = abs(W - W.T).max()
    if difference > ASYMMETRY * largest:
        raise ValueError(
            f"graph is not symmetric (W and its transpose differ by up to {difference:.3g}); "
            "symmetrise it first, e.g. (W + W.T) / 2 or the larger of the two."
        )
    return (W + W.T) / 2 if difference > 0 else W


def _row_norms(rows: RowsInMemory) -> Tensor:
    """Return the squared norms of all rows, (N,)."""
    if isinstance(rows, DenseRows):
        return torch.from_numpy(np.einsum("ij,ij->i", rows.Z, rows.Z))
    parts = torch.arange(rows.shape[0]).split(max(1, BLOCK_ENTRIES // rows.shape[1]))
    return torch.cat([rows.take(part).square_().sum(1) for part in parts])


def _dissimilarities(
    rows: RowsInMemory, norms: Tensor, start: int, stop: int, cosine: bool
) -> Tensor:
    """Return squared distances or 1 - cosine from rows start..stop to all, (stop - start, N)."""
    products = rows.row_products(start, stop)
    norms = norms.to(products.device)
    if cosine:
        lengths = norms.sqrt().clamp(min=TINY)  # a row of zeros has cosine zero with all
        result = products.div_(lengths[start:stop, None]).div_(lengths).neg_().add_(1)
        rounding = torch.tensor(ROUNDING)
    else:
        result = products.mul_(-2).add_(norms[start:stop, None]).add_(norms)
        rounding = ROUNDING * (norms[start:stop, None] + norms)
    # Equal rows must be at distance zero exactly, whatever the rounding of the product.
    result.masked_fill_(result < rounding, 0)
    result.diagonal(start).zero_()
    return result


def _join_neighbors(nearest: IntArray, weights: FloatArray) -> sp.csr_array:
    """Join neighbours of either end by the larger of their weights, and every sample to itself."""
    N, k = nearest.shape
    edges = sp.csr_array(
        (weights.ravel(), nearest.ravel(), np.arange(0, N * k + 1, k)), shape=(N, N)
    )
    return sp.csr_array(edges.maximum(edges.T) + sp.eye_array(N))
