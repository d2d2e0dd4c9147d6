r"""Divide features into groups, and these again: a tree whose every split halves of the rows share.

Axes: m features of a node, S pairs of halves, C groups.

Features are divided into communities of their graph by modularity, whose null model, ties in
proportion to the strengths of both ends, is about that of one common factor. Of four resolutions
the broadest is taken at which halves of the rows agree about as well as at any. Each group is
divided again as a graph of its own, until halves agree no more than those of a one-factor group.
The depths of the tree are levels; halves agree on a level by the product of their agreements down
the tree, mean over features.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from groupfs.discovery.feature_graph import FeatureGraph
from groupfs.utils.types import FloatArray, IntArray

#: Resolutions of the modularity, in steps of the root of two about 1, broadest first.
RESOLUTIONS = (0.7, 1.0, 1.4, 2.0)
#: Agreement at which finer resolutions need not be looked at, and how much less than the best
#: counts as much as it.
SURE, ABOUT_AS_WELL = 0.975, 0.05
#: Agreement below which a group is not divided: parts of a one-factor group reach as much.
LEAST_AGREEMENT = 0.25
#: Features of a group, at least.
FEWEST = 3
#: Tries of the whole table's communities.
TRIES = 5
#: Levels below this share of the best agreement are left out, and those that are nearly the next.
LEVEL_SHARE, SAME_LEVEL = 0.5, 0.9
#: Agreement of a level that is shown by default, if there is one; else how much less found again
#: than the best level one may be.
CLEAR, ABOUT_FOUND = 0.7, 0.1


@dataclass(frozen=True)
class Replication:
    """How far halves of the rows agree on groups, for K levels from broad to narrow."""

    __module__ = "groupfs"

    n_groups: IntArray  #: (K,)
    agreement: FloatArray  #: product of the adjusted Rand indices of two halves down the tree, (K,)
    labels: IntArray  #: group of every column, -1 for none, (K, n_features_in_)
    default: int  #: the level that was taken, from 0

    @property
    def best(self) -> int:
        """The number of groups that was taken."""
        return int(self.n_groups[self.default])

    @property
    def others(self) -> list[int]:
        """The numbers of groups at the other levels, broadest first."""
        return [int(n) for i, n in enumerate(self.n_groups) if i != self.default]


@dataclass
class Node:
    """Features of the tree, and the parts they are divided into."""

    features: IntArray  #: of the table, ascending, (m,)
    graph: FeatureGraph  #: of these features
    agreement: float = 1.0  #: of halves on the parts
    halves: list[IntArray] = field(default_factory=list)  #: communities of each half, (m,)
    parts: list["Node"] = field(default_factory=list)

    @cached_property
    def tied(self) -> list[IntArray]:
        """Communities of each half, -1 for features tied to theirs no more than by chance, (m,)."""
        one = np.zeros(len(self.features), dtype=np.int64)
        halves = self.halves or [one] * (len(self.graph.n_rows) - 1)
        return [_tied(self.graph, half, h + 1) for h, half in enumerate(halves)]


@dataclass(frozen=True)
class Level:
    """One depth of the tree."""

    labels: IntArray  #: group of every feature, (d,)
    agreement: float
    parents: list[Node]  #: the node each group is a part of; itself where it is the root
    found_again: FloatArray  #: share of each group that both halves find, (C,)


def grow_tree(graph: FeatureGraph) -> Node:
    """Divide the features of a graph, and their parts again."""
    root = Node(np.arange(graph.n_features), graph)
    left = [root]
    while left:
        node = left.pop()
        labels = _divide(node)
        if labels is None:
            continue
        for j in range(int(labels.max()) + 1):
            own = np.flatnonzero(labels == j)
            node.parts.append(Node(node.features[own], node.graph.restricted(own)))
        left += node.parts if graph.has_halves else []
    return root


def _divide(node: Node) -> IntArray | None:
    """Find the parts of a node, (m,), and how far halves agree; None if it is one thing."""
    if len(node.features) < 2 * FEWEST:
        return None
    if not node.graph.has_halves:  # communities as they are
        (parts,) = node.graph.communities(1.0, slice(1), TRIES)
        return _join_small(node.graph, parts) if _is_several(parts) else None
    tried: list[tuple[float, IntArray, list[IntArray]]] = []
    for resolution in RESOLUTIONS:
        (parts,) = node.graph.communities(resolution, slice(1), TRIES)
        if not _is_several(parts):
            continue
        found = node.graph.communities(resolution, slice(1, None))
        agreement = float(np.mean([_agreement(a, b) for a, b in _pairs(found)]))
        tried.append((agreement, parts, found))
        if agreement >= SURE:
            break
    best = max((agreement for agreement, _, _ in tried), default=0.0)
    if best < LEAST_AGREEMENT:
        return None
    chosen = next(one for one in tried if one[0] >= best - ABOUT_AS_WELL)
    node.agreement, parts, node.halves = chosen
    return _join_small(node.graph, parts)


def _is_several(parts: IntArray) -> bool:
    """Tell whether two parts or more are large enough for groups."""
    return int((np.bincount(parts) >= FEWEST).sum()) > 1


def _pairs(halves: list[IntArray]) -> Iterator[tuple[IntArray, IntArray]]:
    return zip(halves[::2], halves[1::2], strict=True)


def _agreement(a: IntArray, b: IntArray) -> float:
    """Compare two partitions; 0 if one of them has a single part of several features."""
    if min((np.bincount(a) > 1).sum(), (np.bincount(b) > 1).sum()) < 2:
        return 0.0
    return adjusted_rand(a, b)


def adjusted_rand(a: IntArray, b: IntArray) -> float:
    """Compute the adjusted Rand index of two partitions, (m,) each."""
    both = np.bincount(a * (int(b.max()) + 1) + b)
    pairs, of_a, of_b = ((n * (n - 1.0)).sum() for n in (both, np.bincount(a), np.bincount(b)))
    by_chance = of_a * of_b / (len(a) * (len(a) - 1.0))
    most = (of_a + of_b) / 2
    return 1.0 if most == by_chance else float((pairs - by_chance) / (most - by_chance))


def _join_small(graph: FeatureGraph, labels: IntArray) -> IntArray:
    """Give features of parts that are too small to the part they are tied to most, (m,)."""
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] >= FEWEST]
    number = np.full(len(sizes), -1)
    number[order] = np.arange(len(order))
    found = number[labels]
    ties = np.zeros((graph.n_features, len(order)))
    for own, other in (graph.edges.T, graph.edges.T[::-1]):
        small = (found[own] < 0) & (found[other] >= 0)
        np.add.at(ties, (own[small], found[other[small]]), graph.weights[0, small])
    return np.where(found < 0, ties.argmax(1), found)


def levels_of(root: Node) -> list[Level]:
    """List the depths of a tree that halves agree on, broadest first; one if it has no parts."""
    d = len(root.features)
    found: list[Level] = []
    front = [(root, root, 1.0)]  # node, its parent, agreement down to it
    while True:
        front = [
            (part, node if node.parts else parent, agreed * node.agreement)
            for node, parent, agreed in front
            for part in (node.parts or [node])
        ]
        labels = np.zeros(d, dtype=np.int64)
        for j, (node, _, _) in enumerate(front):
            labels[node.features] = j
        agreement = sum(len(node.features) * agreed for node, _, agreed in front) / d
        parents = [parent for _, parent, _ in front]
        again = np.array([found_again(parent, labels, j) for j, parent in enumerate(parents)])
        found.append(Level(labels, agreement, parents, again))
        if not any(node.parts for node, _, _ in front):
            break
    if not root.parts:  # one group, in which there is nothing to agree on but its members
        return [replace(found[0], agreement=float(found[0].found_again[0]))]
    best = max(level.agreement for level in found)
    kept: list[Level] = []
    for level in reversed(found):
        if level.agreement < LEVEL_SHARE * best:
            continue
        if kept and adjusted_rand(level.labels, kept[-1].labels) >= SAME_LEVEL:
            continue
        kept.append(level)
    return kept[::-1]


def default_level(levels: list[Level]) -> int:
    """Choose the narrowest level on which halves agree by .7, else one that is found again."""
    clear = [i for i, level in enumerate(levels) if level.agreement >= CLEAR]
    if clear:
        return clear[-1]
    again = [
        float(level.found_again[level.labels].mean()) for level in levels
    ]  # mean over features
    return max(i for i, share in enumerate(again) if share >= max(again) - ABOUT_FOUND)


def moved(level: Level, narrow: IntArray, settled: IntArray) -> Level:
    """Move features between the groups of a level as they moved between its narrowest ones.

    ``settled`` (m,) are the narrow groups that features moved to, -1 for those in none.
    """
    _, first = np.unique(narrow, return_index=True)
    labels = np.where(settled < 0, -1, level.labels[first][settled])
    left, labels_left = np.unique(labels[labels >= 0], return_inverse=True)
    labels[labels >= 0] = labels_left
    parents = [level.parents[j] for j in left]
    again = np.array([found_again(parent, labels, j) for j, parent in enumerate(parents)])
    return Level(labels, level.agreement, parents, again)


def found_again(parent: Node, labels: IntArray, group: int) -> float:
    """Measure how much of a group both halves find when they divide its parent.

    In each half the community that has most of the group, and has most of it, counts with the
    features that are tied to it there beyond chance; mean over pairs of halves of the smaller one
    of the two Jaccard indices. ``labels`` (d,) are of all features.
    """
    groups = labels[parent.features]
    own, found = groups == group, np.zeros(len(parent.tied))
    for h, communities in enumerate(parent.tied):
        shared = np.bincount(communities[own] + 1)[1:]
        if not shared.any():
            continue
        inside = communities == shared.argmax()
        others = np.bincount(groups[inside] + 1)[1:]
        if others.argmax() == group:
            found[h] = (inside & own).sum() / (inside | own).sum()
    return float(found.reshape(-1, 2).min(1).mean()) if len(found) else 0.0


def _tied(graph: FeatureGraph, communities: IntArray, half: int) -> IntArray:
    """Leave features out whose mean tie to their community of a half is chance, (m,); -1 for these.

    Chance ties, max(0, z^2 - 1) / n of a normal z, have a mean of .48 / n and a deviation of 1.2 /
    n; the line is 2.5 standard errors above.
    """
    same = communities[graph.edges[:, 0]] == communities[graph.edges[:, 1]]
    weights = np.repeat(graph.weights[half, same], 2)
    total = np.bincount(graph.edges[same].ravel(), weights, graph.n_features)
    n_others = np.maximum(np.bincount(communities)[communities] - 1, 1)
    line = (0.48 + 3 / np.sqrt(n_others)) / graph.n_rows[half]
    return np.where(total / n_others > line, communities, -1)
