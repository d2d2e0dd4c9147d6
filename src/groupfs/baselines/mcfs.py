r"""Multi-Cluster Feature Selection: features that explain the eigenvectors of a sample graph.

Axes: N samples, d features, K eigenvectors, n features that a regression has taken so far.

They are explained by least angle regression (Efron et al., 2004), stopped at a number of features.
All it needs of the table are products of its columns. scikit-learn's ``Lars`` (1.9) does the same
until a coefficient changes its sign. From there on it turns the sign of that feature's angle too,
which only the lasso variant calls for (there the feature leaves), and the products of the features
that joined are equal no more.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator

from groupfs.baselines.base import Table
from groupfs.baselines.laplacian import Affinity, SampleGraphSelector
from groupfs.data.table import RowsInMemory
from groupfs.discovery.members import dense_eigenvectors, lanczos
from groupfs.joint.settings import fewer_than
from groupfs.utils.sklearn_compat import COUNT, parameter
from groupfs.utils.types import FloatArray

#: Samples up to which eigenvectors are computed directly; above, vectors and restarts of Lanczos.
DIRECT_SAMPLES, LANCZOS_VECTORS, LANCZOS_RESTARTS = 1000, 40, 1000
#: Features up to which all products of columns are computed at once (128 MB).
MOST_COLUMNS = 4096
#: A feature this close to the span of those taken adds nothing: share of its squared norm left.
DEPENDENT = 1e-10
#: A step that leaves less than this share of the height leaves only rounding.
ROUNDING = 1e-9


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

    n_eigenvectors: int = parameter(5, COUNT)
    n_nonzero: int | None = parameter(None, COUNT, None)

    def _fit_table(self, table: Table) -> None:
        rows = table.rows
        N, d = rows.shape
        W = self._sample_affinity(rows)
        n_vectors = fewer_than("n_eigenvectors", self.n_eigenvectors, N)
        Y = cluster_directions(W, n_vectors)
        n_nonzero = min(self.n_nonzero or self._budget(table), d, N - 1)
        products, targets = ColumnProducts(rows), rows.project(Y)
        found = [least_angle_coefficients(products, target, n_nonzero) for target in targets.T]
        coefficients = np.column_stack(found)
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
    # The trivial one is moved from the top to the bottom of the spectrum instead of dropping the
    # solver's first: on a graph in pieces that is any mixture of several.
    trivial, N = np.sqrt(degree) / np.linalg.norm(np.sqrt(degree)), len(degree)
    if direct_samples < N and n_vectors < LANCZOS_VECTORS // 2:
        operator = LinearOperator(
            (N, N), matvec=lambda x: walk @ x - 2 * trivial * (trivial @ x), dtype=np.float64
        )
        effort = {"ncv": LANCZOS_VECTORS, "maxiter": LANCZOS_RESTARTS}
        with suppress(ArpackError):  # the direct way is slow for so many samples, but it ends
            values, vectors = lanczos(operator, n_vectors, **effort)
            return inverse_root[:, None] * vectors[:, np.argsort(-values, kind="stable")]
    dense: FloatArray = walk if isinstance(walk, np.ndarray) else walk.toarray()
    _, vectors = dense_eigenvectors(dense - 2 * np.outer(trivial, trivial), n_vectors)
    return inverse_root[:, None] * vectors[:, ::-1]


class ColumnProducts:
    """Products of the columns of a table: all at once where there are few, else on demand."""

    def __init__(self, rows: RowsInMemory, most_columns: int = MOST_COLUMNS) -> None:
        N, d = rows.shape
        self.rows = rows
        self.whole = rows.column_products(0, d) if d <= min(N, most_columns) else None

    def of(self, j: int) -> FloatArray:
        """Return the products of column j with all, (d,)."""
        whole = self.whole
        return self.rows.column_products(j, j + 1)[0] if whole is None else whole[j]

    def with_sum(self, weights: FloatArray) -> FloatArray:
        """Return the products of all columns with a weighted sum of them, (d,) to (d,)."""
        if self.whole is not None:
            return self.whole @ weights
        return self.rows.project(self.rows.combine(weights[:, None]))[:, 0]


def least_angle_coefficients(
    products: ColumnProducts, target: FloatArray, n_nonzero: int
) -> FloatArray:
    """Return the coefficients when ``n_nonzero`` features have joined, one more about to, (d,).

    Fewer join if they explain all that the table can. Columns that are combinations of those taken,
    copies above all, are passed over.
    ``target`` (d,) are the products of the columns with what is to be explained.
    """
    coefficients, direction, rates = np.zeros((3, len(target)))
    residual = target.copy()  # products of the columns with what is not yet explained
    height = np.abs(target).max()  # the absolute value that those of the active columns share
    active: list[int] = []
    free = np.ones(len(target), dtype=bool)
    # rows of the inverse make the active columns orthonormal; the signs are theirs in that basis
    inverse, signs = np.zeros((n_nonzero, n_nonzero)), np.zeros(n_nonzero)
    while True:
        # along the direction the height falls at rate one, so it is the longest step there is
        steps = np.where(free, _steps_until_equal(residual, rates, height), np.inf)
        j, n = int(steps.argmin()), len(active)
        if steps[j] >= height * (1 - ROUNDING):
            return coefficients + height * direction
        free[j] = False
        own = products.of(j)
        inside = inverse[:n, :n] @ own[active]
        outside = own[j] - inside @ inside  # part of its squared norm that the active do not span
        if outside <= DEPENDENT * own[j]:
            continue
        coefficients += steps[j] * direction
        if n == n_nonzero:
            return coefficients
        residual -= steps[j] * rates
        height -= steps[j]
        active.append(j)
        inverse[n, :n] = -(inside @ inverse[:n, :n]) / np.sqrt(outside)
        inverse[n, n] = 1 / np.sqrt(outside)
        signs[n] = (np.sign(residual[j]) - inside @ signs[:n]) / np.sqrt(outside)
        # the weights of a sum that has equal angles with all active columns
        direction[active] = signs[: n + 1] @ inverse[: n + 1, : n + 1]
        rates = products.with_sum(direction)


def _steps_until_equal(residual: FloatArray, rates: FloatArray, height: float) -> FloatArray:
    """Return how far to go until products reach the height, which falls at rate one, (d,)."""
    gaps = height - np.stack([residual, -residual])
    slopes = 1 - np.stack([rates, -rates])
    steps = np.divide(gaps, slopes, out=np.full(gaps.shape, np.inf), where=slopes > 0)
    return np.maximum(steps.min(axis=0), 0)
