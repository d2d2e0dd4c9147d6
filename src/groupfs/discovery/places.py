r"""Say which second group every feature goes with, and whether it stands between two.

Axes: n rows, d features, C groups.

A group's score is the sum of its features, turned to agree; a feature's own is without itself. With
the reliabilities :math:`\rho` of the scores (Cronbach's alpha) the correlations r of a feature with
two of them, and R of the two, are brought to those with what the scores measure,
:math:`r / \sqrt{\rho}` and :math:`\varphi = R / \sqrt{\rho_1 \rho_2}`. The loadings of the feature
on both are then

.. math:: \lambda_1 = (r_1 - \varphi r_2) / (1 - \varphi^2), \qquad
          \lambda_2 = (r_2 - \varphi r_1) / (1 - \varphi^2).

That of a plain member on another group is 0, however much the two groups have in common.
"""

from dataclasses import dataclass

import numpy as np

from groupfs.discovery.members import LEAST_CENTRALITY
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: A feature is between two groups if its loading on the second is at least this share of that on
#: the first, and so many standard errors, as chance gives to one of a few thousand features; its
#: correlation with the second is also to be that of a member, at least.
BETWEEN, CHANCE_ERRORS = 0.5, 3.5
#: Correlation of two groups that is as high as can be told apart, and least reliability.
MOST_ALIKE, LEAST_RELIABLE = 0.95, 0.05
#: Features looked at together, over the groups.
ENTRIES = 2**22


@dataclass(frozen=True)
class Places:
    """Where features stand beside their own group, (d,) each."""

    second: IntArray  #: the other group a feature loads on most, -1 without one
    strength: FloatArray  #: abs(r) with the score of that group
    between: BoolArray  #: whether the feature is as much of that group as of its own


def find_places(Z: FloatArray, labels: IntArray, signs: IntArray, n_groups: int) -> Places:
    """Find the second group of every feature from rows of numbers, (n, d), gaps as 0.

    Features in no group (-1) are placed by the group they go with most, as if that were their own.
    """
    n, d = Z.shape
    second, strength = np.full(d, -1), np.zeros(d)
    between = np.zeros(d, dtype=bool)
    if n_groups < 2:
        return Places(second, strength, between)
    Z = Z - Z.mean(0)
    Z /= np.maximum(np.linalg.norm(Z, axis=0), 1e-12)
    inside = np.flatnonzero(labels >= 0)
    S = np.zeros((n, n_groups))
    np.add.at(S.T, labels[inside], (Z[:, inside] * signs[inside]).T)
    sizes = np.bincount(labels[inside], minlength=n_groups)
    products = S.T @ S
    variance = np.maximum(np.diagonal(products), 1e-12)
    reliability = _alpha(sizes, variance)
    alike = products / np.sqrt(np.outer(variance * reliability, variance * reliability))
    alike = np.clip(alike, -MOST_ALIKE, MOST_ALIKE)
    step = max(1, ENTRIES // n_groups)
    for start in range(0, d, step):
        part = slice(start, min(d, start + step))
        r = Z[:, part].T @ S / np.sqrt(variance)
        own, rows = labels[part].copy(), np.arange(len(r))
        alone = own < 0
        own[alone] = np.abs(r[alone]).argmax(1)
        turn = np.where(alone, np.where(r[rows, own] < 0, -1, 1), signs[part])
        first = r[rows, own] * turn
        # without the feature itself
        others = np.maximum(variance[own] - 2 * first * np.sqrt(variance[own]) + 1, 1e-12)
        rest = (first * np.sqrt(variance[own]) - 1) / np.sqrt(others)
        first = np.where(alone, first, rest)
        of_own = np.where(alone, reliability[own], _alpha(sizes[own] - 1, others))
        r1 = (first / np.sqrt(of_own))[:, None]
        r2, phi = turn[:, None] * r / np.sqrt(reliability), alike[own]
        on_second, on_first = (r2 - phi * r1) / (1 - phi**2), (r1 - phi * r2) / (1 - phi**2)
        on_second[rows, own] = 0
        best = np.abs(on_second).argmax(1)
        error = 1 / np.sqrt(n * reliability[best] * (1 - phi[rows, best] ** 2))
        most = np.abs(on_second[rows, best])
        least = np.maximum(BETWEEN * np.abs(on_first[rows, best]), CHANCE_ERRORS * error)
        second[part], strength[part] = best, np.abs(r[rows, best])
        between[part] = (
            (most >= least)
            & (strength[part] >= LEAST_CENTRALITY)
            & (np.abs(on_first[rows, best]) >= CHANCE_ERRORS * error)
        )
    return Places(second, strength, between)


def _alpha(sizes: IntArray, variance: FloatArray) -> FloatArray:
    """Compute Cronbach's alpha of sums of so many features of variance one, (C,)."""
    m = np.maximum(sizes, 2)
    return np.maximum(m / (m - 1) * (1 - m / variance), LEAST_RELIABLE)
