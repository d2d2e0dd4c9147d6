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
they have in common (:func:`pair_weights`): chance is the same for all of them then.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from groupfs.data.feature_basis import FeatureBasis
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Numbers of a block that are worked on at a time.
BLOCK_ENTRIES = 2**22
#: Rows in common below which nothing is said of a pair.
FEWEST_PAIRS = 10
#: Draws of Gaussian matrices, as many as give so many numbers.
DRAWN_NUMBERS, MOST_DRAWS = 2**21, 4000
#: Variance relative to one that is none but for rounding.
CONSTANT = 1e-12
#: Bias of a squared similarity at most: beyond it nothing is left to be seen.
MOST_BIAS = 0.99


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
    compare = reduce.get(basis.similarity, _canonical)
    parts = [compare(basis, i, min(stop, i + size)) for i in range(start, stop, size)]
    found = np.concatenate(parts)
    if exclude and compare is _canonical:
        found[exclusive_pairs(basis, start, stop)] = 0
    own = np.arange(stop - start)
    found[own, own + start] = 1
    return found


def column_correlations(basis: FeatureBasis) -> FloatArray:
    """Correlate all columns of the basis, (q, q); indicators as in correspondence analysis."""
    sums = _Sums(basis, 0, basis.shape[1])
    r = _scaled(sums)
    none = exclusive_pairs(basis, 0, basis.shape[1]) | sums.too_few()
    np.fill_diagonal(none, False)
    r[none[sums.a][:, sums.b]] = 0
    return r


def exclusive_pairs(basis: FeatureBasis, start: int, stop: int) -> BoolArray:
    """Find pairs of columns with two values whose higher ones never meet, (b, d)."""
    found = np.zeros((stop - start, basis.shape[1]), dtype=bool)
    is_on = _higher_of_two(basis)
    inside = is_on.features[(is_on.features >= start) & (is_on.features < stop)]
    if len(inside):
        own = np.isin(is_on.features, inside)
        meet = is_on.columns[:, own].T @ is_on.columns
        found[np.ix_(inside - start, is_on.features)] = meet < 0.5
    return found


def pair_weights(basis: FeatureBasis, start: int = 0, stop: int | None = None) -> FloatArray:
    """Find the root of the share of the rows that pairs have in common, (b, d) or (1, 1)."""
    if basis.present is None:
        return np.ones((1, 1))
    shared = basis.present[:, start:stop].T @ basis.present
    return np.sqrt(shared / len(basis.E))


class _TwoValued(NamedTuple):
    """Where columns with two values have the higher one."""

    features: IntArray  #: that have two values, (m,)
    columns: NDArray[np.float32]  #: (N, m)


def _higher_of_two(basis: FeatureBasis) -> _TwoValued:
    single = np.flatnonzero(np.bincount(basis.owner) == 1)
    E = basis.E[:, basis.starts[single]]
    low, high = E.min(0), E.max(0)
    if basis.present is not None:  # a gap is 0, between the two
        there = basis.present[:, single] > 0
        low = np.where(there, E, np.inf).min(0)
        high = np.where(there, E, -np.inf).max(0)
    two = (low < high) & ((low == E) | (high == E) | (E == 0)).all(0)
    return _TwoValued(single[two], (E[:, two] == high[two]).astype(np.float32))


class _Sums:
    """Sums over the rows that two features have in common: features start..stop with all."""

    def __init__(self, basis: FeatureBasis, start: int, stop: int) -> None:
        edges = np.append(basis.starts, len(basis.owner))
        columns = slice(edges[start], edges[stop])
        E, A = basis.E, basis.E[:, columns]
        self.basis = basis
        self.features, self.columns = slice(start, stop), columns
        self.a, self.b = basis.owner[columns] - start, basis.owner  #: owners
        self.products = (A.T @ E).astype(np.float64, copy=False)
        if basis.present is None:
            N = float(len(E))
            self.n_pairs = np.full((1, 1), N)
            total = E.sum(0, dtype=np.float64)[:, None]
            square = np.square(E).sum(0, dtype=np.float64)[:, None]
            self.sums = (total[columns], total)
            self.squares = (square[columns], square)
        else:
            M = basis.present
            Ma = M[:, start:stop]
            self.n_pairs = np.maximum(Ma.T @ M, 1e-9)
            self.sums = (A.T @ M, E.T @ Ma)
            self.squares = (np.square(A).T @ M, np.square(E).T @ Ma)

    def over_columns(self, values: FloatArray) -> FloatArray:
        """Repeat values of pairs of features for their columns, (b, d) to (qa, q)."""
        return values if values.size == 1 else values[self.a][:, self.b]

    def centered(self) -> FloatArray:
        """Compute products of columns about their means, (qa, q)."""
        left, right = self.sums
        if left.shape[1] == 1:
            return self.products - left * right.T / self.n_pairs
        both = left[:, self.b] * right[:, self.a].T
        return self.products - both / self.over_columns(self.n_pairs)

    def by_features(self, values: FloatArray) -> FloatArray:
        """Add up over the columns of both features, (qa, q) to (b, d)."""
        starts = self.basis.starts
        across = np.add.reduceat(values, starts, axis=1)
        own = starts[self.features] - self.columns.start
        found: FloatArray = np.add.reduceat(across, own, axis=0)
        return found

    def bias(self, chance: FloatArray) -> FloatArray:
        """Divide what chance gives by the rows of each pair, beyond that of two whole numbers."""
        N = len(self.basis.E)
        found: FloatArray = chance / np.maximum(self.n_pairs - 1, 1) - 1 / max(N - 1, 1)
        return np.clip(found, 0, MOST_BIAS)

    def certain(self, found: FloatArray) -> FloatArray:
        """Lower similarities of pairs that have fewer rows in common than by chance."""
        M = self.basis.present
        if M is None:
            return found
        counts = M.sum(0)
        expected = counts[self.features, None] * counts / len(M)
        lowered = found * np.minimum(1, np.sqrt(self.n_pairs / np.maximum(expected, 1e-9)))
        return np.where(self.too_few(), 0, lowered)

    def too_few(self) -> BoolArray:
        """Tell which pairs have too few rows in common, (b, d) or (1, 1)."""
        found: BoolArray = self.n_pairs < min(FEWEST_PAIRS, len(self.basis.E) / 2)
        return found


def _scaled(sums: _Sums) -> FloatArray:
    """Divide products of columns by their deviations over the rows in common, (qa, q)."""
    n = sums.n_pairs
    variances = []
    for side, (total, square) in enumerate(zip(sums.sums, sums.squares, strict=True)):
        about_mean = sums.basis.centered[sums.columns] if side == 0 else sums.basis.centered
        rows = n if n.size == 1 else (n[sums.a] if side == 0 else n.T[sums.b])
        variance = square - np.where(about_mean[:, None], np.square(total) / rows, 0)
        variances.append(np.where(variance > CONSTANT * rows, variance, np.inf))
    left, right = variances
    if left.shape[1] > 1:
        left, right = left[:, sums.b], right[:, sums.a]
    r = sums.centered() / np.sqrt(left) / np.sqrt(right.T)
    if sums.basis.present is not None:
        r = _whitened(_whitened(r, sums, 0).T, sums, 1).T
    return np.clip(r, -1, 1)


def _whitened(r: FloatArray, sums: _Sums, side: int) -> FloatArray:
    """Make parts of dates uncorrelated over the rows of each pair, (qa, q) by rows.

    They are so over the date's own rows, of which a pair may have a stretch only.
    """
    basis = sums.basis
    assert basis.present is not None
    owner, others = (sums.a, sums.b) if side == 0 else (sums.b, sums.a)
    first = sums.features.start if side == 0 else 0
    M = basis.present if side == 0 else basis.present[:, sums.features]
    n = sums.n_pairs if side == 0 else sums.n_pairs.T
    sizes = np.bincount(owner)
    for i in np.flatnonzero(sizes > 1):
        rows = np.flatnonzero(owner == i)
        columns = rows + (sums.columns.start if side == 0 else 0)
        if basis.dims[first + i] < sizes[i]:  # levels of a category
            continue
        E, size = basis.E[:, columns], sizes[i]
        squares = (E[:, :, None] * E[:, None, :]).reshape(len(E), -1).T @ M / n[i]
        mean = sums.sums[side][rows] / n[i]
        spread = np.sqrt(np.maximum(sums.squares[side][rows] / n[i], 1e-300))
        within = squares.T.reshape(-1, size, size) - mean.T[:, :, None] * mean.T[:, None, :]
        within = within / spread.T[:, :, None] / spread.T[:, None, :]
        values, vectors = np.linalg.eigh(within)
        inverse = np.where(values > 1e-9 * np.maximum(values[:, -1:], 1e-300), values, np.inf)
        root = (vectors / np.sqrt(inverse)[:, None, :]) @ vectors.transpose(0, 2, 1)
        r[rows] = np.einsum("kij,jk->ik", root[others], r[rows])
    return r


def _canonical(basis: FeatureBasis, start: int, stop: int) -> FloatArray:
    sums = _Sums(basis, start, stop)
    r = _scaled(sums)
    if basis.is_single:
        if basis.present is None:
            return r
        squared, signs = np.square(r), np.sign(r)
        chance = np.ones((1, 1))
    else:
        squared = sums.by_features(np.square(r))
        signs = _signs(sums, r)
        _first_canonical(sums, r, squared)
        chance = expected_squares(basis.dims[start:stop], basis.dims)
    bias = sums.bias(chance)
    squared = np.clip((squared - bias) / (1 - bias), 0, 1)
    return sums.certain(signs * np.sqrt(squared))


def _signs(sums: _Sums, r: FloatArray) -> FloatArray:
    """Find the signs of correlations of single columns, 1 for other pairs, (b, d)."""
    sizes = np.bincount(sums.b)
    one_a, one_b = sizes[sums.features] == 1, sizes == 1
    found = np.ones((len(one_a), len(one_b)))
    columns_a, columns_b = one_a[sums.a], one_b[sums.b]
    negative = np.where(r[np.ix_(columns_a, columns_b)] < 0, -1.0, 1.0)
    found[np.ix_(one_a, one_b)] = negative
    return found


def _first_canonical(sums: _Sums, r: FloatArray, squared: FloatArray) -> None:
    """Put the largest squared singular value in place of their sum where both have several."""
    dims = sums.basis.dims
    left = np.flatnonzero(dims[sums.features] > 1)
    right = np.flatnonzero(dims > 1)
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


def _distance(basis: FeatureBasis, start: int, stop: int) -> FloatArray:
    sums = _Sums(basis, start, stop)
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
    sums = _Sums(basis, start, stop)
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


def expected_squares(a: IntArray, b: IntArray) -> FloatArray:
    """Find what chance gives first canonical correlations of features of so many dimensions.

    The mean largest squared singular value of a Gaussian matrix, over the rows; (m,) and (n,) to
    (m, n).
    """
    sizes = np.unique(np.concatenate([a, b]))
    found = np.array([[_largest_square(*sorted((int(i), int(j)))) for j in sizes] for i in sizes])
    return found[np.searchsorted(sizes, a)][:, np.searchsorted(sizes, b)]


@lru_cache(maxsize=4096)
def _largest_square(a: int, b: int) -> float:
    if a <= 1:
        return float(b)
    n_draws = min(MOST_DRAWS, max(50, DRAWN_NUMBERS // (a * b)))
    G = np.random.default_rng([a, b]).standard_normal((n_draws, a, b))
    return float(np.linalg.eigvalsh(G @ G.transpose(0, 2, 1))[:, -1].mean())
