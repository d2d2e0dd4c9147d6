r"""Find coordinates of features in which the variance they explain is worked out.

Axes: N samples, d features, p columns, m coordinates.

Columns are known by a small factor of their correlations, :math:`F^\top F \approx R`. Where the
smaller side of the table is short it is exact: the columns themselves, or the Cholesky factor of
their correlations. Else it is a sketch: rows added up with random signs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from groupfs.data.memory import SIGN_ENTRIES
from groupfs.data.standardize import order_by_keys
from groupfs.data.table import RowsInMemory
from groupfs.utils.types import FloatArray, IntArray

#: How far coordinates of duplicate columns differ: by the root of the jitter.
SAME_COORDINATE = 1e-4
#: Added to the diagonal of correlations, which may be singular, to be factored: the first to do.
JITTERS = 10.0 ** np.arange(-12, -2)


@dataclass(frozen=True)
class Limits:
    """How much is done exactly."""

    most_picks: int = 1024  #: features chosen one by one; others follow by what they would cover
    most_entries: int = 2**23  #: numbers of an exact factor; every pick goes through them twice
    sketch_rows: int = 1024
    sketch_entries: int = 2**25  #: numbers of a sketch
    exact_entries: int = 2**24  #: products by which features chosen by a sketch are ordered again


DEFAULT = Limits()


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of the columns of features, and which features are the same."""

    F: FloatArray | None  #: (m, p), unit columns; None for similarities that know no residuals
    sizes: IntArray  #: columns of every feature, (d,)
    n_duplicates: FloatArray  #: features equal to each or its negative, itself included, (d,)
    is_sketch: bool = False
    squared: FloatArray | None = None  #: squared similarities of features, (d, d); None: of columns


def column_coordinates(
    rows: RowsInMemory, products: Callable[[], FloatArray], is_sample: bool, limits: Limits
) -> Coordinates:
    """Find coordinates of columns whose inner products are their correlations.

    ``products`` multiplies all columns with all, over more rows than these if they are a sample.
    """
    N, d = rows.shape
    most = limits.sketch_entries if limits.sketch_rows >= N else limits.most_entries
    is_sketch = False
    if d >= N and most >= N * d and not is_sample:
        dtype: type = np.float64 if N * d <= limits.most_entries else np.float32
        F: FloatArray = rows.take(np.arange(N)).astype(dtype)
    elif d**2 <= limits.most_entries:
        R = products()
        roots = np.sqrt(np.maximum(np.diagonal(R), 1e-300))
        F = cholesky(R / roots[:, None] / roots)
    else:
        is_sketch = True
        n_sums = max(64, min(limits.sketch_rows, limits.sketch_entries // d))
        F = _signed_sums(rows, n_sums)
    F /= np.maximum(np.linalg.norm(F, axis=0), 1e-150 if F.dtype == np.float64 else 1e-30)
    return Coordinates(F, np.ones(d, dtype=np.int64), _count_duplicates(F), is_sketch)


def cholesky(matrix: FloatArray) -> FloatArray:
    """Factor a positive semidefinite matrix with unit diagonal, (p, p): F with F'F."""
    for jitter in JITTERS:
        try:
            return scipy.linalg.cholesky(matrix + jitter * np.eye(len(matrix)))
        except np.linalg.LinAlgError:
            pass
    raise np.linalg.LinAlgError("correlations of the features could not be factored.")


def _signed_sums(rows: RowsInMemory, n_sums: int) -> FloatArray:
    """Add up all rows with random signs so many times, (m, d), single precision."""
    N, d = rows.shape
    m, rng = min(N, n_sums), np.random.default_rng(0)
    found, size = np.empty((m, d), dtype=np.float32), max(1, SIGN_ENTRIES // N)
    for start in range(0, m, size):
        signs = rng.choice([-1.0, 1.0], size=(N, min(size, m - start)))
        found[start : start + size] = rows.project(signs).T
    return np.asarray(found)


def _count_duplicates(F: FloatArray) -> FloatArray:
    """Count how many columns equal each one or its negative, itself included, (p,)."""
    vectors = np.random.default_rng(0).standard_normal((len(F), 3))
    keys = (F.T @ vectors.astype(F.dtype)).astype(np.float64)
    keys *= np.where(keys[:, :1] < 0, -1, 1)
    order, alike = order_by_keys(keys, SAME_COORDINATE)
    counts = np.empty(len(order))
    counts[order] = np.bincount(alike)[alike]
    return counts
