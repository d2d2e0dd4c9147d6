"""Find the groups of a table: which features are related, how many groups there are, and which.

Axes: d features of the table, C groups.
"""

from dataclasses import dataclass, replace

import numpy as np

from groupfs.data.table import Table
from groupfs.discovery.chance import ChanceTables, Relatedness, measure_relatedness
from groupfs.discovery.clusters import cluster_features, leading_eigenvectors
from groupfs.discovery.describe_groups import Division, Evidence, Options, describe
from groupfs.discovery.feature_graph import FeatureGraph, connect_features
from groupfs.discovery.graph import feature_walk
from groupfs.discovery.members import assign_members
from groupfs.discovery.replication import (
    FEWEST_HALVED_FEATURES,
    FEWEST_HALVED_ROWS,
    HALVED_FEATURES,
    HALVED_ROWS,
    Halves,
    n_splits,
)
from groupfs.discovery.tree import (
    FEWEST,
    Level,
    Replication,
    default_level,
    grow_tree,
    levels_of,
    moved,
)
from groupfs.groups import Groups
from groupfs.utils.types import IntArray
from groupfs.utils.warn import SelectionWarning, warn

#: Seed of the shuffles that say which features are related: groups must not hang on a user's.
CHANCE_SEED = 0
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
    agreement: Replication | None = None  #: of halves of the rows, by level

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
    relatedness = _relatedness(table, options)
    chance = relatedness.chance if relatedness else ChanceTables.of(table.similarity, CHANCE_SEED)
    options = replace(options, n_kept=None if table.similarity.is_kept else KEPT_NEIGHBORS)
    if relatedness is not None:
        related = np.flatnonzero(relatedness.related)
        if len(related) < 2:
            return no_groups(table, relatedness)
        table = table.restricted(related)
    if options.n_groups == "auto":
        return _grown(table, options, seed, relatedness, chance)
    halves, halved = _halves(table, options, seed)
    evidence = Evidence(chance, table.similarity.shape[1], halves, halved)
    labels = _given_number(table, options)
    n_groups = int(labels.max()) + 1
    if relatedness is not None:
        labels = assign_members(table.similarity.in_memory(), labels, n_groups, options.signed)
    labels = _together(labels, table.twins)
    inside = np.flatnonzero(labels >= 0)
    if not len(inside):
        return no_groups(table, relatedness)
    division = Division(table.restricted(inside), labels[inside], n_groups)
    groups, order = describe(division, evidence, options, seed)
    return Discovery(groups, order, relatedness)


def _grown(
    table: Table,
    options: Options,
    seed: int,
    relatedness: Relatedness | None,
    chance: ChanceTables,
) -> Discovery:
    """Find groups at all levels that halves of the rows agree on, and describe the default one."""
    n_chosen = table.similarity.shape[1]
    _, first = np.unique(
        table.twins, return_index=True
    )  # duplicates go where the first of them goes
    first = np.sort(first) if len(first) >= 2 * FEWEST else np.arange(n_chosen)
    graph = connect_features(table.similarity.restricted(first), options.signed)
    grown = _settled(table.restricted(first), graph, options)
    if grown is None:
        return no_groups(table, relatedness)
    levels, members = grown
    labels = np.full((len(levels), n_chosen), -1)
    labels[:, first[members]] = [level.labels for level in levels]
    labels = np.array([_together(own, table.twins) for own in labels])
    at = default_level(levels)
    inside = np.flatnonzero(labels[at] >= 0)
    division = Division(table.restricted(inside), labels[at, inside], len(levels[at].parents))
    found_again = levels[at].found_again if graph.has_halves else None
    evidence = Evidence(chance, n_chosen, grown=True, found_again=found_again)
    groups, order = describe(division, evidence, options, seed)
    if not graph.has_halves:
        return Discovery(groups, order, relatedness)
    placed = np.full((len(levels), len(table.names)), -1)
    placed[:, table.columns] = labels
    numbers = np.array([len(level.parents) for level in levels])
    agreement = np.array([level.agreement for level in levels])
    return Discovery(groups, order, relatedness, Replication(numbers, agreement, placed, at))


def _settled(
    table: Table, graph: FeatureGraph, options: Options
) -> tuple[list[Level], IntArray] | None:
    """Grow the tree, move and leave out features, and grow it again on those that stay.

    Returns the levels and the features that they are about; None if no group is left.
    """
    members = np.arange(graph.n_features)
    levels, stay = _grow_and_settle(table, graph, members, options)
    if 0 < len(stay) < len(members):
        members = stay
        levels, stay = _grow_and_settle(table, graph, members, options)
    return (levels, members) if len(stay) else None


def _grow_and_settle(
    table: Table, graph: FeatureGraph, members: IntArray, options: Options
) -> tuple[list[Level], IntArray]:
    """Find the levels of some features, and those of them that stay in a group."""
    levels = levels_of(grow_tree(graph.restricted(members)))
    if options.keep_unrelated:
        return levels, members
    narrow = levels[-1].labels
    n_groups = int(narrow.max()) + 1
    similarity = table.similarity.restricted(members).in_memory()
    settled = assign_members(similarity, narrow, n_groups, options.signed)
    sizes = np.bincount(settled[settled >= 0], minlength=n_groups)
    small = sizes < min(FEWEST, len(members))
    settled[(settled >= 0) & small[np.maximum(settled, 0)]] = -1
    levels = [moved(level, narrow, settled) for level in levels]
    return levels, members[settled >= 0]


def no_groups(table: Table, relatedness: Relatedness | None) -> Discovery:
    """Describe a table in which no feature is related to another."""
    return Discovery(Groups.none(len(table.names)), np.zeros(0, dtype=np.int64), relatedness)


def _relatedness(table: Table, options: Options) -> Relatedness | None:
    """Measure which features are related to others; None where all features shall take part."""
    if options.keep_unrelated:
        return None
    measured = measure_relatedness(table.similarity, CHANCE_SEED)
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
    n_vectors = int(options.n_groups)
    most_rows, splits = _n_halved(d), n_splits(len(features))
    rows = table.similarity.halves(features, most_rows, rng)
    own_seed = int(rng.integers(2**31))
    halved = rows.similarities(splits, own_seed)
    halves = Halves(halved, options.n_neighbors, n_vectors, options.signed, own_seed)
    return halves, table.columns[features]


def _n_halved(n_features: int) -> int:
    """Count the rows that are split in halves."""
    return min(HALVED_ROWS, max(FEWEST_HALVED_ROWS, HALVED_ENTRIES // n_features))


def _given_number(table: Table, options: Options) -> IntArray:
    """Divide the features into the number of groups that was asked for, (d,)."""
    n_groups, d = int(options.n_groups), table.similarity.shape[1]
    if n_groups == 1:
        return np.zeros(d, dtype=np.int64)
    walk = feature_walk(table.similarity, options.n_neighbors, options.n_kept, options.signed)
    return cluster_features(leading_eigenvectors(walk, min(n_groups, d)), n_groups)


def _together(labels: IntArray, twins: IntArray) -> IntArray:
    """Give duplicates of a column the label of the first of them, (d,)."""
    _, first = np.unique(twins, return_index=True)
    return labels[first[twins]]
