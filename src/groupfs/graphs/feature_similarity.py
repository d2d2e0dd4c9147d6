r"""Similarity of two features of any kinds, between 0 and 1, from sums over the rows both have.

Axes: N samples, d features, q columns of their basis; b features of a block.

- *correlation* and *rank*: the first canonical correlation of the two features' columns. That is
  :math:`|r|` of two numbers, the correlation ratio of a number and a category, and for two
  categories the first singular value of
  :math:`(n_{ab} - n_a n_b / n) / \sqrt{n_a n_b}`, from which Cramér's V is made, too.
- *distance*: distance correlation of ranks, of whose eigenfunctions the basis has the first; what
  chance gives is taken off both covariance and variances.
- *mutual_information*: :math:`\sqrt{1 - e^{-2 I}}`, which is :math:`|r|` of normal columns, over
  the most that the entropies allow.

Features of several columns are alike by chance more than numbers are, and so are pairs with few
rows in common: squares are lowered by what chance gives them beyond two numbers with all rows.
Numbers alone keep the sign of r. Columns with two values that never meet, as those made from one
variable, are not alike by correlation.

Where similarities are compared with chance, pairs are weighted by the root of the share of the rows
they have in common (``pair_sums.pair_weights``): chance is the same for all of them then.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import xlogy

from groupfs.data.feature_basis import FeatureBasis
from groupfs.graphs.canonical_correlation import canonical_similarities
from groupfs.graphs.pair_sums import PairSums, exclusive_pairs
from groupfs.utils.types import FloatArray

#: Numbers of a block that are worked on at a time.
BLOCK_ENTRIES = 2**22


def similarities(
    basis: FeatureBasis, start: int = 0, stop: int | None = None, exclude: bool = True
) -> FloatArray:
    """Compare features start..stop with all, (b, d); signed where both are single columns.

    Without ``exclude`` also columns that never meet.
    """
    d = basis.shape[1]
    stop = d if stop is None else stop
    if callable(basis.similarity):
        return _by_function(basis, basis.similarity)[start:stop]
    size = max(1, BLOCK_ENTRIES * d // len(basis.owner) ** 2)
    reduce = {"distance": _distance, "mutual_information": _information}
    compare = reduce.get(basis.similarity, canonical_similarities)
    parts = [compare(basis, i, min(stop, i + size)) for i in range(start, stop, size)]
    found = np.concatenate(parts)
    if exclude and compare is canonical_similarities:
        found[exclusive_pairs(basis, start, stop)] = 0
    own = np.arange(stop - start)
    found[own, own + start] = 1
    return found


def _distance(basis: FeatureBasis, start: int, stop: int) -> FloatArray:
    sums = PairSums(basis, start, stop)
    shared = sums.by_features(np.square(sums.centered())) / np.square(sums.n_pairs)
    spread, trace = _own_distances(basis)
    by_chance = np.outer(trace[sums.features], trace) / np.maximum(sums.n_pairs - 1, 1)
    unit = np.sqrt(np.outer(spread[sums.features], spread))
    squared = np.clip((shared - by_chance) / np.maximum(unit, 1e-300), 0, 1)
    return sums.certain(np.sqrt(squared))


def _own_distances(basis: FeatureBasis) -> tuple[FloatArray, FloatArray]:
    """Compute distance variances and mean distances of features, by their own rows, (d,) each.

    Without what chance gives the variances.
    """
    d = basis.shape[1]
    spread, trace = np.zeros(d), np.zeros(d)
    sizes = np.bincount(basis.owner, minlength=d)
    counts = np.full(d, float(len(basis.E))) if basis.present is None else basis.present.sum(0)
    for size in np.unique(sizes):
        features = np.flatnonzero(sizes == size)
        columns = np.flatnonzero(np.isin(basis.owner, features))
        E = basis.E[:, columns].reshape(-1, len(features), size).transpose(1, 2, 0)
        n = np.maximum(counts[features], 1)[:, None, None]
        mean = E.sum(2, keepdims=True) / n
        C = E @ E.transpose(0, 2, 1) / n - mean * mean.transpose(0, 2, 1)
        trace[features] = np.trace(C, axis1=1, axis2=2)
        by_chance = np.square(trace[features]) / np.maximum(counts[features] - 1, 1)
        spread[features] = np.maximum(np.square(C).sum((1, 2)) - by_chance, 1e-12)
    return spread, trace


def _information(basis: FeatureBasis, start: int, stop: int) -> FloatArray:
    sums = PairSums(basis, start, stop)
    counts, starts = sums.products, basis.starts
    n = np.maximum(sums.by_features(counts), 1)
    own = starts[sums.features] - sums.columns.start
    of_a = np.add.reduceat(counts, starts, axis=1)  # levels of one, over the rows of both
    of_b = np.add.reduceat(counts, own, axis=0)
    together = sums.by_features(xlogy(counts, counts))
    first = np.add.reduceat(xlogy(of_a, of_a), own, axis=0)
    second = np.add.reduceat(xlogy(of_b, of_b), starts, axis=1)
    entropies = [np.log(n) - part / n for part in (first, second)]
    shared = (together - first - second) / n + np.log(n)
    by_chance = np.outer(basis.dims[start:stop], basis.dims) / (2 * n)
    # the next term of its expansion: rare levels make more of chance (Williams 1976)
    rare_a = n * np.add.reduceat(_inverse(of_a), own, axis=0) - 1
    rare_b = n * np.add.reduceat(_inverse(of_b), starts, axis=1) - 1
    by_chance = by_chance + rare_a * rare_b / (12 * np.square(n))
    bias = np.maximum(by_chance - 1 / (2 * len(basis.E)), 0)
    most = -np.expm1(-2 * np.maximum(np.minimum(*entropies) - bias, 1e-12))
    squared = -np.expm1(-2 * np.maximum(shared - bias, 0)) / most
    return sums.certain(np.sqrt(np.clip(squared, 0, 1)))


def _inverse(counts: FloatArray) -> FloatArray:
    """Divide one by counts, levels without rows left out."""
    return np.divide(1, counts, where=counts > 0, out=np.zeros_like(counts))


def _by_function(basis: FeatureBasis, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Ask the user's function, and hold it to what is agreed."""
    X: FloatArray = np.array(basis.E, dtype=np.float64)
    if basis.present is not None:
        X[basis.present == 0] = np.nan
    found = np.array(function(X), dtype=np.float64)
    d = basis.shape[1]
    if found.shape != (d, d):
        raise ValueError(
            f"similarity returned an array of shape {found.shape} for {d} columns; it must return "
            f"one similarity for every pair, of shape ({d}, {d})."
        )
    if not np.isfinite(found).all() or found.min() < -1e-9 or found.max() > 1 + 1e-9:
        raise ValueError(
            f"similarity returned values from {found.min():g} to {found.max():g}; they must lie "
            "between 0 and 1."
        )
    found = np.clip((found + found.T) / 2, 0, 1)
    np.fill_diagonal(found, 1)
    return found
