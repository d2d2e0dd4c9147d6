"""Find the groups of a table: which features are related, how many groups there are, and which.

Axes: d features of the table, C groups.
"""

from dataclasses import dataclass, replace

import numpy as np

from groupfs.data.similarity import MATRIX_FEATURES, Similarity
from groupfs.data.table import Table
from groupfs.discovery.chance import ChanceTables, Relatedness, measure_relatedness
from groupfs.discovery.clusters import cluster_features, first_component, leading_eigenvectors
from groupfs.discovery.describe_groups import Division, Evidence, Options, describe
from groupfs.discovery.graph import feature_walk
from groupfs.discovery.members import assign_members
from groupfs.discovery.number_of_groups import find_n_groups
from groupfs.discovery.replication import (
    FEWEST_HALVED_FEATURES,
    FEWEST_HALVED_ROWS,
    HALVED_FEATURES,
    HALVED_ROWS,
    MOST_HALVED_GROUPS,
    Halves,
    Replication,
    divide_groups,
    n_splits,
)
from groupfs.groups import Groups
from groupfs.utils.types import FloatArray, IntArray
from groupfs.utils.warn import SelectionWarning, warn

#: Features of which all pairs are looked at to find those that are related to none.
MOST_RELATED = 20_000
#: Related features, at least, for each group that was asked for: where they are fewer the number
#: counts groups of the other features, too.
FEATURES_PER_GROUP = 4
#: Numbers that the rows looked at in halves may hold.
HALVED_ENTRIES = 2**25
#: Nearest neighbours of each feature in a graph of too many features for all pairs.
KEPT_NEIGHBORS = 50


@dataclass(frozen=True)
class Discovery:
    """What was found in a table."""

    groups: Groups
    order: IntArray  #: number of each group before groups were ranked, (C,)
    relatedness: Relatedness | None  #: None where all features take part
    agreement: Replication | None = None  #: of halves of the rows, by number of groups

    @property
    def unrelated(self) -> IntArray:
        """Features that chance relates to others as much, least likely first; none if all are."""
        if self.relatedness is None or not self.relatedness.related.any():
            return np.zeros(0, dtype=np.int64)
        found = np.flatnonzero(~self.relatedness.related)
        return found[np.argsort(self.relatedness.p_values[found], kind="stable")]


def discover(
    table: Table, options: Options, seed: int, known_labels: IntArray | None = None
) -> Discovery:
    """Find the groups of a table, or describe those that are known, (d,)."""
    N, d = table.similarity.shape
    options = replace(options, n_neighbors=min(options.n_neighbors, N - 1))
    if known_labels is not None:
        chance = ChanceTables.of(table.similarity, seed)
        n_groups = int(known_labels.max()) + 1
        division = Division(table, known_labels, n_groups, known=True)
        return Discovery(*describe(division, Evidence(chance, d), options, seed), None)
    relatedness = _relatedness(table, options, seed)
    chance = relatedness.chance if relatedness else ChanceTables.of(table.similarity, seed)
    options = replace(options, n_kept=None if table.similarity.is_kept else KEPT_NEIGHBORS)
    if relatedness is not None:
        related = np.flatnonzero(relatedness.related)
        if len(related) < 2:
            return no_groups(table, relatedness)
        table = table.restricted(related)
    halves, halved = _halves(table, options, seed)
    replication = None
    if halves is not None and options.n_groups == "auto":
        replication = halves.replication()
    evidence = Evidence(chance, table.similarity.shape[1], halves, halved, replication)
    labels = _labels(table, options, evidence, seed)
    n_groups = int(labels.max()) + 1
    if relatedness is not None:
        labels = assign_members(table.similarity.in_memory(), labels, n_groups, options.signed)
    labels = _together(labels, table.twins)
    inside = np.flatnonzero(labels >= 0)
    if not len(inside):
        return no_groups(table, relatedness)
    division = Division(table.restricted(inside), labels[inside], n_groups)
    groups, order = describe(division, evidence, options, seed)
    return Discovery(groups, order, relatedness, replication)


def no_groups(table: Table, relatedness: Relatedness | None) -> Discovery:
    """Describe a table in which no feature is related to another."""
    return Discovery(Groups.none(len(table.names)), np.zeros(0, dtype=np.int64), relatedness)


def _relatedness(table: Table, options: Options, seed: int) -> Relatedness | None:
    """Measure which features are related to others; None where all features shall take part."""
    if options.keep_unrelated or table.similarity.shape[1] > MOST_RELATED:
        return None
    measured = measure_relatedness(table.similarity, seed)
    n_related = int(measured.related.sum())
    most = 0 if isinstance(options.n_groups, str) else options.n_groups
    if n_related < FEATURES_PER_GROUP * most:
        warn(
            f"n_groups={most} but only {n_related} features are related to others beyond chance, "
            f"fewer than {FEATURES_PER_GROUP} for each group; groups were looked for among all "
            "features.",
            SelectionWarning,
        )
        return None
    return measured


def _halves(table: Table, options: Options, seed: int) -> tuple[Halves | None, IntArray | None]:
    """Embed the features by halves of the rows, and name the user's columns that this is about.

    None where rows or features are too few.
    """
    N, d = table.similarity.shape
    if N < FEWEST_HALVED_ROWS or d < FEWEST_HALVED_FEATURES:
        return None, None
    rng = np.random.default_rng(seed)
    features = np.sort(rng.permutation(d)[:HALVED_FEATURES])
    n_vectors = min(MOST_HALVED_GROUPS, len(features) // 2)
    if not isinstance(options.n_groups, str):
        n_vectors = options.n_groups
    most_rows, splits = _n_halved(d), n_splits(len(features))
    rows = table.similarity.halves(features, most_rows, rng)
    own_seed = int(rng.integers(2**31))
    halved = rows.similarities(splits, own_seed)
    halves = Halves(halved, options.n_neighbors, n_vectors, options.signed, own_seed)
    return halves, table.columns[features]


def _n_halved(n_features: int) -> int:
    """Count the rows that are split in halves."""
    return min(HALVED_ROWS, max(FEWEST_HALVED_ROWS, HALVED_ENTRIES // n_features))


def _labels(table: Table, options: Options, evidence: Evidence, seed: int) -> IntArray:
    """Divide the features into as many groups as replicate, and these if their parts do, (d,)."""
    n_groups, eigenvectors = _number_of_groups(table, options, evidence)
    d = len(eigenvectors)
    labels = np.zeros(d, dtype=np.int64)
    if n_groups > 1:
        labels = cluster_features(eigenvectors, n_groups)
    replication = evidence.replication
    if replication is None or not replication.best or d > MATRIX_FEATURES:
        return labels
    rows = table.similarity.halves(np.arange(d), _n_halved(d), np.random.default_rng(seed))
    matrix = table.similarity.in_memory().matrix(common_sign=True).cpu()
    return divide_groups(rows, matrix, labels, options.n_neighbors, options.signed, seed)


def _number_of_groups(table: Table, options: Options, evidence: Evidence) -> tuple[int, FloatArray]:
    """Choose the number of groups by what replicates; return it and eigenvectors of the graph.

    Where no number does, the features are one group, or the distortion of the eigenvectors decides.
    """
    similarity, d = table.similarity, table.similarity.shape[1]
    walk = feature_walk(similarity, options.n_neighbors, options.n_kept, options.signed)
    n_groups: int | None = None
    if not isinstance(options.n_groups, str):
        n_groups = options.n_groups
    elif evidence.replication is not None:
        n_groups = evidence.replication.best
    if n_groups is None and (
        d < FEWEST_HALVED_FEATURES or _is_unidimensional(similarity, evidence)
    ):
        n_groups = 1
    if n_groups is None:
        n_groups, _, eigenvectors = find_n_groups(walk, table.n_distinct)
        return n_groups, eigenvectors
    vectors = leading_eigenvectors(walk, min(n_groups, d))
    return n_groups, vectors


def _is_unidimensional(similarity: Similarity, evidence: Evidence) -> bool:
    """Decide whether a second component of the features is no larger than chance gives."""
    held, chance = similarity.in_memory(), evidence.chance
    N, d = held.shape
    if d > MATRIX_FEATURES:
        return False
    matrix = held.matrix().cpu().numpy()
    value, vector = first_component(matrix)
    second, _ = first_component(matrix - value * np.outer(vector, vector))
    shrink = np.sqrt(chance.similarity.shape[0] / N)
    by_chance = [
        first_component(table.matrix().cpu().numpy())[0]
        for table in chance.strongest(evidence.n_chosen)
    ]
    return bool(second - 1 <= shrink * (max(by_chance) - 1))


def _together(labels: IntArray, twins: IntArray) -> IntArray:
    """Give duplicates of a column the label of the first of them, (d,)."""
    _, first = np.unique(twins, return_index=True)
    return labels[first[twins]]
