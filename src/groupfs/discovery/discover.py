"""Find the groups of a table: which features are related, how many groups there are, and which.

Axes: d features of the table, C groups.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from groupfs.data.table import Table
from groupfs.discovery.chance import (
    ChanceTables,
    Relatedness,
    chance_cohesion,
    measure_relatedness,
)
from groupfs.discovery.describe_groups import Division, Options, describe
from groupfs.discovery.divide import FEWEST
from groupfs.discovery.feature_graph import FeatureGraph, connect_features
from groupfs.discovery.levels import Cut, default_level, levels_of
from groupfs.discovery.members import assign_members
from groupfs.discovery.tree import Grown, Node, cut_tree, grow_tree
from groupfs.groups import Groups, Level
from groupfs.utils.progress import doing
from groupfs.utils.types import IntArray
from groupfs.utils.warn import SelectionWarning, warn

#: Seed of the shuffles that say which features are related: groups must not hang on a user's.
CHANCE_SEED = 0


@dataclass(frozen=True)
class Discovery:
    """What was found in a table."""

    groups: list[Groups]  #: of every level, broadest first
    levels: list[Level]
    default: int  #: the level that is shown, from 0
    relatedness: Relatedness | None = None  #: None where all features take part
    order: IntArray | None = None  #: number of each group before known groups were ranked, (C,)

    @property
    def unrelated(self) -> IntArray:
        """Features that chance relates to others as much, least likely first; none if all are."""
        if self.relatedness is None or not self.relatedness.related.any():
            return np.zeros(0, dtype=np.int64)
        found = np.flatnonzero(~self.relatedness.related)
        return found[np.argsort(self.relatedness.p_values[found], kind="stable")]


@dataclass(frozen=True)
class Divided:
    """A table's related features, and the tree of groups that they are divided into."""

    table: Table  #: of the related features
    distinct: IntArray  #: of them, those that are no duplicates, which were divided
    graph: FeatureGraph  #: of the distinct ones
    root: Node
    cuts: list[Cut]  #: levels, broadest first

    def place(self, values: Any) -> Any:
        """Give values of distinct features to all, duplicates that of the first, (d,)."""
        twins = self.table.twins
        found = np.full(len(twins), -1, dtype=values.dtype)
        found[self.distinct] = values
        _, first = np.unique(twins, return_index=True)
        return found[first[twins]]


def discover(
    table: Table, options: Options, seed: int, known_labels: IntArray | None = None
) -> Discovery:
    """Find the groups of a table, or describe those that are known, (d,)."""
    N, d = table.similarity.shape
    options = replace(options, n_neighbors=min(options.n_neighbors, N - 1))
    if known_labels is not None:
        shuffled = ChanceTables.of(table.similarity, seed)
        by_chance = chance_cohesion(shuffled, d, known_labels, options.signed)
        division = Division(table, known_labels, int(known_labels.max()) + 1, by_chance)
        groups, order = describe(division, options, seed, {})
        return Discovery([groups], [_level(groups, None, None, order)], 0, order=order)
    doing("Comparing features with chance")
    relatedness = measure_related(table, options)
    options = replace(options, keep_unrelated=relatedness is None)
    chance = relatedness.chance if relatedness else ChanceTables.of(table.similarity, CHANCE_SEED)
    divided = divide_table(table, relatedness, options)
    if divided is None:
        return Discovery([Groups.none(len(table.names))], [], 0, relatedness)
    table, graph = divided.table, divided.graph
    doing("Describing groups")
    by_chance = chance_cohesion(chance, len(table.columns), None, options.signed)
    found: list[Groups] = []
    levels: list[Level] = []
    smooth: dict[bytes, float] = {}
    for cut in divided.cuts:
        labels = divided.place(cut.labels)
        again, stability = cut.again if graph.has_halves else (None, None)
        stability = None if stability is None else divided.place(stability)
        parts = (table, labels, cut.n_groups, by_chance, again, stability, graph.dealt)
        groups, order = describe(Division(*parts), options, seed, smooth)
        has_agreement = graph.has_halves and options.n_groups == "auto"
        levels.append(_level(groups, levels[-1:], cut if has_agreement else None, order))
        found.append(groups)
    return Discovery(found, levels, default_level(divided.cuts), relatedness)


def divide_table(table: Table, relatedness: Relatedness | None, options: Options) -> Divided | None:
    """Divide the related features of a table, or all, into a tree of groups; None without any."""
    if relatedness is None:
        strength = table.similarity.strength()
    else:
        related = np.flatnonzero(relatedness.related)
        if len(related) < 2:
            return None
        table, strength = table.restricted(related), relatedness.strength[related]
    # duplicates go where the first of them goes
    distinct = np.sort(np.unique(table.twins, return_index=True)[1])
    distinct = distinct if len(distinct) >= 2 * FEWEST else np.arange(len(strength))
    doing("Comparing halves of the rows")
    of_distinct = table.similarity.restricted(distinct)
    graph = connect_features(of_distinct, options.signed, strength[distinct], blocks=options.blocks)
    doing("Dividing features into groups")
    cuts, root = _levels(table.restricted(distinct), graph, options)
    return None if root is None else Divided(table, distinct, graph, root, cuts)


def _level(groups: Groups, broader: list[Level] | None, cut: Cut | None, order: IntArray) -> Level:
    """Put together what is told of a level of groups that were ranked."""
    first = [members[0] for members in groups.members]
    parent = broader[0].labels[first] if broader else np.full(len(first), -1)
    if cut is None:
        return Level(groups.labels, len(first), None, parent, None)
    split = np.array([cut.parents[j].agreement for j in order])
    return Level(groups.labels, len(first), cut.agreement, parent, split)


def _levels(table: Table, graph: FeatureGraph, options: Options) -> tuple[list[Cut], Node | None]:
    """Grow the tree by few halves, leave features out, and grow it again on those that stay.

    Returns its levels, or one level of as many groups as were asked for, and the tree; none if no
    group is left.
    """
    d = graph.n_features
    members, grown = np.arange(d), Grown()
    levels = levels_of(grow_tree(graph, members, grown=grown, roughly=True), d, broader=False)
    stay = np.flatnonzero(_settled(table, graph, levels[-1], options) >= 0)
    if not len(stay):
        return [], None
    if options.n_groups != "auto" and len(stay) < int(options.n_groups):
        stay = members
    root = grow_tree(graph, stay, grown=grown)
    if options.n_groups != "auto":
        return [_cut(graph, root, int(options.n_groups))], root
    levels = levels_of(root, d)
    narrow = levels[-1]
    settled = _settled(table, graph, narrow, options)
    levels = [level.moved(narrow.labels, settled) for level in levels]
    return (levels, root) if (settled >= 0).any() else ([], None)


def _settled(table: Table, graph: FeatureGraph, level: Cut, options: Options) -> IntArray:
    """Move features of a level to groups they are nearer to, (d,); -1 for those in none."""
    if options.keep_unrelated:
        return level.labels
    similarity, n_groups = table.similarity.in_memory(), level.n_groups
    labels = assign_members(similarity, graph, level.labels, n_groups, options.signed)
    sizes = np.bincount(labels[labels >= 0], minlength=n_groups)
    small = sizes < min(FEWEST, graph.n_features)
    return np.where((labels >= 0) & small[labels], -1, labels)


def _cut(graph: FeatureGraph, root: Node, n_groups: int) -> Cut:
    """Cut the tree into so many groups; where its leaves are fewer they are divided further."""
    if root.n_leaves < n_groups:
        root = grow_tree(graph, root.features, least=0.0)
    return Cut.of(*cut_tree(root, n_groups), 1.0, graph.n_features)


def measure_related(table: Table, options: Options) -> Relatedness | None:
    """Measure which features are related to others; None where all features shall take part."""
    if options.keep_unrelated:
        return None
    measured = measure_relatedness(table.similarity, CHANCE_SEED)
    n_related = int(measured.related.sum())
    most = 0 if isinstance(options.n_groups, str) else options.n_groups
    if n_related < most:
        warn(
            f"n_groups={most} but only {n_related} features are related to others beyond chance; "
            "groups were looked for among all features.",
            SelectionWarning,
        )
        return None
    return measured
