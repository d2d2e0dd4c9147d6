r"""The smoothest directions on a feature graph, by the way that suits its size.

Axes: d features. Eigenvectors are those of the smallest eigenvalues of the Laplacian, that is of
the largest of :math:`D^{-1/2} W D^{-1/2}`.
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
#: Above this number of features eigenvectors come from lobpcg, in single precision.
BLOCK_FEATURES = 50_000
#: It has vectors to spare, is looked at after every round of steps, and given up after the last.
SPARE_VECTORS, ROUND_STEPS, MOST_ROUNDS = 8, 6, 15
#: An eigenvector v with eigenvalue a is good enough if |S v - a v| is at most this.
RESIDUAL = 0.01


def leading_eigenvectors(
    walk: FloatArray | sp.csr_array,
    n_vectors: int,
    block_features: int = BLOCK_FEATURES,
    dense_features: int | None = None,
    tolerance: float = 0.0,
) -> FloatArray:
    """Find the ``n_vectors`` smoothest directions on the graph, smoothest first, (d, n_vectors).

    Of more than ``block_features`` they are found by lobpcg, all at once: the eigenvalues of groups
    are nearly equal, which costs a method that goes vector by vector many restarts. They are as
    exact as clusters need them then, and not more. Of a dense walk of more than ``dense_features``
    (None: of none) they are found one by one, too, to a relative ``tolerance`` of the eigenvalues
    (0: to rounding).
    """
    d = walk.shape[0]
    is_large = sp.issparse(walk) or (dense_features is not None and d > dense_features)
    if is_large and n_vectors < d - 1:
        found = _by_blocks(walk, n_vectors) if sp.issparse(walk) and d > block_features else None
        values, vectors = found or _one_by_one(walk, n_vectors, tolerance=tolerance)
    else:
        dense = walk if isinstance(walk, np.ndarray) else walk.toarray()
        values, vectors = dense_eigenvectors(dense, n_vectors)
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


def first_component(matrix: FloatArray) -> tuple[float, FloatArray]:
    """Find the largest eigenvalue of a symmetric matrix and its eigenvector, (m,)."""
    m = len(matrix)
    if m <= FEW_FEATURES:
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
            return dense_eigenvectors(
                walk if isinstance(walk, np.ndarray) else walk.toarray(), n_vectors
            )
    with warnings.catch_warnings():
        # what has not converged is smooth all the same
        warnings.simplefilter("ignore", UserWarning)
        start = np.random.default_rng(0).standard_normal((d, n_vectors))
        return scipy.sparse.linalg.lobpcg(walk, start, maxiter=LOBPCG_STEPS)


def _by_blocks(
    walk: sp.csr_array, n_vectors: int, most_rounds: int = MOST_ROUNDS
) -> tuple[FloatArray, FloatArray] | None:
    """Find eigenvalues and eigenvectors, descending; None where they are not good enough.

    lobpcg stops when all of its vectors are good; the spare ones need not be.
    """
    entries = walk.data.astype(np.float32)
    single = sp.csr_array((entries, walk.indices, walk.indptr), shape=walk.shape)
    shape = (walk.shape[0], n_vectors + SPARE_VECTORS)
    vectors = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    for _ in range(most_rounds):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that it has not converged yet
                values, vectors = scipy.sparse.linalg.lobpcg(
                    single, vectors, largest=True, tol=RESIDUAL / 2, maxiter=ROUND_STEPS
                )
        except (np.linalg.LinAlgError, ValueError):  # its basis has fallen apart
            return None
        order = np.argsort(-values, kind="stable")
        values, vectors = values[order], vectors[:, order]
        wanted = vectors[:, :n_vectors]
        residual = np.linalg.norm(single @ wanted - wanted * values[:n_vectors], axis=0)
        if residual.max() <= RESIDUAL:
            return values[:n_vectors], np.ascontiguousarray(wanted)
    return None
