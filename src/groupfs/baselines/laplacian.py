r"""Laplacian Score, and the graph of the samples that it and MCFS need.

Axes: N samples, d features, k neighbours of a sample, itself not counted.

The graph is a symmetric affinity W (N, N) of non-negative weights, a plain array or, where only
neighbours are joined, a CSR array. In the self-tuning one built here :math:`W_{ii} = 1`.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from groupfs.baselines.base import DeviceSelector, Table
from groupfs.data.memory import BLOCK_ENTRIES
from groupfs.data.table import RowsInMemory
from groupfs.discovery import smoothness as discovery
from groupfs.discovery.sample_graph import check_affinity
from groupfs.joint.settings import fewer_than
from groupfs.utils.device import find_gpu
from groupfs.utils.sklearn_compat import COUNT, parameter
from groupfs.utils.types import FloatArray, IntArray

Affinity: TypeAlias = FloatArray | sp.csr_array

#: Samples up to which all affinities are kept (some times 128 MB), and neighbours kept above that.
DENSE_SAMPLES, KEPT_ABOVE = 4096, 50
#: Squared bandwidths are at least this share of the mean squared distance. Distances are in double
#: precision here, so close rows of far clusters, or those beside an outlier, need not look equal.
BANDWIDTH_FLOOR = 1e-9
#: Squared distances below this share of the squared norms of the two rows are rounding.
ROUNDING = 1e-12
#: Numbers of the table that are scored at a time, which keeps them in the cache.
SCORED_ENTRIES = 2**17
#: A weighted variance of less than this share of the weighted mean square is rounding.
FLAT = 1e-12


@dataclass(eq=False, repr=False, kw_only=True)
class SampleGraphSelector(DeviceSelector):
    """Base of the baselines that need a graph of the samples; it has the graph's parameters."""

    graph: Any = parameter("self-tuning", {"self-tuning"}, "array-like", "sparse matrix")
    n_neighbors: int = parameter(7, COUNT)
    kept_neighbors: int | str | None = parameter(None, COUNT, {"all"}, None)

    def _sample_affinity(self, rows: RowsInMemory) -> Affinity:
        """Build the graph that the parameters ask for, (N, N), multiplying rows on the device."""
        if not isinstance(self.graph, str):
            return check_affinity(self.graph, rows.shape[0], "graph")
        rows.multiply_on(find_gpu(self.device, rows.shape))
        K = fewer_than("n_neighbors", self.n_neighbors, rows.shape[0])
        return self_tuning_affinity(rows, K, self.kept_neighbors)


class LaplacianScore(SampleGraphSelector):
    r"""Keep the features that are smoothest on a graph of the samples.

    For a feature f, a graph W of the samples, its degrees :math:`D = \mathrm{diag}(W 1)` and
    :math:`L = D - W`, the Laplacian Score of He, Cai and Niyogi (2005) is

    .. math::

        \frac{\tilde f^\top L \tilde f}{\tilde f^\top D \tilde f}, \qquad
        \tilde f = f - \frac{f^\top D 1}{1^\top D 1} 1 .

    There smaller is better; ``scores_`` is its negative, so that higher is better.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features to keep. None takes half of those that vary.
    graph : "self-tuning" or array or sparse array of shape (N, N), default="self-tuning"
        Affinities of the samples: :math:`\exp(-d_{ij}^2 / (g_i g_j))` with :math:`g_i` the distance
        to the K-th neighbour in the centred and scaled table. Or your own: not negative; of the two
        weights of a pair the larger counts, and the diagonal does not.
    n_neighbors : int, default=7
        K above, the sample itself not counted.
    kept_neighbors : int, "all" or None, default=None
        How many neighbours of a sample stay joined to it. None keeps all up to 4096 samples, so
        that no matrix takes more than 128 MB, and 50 above.
    standardize, device
        As in :class:`groupfs.GroupFS`; the device is where the graph is built.

    Examples
    --------
    >>> from groupfs.baselines import LaplacianScore
    >>> from groupfs.datasets import load_two_moons
    >>> selector = LaplacianScore(10).fit(load_two_moons(random_state=0).data)
    >>> selector.get_support(indices=True)
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    def _fit_table(self, table: Table) -> None:
        self._rank(table, smoothness(table.rows, self._sample_affinity(table.rows)))


def smoothness(rows: RowsInMemory, W: Affinity, block_entries: int = SCORED_ENTRIES) -> FloatArray:
    r"""Return :math:`\tilde f^\top W \tilde f / \tilde f^\top D \tilde f - 1` of the columns, (d,).

    That is the Laplacian Score with a minus sign. A few columns are taken at a time, which keeps
    them in the cache and a sparse table from being filled in whole.
    """
    N, d = rows.shape
    degree = np.asarray(W.sum(axis=1)).ravel()
    mean = rows.project(degree[:, None])[:, 0] / degree.sum()
    shared, spread = np.empty(d), np.empty(d)
    width = max(16, block_entries // N)
    for start in range(0, d, width):
        part = slice(start, min(start + width, d))
        centered = rows.columns(part.start, part.stop) - mean[part]
        shared[part] = np.einsum("nd,nd->d", centered, W @ centered)
        spread[part] = degree @ np.square(centered, out=centered)
    # with a graph that leaves samples out, a column may vary among those alone
    flat = spread <= FLAT * (spread + degree.sum() * mean**2)
    return np.where(flat, -np.inf, shared / np.where(flat, 1, spread) - 1)


def self_tuning_affinity(
    rows: RowsInMemory, n_neighbors: int, kept_neighbors: int | str | None
) -> Affinity:
    r"""Return :math:`\exp(-d_{ij}^2 / (g_i g_j))`, :math:`g_i` the distance to K-th neighbours."""
    N = rows.shape[0]
    if kept_neighbors is None:
        kept_neighbors = "all" if DENSE_SAMPLES >= N else KEPT_ABOVE
    if isinstance(kept_neighbors, str) or kept_neighbors >= N - 1:
        distances = _squared_distances(rows, _row_norms(rows), 0, N)
        return discovery.self_tuning_affinity(distances, n_neighbors, BANDWIDTH_FLOOR)
    k = max(kept_neighbors, n_neighbors)
    squared, nearest, mean = nearest_rows(rows, k)
    g = np.sqrt(np.maximum(squared[:, n_neighbors - 1], BANDWIDTH_FLOOR * mean + discovery.TINY))
    weights = np.exp(-squared / (g[:, None] * g[nearest]))
    starts = np.arange(0, N * k + 1, k)
    edges = sp.csr_array((weights.ravel(), nearest.ravel(), starts), shape=(N, N))
    # neighbours of either end are joined, and every sample to itself
    return sp.csr_array(edges.maximum(edges.T) + sp.eye_array(N))


def nearest_rows(
    rows: RowsInMemory, n_kept: int, block_entries: int = BLOCK_ENTRIES
) -> tuple[FloatArray, IntArray, float]:
    """Return squared distances to the nearest other rows, their indices, and a mean.

    Shapes (N, n_kept) and (N, n_kept), nearest first; the mean is over all N x N pairs.
    """
    N, norms = rows.shape[0], _row_norms(rows)
    size = max(1, block_entries // N)
    near, nearest, total = [], [], 0.0
    for start in range(0, N, size):
        block = _squared_distances(rows, norms, start, min(N, start + size))
        total += float(block.sum())
        own = np.arange(len(block))
        block[own, own + start] = np.inf
        # of equal distances the first, so that the order does not hang on the partition
        places = np.sort(np.argpartition(block, n_kept - 1, axis=1)[:, :n_kept], axis=1)
        order = np.argsort(np.take_along_axis(block, places, axis=1), axis=1, kind="stable")
        nearest.append(np.take_along_axis(places, order, axis=1))
        near.append(np.take_along_axis(block, nearest[-1], axis=1))
    return np.concatenate(near), np.concatenate(nearest), total / N**2


def _row_norms(rows: RowsInMemory) -> FloatArray:
    size = max(1, BLOCK_ENTRIES // rows.shape[1])
    parts = np.split(np.arange(rows.shape[0]), range(size, rows.shape[0], size))
    return np.concatenate([np.square(rows.take(part)).sum(1) for part in parts])


def _squared_distances(rows: RowsInMemory, norms: FloatArray, start: int, stop: int) -> FloatArray:
    """Return squared distances from rows start..stop to all, (stop - start, N)."""
    squared = rows.row_products(start, stop)
    squared *= -2
    squared += norms[start:stop, None]
    squared += norms
    # Equal rows must be at distance zero exactly, whatever the rounding of the product.
    squared[squared < ROUNDING * (norms[start:stop, None] + norms)] = 0
    own = np.arange(stop - start)
    squared[own, own + start] = 0
    return squared
