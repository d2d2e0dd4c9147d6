r"""A small factor of the correlations of columns: :math:`F^\top F \approx R`, unit columns.

Axes: N samples, d features, m rows of the factor.

Where the smaller side of the table is short the factor is exact: the columns themselves, or the
Cholesky factor of their correlations. Else it is a sketch: rows added up with random signs, whose
inner products estimate those of the columns.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from groupfs.data.rows import Rows, RowsInMemory
from groupfs.data.standardize import order_by_keys
from groupfs.data.streamed_rows import StreamRows
from groupfs.utils.types import FloatArray, IntArray

#: Numbers that an exact factor may hold; every pick goes through all of them twice.
MOST_ENTRIES = 2**23
#: Rows of a sketch, and numbers it may hold.
SKETCH_ROWS, SKETCH_ENTRIES = 1024, 2**25
#: Numbers of a factor up to which a processor goes through it faster than kernels are launched.
SMALL_FACTOR = 2**18
#: Coordinates of copies differ by the root of the jitter.
SAME_KEY = 1e-4
#: Added to the diagonal of correlations, which may be singular, before they are factored: the first
#: that will do.
JITTERS = 10.0 ** np.arange(-12, -2)


@dataclass(frozen=True)
class ColumnFactor:
    """Coordinates of the columns of a table."""

    F: Tensor  #: (m, d), unit columns
    is_exact: bool

    def copies(self) -> FloatArray:
        """Count how many columns equal each one or its negative, itself included, (d,)."""
        vectors = np.random.default_rng(0).standard_normal((len(self.F), 3))
        keys = (self.F.T @ torch.as_tensor(vectors).to(self.F)).cpu().double().numpy()
        keys *= np.where(keys[:, :1] < 0, -1, 1)
        order, twins = order_by_keys(keys, SAME_KEY)
        counts = np.empty(len(order))
        counts[order] = np.bincount(twins)[twins]
        return counts


def factor_columns(rows: Rows) -> ColumnFactor:
    """Find coordinates of the columns whose inner products are their correlations."""
    N, d = rows.shape
    most = SKETCH_ENTRIES if N <= SKETCH_ROWS else MOST_ENTRIES
    is_short = d >= N and N * d <= most
    if is_short and isinstance(rows, RowsInMemory):
        return ColumnFactor(_unit(_small_here(_own_columns(rows))), True)
    if d**2 <= MOST_ENTRIES and rows.is_exact:
        size = rows.columns_at_once
        parts = [rows.column_products(start, min(d, start + size)) for start in range(0, d, size)]
        return ColumnFactor(_unit(_small_here(_factor_products(torch.cat(parts)))), True)
    return ColumnFactor(_unit(_sketch(rows)), False)


def exact_products(rows: Rows, columns: IntArray) -> Tensor:
    """Correlate all columns with some, (d, p), double precision."""
    roots = np.sqrt(np.maximum(rows.column_norms, 1e-300))
    products = rows.products_of(columns).T
    scale = torch.as_tensor(roots, device=products.device)
    return products / scale[:, None] / scale[torch.as_tensor(columns, device=products.device)]


def cholesky(matrix: Tensor) -> Tensor:
    """Factor a positive semidefinite matrix with unit diagonal, (p, p): F with F'F."""
    eye = torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
    for jitter in JITTERS:
        lower, failed = torch.linalg.cholesky_ex(matrix + jitter * eye)
        if not failed:
            return lower.T
    raise np.linalg.LinAlgError("correlations of the features could not be factored.")


def _factor_products(products: Tensor) -> Tensor:
    roots = products.diagonal().clamp(min=1e-300).sqrt()
    return cholesky(products / roots[:, None] / roots)


def _own_columns(rows: RowsInMemory) -> Tensor:
    """Copy the columns themselves, (N, d); in single precision where they are many."""
    N, d = rows.shape
    dtype = torch.float64 if N * d <= MOST_ENTRIES else torch.float32
    found = torch.empty((N, d), dtype=dtype, device=rows.device)
    size = rows.columns_at_once
    for start in range(0, d, size):
        stop = min(d, start + size)
        found[:, start:stop] = torch.from_numpy(rows.columns(start, stop))
    return found


def _sketch(rows: Rows) -> Tensor:
    """Add up rows with random signs, (m, d), single precision."""
    if isinstance(rows, StreamRows):
        return torch.as_tensor(rows.sketch().Z, dtype=torch.float32, device=rows.sample.device)
    assert isinstance(rows, RowsInMemory)
    N, d = rows.shape
    m = min(N, max(64, min(SKETCH_ROWS, SKETCH_ENTRIES // d)))
    rng = np.random.default_rng(0)
    found = torch.empty((m, d), dtype=torch.float32, device=rows.device)
    size = max(1, 2**24 // N)
    for start in range(0, m, size):
        signs = rng.choice([-1.0, 1.0], size=(N, min(size, m - start)))
        found[start : start + size] = torch.from_numpy(rows.project(signs).T).float()
    return found


def _small_here(F: Tensor) -> Tensor:
    return F.cpu() if F.numel() <= SMALL_FACTOR else F


def _unit(F: Tensor) -> Tensor:
    return F / F.norm(dim=0).clamp(min=1e-150 if F.dtype == torch.float64 else 1e-30)
