r"""Multi-Cluster Feature Selection: features that explain the eigenvectors of a sample graph.

Axes: N samples, d features, K eigenvectors.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from groupfs.baselines.base import RankingSelector, shared_constraints
from groupfs.baselines.mcfs.least_angle import ColumnProducts, least_angle_coefficients
from groupfs.baselines.sample_graph import GRAPH_CONSTRAINTS, Affinity, sample_affinity
from groupfs.graphs.eigenvectors import dense_eigenvectors, lanczos
from groupfs.utils.types import FloatArray
from groupfs.utils.warn import warn

#: Samples up to which eigenvectors are computed directly; above, by Lanczos iteration with so many
#: vectors and restarts at most.
DIRECT_SAMPLES, LANCZOS_VECTORS, LANCZOS_RESTARTS = 1000, 40, 1000


class MCFS(RankingSelector):
    r"""Keep the features that explain the smoothest directions on a graph of the samples.

    With W a graph of the samples and D its degrees, the eigenvectors u of the K largest eigenvalues
    of :math:`D^{-1/2} W D^{-1/2}`, apart from the trivial one :math:`D^{1/2} 1`, give
    :math:`y = D^{-1/2} u`. Each y is regressed on the features by least angle regression, which
    takes at most ``n_nonzero`` of them. The score of a feature is its largest absolute coefficient
    (Cai, Zhang and He, 2010). Taking the absolute value matters: eigenvectors have no sign.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features to keep. None takes half of those that vary.
    n_eigenvectors : int, default=5
        K. The number of clusters expected is the other usual choice.
    n_nonzero : int or None, default=None
        Features that a regression takes at most. None takes as many as are selected. N samples
        leave room for N - 1.
    graph : {"self-tuning", "cosine", "heat"} or array or sparse array of shape (N, N), \
            default="self-tuning"
        Affinities of the samples, as in ``LaplacianScore``.
    n_neighbors : int, default=7
        Neighbours that set the bandwidth of the self-tuning graph, or that the others join.
    kept_neighbors : int, "all" or None, default=None
        For the self-tuning graph: how many neighbours of a sample stay joined to it. None keeps all
        up to 4096 samples, so that no matrix takes more than 128 MB, and 50 above.
    bandwidth : float or None, default=None
        For the heat graph: t, in units of the scaled table. None takes the mean distance to the
        neighbours.
    standardize : bool, default=True
        Scale every column to unit variance, for the graph and for the regression. If False, columns
        are centred and the table is scaled as a whole.
    device : str or torch.device, default="auto"
        Where the graph is built: "auto" is CUDA if there is one, else the CPU.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Largest absolute coefficients, 0 for features that no regression took; ``-inf`` for constant
        columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best. Features with equal scores are ordered by their largest
        absolute correlation with a y.
    coef_ : ndarray of shape (n_features_in_, K)
        Coefficients for each y, smoothest first, in units of the scaled table.

    Notes
    -----
    If a graph falls apart into pieces, or has other equal eigenvalues, their eigenvectors are only
    known up to rotation; the ones that the solver gives are used, always the same on one machine.

    Examples
    --------
    >>> from groupfs.baselines import MCFS
    >>> from groupfs.datasets import load_two_moons
    >>> selector = MCFS(10, n_eigenvectors=2).fit(load_two_moons(random_state=0).data)
    >>> selector.get_support(indices=True)
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    __module__ = "groupfs.baselines"

    _parameter_constraints: dict[str, list[Any]] = {
        **shared_constraints("n_features_to_select", "standardize", "device"),
        **GRAPH_CONSTRAINTS,
        "n_eigenvectors": [Interval(Integral, 1, None, closed="left")],
        "n_nonzero": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        n_eigenvectors: int = 5,
        n_nonzero: int | None = None,
        graph: Any = "self-tuning",
        n_neighbors: int = 7,
        kept_neighbors: int | str | None = None,
        bandwidth: float | None = None,
        standardize: bool = True,
        device: Any = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_eigenvectors = n_eigenvectors
        self.n_nonzero = n_nonzero
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.kept_neighbors = kept_neighbors
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.device = device

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the graph, regress its eigenvectors, score the features; ``y`` is ignored."""
        table = self._check_table(X, self.standardize)
        rows, budget = table.rows, self._budget(table)
        W = sample_affinity(
            rows,
            self.graph,
            self.n_neighbors,
            self.kept_neighbors,
            self.bandwidth,
            self.device,
        )
        Y = cluster_directions(W, self._possible_eigenvectors(rows.shape[0]))
        n_nonzero = min(self.n_nonzero or budget, rows.shape[1], rows.shape[0] - 1)
        products, targets = ColumnProducts(rows), rows.project(Y)
        coefficients = np.column_stack(
            [least_angle_coefficients(products, target, n_nonzero) for target in targets.T]
        )
        correlations = np.abs(targets) / np.outer(np.sqrt(rows.column_norms), _spread(Y))
        self._rank(table, np.abs(coefficients).max(1), budget, correlations.max(1))
        self.coef_ = np.zeros((self.n_features_in_, Y.shape[1]))
        self.coef_[table.columns] = coefficients
        return self

    def _possible_eigenvectors(self, n_samples: int) -> int:
        if self.n_eigenvectors < n_samples:
            return self.n_eigenvectors
        warn(
            f"n_eigenvectors={self.n_eigenvectors} but X has {n_samples} samples; "
            f"{n_samples - 1} are used instead."
        )
        return n_samples - 1


def cluster_directions(W: Affinity, n_vectors: int) -> FloatArray:
    r""":math:`D^{-1/2} u` for the leading eigenvectors but the trivial one, (N, K)."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    # samples without any edge take no part
    inverse_root = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    scaled = sp.diags_array(inverse_root)
    walk = scaled @ W @ scaled if sp.issparse(W) else W * inverse_root[:, None] * inverse_root
    return inverse_root[:, None] * leading_but_trivial(walk, np.sqrt(degree), n_vectors)


def leading_but_trivial(walk: Affinity, trivial: FloatArray, n_vectors: int) -> FloatArray:
    """Eigenvectors of the largest eigenvalues, orthogonal to the one that is known, (N, K).

    That one is moved from the top to the bottom of the spectrum instead of dropping the first that
    the solver returns: on a graph in pieces the solver's first is any mixture of several.
    """
    N = walk.shape[0]
    trivial = trivial / np.linalg.norm(trivial)
    if N > DIRECT_SAMPLES and n_vectors < LANCZOS_VECTORS // 2:
        operator = LinearOperator(
            (N, N), matvec=lambda x: walk @ x - 2 * trivial * (trivial @ x), dtype=np.float64
        )
        try:
            values, vectors = lanczos(
                operator, n_vectors, ncv=LANCZOS_VECTORS, maxiter=LANCZOS_RESTARTS
            )
            return np.asarray(vectors[:, np.argsort(-values, kind="stable")])
        except ArpackError:
            pass  # the direct way is slow for so many samples, but it ends
    dense: FloatArray = walk if isinstance(walk, np.ndarray) else walk.toarray()
    _, vectors = dense_eigenvectors(dense - 2 * np.outer(trivial, trivial), n_vectors)
    return vectors[:, ::-1]


def _spread(Y: FloatArray) -> FloatArray:
    """Norms of the centred columns, one where there is none, (K,)."""
    norms = np.linalg.norm(Y - Y.mean(0), axis=0)
    return np.where(norms > 0, norms, 1.0)
