r"""Multi-Cluster Feature Selection: features that explain the eigenvectors of a sample graph.

Axes: N samples, d features, K eigenvectors.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator

from groupfs.baselines.base import Table, fewer_than_samples
from groupfs.baselines.least_angle import ColumnProducts, least_angle_coefficients
from groupfs.baselines.sample_graph import Affinity, SampleGraphSelector
from groupfs.discovery.clusters import dense_eigenvectors, lanczos
from groupfs.utils.sklearn_compat import COUNT
from groupfs.utils.types import FloatArray

#: Samples up to which eigenvectors are computed directly; above, by Lanczos iteration with so many
#: vectors and restarts at most.
DIRECT_SAMPLES, LANCZOS_VECTORS, LANCZOS_RESTARTS = 1000, 40, 1000


@dataclass(eq=False, repr=False, kw_only=True)
class MCFS(SampleGraphSelector):
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
    graph, n_neighbors, kept_neighbors, standardize, device
        Of the graph of the samples, as in :class:`LaplacianScore`. ``standardize`` is for the
        regression too.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best. Features with equal scores, such as those that no
        regression took, are ordered by their largest absolute correlation with a y.
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

    n_eigenvectors: int = 5
    n_nonzero: int | None = None

    _parameter_constraints = {
        **SampleGraphSelector._parameter_constraints,
        "n_eigenvectors": [COUNT],
        "n_nonzero": [COUNT, None],
    }

    def _fit_table(self, table: Table) -> None:
        rows = table.rows
        N, d = rows.shape
        W = self._sample_affinity(rows)
        n_vectors = fewer_than_samples("n_eigenvectors", self.n_eigenvectors, N)
        Y = cluster_directions(W, n_vectors)
        n_nonzero = min(self.n_nonzero or self._budget(table), d, N - 1)
        products, targets = ColumnProducts(rows), rows.project(Y)
        coefficients = np.column_stack(
            [least_angle_coefficients(products, target, n_nonzero) for target in targets.T]
        )
        lengths = np.linalg.norm(Y - Y.mean(0), axis=0)
        lengths[lengths == 0] = 1
        correlations = np.abs(targets) / np.outer(np.sqrt(rows.column_norms), lengths)
        self._rank(table, np.abs(coefficients).max(1), tie_breaker=correlations.max(1))
        self.coef_ = np.zeros((self.n_features_in_, n_vectors))
        self.coef_[table.columns] = coefficients


def cluster_directions(
    W: Affinity, n_vectors: int, direct_samples: int = DIRECT_SAMPLES
) -> FloatArray:
    r"""Return :math:`D^{-1/2} u` for the leading eigenvectors but the trivial one, (N, K)."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    # samples without any edge take no part
    inverse_root = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    scaled = sp.diags_array(inverse_root)
    walk = scaled @ W @ scaled if sp.issparse(W) else W * inverse_root[:, None] * inverse_root
    trivial = np.sqrt(degree) / np.linalg.norm(np.sqrt(degree))
    return inverse_root[:, None] * _leading_but_trivial(walk, trivial, n_vectors, direct_samples)


def _leading_but_trivial(
    walk: Affinity, trivial: FloatArray, n_vectors: int, direct_samples: int
) -> FloatArray:
    """Return eigenvectors of the largest eigenvalues, orthogonal to the one that is known, (N, K).

    That one is moved from the top to the bottom of the spectrum instead of dropping the first that
    the solver returns: on a graph in pieces the solver's first is any mixture of several.
    """
    N = walk.shape[0]
    if direct_samples < N and n_vectors < LANCZOS_VECTORS // 2:
        operator = LinearOperator(
            (N, N), matvec=lambda x: walk @ x - 2 * trivial * (trivial @ x), dtype=np.float64
        )
        effort = {"ncv": LANCZOS_VECTORS, "maxiter": LANCZOS_RESTARTS}
        try:
            values, vectors = lanczos(operator, n_vectors, **effort)
            return np.asarray(vectors[:, np.argsort(-values, kind="stable")])
        except ArpackError:
            pass  # the direct way is slow for so many samples, but it ends
    dense: FloatArray = walk if isinstance(walk, np.ndarray) else walk.toarray()
    _, vectors = dense_eigenvectors(dense - 2 * np.outer(trivial, trivial), n_vectors)
    return vectors[:, ::-1]
