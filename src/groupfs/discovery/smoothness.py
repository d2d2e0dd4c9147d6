r"""Measure how smoothly features and groups vary over the samples, whose graph is by some metric.

Axes: N samples of the table, B of them that are looked at, p columns, d features.

A feature's smoothness is the part of it that its neighbours share, :math:`s_j = \sum_i x_{ij}
(Px)_{ij} / \sum_i x_{ij}^2` with P the walk of the sample graph without steps that stay: 1 for a
feature that is the same in neighbouring samples, about 0 for noise. Graphs have self-tuning
affinities :math:`W_{ij} = \exp(-\|x_i - x_j\|^2 / (g_i g_j))`, with :math:`g_i` the distance from i
to its K-th nearest neighbour, by one of these distances, or were given:

- *euclidean*: :math:`\|x_i - x_j\|`.
- *cosine*: the chord of the angle between two samples, :math:`\sqrt{2 - 2\cos(x_i, x_j)}`; x are
  rows scaled to one length.
- *rank*: euclidean, every number replaced by its rank in its column, which x are, too.

A group's raw score is :math:`s = \mathrm{tr}(X_j^\top P_j^t X_j) / (B d_j)` with :math:`P_j` the
walk built from its columns alone. One feature is always smooth on its own graph, so the score is
compared with that of the same columns shuffled independently, which keeps each column and destroys
what they have in common: the difference is its *smoothness beyond chance*. Shuffled columns get a
graph by the same metric. A graph that is known beforehand stays as it is when columns are shuffled;
there a single feature is smooth beyond chance, too.
"""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from groupfs.data.table import Rows
from groupfs.discovery.sample_graph import SampleGraph, smoothness_on_graph, walked_rows
from groupfs.utils.threads import in_threads, spans
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Squared bandwidths are at least this share of the mean squared distance. Points with more than K
#: exact copies would otherwise have none, and rounding errors of single precision would decide
#: their affinities.
BANDWIDTH_FLOOR = 1e-5
#: Keeps 0 / 0 away when all gates are closed and all points coincide.
TINY = 1e-20
#: Below it exp gives subnormal numbers, five times as slow and nothing beside the diagonal's one.
LEAST_EXPONENT = -80.0
#: K, the neighbour whose distance is a point's bandwidth, in graphs of features and of samples:
#: that of the paper, and of self-tuning spectral clustering before it.
N_NEIGHBORS = 7
#: t, steps of the random walk on the samples, as in the paper.
N_STEPS = 2
#: Rows on which features are measured, and numbers they may hold; rows on which groups are.
MEASURED_ROWS, MEASURED_ENTRIES, SCORED_ROWS = 2048, 2**25, 512
#: Share of the deviation that chance gives a feature's smoothness that all features have at least.
LEAST_SHARE = 0.1
#: Columns that a thread works on together.
TOGETHER = 2048
#: Columns below which products of rows with each other are worked out twice.
FEW_COLUMNS = 256
#: Precision in which rows are compared: in double it would take twice as long.
SINGLE: Any = np.float32


def feature_smoothness(
    rows: Rows,
    among: IntArray,
    seed: int,
    metric: str | SampleGraph = "euclidean",
    n_neighbors: int = N_NEIGHBORS,
    most_rows: int = MEASURED_ROWS,
) -> FloatArray:
    r"""Measure how smooth all features are on the sample graph of some, (d,); not below chance.

    That of a feature that does not know the graph, with walk P of B samples, has a deviation of
    about :math:`\sqrt{2 \sum_{ij} P_{ij}^2} / B`, of which a tenth is what all have. So where
    samples have no structure all features count, and not only the few that chance makes smooth.
    """
    rng, of_column = np.random.default_rng(seed), rows.feature_of_column
    if isinstance(metric, SampleGraph):
        return _shared_part(*walked_rows(rows, metric, 1, rng), of_column)
    n_rows = max(64, min(most_rows, MEASURED_ENTRIES // rows.shape[1]))
    X = rows.random_rows(n_rows, rng).astype(SINGLE, copy=False)
    if metric == "rank":
        X, metric = rank_columns(X, _are_alone(of_column)), "euclidean"
    seen = X[:, np.isin(of_column, among)]
    if metric == "cosine":
        X = X * unit_scale(seen)
    affinity = sample_affinity(seen, min(n_neighbors, len(X) - 1), metric)
    np.fill_diagonal(affinity, 0)
    affinity /= np.maximum(affinity.sum(1, keepdims=True), TINY)
    X, by_chance = np.nan_to_num(X, copy=False), np.sqrt(2) * np.linalg.norm(affinity) / len(X)
    parts = in_threads(lambda a, b: affinity @ X[:, a:b], spans(X.shape[1], TOGETHER))
    walked = np.concatenate(list(parts), axis=1)
    return np.maximum(_shared_part(X, walked, of_column), LEAST_SHARE * by_chance)


def _shared_part(X: FloatArray, smoothed: FloatArray, of_column: IntArray) -> FloatArray:
    """Compute s of every feature, (B, p) each to (d,)."""
    shared = np.bincount(of_column, (smoothed * X).sum(0, dtype=np.float64))
    total = np.bincount(of_column, np.square(X).sum(0, dtype=np.float64))
    return np.maximum(shared / np.maximum(total, 1e-300), 0)


def sample_affinity(X: FloatArray, n_neighbors: int, metric: str = "euclidean") -> FloatArray:
    """Compute affinities of the rows of a table, (B, p) to (B, B)."""
    products = gram(transform_rows(X, metric))
    norms = np.diagonal(products).copy()
    products *= -2
    products += norms[:, None]
    products += norms
    distances = np.maximum(products, 0, out=products)
    np.fill_diagonal(distances, 0)
    return self_tuning_affinity(distances, n_neighbors)


def gram(X: FloatArray) -> FloatArray:
    """Multiply rows with each other, (B, p) to (B, B); gaps are NaN.

    A gap is the mean of its column, and adds the column's variance to the row's own square alone:
    as far as it goes the row is as far from all others as rows are on average.
    """
    missing = np.isnan(X)
    if not missing.any():
        return _times_itself(X)
    known = np.where(missing, 0, X)
    products = _times_itself(known)
    variance = np.square(known).sum(0) / np.maximum((~missing).sum(0), 1)
    np.fill_diagonal(products, np.diagonal(products) + missing @ variance)
    return products


def _times_itself(X: FloatArray) -> FloatArray:
    """Multiply rows with each other, (B, p) to (B, B).

    numpy works out one triangle of X X' and copies it to the other, which takes longer than to
    multiply few columns.
    """
    return X @ (X.T.copy() if X.shape[1] < FEW_COLUMNS else X.T)


def self_tuning_affinity(
    distances: FloatArray, n_neighbors: int, floor: float = BANDWIDTH_FLOOR
) -> FloatArray:
    """Write affinities over squared distances, (..., B, B); at most B - 1 neighbours."""
    kth = np.partition(distances, n_neighbors, axis=-1)[..., n_neighbors]
    least = floor * distances.mean((-2, -1), keepdims=True)[..., 0] + TINY
    inverse = 1 / np.sqrt(np.maximum(kth, least))
    distances *= -inverse[..., None]
    distances *= inverse[..., None, :]
    np.maximum(distances, LEAST_EXPONENT, out=distances)
    return np.exp(distances, out=distances)


def transform_rows(X: FloatArray, metric: str, of_column: IntArray | None = None) -> FloatArray:
    """Replace the rows by those whose euclidean distances the metric looks at, (..., B, p).

    Where lengths or values are not to count in distances, they are not to count in what varies
    smoothly either: scores see these rows in place of their own, once, from all features that take
    part. To shuffle columns of rows that were not scaled would part the lengths of their values,
    and what was left to compare with had other angles altogether.
    """
    if metric == "rank":
        return rank_columns(X, None if of_column is None else _are_alone(of_column))
    return X * unit_scale(X) if metric == "cosine" else X


def rank_columns(X: FloatArray, numbers: BoolArray | None = None) -> FloatArray:
    """Replace every column by its ranks, centred, with variance one where ranks differ; gaps stay.

    Equal values have the mean of their ranks. Other columns than ``numbers`` (p,) stay as they are.
    """
    ranks = rankdata(X, axis=-2, nan_policy="omit")
    ranks -= np.nanmean(ranks, axis=-2, keepdims=True)
    spread = np.sqrt(np.nanmean(np.square(ranks), axis=-2, keepdims=True))
    found: FloatArray = (ranks / np.maximum(spread, TINY)).astype(X.dtype, copy=False)
    return found if numbers is None else np.where(numbers, found, X)


def _are_alone(of_column: IntArray) -> BoolArray:
    """Tell which columns are all that their feature has: those of numbers, (p,)."""
    return np.bincount(of_column)[of_column] == 1


def unit_scale(X: FloatArray) -> FloatArray:
    """Find what brings every row to the length of standardised columns, the root of p, (..., B, 1).

    Rows would rather have length one; this way columns keep a variance of about one.
    """
    length = np.linalg.norm(np.nan_to_num(X), axis=-1, keepdims=True)
    n_known = (~np.isnan(X)).sum(-1, keepdims=True)
    return np.sqrt(n_known).astype(X.dtype) / np.maximum(length, TINY)


def smoothness_beyond_chance(
    rows: Rows,
    groups: list[IntArray],
    *,
    seed: int,
    metric: str | SampleGraph = "euclidean",
    **options: int,
) -> FloatArray:
    """Measure every group on some random rows of a table, (C,); as :func:`beyond_chance` does."""
    if isinstance(metric, SampleGraph):
        found, chance = smoothness_on_graph(rows, metric, options.get("steps", N_STEPS), seed)
        return np.array([(found - chance)[g].mean() if len(g) else 0.0 for g in groups])
    X = rows.random_rows(SCORED_ROWS, np.random.default_rng(seed)).astype(SINGLE, copy=False)
    return beyond_chance(X, groups, rows.feature_of_column, seed=seed, metric=metric, **options)


def beyond_chance(
    X: FloatArray,
    groups: list[IntArray],
    of_column: IntArray | None = None,
    *,
    n_neighbors: int,
    n_shuffles: int,
    seed: int,
    steps: int = N_STEPS,
    metric: str = "euclidean",
) -> FloatArray:
    """Measure the smoothness of every group beyond chance on the rows of X, (B, p) to (C,).

    ``of_column`` is the feature of every column, one each if nothing is said; the columns of a
    feature are shuffled together. A single feature shuffled is the same feature: it has none.
    """
    of_column = np.arange(X.shape[1]) if of_column is None else of_column
    X = transform_rows(X, metric, of_column)  # before shuffles, which would part lengths of rows
    if metric == "rank":  # the ranks of a shuffled column are those of the column, shuffled
        metric = "euclidean"

    def of_group(group: IntArray) -> float:
        if len(group) < 2:
            return 0.0
        rng = np.random.default_rng(seed)  # whatever other groups there are
        index = np.flatnonzero(np.isin(of_column, group))
        own, columns = np.searchsorted(np.sort(group), of_column[index]), X[:, index]
        measured = (n_neighbors, steps, metric)
        shuffles = (_shuffle_columns(columns, rng, own) for _ in range(n_shuffles))
        chance = [own_graph_smoothness(shuffled, *measured) for shuffled in shuffles]
        smoothness = own_graph_smoothness(columns, *measured)
        return float(len(index) / len(group) * (smoothness - np.mean(chance)))

    return np.array(list(in_threads(of_group, ((group,) for group in groups))), dtype=np.float64)


def own_graph_smoothness(
    X: FloatArray, n_neighbors: int, steps: int, metric: str = "euclidean"
) -> float:
    """Compute s of the columns of a table, (B, p)."""
    affinity = sample_affinity(X, n_neighbors, metric)
    degree = affinity.sum(1, keepdims=True)
    X = smoothed = np.nan_to_num(X)
    for _ in range(steps):
        smoothed = (affinity @ smoothed) / degree
    return float((smoothed * X).mean(dtype=np.float64))


def _shuffle_columns(X: FloatArray, rng: np.random.Generator, own: IntArray) -> FloatArray:
    """Put each column in another order, those of a feature in one, (B, p)."""
    rows = np.broadcast_to(np.arange(len(X))[:, None], (len(X), int(own[-1]) + 1))
    return np.take_along_axis(X, rng.permuted(rows, axis=0)[:, own], axis=0)
