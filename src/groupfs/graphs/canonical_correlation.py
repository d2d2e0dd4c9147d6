r"""The first canonical correlation of two features' columns, over the rows that both have.

Axes: N samples, d features, q columns of their basis; b features of a block.

Columns are divided by their deviations over these rows, indicators of levels as in correspondence
analysis, :math:`(n_{ab} - n_a n_b / n) / \sqrt{n_a n_b}`; the first singular value of what is left
is the correlation. By chance its square is that of a Gaussian matrix over the rows
(:func:`expected_squares`).
"""

from functools import lru_cache

import numpy as np

from groupfs.data.feature_basis import FeatureBasis
from groupfs.graphs.pair_sums import PairSums, exclusive_pairs
from groupfs.utils.types import FloatArray, IntArray

#: Draws of Gaussian matrices, as many as give so many numbers.
DRAWN_NUMBERS, MOST_DRAWS = 2**21, 4000
#: Variance relative to one that is none but for rounding.
CONSTANT = 1e-12


def canonical_similarities(basis: FeatureBasis, start: int, stop: int) -> FloatArray:
    """Correlate features start..stop with all, (b, d); signed where both are single columns."""
    sums = PairSums(basis, start, stop)
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


@lru_cache(maxsize=4096)
def _largest_square(a: int, b: int) -> float:
    if a <= 1:
        return float(b)
    n_draws = min(MOST_DRAWS, max(50, DRAWN_NUMBERS // (a * b)))
    G = np.random.default_rng([a, b]).standard_normal((n_draws, a, b))
    return float(np.linalg.eigvalsh(G @ G.transpose(0, 2, 1))[:, -1].mean())


def _scaled(sums: PairSums) -> FloatArray:
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


def _whitened(r: FloatArray, sums: PairSums, side: int) -> FloatArray:
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


def _signs(sums: PairSums, r: FloatArray) -> FloatArray:
    """Find the signs of correlations of single columns, 1 for other pairs, (b, d)."""
    sizes = np.bincount(sums.b)
    one_a, one_b = sizes[sums.features] == 1, sizes == 1
    found = np.ones((len(one_a), len(one_b)))
    columns_a, columns_b = one_a[sums.a], one_b[sums.b]
    negative = np.where(r[np.ix_(columns_a, columns_b)] < 0, -1.0, 1.0)
    found[np.ix_(one_a, one_b)] = negative
    return found


def _first_canonical(sums: PairSums, r: FloatArray, squared: FloatArray) -> None:
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
