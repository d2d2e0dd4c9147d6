r"""Say which features belong to a group and how far they are one thing: component and cohesion.

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

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from groupfs.data.similarity import NEAREST, ComparedColumns, Similarity
from groupfs.discovery.feature_graph import FeatureGraph
from groupfs.utils.threads import in_threads
from groupfs.utils.types import FloatArray, IntArray

#: A feature moves to a group that it goes with this many times as much as with its own. Where all
#: features have something in common, groups differ by little and most of it is chance: with 1.1
#: scales of ability tests fall apart, with 1.25 to 2 they do not.
CLEARLY_NEARER = 1.5
#: Features of a group that is not looked at.
NONE = np.zeros(0, dtype=np.int64)
#: Rounds of moves, at most, and in which features leave their groups.
MOST_MOVES, MOST_ROUNDS = 3, 10
#: Standard errors that the correlation of a feature with the rest of its group is from zero, at
#: least: chance gives as many to one of a few thousand features. And its correlation with the
#: group's first component: less is under 4 % of its variance.
CHANCE_ERRORS, LEAST_CENTRALITY = 3.5, 0.2
#: Features up to which the first eigenvector is found with all others.
FEW_FEATURES = 200


@dataclass(frozen=True)
class Components:
    """First components of C groups."""

    centrality: FloatArray  #: correlation of each feature with its group's, 0 or more, (d,)
    signs: IntArray  #: -1 for features that run against the most central one, 0 without group, (d,)
    cohesion: FloatArray  #: (C,)
    rest: FloatArray  #: correlation of each feature with the rest of its group, (d,)


def assign_members(
    similarity: Similarity, graph: FeatureGraph, labels: IntArray, n_groups: int, signed: bool
) -> IntArray:
    """Move features to groups they are clearly nearer to, (d,); -1 for those that leave theirs.

    A feature leaves if its correlation with the rest of its group is too low, or chance. Those
    labelled -1 stay out.
    """
    labels = move_features(graph, labels, n_groups)
    least = min(CHANCE_ERRORS / np.sqrt(similarity.shape[0]), 1.0)
    changed = np.ones(n_groups, dtype=bool)
    for _ in range(MOST_ROUNDS):
        members = [np.flatnonzero(labels == j) if changed[j] else NONE for j in range(n_groups)]
        found = group_components(similarity, members, signed)
        low = (labels >= 0) & changed[labels]
        low &= (found.rest < least) | (found.centrality < LEAST_CENTRALITY)
        changed = np.bincount(labels[low], minlength=n_groups) > 0
        if not low.any():
            break
        labels = np.where(low, -1, labels)
    return labels


def move_features(graph: FeatureGraph, labels: IntArray, n_groups: int) -> IntArray:
    """Move features to groups they are clearly nearer to, (d,).

    Nearness is the mean of the three largest abs(r) with features of the group.
    """
    for _ in range(MOST_MOVES):
        own, other, nearest = nearness(graph, labels, n_groups)
        moves = (labels >= 0) & (other > CLEARLY_NEARER * own)
        if not moves.any():
            break
        labels = np.where(moves, nearest, labels)
    return labels


def nearness(
    graph: FeatureGraph, labels: IntArray, n_groups: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Tell how near every feature is to its own group and to the nearest other one, and which.

    (d,) each. Pairs without an edge are as far as can be; smaller groups average what they have.
    """
    d = graph.n_features
    feature, neighbor = np.concatenate([graph.edges, graph.edges[:, ::-1]]).T
    r = np.tile(np.sqrt(graph.weights[0] + 1 / graph.n_rows[0]), 2)
    tied = (np.tile(graph.weights[0], 2) > 0) & (labels[neighbor] >= 0)
    pair = feature[tied] * n_groups + labels[neighbor[tied]]
    order = np.argsort(pair - r[tied] / 2)  # by pair, the largest first
    pair, r = pair[order], r[tied][order]
    first = np.flatnonzero(np.append(True, pair[1:] != pair[:-1])[: len(pair)])
    place = np.arange(len(pair)) - np.repeat(first, np.diff(np.append(first, len(pair))))
    total = np.add.reduceat(np.where(place < NEAREST, r, 0), first) if len(first) else r
    feature, group = np.divmod(pair[first], n_groups)
    is_own = labels[feature] == group
    n_others = np.bincount(labels[labels >= 0], minlength=n_groups)[group] - is_own
    mean = total / np.clip(n_others, 1, NEAREST)
    own, other, nearest = np.zeros(d), np.zeros(d), np.full(d, -1)
    own[feature[is_own]] = mean[is_own]
    by_mean = np.argsort(np.where(is_own, -1, mean), kind="stable")  # the largest is written last
    other[feature[by_mean]] = np.where(is_own, 0, mean)[by_mean]
    nearest[feature[by_mean]] = group[by_mean]
    return own, other, nearest


def group_components(
    similarity: Similarity, groups: list[IntArray], signed: bool = False
) -> Components:
    """Find the first component of every group, or with ``signed`` its mean.

    Components of a streamed table, and how cohesive groups are, are those of its sample.
    """
    d = similarity.shape[1]
    N = similarity.in_memory().shape[0]
    signs = np.zeros(d, dtype=np.int64)
    cohesion = np.zeros(len(groups))
    if signed:
        labels = np.full(d, -1)
        for j, group in enumerate(groups):
            labels[group] = j
            if len(group) > 1:
                cohesion[j] = beyond_edge(len(group) * similarity.mean_of(group), len(group), N)
        central, rest = similarity.with_sums(labels, len(groups))
        signs[labels >= 0] = np.where(central < 0, -1, 1)[labels >= 0]
        return Components(central, signs, cohesion, rest)
    centrality, rest = np.zeros(d), np.zeros(d)
    some = [j for j, group in enumerate(groups) if len(group)]
    tasks = ((groups[j],) for j in some)
    found_of = in_threads(lambda group: _first_of(similarity.columns(group), N), tasks)
    for j, found in zip(some, found_of, strict=True):
        group = groups[j]
        centrality[group], rest[group], signs[group] = found.centrality, found.rest, found.signs
        cohesion[j] = found.cohesion[0]
    return Components(centrality, signs, cohesion, rest)


def _first_of(columns: ComparedColumns, n_samples: int) -> Components:
    """Find the first component of the columns of one group.

    The columns of a feature are uncorrelated: its part of the eigenvector is the length of theirs.
    How far a group is beyond chance is told by weighted pairs, centrality by pairs as they are.
    """
    owner, dims = columns.feature_of_column, columns.dims
    value, vector = first_component(columns.weighted)
    along = np.sqrt(max(value, 0)) * vector  # of unweighted pairs
    if columns.weighted is not columns.matrix:
        along = columns.matrix @ vector
        along = along / np.sqrt(max(float(vector @ along), 1e-300))
    by_chance = (dims - 1) / np.maximum(columns.n_values - 1, 1)
    share = np.sqrt(np.bincount(owner, np.square(along)))
    own = np.sqrt(np.bincount(owner, np.square(vector)))
    # features of several columns have no sign
    turned = np.where(np.bincount(owner) == 1, np.bincount(owner, vector), 0)
    against = turned * turned[np.abs(turned).argmax()] < 0
    return Components(
        _lowered(np.minimum(share, 1), by_chance),
        np.where(against, -1, 1),
        np.array([beyond_edge(value, int(dims.sum()), n_samples)]),
        _lowered(with_rest(value, own), by_chance),
    )


def _lowered(correlation: FloatArray, by_chance: FloatArray) -> FloatArray:
    """Lower correlations of features of several dimensions by what chance gives them more."""
    square = np.square(correlation) - by_chance
    return np.sqrt(np.maximum(square / np.maximum(1 - by_chance, 1e-12), 0))


def with_rest(eigenvalue: float, vector: FloatArray) -> FloatArray:
    """Correlate every feature with the component of the others, (m,); 0 for a single feature."""
    if len(vector) < 2:
        return np.zeros(len(vector))
    spread = eigenvalue - (2 * eigenvalue - 1) * np.square(vector)
    found: FloatArray = (eigenvalue - 1) * vector / np.sqrt(np.maximum(spread, 1e-12))
    return np.minimum(found, 1)


def beyond_edge(eigenvalue: float, m: int, n_samples: int) -> float:
    """Divide what an eigenvalue has above one by what chance gives; 0 for a single feature."""
    if m < 2:
        return 0.0
    return (eigenvalue - 1) / ((1 + np.sqrt(m / n_samples)) ** 2 - 1)


def first_component(matrix: Any) -> tuple[float, FloatArray]:
    """Find the largest eigenvalue of a symmetric matrix or operator and its eigenvector, (m,)."""
    m = matrix.shape[0]
    try:
        is_small = isinstance(matrix, np.ndarray) and m <= FEW_FEATURES
        values, vectors = (dense_eigenvectors if is_small else lanczos)(matrix, 1)
    except scipy.sparse.linalg.ArpackError:  # the first two are too close for it to converge
        values, vectors = dense_eigenvectors(matrix @ np.eye(m), 1)
    return float(values[0]), vectors[:, 0]


def dense_eigenvectors(matrix: FloatArray, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    """Find the largest eigenvalues, (m,), in rising order, and their eigenvectors, (d, m)."""
    d = matrix.shape[0]
    try:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(d - n_vectors, d - 1))
    except scipy.linalg.LinAlgError:  # many are equal
        values, vectors = np.zeros(0), np.zeros((d, 0))
    if len(values) < n_vectors:  # LAPACK may lose some where many are equal, and does not say so
        values, vectors = scipy.linalg.eigh(matrix, driver="evd")
    return values[-n_vectors:], vectors[:, -n_vectors:]


def lanczos(matrix: Any, n_vectors: int, **options: Any) -> tuple[FloatArray, FloatArray]:
    """Find the largest eigenvalues of a sparse matrix or an operator, in any order, and vectors.

    ARPACK draws numbers of its own when it has to start again; with a seed they stay the same.
    """
    eigsh, rng = scipy.sparse.linalg.eigsh, np.random.default_rng(0)
    start = rng.standard_normal(matrix.shape[0])
    if "rng" in inspect.signature(eigsh).parameters:  # since scipy 1.17
        options["rng"] = rng
    return eigsh(matrix, n_vectors, which="LA", v0=start, **options)
