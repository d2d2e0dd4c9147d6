"""Find the groups of a table before training: which features take part, how many groups, which.

Axes: S seeds, d features, C groups.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.memory_plan import n_candidates_that_fit
from groupfs.data.rows import Rows
from groupfs.data.table import Table
from groupfs.graphs.chance_tables import ChanceTables
from groupfs.graphs.divided_groups import divide_groups
from groupfs.graphs.eigenvectors import DENSE_FEATURES, first_component, leading_eigenvectors
from groupfs.graphs.feature_clusters import cluster_features, nearest_clusters
from groupfs.graphs.feature_graph import feature_walk
from groupfs.graphs.nearest_groups import settle_features
from groupfs.graphs.number_of_groups import find_n_groups
from groupfs.graphs.pair_sums import exclusive_pairs
from groupfs.graphs.relatedness import Relatedness
from groupfs.graphs.replication import (
    FEWEST_FEATURES,
    FEWEST_ROWS,
    MOST_FEATURES,
    MOST_GROUPS,
    MOST_ROWS,
    Halves,
    Replication,
)
from groupfs.graphs.similarity import MATRIX_FEATURES, Correlations
from groupfs.scoring.cohesion import correlations_with_groups, in_memory
from groupfs.training.settings import Settings
from groupfs.utils.types import FloatArray, IntArray

#: Numbers that the rows looked at in halves may hold.
HALVED_ENTRIES = 2**25
#: Standard errors that the correlation of a feature with the rest of its group is from zero, at
#: least: chance gives as many to one of a few thousand features. And its correlation with the
#: group's first component: less is under 4 % of its variance.
CHANCE_ERRORS, LEAST_CENTRALITY = 3.5, 0.2
#: Rounds in which features are let go, at most.
MOST_ROUNDS = 10


class NoGroups(Exception):
    """Every feature turned out to go with no group."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for the groups that were found."""

    chance: ChanceTables
    n_chosen: int  #: features that groups were looked for among
    relatedness: Relatedness | None = None  #: None where all features take part
    halves: Halves | None = None
    halved: IntArray | None = None  #: the user's columns that the halves are about
    replication: Replication | None = None  #: None if the number of groups was given


@dataclass(frozen=True)
class FeatureStart:
    """Where the memberships of the features start, known or found."""

    n_groups: int
    clusters: list[IntArray]  #: one clustering of the features per seed; one where it is fixed
    known: bool = False  #: whether the groups were known beforehand
    fixed: bool = False  #: whether features stay in these clusters
    candidates: IntArray | None = None  #: groups each feature may belong to if not all, (S, d, k)
    distortion: dict[int, float] | None = None  #: E(C) for every C looked at


@dataclass(frozen=True)
class Discovery:
    """Groups that training starts from."""

    table: Table  #: the features in groups alone
    start: FeatureStart
    walk: FloatArray | sp.csr_array | None  #: of the features; None where groups stay as they are
    evidence: Evidence | None  #: None where nothing is compared with chance


def discover(
    table: Table,
    settings: Settings,
    seeds: list[int],
    model_bytes: int,
    n_candidates: int | None = None,
    relatedness: Relatedness | None = None,
) -> Discovery:
    """Leave out unrelated features, find the number of groups and one clustering per seed.

    ``model_bytes`` is the memory that models trained side by side may take.
    """
    whole = table
    if relatedness is not None:
        related = np.flatnonzero(relatedness.related)
        if len(related) < 2:
            raise NoGroups
        table = table.restricted(related)
    rows, d = table.rows, table.rows.shape[1]
    if settings.learn_memberships:
        # refused before the hours it may take to build the graph
        at_least = 3 if isinstance(settings.n_groups, str) else settings.n_groups
        n_candidates_that_fit(d, at_least, len(seeds), model_bytes)
    correlations = Correlations(in_memory(rows))
    evidence = _evidence(whole, table, settings, seeds[0], relatedness, correlations)
    replication = None if evidence is None else evidence.replication
    walk = feature_walk(
        rows,
        settings.n_neighbors,
        settings.feature_neighbors,
        settings.signed,
        correlations if correlations.rows is rows else None,
    )
    n_groups, distortion, eigenvectors = _number_of_groups(
        walk, table, settings, replication, evidence, correlations
    )
    if not settings.learn_memberships or n_groups == 1:
        labels = np.zeros(d, dtype=np.int64)
        if n_groups > 1:
            labels = cluster_features(eigenvectors, n_groups)
        if replication is not None and replication.best is not None and d <= MATRIX_FEATURES:
            labels = _divided(table, labels, settings, seeds[0], correlations)
            n_groups = int(labels.max()) + 1
        if relatedness is not None:
            labels = settled(correlations, labels, n_groups, settings)
        labels = _together(labels, table.twins)
        inside = np.flatnonzero(labels >= 0)
        if not len(inside):
            raise NoGroups
        if len(inside) < d:
            table = table.restricted(inside)
        start = FeatureStart(n_groups, [labels[inside]], fixed=True, distortion=distortion)
        return Discovery(table, start, None, evidence)
    clusters = [
        cluster_features(eigenvectors, n_groups, np.random.default_rng(seed)) for seed in seeds
    ]
    n_candidates = n_candidates or n_candidates_that_fit(d, n_groups, len(seeds), model_bytes)
    candidates = None
    if n_candidates is not None:
        candidates = np.stack(
            [nearest_clusters(eigenvectors, labels, n_groups, n_candidates) for labels in clusters]
        )
    start = FeatureStart(n_groups, clusters, candidates=candidates, distortion=distortion)
    return Discovery(table, start, walk, evidence)


def evidence_for_known(rows: Rows, seed: int) -> Evidence:
    """Make the chance tables that groups known beforehand are compared with."""
    return Evidence(ChanceTables.of(rows, seed), rows.shape[1])


def _evidence(
    whole: Table,
    table: Table,
    settings: Settings,
    seed: int,
    relatedness: Relatedness | None,
    correlations: Correlations,
) -> Evidence | None:
    """Split the rows in halves, and make chance tables; None if settings ask for neither."""
    if not settings.compares_with_chance:
        return None
    chance = ChanceTables.of(whole.rows, seed) if relatedness is None else relatedness.chance
    halves, halved = _halves(table, settings, seed, correlations)
    replication = None
    if halves is not None and settings.n_groups == "replication":
        replication = halves.replication()
    columns = None if halved is None else table.columns[halved]
    return Evidence(chance, table.rows.shape[1], relatedness, halves, columns, replication)


def _halves(
    table: Table, settings: Settings, seed: int, correlations: Correlations
) -> tuple[Halves | None, IntArray | None]:
    """Embed the features by halves of the rows; None where rows or features are too few."""
    rows = table.rows
    N, d = rows.shape
    if N < FEWEST_ROWS or d < FEWEST_FEATURES:
        return None, None
    rng = np.random.default_rng(seed)
    features = np.sort(rng.permutation(d)[:MOST_FEATURES])
    n_vectors = min(MOST_GROUPS, len(features) // 2)
    if not isinstance(settings.n_groups, str):
        n_vectors = settings.n_groups
    X = _rows_to_split(rows, rng)
    if isinstance(X, FeatureRows):
        seed = int(rng.integers(2**31))
        part = X.restricted(features)
        excluded = torch.from_numpy(exclusive_pairs(part.basis, 0, len(features)))
        halves = Halves(part, excluded, settings.n_neighbors, n_vectors, settings.signed, seed)
        return halves, features
    if d <= MATRIX_FEATURES:
        matrix = correlations.matrix()[features][:, features]
    else:
        matrix = Correlations(in_memory(rows).restricted(features)).matrix()
    excluded = matrix.to(X.device) == 0
    X = X[:, torch.as_tensor(features, device=X.device)]
    halves = Halves(
        X, excluded, settings.n_neighbors, n_vectors, settings.signed, int(rng.integers(2**31))
    )
    return halves, features


def _rows_to_split(rows: Rows, rng: np.random.Generator) -> Tensor | FeatureRows:
    """Take the rows that are split in halves, (n, d)."""
    N, d = rows.shape
    most = min(MOST_ROWS, max(FEWEST_ROWS, HALVED_ENTRIES // d))
    if isinstance(rows, FeatureRows):
        return rows if most >= N else rows.resampled(np.sort(rng.permutation(N)[:most]), True)
    return rows.random_rows(most, rng)


def _number_of_groups(
    walk: FloatArray | sp.csr_array,
    table: Table,
    settings: Settings,
    replication: Replication | None,
    evidence: Evidence | None,
    correlations: Correlations,
) -> tuple[int, dict[int, float], FloatArray]:
    """Choose the number of groups; return it, E(C) where it was looked at, and eigenvectors.

    By what replicates; where nothing does, or with ``n_groups="distortion"``, by E(C).
    """
    d = table.rows.shape[1]
    n_groups = settings.n_groups
    dense = None if settings.learn_memberships else DENSE_FEATURES
    if n_groups == "replication":
        best = None if replication is None else replication.best
        if best is None and (d < FEWEST_FEATURES or _is_one_thing(correlations, evidence)):
            best = 1
        n_groups = best or "distortion"
    if isinstance(n_groups, str):
        return find_n_groups(walk, table.n_distinct, dense)
    return n_groups, {}, leading_eigenvectors(walk, min(n_groups, d), dense_features=dense)


def _is_one_thing(correlations: Correlations, evidence: Evidence | None) -> bool:
    """Decide whether a second component of the features is no larger than chance gives."""
    N, d = correlations.rows.shape
    if evidence is None or d > MATRIX_FEATURES:
        return False
    matrix = correlations.matrix().cpu().numpy()
    value, vector = first_component(matrix)
    second, _ = first_component(matrix - value * np.outer(vector, vector))
    tables = evidence.chance.strongest(evidence.n_chosen)
    shrink = np.sqrt(evidence.chance.rows.shape[0] / N)
    by_chance = [first_component(Correlations(part).matrix().cpu().numpy())[0] for part in tables]
    return bool(second - 1 <= shrink * (max(by_chance) - 1))


def _divided(
    table: Table, labels: IntArray, settings: Settings, seed: int, correlations: Correlations
) -> IntArray:
    """Divide groups whose parts have little to do with each other."""
    # groups are small: on a GPU launches would take longer than the work
    X = _rows_to_split(table.rows, np.random.default_rng(seed))
    X = X if isinstance(X, FeatureRows) else X.cpu()
    matrix = correlations.matrix().cpu()
    if isinstance(X, FeatureRows) and not X.basis.is_single:
        matrix = matrix.abs()  # categories have no sign that could agree with those of numbers
    return divide_groups(X, matrix, labels, settings.n_neighbors, settings.signed, seed)


def settled(
    correlations: Correlations, labels: IntArray, n_groups: int, settings: Settings
) -> IntArray:
    """Move features to groups they are clearly nearer to, (d,); -1 for loose ones.

    A feature is loose if its correlation with the rest of its group is too low, or chance.
    """
    rows = correlations.rows
    labels = settle_features(correlations, labels, n_groups, settings.signed)
    least = min(CHANCE_ERRORS / np.sqrt(rows.shape[0]), 1.0)
    inside = np.ones(len(labels), dtype=bool)
    for _ in range(MOST_ROUNDS):
        central, rest = correlations_with_groups(
            rows, np.where(inside, labels, -1), n_groups, settings.signed, correlations
        )
        low = inside & ((rest < least) | (central < LEAST_CENTRALITY))
        if not low.any():
            break
        inside &= ~low
    return np.where(inside, labels, -1)


def _together(values: IntArray, twins: IntArray) -> IntArray:
    """Give equal columns the value of the first of them, (d,)."""
    _, first = np.unique(twins, return_index=True)
    return values[first[twins]]
