r"""The graph of the features, dense or restricted to nearest neighbours, and its walk.

Axes: R models side by side, d features, C groups. Affinities are those of
:mod:`groupfs.graphs.affinity`.
"""

import warnings

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.graphs.affinity import BANDWIDTH_FLOOR, TINY, self_tuning_graph
from groupfs.graphs.feature_neighbors import (
    distance_measure,
    nearest_columns,
    subtract_common_column,
)
from groupfs.graphs.similarity import Correlations
from groupfs.utils.types import FloatArray, IntArray

#: Features up to which the feature graph is dense on CUDA (256 MB).
DENSE_ON_CUDA = 8192


class FeatureGraph:
    r"""The graph over the columns of a table, built once.

    Parameters
    ----------
    rows : Rows
        Standardised table.
    n_neighbors : int
        K, for the bandwidths.
    n_kept : int or None
        Affinities kept per feature (its nearest neighbours; an edge stays if either end keeps it).
        None keeps all.
    signed : bool
        Whether a feature and its negative are far apart, or the same.
    correlations : Correlations or None
        Those of the rows, where they are known.

    Attributes
    ----------
    affinity : (d, d) array or CSR array
        W.
    walk : (d, d) array or CSR array
        :math:`D^{-1/2} W D^{-1/2}`; the Laplacian is the identity minus this.
    """

    def __init__(
        self,
        rows: Rows,
        n_neighbors: int,
        n_kept: int | None,
        signed: bool = True,
        correlations: Correlations | None = None,
    ) -> None:
        d = rows.shape[1]
        if signed:
            rows = subtract_common_column(rows)
        if n_kept is None or n_kept >= d - 1:
            self.affinity = dense_feature_affinity(rows, n_neighbors, signed, correlations)
        else:
            self.affinity = sparse_feature_affinity(rows, n_neighbors, n_kept, signed)
        self.walk = symmetric_walk(self.affinity)


def feature_walk(
    rows: Rows,
    n_neighbors: int,
    n_kept: int | None,
    signed: bool = True,
    correlations: Correlations | None = None,
) -> FloatArray | sp.csr_array:
    """Build the walk of the features with at most d - 1 neighbours, (d, d)."""
    K = min(n_neighbors, rows.shape[1] - 1)
    return FeatureGraph(rows, K, n_kept, signed, correlations).walk


def dense_feature_affinity(
    rows: Rows, n_neighbors: int, signed: bool = True, correlations: Correlations | None = None
) -> FloatArray:
    """Compute self-tuning affinities between all columns, (d, d)."""
    d = rows.shape[1]
    measure = distance_measure(rows, signed, correlations)
    graph = self_tuning_graph(measure(0, d), n_neighbors)
    affinity: FloatArray = graph.affinity.cpu().numpy()
    return affinity


def sparse_feature_affinity(
    rows: Rows, n_neighbors: int, n_kept: int, signed: bool = True
) -> sp.csr_array:
    """Compute affinities with the ``n_kept`` nearest columns of either end, in bounded memory."""
    n_kept = max(n_kept, n_neighbors)
    distances, nearest, mean = nearest_columns(rows, n_kept, signed)
    return affinity_of_neighbors(distances, nearest, n_neighbors, mean)


def affinity_of_neighbors(
    distances: FloatArray, nearest: IntArray, n_neighbors: int, mean: float
) -> sp.csr_array:
    """Turn squared distances to the nearest columns, (d, n_kept + 1), into affinities.

    ``mean`` is the mean squared distance of all columns.
    """
    d, n_kept = len(nearest), nearest.shape[1] - 1
    bandwidth = np.sqrt(np.maximum(distances[:, n_neighbors], BANDWIDTH_FLOOR * mean + TINY))
    source = np.repeat(np.arange(d), n_kept + 1)
    target = nearest.ravel()
    affinity = np.exp(-distances.ravel() / (bandwidth[source] * bandwidth[target]))
    # An explicit diagonal: copies of a feature may have crowded it out of its own neighbours.
    off = source != target
    kept = sp.csr_array((affinity[off], (source[off], target[off])), shape=(d, d))
    return sp.csr_array(kept.maximum(kept.T) + sp.eye_array(d))


def symmetric_walk(
    affinity: FloatArray | sp.csr_array,
) -> FloatArray | sp.csr_array:
    r"""Normalise affinities to :math:`D^{-1/2} W D^{-1/2}`, dense or sparse as W is."""
    scale = 1 / np.sqrt(np.asarray(affinity.sum(axis=1)).ravel())
    if sp.issparse(affinity):
        return sp.csr_array(sp.diags_array(scale) @ affinity @ sp.diags_array(scale))
    walk: FloatArray = affinity * scale[:, None] * scale[None, :]
    return walk


def walk_tensor(
    walk: FloatArray | sp.csr_array, device: torch.device, dtype: torch.dtype
) -> Tensor:
    """Make a tensor of a dense or CSR walk matrix, of the same layout.

    On CUDA sparse matrices of moderate size become dense: their products with sparse ones are not
    reproducible to the last bit, and dense products cost little there.
    """
    if not isinstance(walk, np.ndarray) and device.type == "cuda":
        walk = walk.toarray() if walk.shape[0] <= DENSE_ON_CUDA else walk
    if isinstance(walk, np.ndarray):
        return torch.as_tensor(walk, dtype=dtype, device=device)
    return _csr_tensor(walk, device, dtype)


def _csr_tensor(matrix: sp.csr_array, device: torch.device, dtype: torch.dtype) -> Tensor:
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data),
        size=matrix.shape,
        dtype=dtype,
        device=device,
        check_invariants=False,
    )


# torch says once in a process that these tensors are new. It is silenced here and not where they
# are made: there other threads may be at work, and warnings are silenced for all of them.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    _csr_tensor(sp.csr_array(np.eye(2)), torch.device("cpu"), torch.float32)


def apply_laplacian(walk: Tensor, F: Tensor) -> Tensor:
    """Compute :math:`F - S F` for each model, (d, d) dense or CSR and (R, d, C)."""
    R, d, C = F.shape
    if R == 1 and walk.layout == torch.strided:
        return F - walk @ F
    columns = F.transpose(0, 1).reshape(d, R * C)
    return (columns - walk @ columns).view(d, R, C).transpose(0, 1)
