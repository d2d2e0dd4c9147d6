r"""Cluster the features: k-means of the rows of leading eigenvectors of their graph.

How many groups there are is chosen by distortion E(C) and gaps of the eigenvalues.

Axes: d features, V eigenvectors, C groups. Eigenvectors are those of the smallest eigenvalues of
the Laplacian, that is of the largest of :math:`D^{-1/2} W D^{-1/2}`.
"""

import math
import warnings

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
import torch

from groupfs.discovery.members import dense_eigenvectors, lanczos
from groupfs.joint.graph import Walk
from groupfs.utils.types import FloatArray, IntArray

#: Starts of k-means, beside the deterministic one, and steps from each at most.
N_RANDOM_STARTS, MAX_STEPS = 4, 30
#: Features up to which all eigenvectors are found where Lanczos fails (512 MB); steps beyond that.
DIRECT_FEATURES, LOBPCG_STEPS = 8192, 200
#: Features above which few eigenvectors of a dense walk are found faster one by one.
DENSE_FEATURES = 1024
#: Groups that wide tables are divided into where the graph itself does not say.
USUAL_GROUPS = 20
#: Distortion per feature that counts as none, and that counts.
NOTHING, SOMETHING = 0.002, 0.02
#: A fall of the eigenvalues from one to the next that says how many groups there are.
CLEAR_GAP = 0.3
#: Distortion per feature that rounding may leave of none.
ROUNDING = 1e-9
#: Most groups that are looked for when their number is not given, and by the lowest distortion.
MOST_GROUPS, MOST_BY_DISTORTION = 30, 40


def leading_eigenvectors(walk: Walk, n_vectors: int) -> FloatArray:
    """Find the ``n_vectors`` smoothest directions on the graph, smoothest first, (d, n_vectors).

    Those of a sparse walk, and of a dense one of many features, are found one by one.
    """
    d = walk.shape[0]
    is_large = (sp.issparse(walk) or d > DENSE_FEATURES) and n_vectors < d - 1
    find = _one_by_one if is_large else _all_at_once
    values, vectors = find(walk, n_vectors)
    return vectors[:, np.argsort(-values, kind="stable")]


def _one_by_one(
    walk: Walk, n_vectors: int, direct_features: int = DIRECT_FEATURES
) -> tuple[FloatArray, FloatArray]:
    """Use Lanczos, or a slower way where eigenvalues are too close for it to converge."""
    d = walk.shape[0]
    try:
        return lanczos(walk, n_vectors)
    except scipy.sparse.linalg.ArpackError:
        if d <= direct_features:
            return _all_at_once(walk, n_vectors)
    start = np.random.default_rng(0).standard_normal((d, n_vectors))
    # what has not converged is smooth all the same
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return scipy.sparse.linalg.lobpcg(walk, start, maxiter=LOBPCG_STEPS)


def _all_at_once(walk: Walk, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    return dense_eigenvectors(walk if isinstance(walk, np.ndarray) else walk.toarray(), n_vectors)


def cluster_features(
    eigenvectors: FloatArray, n_groups: int, rng: np.random.Generator | None = None
) -> IntArray:
    """Cluster the features by k-means of their embedding, (d,); no cluster is empty.

    It starts from the rows that pivoted QR finds most unlike each other and, with ``rng``, from
    random ones too; the tightest result is taken. Clusters are numbered by their first features.
    """
    d = len(eigenvectors)
    if n_groups >= d:
        return np.arange(d, dtype=np.int64)
    # before rows are scaled to unit length: of rows of one length, rounding would choose
    _, pivots = scipy.linalg.qr(eigenvectors[:, :n_groups].T, mode="r", pivoting=True)
    embedding = embed(eigenvectors, n_groups)
    starts = [embedding[pivots[:n_groups]]]
    if rng is not None:
        from sklearn.cluster import kmeans_plusplus

        seeds = rng.integers(2**31, size=N_RANDOM_STARTS).tolist()
        starts += [kmeans_plusplus(embedding, n_groups, random_state=seed)[0] for seed in seeds]
    found = [_lloyd(embedding, centers) for centers in starts]
    labels = _fill_empty(min(found, key=lambda of: of[0])[1], n_groups)
    # k-means numbers them as rounding has it
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def embed(eigenvectors: FloatArray, n_groups: int) -> FloatArray:
    """Scale rows of the first ``n_groups`` eigenvectors to unit length, (..., d, C)."""
    U = eigenvectors[..., :n_groups]
    return U / np.maximum(np.linalg.norm(U, axis=-1, keepdims=True), 1e-12)


def as_groups(labels: IntArray, n_groups: int) -> list[IntArray]:
    """Turn labels into the index arrays of the groups; some may be empty."""
    return [np.flatnonzero(labels == j) for j in range(n_groups)]


def _lloyd(points: FloatArray, centers: FloatArray) -> tuple[float, IntArray]:
    """Run k-means from given centers until it stands still; return its inertia and labels, (d,).

    scikit-learn's takes ten times as long for tables this small, and dozens of runs are needed.
    """
    labels = np.full(len(points), -1)
    for _ in range(MAX_STEPS):
        before, labels = labels, _nearest(points, centers)
        if (labels == before).all():
            break
        sums = torch.zeros(centers.shape, dtype=torch.float64)
        sums.index_add_(0, torch.from_numpy(labels), torch.from_numpy(points))
        sizes = np.bincount(labels, minlength=len(centers))[:, None]
        centers = np.where(sizes > 0, sums.numpy() / np.maximum(sizes, 1), centers)
    return float(np.square(points - centers[labels]).sum()), labels


def _nearest(points: FloatArray, centers: FloatArray) -> IntArray:
    """Find the nearest center of every point, (d, C) and (C, C) to (d,)."""
    return (points @ centers.T - 0.5 * np.square(centers).sum(1)).argmax(1)


def _fill_empty(labels: IntArray, n_groups: int) -> IntArray:
    """Give each empty cluster a feature of the largest: k-means leaves some when rows coincide."""
    labels = labels.copy()
    for empty in np.setdiff1d(np.arange(n_groups), labels):
        largest = np.bincount(labels).argmax()
        labels[np.flatnonzero(labels == largest)[-1]] = empty
    return labels


def find_n_groups(walk: Walk, n_distinct: int) -> tuple[int, dict[int, float], FloatArray]:
    """Find the number of groups; return it, E(C) for all C looked at, and the eigenvectors.

    ``n_distinct`` features are not duplicates of another.
    """
    eigenvectors = leading_eigenvectors(walk, max(min(MOST_GROUPS + 1, n_distinct), 2))
    curve, lone = _curve(eigenvectors)
    values = np.einsum("ij,ij->j", eigenvectors, walk @ eigenvectors)
    return choose_n_groups(curve, len(eigenvectors), lone, values), curve, eigenvectors


def lowest_distortion(walk: Walk) -> tuple[int, dict[int, float], FloatArray]:
    """Find the C with the lowest E(C), as published; return it, E(C) of all, and eigenvectors.

    C is from 2 to min(d - 1, 40): E(d) is zero whatever the table.
    """
    eigenvectors = leading_eigenvectors(walk, max(2, min(walk.shape[0] - 1, MOST_BY_DISTORTION)))
    curve, _ = _curve(eigenvectors)
    return min(curve, key=lambda C: curve[C]), curve, eigenvectors


def _curve(eigenvectors: FloatArray) -> tuple[dict[int, float], dict[int, int]]:
    """Compute E(C), and how many features stand alone, for every C up to that of eigenvectors."""
    curve, lone = {}, {}
    for C in range(2, eigenvectors.shape[1] + 1):
        labels = cluster_features(eigenvectors, C)
        curve[C] = distortion(embed(eigenvectors, C), labels)
        lone[C] = int((np.bincount(labels) == 1).sum())
    return curve, lone


def distortion(embedding: FloatArray, labels: IntArray) -> float:
    r"""Measure how far the embedding is from indicators of the clusters, after the best rotation.

    .. math:: E(C) = \min_R \|U R - Y\|_F^2
    """
    indicator = np.eye(embedding.shape[1])[labels]
    A, _, Bt = np.linalg.svd(embedding.T @ indicator)
    return float(np.square(embedding @ (A @ Bt) - indicator).sum())


def choose_n_groups(
    curve: dict[int, float],
    n_features: int,
    lone: dict[int, int] | None = None,
    eigenvalues: FloatArray | None = None,
) -> int:
    r"""Choose the number of groups that the eigenvalues or the distortion curve speak for.

    In large tables, where each feature has many neighbours of its own group, eigenvalues stay near
    one up to the number of groups C and then fall at once; that settles it. C + 1 is taken if its
    distortion is lower: the features that belong nowhere are a group too.

    Otherwise it is the first clear dip: either E(C) is at most half of E(C - 1) and of E(C + 1), or
    it is next to nothing and E(C + 1) is not, as when the graph falls apart into C pieces. The
    smallest value itself says little: E(2) is small whatever the data, and E(d) is zero; so two
    groups that are told apart perfectly give way to a dip behind them. Without a clear dip the
    curve is mostly noise: then the deepest dip within half of :math:`\sqrt{2d}` (at most 20) on
    either side of it, or that number itself.

    Beyond the true number the features of a tight group fall apart, one by one, before a loose
    group does. So numbers at which features stand alone (``lone``, how many by C) do not count: of
    clear dips those with two or more; otherwise those with any, unless there is no other.
    """
    if (at_gap := _gap(curve, eigenvalues)) is not None:
        return at_gap
    lone = lone or dict.fromkeys(curve, 0)
    usual = min(USUAL_GROUPS, max(2, round(math.sqrt(2 * n_features))), max(curve))
    nothing, something = NOTHING * n_features, SOMETHING * n_features
    curve = _without_ties(curve, ROUNDING * n_features)
    heights = np.array([0.0, *curve.values(), 0.0])  # beyond its ends the curve is zero
    before = dict(zip(curve, heights[:-2] - heights[1:-1], strict=True))
    after = dict(zip(curve, heights[2:] - heights[1:-1], strict=True))
    dips = {C: depth for C in curve if (depth := min(before[C], after[C])) > 0}
    clear = {C for C, depth in dips.items() if depth >= curve[C]}
    clear |= {C for C in curve if curve[C] <= nothing and after[C] >= something}
    clear = {C for C in clear if lone[C] <= 1}
    if any(C > 2 and depth >= curve[C] / 2 and not lone[C] for C, depth in dips.items()):
        clear.discard(2)
    if clear:
        return min(clear)
    whole = {C: depth for C, depth in dips.items() if not lone[C]}
    near = {C: depth for C, depth in whole.items() if usual / 2 <= C <= 1.5 * usual}
    if not near and lone[usual]:
        near = whole or {C: float(C) for C in range(2, usual + 1) if not lone[C]}
    return max(near, key=lambda C: near[C]) if near else usual


def _gap(curve: dict[int, float], eigenvalues: FloatArray | None) -> int | None:
    """Count the eigenvalues before they fall for good, from three on, or one more."""
    if eigenvalues is None or len(eigenvalues) < 4:
        return None
    falls = -np.diff(eigenvalues)
    C = 3 + int(np.argmax(falls[2:]))
    if falls[C - 1] < CLEAR_GAP:
        return None
    return min((C, C + 1), key=lambda number: curve.get(number, np.inf))


def _without_ties(curve: dict[int, float], rounding: float) -> dict[int, float]:
    """Keep only the last of numbers in a row at which the distortion is zero but for rounding.

    A graph in m pieces has m eigenvectors of eigenvalue one, of which the solver returns any
    mixture: whether the first few of them are without distortion, too, is a matter of rounding.
    """
    return {C: E for C, E in curve.items() if max(E, curve.get(C + 1, math.inf)) > rounding}
