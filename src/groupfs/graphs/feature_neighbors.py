"""The nearest columns of a table: all distances, cells of them (faiss), or candidates of a sketch.

Axes: N samples, d features. Distances are squared and in double precision.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import DenseRows, Rows
from groupfs.data.streamed_rows import StreamRows
from groupfs.graphs.similarity import Correlations
from groupfs.utils.types import FloatArray, IntArray

#: Columns whose mean squared distance is below this share of their norms count as nearly one.
ALIKE = 1e-6
#: Features up to which neighbours are searched exactly even where faiss is installed.
EXACT_FEATURES = 20_000
#: Candidates from a sketch of the rows for each neighbour that is kept, and multiplications that
#: choosing among them may take.
CANDIDATES, RERANKED_PRODUCTS = 3, {"cpu": 2e11, "cuda": 2e13}


def nearest_columns(
    rows: Rows, n_kept: int, signed: bool = True
) -> tuple[FloatArray, IntArray, float]:
    """Find the nearest columns of each, itself first, by the way that suits the table.

    Returns squared distances and indices, (d, n_kept + 1) each, and the mean squared distance.
    """
    d = rows.shape[1]
    if d > EXACT_FEATURES and isinstance(rows, DenseRows) and find_spec("faiss") is not None:
        return approximate_neighbors(rows, n_kept, signed)
    if not rows.is_exact:
        return sketched_neighbors(cast(StreamRows, rows), n_kept, signed)  # others are exact
    return exact_neighbors(rows, n_kept, signed)


def exact_neighbors(
    rows: Rows, n_kept: int, signed: bool = True
) -> tuple[FloatArray, IntArray, float]:
    """Find the nearest columns from all distances."""
    d = rows.shape[1]
    size = rows.columns_at_once
    if not signed and _equally_long(rows):
        return _most_correlated(Correlations(rows), n_kept)
    measure = distance_measure(rows, signed)
    squared, nearest, total = [], [], 0.0
    for start in range(0, d, size):
        block = measure(start, min(d, start + size))
        values, indices = torch.topk(block, n_kept + 1, largest=False)
        squared.append(values.cpu().numpy())
        nearest.append(indices.cpu().numpy())
        total += float(block.sum())
    return np.concatenate(squared), np.concatenate(nearest), total / d**2


def _equally_long(rows: Rows) -> bool:
    """Tell whether columns are standardised, and none of them nearly one."""
    norms = rows.column_norms
    return bool(np.ptp(norms) <= ALIKE * norms.max()) and subtract_common_column(rows) is rows


def _most_correlated(correlations: Correlations, n_kept: int) -> tuple[FloatArray, IntArray, float]:
    """Find the nearest columns of equal norm n, at :math:`2 n (1 - |r|)`, from the largest abs(r).

    The same as from all distances, in a third of the time.
    """
    rows = correlations.rows
    d, norm = rows.shape[1], float(rows.column_norms.mean())
    alike, nearest, total = [], [], 0.0
    for start in range(0, d, rows.columns_at_once):
        r = correlations.block(start, min(d, start + rows.columns_at_once)).abs_()
        own = torch.arange(len(r), device=r.device)
        total += float(r.sum())
        r[own, own + start] = 2  # itself comes first
        values, indices = torch.topk(r, n_kept + 1)
        alike.append(values.cpu().numpy())
        nearest.append(indices.cpu().numpy())
    distances = 2 * norm * (1 - np.minimum(np.concatenate(alike), 1))
    # equal columns must be at distance zero exactly, whatever the rounding of the product
    distances[distances < 1e-12 * norm] = 0
    return distances, np.concatenate(nearest), 2 * norm * (1 - total / d**2)


def approximate_neighbors(
    rows: DenseRows, n_kept: int, signed: bool = True
) -> tuple[FloatArray, IntArray, float]:
    """Find the nearest columns with faiss: sort them into cells, and search cells nearby.

    Where signs do not matter, negatives of the columns are searched, too.
    """
    import faiss

    points = np.ascontiguousarray(rows.Z.T, dtype=np.float32)
    d, N = points.shape
    n_cells = int(np.sqrt(d))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(N), N, n_cells)
    index.cp.seed = 0
    index.nprobe = max(8, n_cells // 8)
    index.train(points)
    index.add(points)
    squared, nearest = index.search(points, n_kept + 1)
    if not signed:
        squared, nearest = _nearer_of_both(squared, nearest, *index.search(-points, n_kept + 1))
    missing = nearest < 0  # cells with too few columns: the feature itself, at distance zero
    nearest = np.where(missing, np.arange(d)[:, None], nearest)
    squared = np.where(missing, squared[~missing].max(), np.maximum(squared, 0))
    return squared.astype(np.float64), nearest, float(2 * rows.column_norms.mean())


def sketched_neighbors(
    rows: StreamRows, n_kept: int, signed: bool = True
) -> tuple[FloatArray, IntArray, float]:
    """Find the nearest columns where all products are too many, among candidates.

    Candidates are a feature's nearest in a sketch of random sums of the rows, several times as many
    as are kept; among them the distances over the whole table decide.
    """
    d = rows.shape[1]
    n_candidates = min(CANDIDATES * n_kept, d - 1)
    sketch = rows.sketch()
    if d > EXACT_FEATURES and find_spec("faiss") is not None and sketch.device.type == "cpu":
        _, candidates, _ = approximate_neighbors(sketch, n_candidates, signed)
    else:
        _, candidates, _ = exact_neighbors(sketch, n_candidates, signed)
    most = RERANKED_PRODUCTS.get(sketch.device.type, RERANKED_PRODUCTS["cpu"])
    distances = rows.pair_distances(candidates, int(most / (d * n_candidates)), signed)
    distances[candidates == np.arange(d)[:, None]] = 0
    order = np.argsort(distances, axis=1, kind="stable")[:, : n_kept + 1]
    nearest = np.take_along_axis(candidates, order, axis=1)
    return (
        np.take_along_axis(distances, order, axis=1),
        nearest,
        float(2 * rows.column_norms.mean()),
    )


def subtract_common_column(rows: Rows) -> Rows:
    """Subtract the mean column from all, where all columns are nearly equal to it.

    Distances stay the same, but those computed from inner products would have no digits left. An
    outlier row of a million deviations, say, makes all columns so alike.
    """
    if not isinstance(rows, DenseRows):
        return rows
    shared, norm = rows.Z.mean(axis=1, keepdims=True), rows.column_norms.mean()
    if norm - np.square(shared).sum() >= ALIKE * norm:
        return rows
    apart = DenseRows(rows.Z - shared)
    apart.device = rows.device
    return apart


def _nearer_of_both(
    squared: NDArray[np.float32],
    nearest: IntArray,
    mirrored: NDArray[np.float32],
    opposite: IntArray,
) -> tuple[NDArray[np.float32], IntArray]:
    """Merge the nearest columns and those nearest to the negatives, each sorted, (d, k) each."""
    d, k = squared.shape
    values, indices = np.hstack([squared, mirrored]), np.hstack([nearest, opposite])
    own = indices == np.arange(d)[:, None]
    values[own] = -1  # itself comes first, and once
    values[(own & (own.cumsum(1) > 1)) | (indices < 0)] = np.inf
    order = np.argsort(values, axis=1, kind="stable")[:, :k]
    indices = np.take_along_axis(indices, order, axis=1)
    values = np.maximum(np.take_along_axis(values, order, axis=1), 0, dtype=np.float32)
    return values, np.where(np.isfinite(values), indices, -1)


def distance_measure(
    rows: Rows, signed: bool, correlations: Correlations | None = None
) -> Callable[[int, int], Tensor]:
    """Return what measures squared distances of columns start..stop to all columns.

    Without signs :math:`|x_i|^2 + |x_j|^2 - 2 |r_{ij}| |x_i| |x_j|`: a column and its negative are
    at distance zero.
    """
    if signed and not isinstance(rows, FeatureRows):
        return lambda start, stop: column_distances(rows, start, stop)
    known = Correlations(rows) if correlations is None else correlations
    apart = subtract_common_column(rows)

    def measure(start: int, stop: int) -> Tensor:
        r = known.block(start, stop)
        roots = torch.as_tensor(known.roots, device=r.device)
        products = (r if signed else r.abs()).mul_(roots[start:stop, None]).mul_(roots)
        distances = _distances(products, roots.square(), start, stop)
        if apart is not rows:
            distances = torch.where(r > 0, column_distances(apart, start, stop), distances)
        return distances

    return measure


def column_distances(rows: Rows, start: int, stop: int) -> Tensor:
    """Compute squared distances from columns start..stop to all columns, double precision."""
    products = rows.column_products(start, stop)
    norms = torch.as_tensor(rows.column_norms, device=products.device)
    return _distances(products, norms, start, stop)


def _distances(products: Tensor, norms: Tensor, start: int, stop: int) -> Tensor:
    distances = norms[start:stop, None] + norms[None, :] - 2 * products
    # Equal columns must be at distance zero exactly, whatever the rounding of the product.
    distances.masked_fill_(distances < 1e-12 * norms.max(), 0)
    own = torch.arange(stop - start, device=products.device)
    distances[own, own + start] = 0
    return distances
