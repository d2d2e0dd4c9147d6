r"""Find leading eigenvectors of symmetric matrices: dense, sparse, or known by their products.

Axes: d features, V eigenvectors.
"""

import inspect
import warnings
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from groupfs.utils.types import FloatArray

#: Features up to which all eigenvectors are found at once where Lanczos gets nowhere (512 MB), and
#: steps of the way that is taken beyond.
DIRECT_FEATURES, LOBPCG_STEPS = 8192, 200
#: Features above which few eigenvectors of a dense walk are found faster one by one.
DENSE_FEATURES = 1024
#: Features up to which the first eigenvector is found with all others.
FEW_FEATURES = 200


def leading_eigenvectors(
    walk: FloatArray | sp.csr_array, n_vectors: int, tolerance: float = 0.0
) -> FloatArray:
    """Find the ``n_vectors`` smoothest directions on the graph, smoothest first, (d, n_vectors).

    Those of a sparse walk, and of a dense one of many features, are found one by one, to a relative
    ``tolerance`` of the eigenvalues (0: to rounding).
    """
    d = walk.shape[0]
    is_large = sp.issparse(walk) or d > DENSE_FEATURES
    if is_large and n_vectors < d - 1:
        values, vectors = _one_by_one(walk, n_vectors, tolerance=tolerance)
    else:
        values, vectors = dense_eigenvectors(_dense(walk), n_vectors)
    order = np.argsort(-values, kind="stable")
    result: FloatArray = vectors[:, order]
    return result


def smoothness_of(walk: FloatArray | sp.csr_array, eigenvectors: FloatArray) -> FloatArray:
    """Compute the eigenvalues that belong to eigenvectors of the walk, (n_vectors,)."""
    values: FloatArray = np.einsum("ij,ij->j", eigenvectors, walk @ eigenvectors)
    return values


def dense_eigenvectors(matrix: FloatArray, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    """Find the largest eigenvalues, (m,), in rising order, and their eigenvectors, (d, m)."""
    d = matrix.shape[0]
    try:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(d - n_vectors, d - 1))
    except scipy.linalg.LinAlgError:  # many are equal
        values, vectors = np.zeros(0), np.zeros((d, 0))
    if len(values) < n_vectors:  # LAPACK may lose some where many are equal, and does not say so
        values, vectors = scipy.linalg.eigh(matrix, driver="evd")
    return values[-n_vectors:], vectors[:, -n_vectors:]


def first_component(matrix: Any) -> tuple[float, FloatArray]:
    """Find the largest eigenvalue of a symmetric matrix or operator and its eigenvector, (m,)."""
    if not isinstance(matrix, np.ndarray):
        values, vectors = lanczos(matrix, 1)
    elif len(matrix) <= FEW_FEATURES:
        values, vectors = dense_eigenvectors(matrix, 1)
    else:
        values, vectors = _one_by_one(matrix, 1)
    return float(values[0]), vectors[:, 0]


def lanczos(matrix: Any, n_vectors: int, **options: Any) -> tuple[FloatArray, FloatArray]:
    """Find the largest eigenvalues of a sparse matrix or an operator, in any order, and vectors.

    ARPACK draws numbers of its own when it has to start again; with a seed they stay the same.
    """
    eigsh, rng = scipy.sparse.linalg.eigsh, np.random.default_rng(0)
    start = rng.standard_normal(matrix.shape[0])
    if "rng" in inspect.signature(eigsh).parameters:  # since scipy 1.17
        options["rng"] = rng
    found: tuple[FloatArray, FloatArray] = eigsh(matrix, n_vectors, which="LA", v0=start, **options)
    return found


def _one_by_one(
    walk: FloatArray | sp.csr_array,
    n_vectors: int,
    direct_features: int = DIRECT_FEATURES,
    tolerance: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Use Lanczos, or a slower way where eigenvalues are too close for it to converge."""
    d = walk.shape[0]
    try:
        return lanczos(walk, n_vectors, tol=tolerance)
    except scipy.sparse.linalg.ArpackError:
        if d <= direct_features:
            return dense_eigenvectors(_dense(walk), n_vectors)
    with warnings.catch_warnings():
        # what has not converged is smooth all the same
        warnings.simplefilter("ignore", UserWarning)
        start = np.random.default_rng(0).standard_normal((d, n_vectors))
        return scipy.sparse.linalg.lobpcg(walk, start, maxiter=LOBPCG_STEPS)


def _dense(walk: FloatArray | sp.csr_array) -> FloatArray:
    return walk if isinstance(walk, np.ndarray) else np.asarray(walk.toarray())
