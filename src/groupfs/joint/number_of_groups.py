r"""Choose how many groups a feature graph has, by distortion E(C) and gaps of the eigenvalues.

Axes: d features, C groups. Eigenvectors come from :mod:`groupfs.joint.clusters`.
"""

import math

import numpy as np

from groupfs.joint.clusters import cluster_features, embed, leading_eigenvectors
from groupfs.joint.graph import Walk
from groupfs.utils.types import FloatArray, IntArray

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


def find_n_groups(walk: Walk, n_distinct: int) -> tuple[int, dict[int, float], FloatArray]:
    """Find the number of groups; return it, E(C) for all C looked at, and the eigenvectors.

    ``n_distinct`` features are not duplicates of another.
    """
    eigenvectors = leading_eigenvectors(walk, max(min(MOST_GROUPS + 1, n_distinct), 2))
    curve, lone = _curve(eigenvectors)
    values = np.einsum("ij,ij->j", eigenvectors, walk @ eigenvectors)
    return choose_n_groups(curve, len(eigenvectors), lone, values), curve, eigenvectors


def lowest_distortion(walk: Walk) -> tuple[int, dict[int, float], FloatArray]:
    """Find the C with the lowest E(C), as published, of 2 <= C <= min(d - 1, 40).

    Returns it, E(C) for all C looked at, and the eigenvectors. C = d is left out: every feature is
    its own group there, and E(d) is zero whatever the table.
    """
    most = max(2, min(walk.shape[0] - 1, MOST_BY_DISTORTION))
    eigenvectors = leading_eigenvectors(walk, most)
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
    at_gap = _gap(curve, eigenvalues)
    if at_gap is not None:
        return at_gap
    lone = lone or dict.fromkeys(curve, 0)
    usual = min(USUAL_GROUPS, max(2, round(math.sqrt(2 * n_features))), max(curve))
    nothing, something = NOTHING * n_features, SOMETHING * n_features
    curve = _without_ties(curve, ROUNDING * n_features)
    heights = np.array([0.0, *curve.values(), 0.0])  # beyond its ends the curve is zero
    before = dict(zip(curve, heights[:-2] - heights[1:-1], strict=True))
    after = dict(zip(curve, heights[2:] - heights[1:-1], strict=True))
    dips = {C: min(before[C], after[C]) for C in curve}
    dips = {C: depth for C, depth in dips.items() if depth > 0}
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
