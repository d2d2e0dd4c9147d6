r"""How far the features of a group are one thing: their first component, and cohesion.

Axes: N samples, m features of a group, d features, C groups.

The first component of a group's correlation matrix, with eigenvalue :math:`\lambda`, is its mean
with the signs of the features turned to agree. :math:`(\lambda - 1) / (m - 1)` is the correlation
that m features with the same correlation throughout would need for it. Among m unrelated columns
chance gives about :math:`((1 + \sqrt{m / N})^2 - 1) / (m - 1)`, the edge of the Marchenko-Pastur
law; *cohesion* is the ratio of the two, and can be compared between groups of any size.

A feature's correlation with its group's component counts the feature itself. Its correlation with
the *rest* of the group does not; from the feature's entry v of the eigenvector it is
:math:`(\lambda - 1) v / \sqrt{\lambda - (2 \lambda - 1) v^2}`.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import Rows, RowsInMemory
from groupfs.data.streamed_rows import StreamRows
from groupfs.graphs.canonical_correlation import column_correlations
from groupfs.graphs.eigenvectors import first_component, lanczos
from groupfs.graphs.feature_clusters import as_groups
from groupfs.graphs.feature_similarity import similarities
from groupfs.graphs.pair_sums import pair_weights
from groupfs.graphs.similarity import MATRIX_FEATURES, Correlations
from groupfs.utils.types import FloatArray, IntArray


@dataclass(frozen=True)
class Components:
    """First components of C groups."""

    centrality: FloatArray  #: correlation of each feature with its group's, 0 or more, (d,)
    signs: IntArray  #: -1 for features that run against the most central one, 0 without group, (d,)
    cohesion: FloatArray  #: (C,)
    rest: FloatArray  #: correlation of each feature with the rest of its group, (d,)


def group_components(
    rows: Rows, groups: list[IntArray], correlations: Correlations | None = None
) -> Components:
    """Find the first component of every group; those of a streamed table on its sample.

    ``correlations`` are those of the rows in memory, where they are known.
    """
    held = in_memory(rows)
    if isinstance(held, FeatureRows):
        return _feature_components(held, groups, signed=False)
    N, d = held.shape
    matrix = None
    if d <= MATRIX_FEATURES:
        matrix = (correlations or Correlations(held)).matrix().cpu().numpy()
    centrality, rest, signs = np.zeros(d), np.zeros(d), np.zeros(d, dtype=np.int64)
    cohesion = np.zeros(len(groups))
    for j, group in enumerate(groups):
        if not len(group):
            continue
        if matrix is not None:
            value, vector = first_component(matrix[np.ix_(group, group)])
        else:
            value, vector = _component_of_columns(held.restricted(group))
        centrality[group] = np.minimum(np.sqrt(max(value, 0)) * np.abs(vector), 1)
        rest[group] = with_rest(value, np.abs(vector))
        leading = vector[np.abs(vector).argmax()]
        signs[group] = np.where(vector * leading < 0, -1, 1)
        cohesion[j] = beyond_edge(value, len(group), N)
    return Components(centrality, signs, cohesion, rest)


def with_rest(eigenvalue: float, vector: FloatArray) -> FloatArray:
    """Correlate every feature with the component of the others, (m,); 0 for a single feature."""
    if len(vector) < 2:
        return np.zeros(len(vector))
    spread = eigenvalue - (2 * eigenvalue - 1) * np.square(vector)
    found: FloatArray = (eigenvalue - 1) * vector / np.sqrt(np.maximum(spread, 1e-12))
    return np.minimum(found, 1)


def correlations_with_groups(
    rows: Rows,
    labels: IntArray,
    n_groups: int,
    signed: bool,
    correlations: Correlations | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Correlate every feature with its group, and with the rest of it, (d,) each.

    With the group's first component, or with the sum of its features where signs matter. 0 for
    features in no group, labelled -1.
    """
    if isinstance(rows, FeatureRows):
        found = _feature_components(rows, as_groups(labels, n_groups), signed)
        return found.centrality, found.rest
    if not signed:
        found = group_components(rows, as_groups(labels, n_groups), correlations)
        return found.centrality, found.rest
    central, rest = np.zeros(len(labels)), np.zeros(len(labels))
    inside = np.flatnonzero(labels >= 0)
    part = rows if len(inside) == len(labels) else rows.restricted(inside)
    products, lengths = part.group_products(labels[inside], n_groups)
    own, length = part.column_norms, lengths[labels[inside]]
    central[inside] = products / np.maximum(length * np.sqrt(own), 1e-12)
    left = np.square(length) - 2 * products + own  # squared length of the sum of the others
    alone = left <= 1e-9 * own
    rest[inside] = np.where(alone, 0, (products - own) / np.sqrt(np.where(alone, 1, left * own)))
    return central, rest


def mean_cohesion(rows: Rows, groups: list[IntArray]) -> FloatArray:
    """Compute cohesion from the mean r of groups whose features shall not be turned, (C,)."""
    held = in_memory(rows)
    if isinstance(held, FeatureRows):
        return _feature_components(held, groups, signed=True).cohesion
    found = np.zeros(len(groups))
    for j, group in enumerate(groups):
        m = len(group)
        if m > 1:
            part = held.restricted(group)
            total = float(np.square(part.combine(1 / Correlations(part).roots[:, None])).sum())
            found[j] = beyond_edge(total / m, m, held.shape[0])
    return found


def beyond_edge(eigenvalue: float, m: int, n_samples: int) -> float:
    """Divide what an eigenvalue has above one by what chance gives; 0 for a single feature."""
    if m < 2:
        return 0.0
    return (eigenvalue - 1) / ((1 + np.sqrt(m / n_samples)) ** 2 - 1)


def in_memory(rows: Rows) -> RowsInMemory:
    """Return the rows themselves, or the sample that a streamed table holds."""
    held = rows.sample if isinstance(rows, StreamRows) else rows
    assert isinstance(held, RowsInMemory)
    return held


def _feature_components(rows: FeatureRows, groups: list[IntArray], signed: bool) -> Components:
    """Find the first component of groups of features of any kinds, or their mean if ``signed``.

    Of all columns of a group, those of a feature uncorrelated: a feature's part of the eigenvector
    is the length of its columns' part. Similarities other than correlation are taken as they are,
    and so are those that shall not be turned. How far a group is beyond chance is told by weighted
    pairs, centrality by pairs as they are.
    """
    N, d = rows.shape
    centrality, rest, signs = np.zeros(d), np.zeros(d), np.zeros(d, dtype=np.int64)
    cohesion = np.zeros(len(groups))
    for j, group in enumerate(groups):
        if not len(group):
            continue
        part = rows.basis.restricted(group)
        owner, dims = np.arange(len(group)), np.ones(len(group), dtype=np.int64)
        if part.similarity in ("correlation", "rank") and not signed:
            owner, dims = part.owner, part.dims
            matrix = column_correlations(part)
        else:
            matrix = similarities(part)
        weights = pair_weights(part)
        weighted = matrix
        if weights.size > 1:
            np.fill_diagonal(weights, 1)
            weighted = matrix * weights[owner][:, owner]
        if signed:
            vector = np.full(len(group), 1 / np.sqrt(len(group)))
            value = float(weighted.mean() * len(group))
            rest[group] = _with_others(weighted)
        else:
            value, vector = first_component(weighted)
        along = matrix @ vector
        length = np.sqrt(max(float(vector @ along), 1e-300))
        counts = N if part.present is None else part.present.sum(0)
        by_chance = (dims - 1) / np.maximum(counts - 1, 1)
        if signed:
            centrality[group] = np.clip(along / length, -1, 1)
            signs[group] = np.where(along < 0, -1, 1)
        else:
            share = np.sqrt(np.bincount(owner, np.square(along))) / length
            centrality[group] = _lowered(np.minimum(share, 1), by_chance)
            own = np.sqrt(np.bincount(owner, np.square(vector)))
            rest[group] = _lowered(with_rest(value, own), by_chance)
            turned = np.where(np.bincount(owner) == 1, np.bincount(owner, vector), 0)
            leading = turned[np.abs(turned).argmax()]
            signs[group] = np.where(turned * leading < 0, -1, 1)
        cohesion[j] = beyond_edge(value, int(dims.sum()), N)
    return Components(centrality, signs, cohesion, rest)


def _with_others(matrix: FloatArray) -> FloatArray:
    """Correlate every feature with the sum of the others, (m, m) to (m,)."""
    sums, m = matrix.sum(1), len(matrix)
    left = matrix.sum() - 2 * sums + 1  # variance of the sum of the others
    found: FloatArray = (sums - 1) / np.sqrt(np.maximum(left, 1e-12))
    return np.clip(found, -1, 1) if m > 1 else np.zeros(1)


def _lowered(correlation: FloatArray, by_chance: FloatArray) -> FloatArray:
    """Lower correlations of features of several dimensions by what chance gives them more."""
    square = np.square(correlation) - by_chance
    return np.sqrt(np.maximum(square / np.maximum(1 - by_chance, 1e-12), 0))


def _component_of_columns(rows: RowsInMemory) -> tuple[float, FloatArray]:
    """Find the first component of very many columns without their correlation matrix."""
    m = rows.shape[1]
    if m <= MATRIX_FEATURES:
        return first_component(Correlations(rows).matrix().cpu().numpy())
    roots = np.sqrt(np.maximum(rows.column_norms, 1e-300))

    def multiply(vector: FloatArray) -> FloatArray:
        scores = rows.combine(vector.reshape(m, 1) / roots[:, None])
        return rows.project(scores)[:, 0] / roots

    matrix = scipy.sparse.linalg.LinearOperator((m, m), matvec=multiply, dtype=np.float64)
    values, vectors = lanczos(matrix, 1)
    return float(values[0]), vectors[:, 0]
