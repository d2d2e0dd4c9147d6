r"""Laplacian Score: features that vary little between samples that are close.

Axes: N samples, d features.
"""

from typing import Any

import numpy as np

from groupfs.baselines.base import Table
from groupfs.baselines.sample_graph import Affinity, SampleGraphSelector
from groupfs.data.table import RowsInMemory
from groupfs.utils.types import FloatArray

#: Numbers of the table that are worked on at a time.
BLOCK_ENTRIES = 2**17
#: A weighted variance of less than this share of the weighted mean square is rounding.
FLAT = 1e-12


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
        W = self._sample_affinity(table.rows)
        self._rank(table, smoothness(table.rows, W))


def laplacian_score(X: Any, y: Any = None, **parameters: Any) -> FloatArray:
    """Score all features for ``SelectKBest``, by the Laplacian Score with a minus sign.

    ``y`` is ignored; other parameters are those of :class:`LaplacianScore`.

    Examples
    --------
    >>> from groupfs.baselines import laplacian_score
    >>> from groupfs.datasets import load_two_moons
    >>> from sklearn.feature_selection import SelectKBest
    >>> X = load_two_moons(random_state=0).data
    >>> SelectKBest(laplacian_score, k=10).fit_transform(X).shape
    (1000, 10)
    """
    return LaplacianScore(**parameters).fit(X).scores_


def smoothness(rows: RowsInMemory, W: Affinity, block_entries: int = BLOCK_ENTRIES) -> FloatArray:
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
