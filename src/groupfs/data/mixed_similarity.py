r"""Compare features of any kinds, between 0 and 1, from sums over the rows that both have.

Axes: N samples, d features, q columns of their basis; b features of a block.

- *correlation* and *rank*: the first canonical correlation of the two features' columns, divided by
  their deviations over these rows, indicators of levels as in correspondence analysis,
  :math:`(n_{ab} - n_a n_b / n) / \sqrt{n_a n_b}`. That is :math:`|r|` of two numbers, the
  correlation ratio of a number and a category, and for two categories the first singular value
  from which Cramér's V is made, too.
- *distance*: distance correlation of ranks, of whose eigenfunctions the basis has the first; what
  chance gives is taken off both covariance and variances.

Features of several columns are alike by chance more than numbers are, and so are pairs with few
rows in common: squares are lowered by what chance gives them beyond two numbers with all rows.
Numbers alone keep the sign of r. Columns with two values that never meet, as those made from one
variable, are not alike by correlation.

Where similarities are compared with chance, pairs are weighted by the root of the share of the rows
they have in common (``basis.pair_weights``): chance is the same for all of them then.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from groupfs.data.basis import FeatureBasis, PairSums, exclusive_pairs
from groupfs.utils.types import FloatArray, IntArray

#: Numbers of a block that are worked on at a time.
PAIRED_ENTRIES = 2**22
#: Draws of Gaussian matrices, as many as give so many numbers.
DRAWN_NUMBERS, MOST_DRAWS = 2**21, 4000
#: Bias of a squared similarity at most: beyond it nothing is left to be seen.
MOST_BIAS = 0.99
#: Variance relative to one that is none but for rounding.
NO_VARIANCE = 1e-12


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
    size = max(1, PAIRED_ENTRIES * d // len(basis.owner) ** 2)
    compare = _distance_of if basis.similarity == "distance" else canonical_of
    spans = ((i, min(stop, i + size)) for i in range(start, stop, size))
    found = np.concatenate([compare(PairSums(basis, *span)) for span in spans])
    if exclude and compare is canonical_of:
        found[exclusive_pairs(basis, start, stop)] = 0
    own = np.arange(stop - start)
    found[own, own + start] = 1
    return found


def column_correlations(basis: FeatureBasis) -> FloatArray:
    """Correlate all columns of the basis, (q, q); indicators as in correspondence analysis."""
    sums = PairSums(basis, 0, basis.shape[1])
    r = _scaled(sums)
    none = exclusive_pairs(basis, 0, basis.shape[1]) | sums.too_few()
    np.fill_diagonal(none, False)
    r[none[sums.a][:, sums.b]] = 0
    return r


def expected_squares(a: IntArray, b: IntArray) -> FloatArray:
    """Find what chance gives first canonical correlations of features of so many dimensions.

    The mean largest squared singular value of a Gaussian matrix, over the rows; (m,) and (n,) to
    (m, n).
    """
    sizes = np.unique(np.concatenate([a, b]))
    found = np.array([[_largest_square(*sorted((int(i), int(j)))) for j in sizes] for i in sizes])
    return found[np.searchsorted(sizes, a)][:, np.searchsorted(sizes, b)]


def canonical_of(sums: PairSums) -> FloatArray:
    """Correlate features from sums of their products, (b, d); signed where both are columns."""
    r, basis = _scaled(sums), sums.basis
    if basis.is_single:
        if basis.present is None:
            return r
        squared, signs = np.square(r), np.sign(r)
        chance = np.ones((1, 1))
    else:
        squared = sums.by_features(np.square(r))
        single, starts = np.bincount(sums.b) == 1, basis.starts  # other pairs have no sign
        first = r[starts[sums.features] - sums.columns.start][:, starts]
        signs = np.where(single[sums.features, None] & single & (first < 0), -1.0, 1.0)
        _first_canonical(sums, r, squared)
        chance = expected_squares(basis.dims[sums.features], basis.dims)
    # what chance gives with the rows of a pair, beyond that of two numbers with all rows
    bias = chance / np.maximum(sums.n_pairs - 1, 1) - 1 / max(sums.n_rows - 1, 1)
    bias = np.clip(bias, 0, MOST_BIAS)
    squared = np.clip((squared - bias) / (1 - bias), 0, 1)
    return sums.certain(signs * np.sqrt(squared))


@lru_cache(maxsize=4096)
def _largest_square(a: int, b: int) -> float:
    if a <= 1:
        return float(b)
    n_draws = min(MOST_DRAWS, max(50, DRAWN_NUMBERS // (a * b)))
    G = np.random.default_rng([a, b]).standard_normal((n_draws, a, b))
    return float(np.linalg.eigvalsh(G @ G.transpose(0, 2, 1))[:, -1].mean())


def _scaled(sums: PairSums) -> FloatArray:
    """Divide products of columns by their deviations over the rows in common, (qa, q)."""
    n, variances = sums.n_pairs, []
    for side, (total, square) in enumerate(zip(sums.sums, sums.squares, strict=True)):
        about_mean = sums.basis.centered[sums.columns] if side == 0 else sums.basis.centered
        rows = n if n.size == 1 else (n[sums.a] if side == 0 else n.T[sums.b])
        variance = square - np.where(about_mean[:, None], np.square(total) / rows, 0)
        variances.append(np.where(variance > NO_VARIANCE * rows, variance, np.inf))
    left, right = variances
    if left.shape[1] > 1:
        left, right = left[:, sums.b], right[:, sums.a]
    r = sums.centered() / np.sqrt(left) / np.sqrt(right.T)
    return np.clip(r, -1, 1)


def _first_canonical(sums: PairSums, r: FloatArray, squared: FloatArray) -> None:
    """Put the largest squared singular value in place of their sum where both have several."""
    dims = sums.basis.dims
    left, right = np.flatnonzero(dims[sums.features] > 1), np.flatnonzero(dims > 1)
    if not len(left):
        return
    padded = np.zeros((r.shape[0] + 1, r.shape[1] + 1))
    padded[:-1, :-1] = r
    rows, columns = _places(sums.a, left, r.shape[0]), _places(sums.b, right, r.shape[1])
    every_pair = len(left) == len(right)  # then each of them comes twice
    for place, (i, own) in enumerate(zip(left, rows, strict=True)):
        stop = place + 1 if every_pair else len(right)
        blocks = padded[own][:, columns[:stop]].transpose(1, 0, 2)  # (d', A, B)
        products = blocks @ blocks.transpose(0, 2, 1)
        squared[i, right[:stop]] = np.maximum(np.linalg.eigvalsh(products)[:, -1], 0)
        if every_pair:
            squared[left[:stop], right[place]] = squared[i, right[:stop]]


def _places(owner: IntArray, features: IntArray, none: int) -> IntArray:
    """List the columns of each feature, (m, most columns), ``none`` where it has fewer."""
    owned = [np.flatnonzero(owner == feature) for feature in features]
    found = np.full((len(owned), max(map(len, owned))), none)
    for place, columns in zip(found, owned, strict=True):
        place[: len(columns)] = columns
    return found


def _distance_of(sums: PairSums) -> FloatArray:
    shared = sums.by_features(np.square(sums.centered())) / np.square(sums.n_pairs)
    spread, trace = _own_distances(sums.basis)
    by_chance = np.outer(trace[sums.features], trace) / np.maximum(sums.n_pairs - 1, 1)
    unit = np.sqrt(np.outer(spread[sums.features], spread))
    squared = np.clip((shared - by_chance) / np.maximum(unit, 1e-300), 0, 1)
    return sums.certain(np.sqrt(squared))


def _own_distances(basis: FeatureBasis) -> tuple[FloatArray, FloatArray]:
    """Compute distance variances beyond chance and mean distances, by a feature's rows, (d,)."""
    d = basis.shape[1]
    spread, trace = np.zeros(d), np.zeros(d)
    sizes, counts = np.bincount(basis.owner, minlength=d), basis.counts
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
