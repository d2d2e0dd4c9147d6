r"""Divide features into groups, and these again: a tree whose every split halves of the rows share.

Axes: d features, m of them in a node, S pairs of halves, C groups.

Each group is divided as a graph of its own (``divide``), until halves of the rows agree no more
than those of a one-factor group. The depths of the tree are levels (``levels``); a number of groups
that was asked for is a cut through it.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from groupfs.discovery.divide import FIRST_PAIRS, LEAST_AGREEMENT, Halved, divide
from groupfs.discovery.feature_graph import FeatureGraph
from groupfs.utils.types import FloatArray, IntArray


@dataclass
class Node:
    """Features of the tree, and the parts they are divided into."""

    features: IntArray  #: of the table, ascending, (m,)
    graph: FeatureGraph  #: of these features
    halved: Halved | None = None  #: what halves find where it is divided
    parts: list["Node"] = field(default_factory=list)

    @property
    def agreement(self) -> float:
        """How far halves agree on the parts; 1 without parts."""
        return 1.0 if self.halved is None else self.halved.agreement

    @cached_property
    def tied(self) -> IntArray:
        """Communities of halves, -1 for features tied to theirs no more than by chance, (2 S, m).

        Chance ties, max(0, z^2 - 1) / n of a normal z, have a mean of .48 / n and a deviation of
        1.2 / n; the line is 2.5 standard errors above.
        """
        m, edges = len(self.features), self.graph.edges
        one = np.zeros((2 * self.graph.n_pairs, m), dtype=np.int64)
        halves = self.halved.halves if self.halved else one
        within = self.graph.weights[1 : len(halves) + 1].copy()
        within[halves[:, edges[:, 0]] != halves[:, edges[:, 1]]] = 0
        edge = np.repeat(np.arange(len(edges)), 2)
        ends = sp.csr_array((np.ones(len(edge)), (edges.ravel(), edge)), shape=(m, len(edges)))
        of_half = halves + m * np.arange(len(halves))[:, None]
        n_others = np.maximum(np.bincount(of_half.ravel(), minlength=of_half.size)[of_half] - 1, 1)
        line = (0.48 + 3 / np.sqrt(n_others)) / self.graph.n_rows[1 : len(halves) + 1, None]
        return np.where((ends @ within.T).T / n_others > line, halves, -1)

    @property
    def n_leaves(self) -> int:
        """How many groups its narrowest parts are."""
        return sum(part.n_leaves for part in self.parts) if self.parts else 1

    @property
    def part_labels(self) -> IntArray:
        """Which part every feature is in, (m,)."""
        labels = np.empty(len(self.features), dtype=np.int64)
        for j, part in enumerate(self.parts):
            labels[np.searchsorted(self.features, part.features)] = j
        return labels

    def divided(self, labels: IntArray) -> list["Node"]:
        """Make a node of each part of the features, (m,)."""
        graphs = self.graph.divided(labels)
        return [Node(self.features[labels == j], graph) for j, graph in enumerate(graphs)]

    def look_at_all(self) -> None:
        """Divide all halves, here and below, so that agreements are as exact as can be."""
        if self.halved is not None:
            self.halved.look_at(self.graph.n_pairs)
        for part in self.parts:
            part.look_at_all()


#: Features above which dividing a node takes long.
MANY_FEATURES = 150
#: Nodes by their features: those of a tree grown before are not divided again.
Grown = dict[bytes, Node]


def grow_tree(
    graph: FeatureGraph,
    members: IntArray | None = None,
    least: float = LEAST_AGREEMENT,
    grown: Grown | None = None,
    roughly: bool = False,
) -> Node:
    """Divide some features of a graph, all by default, and their parts again.

    Parts that halves agree on less than ``least`` stay whole. With ``roughly`` large nodes are
    divided by few halves, and are not among those ``grown``.
    """
    grown = {} if grown is None else grown
    members = np.arange(graph.n_features) if members is None else members
    root = Node(members, graph.restricted(members))
    left = [root]
    while left:
        node = left.pop()
        is_large = len(node.features) > MANY_FEATURES and graph.n_pairs > FIRST_PAIRS
        few = roughly and is_large
        before = node if few else grown.setdefault(node.features.tobytes(), node)
        if before is not node:
            node.halved, node.parts = before.halved, before.parts
            continue
        found = divide(node.graph.with_pairs(FIRST_PAIRS) if few else node.graph, least)
        if found is None:
            continue
        node.halved, labels = found
        node.parts = node.divided(labels)
        left += node.parts if graph.has_halves else []
    return root


def cut_tree(root: Node, n_groups: int) -> tuple[list[IntArray], list[Node]]:
    """Cut a tree into so many groups; return their features, and the node each is a part of.

    Nodes are divided in the order in which halves agree on their parts, down the tree. Where a
    division gives too many, its parts are joined again, those first that are tied most. Where the
    tree ends before, single features are split off, those first that are tied least to their group.
    """
    front: list[tuple[Node, Node, float]] = [(root, root, 1.0)]  # node, parent, agreement so far
    while len(front) < n_groups:
        agreed = [so_far * node.agreement if node.parts else -1.0 for node, _, so_far in front]
        best = int(np.argmax(agreed))
        if agreed[best] < 0:
            break
        node = front.pop(best)[0]
        if len(node.parts) > n_groups - len(front):
            node = _joined(node, n_groups - len(front))
        front += [(part, node, agreed[best]) for part in node.parts]
    groups, parents = [node.features for node, _, _ in front], [parent for _, parent, _ in front]
    ties = [_mean_ties(root, group) for group in groups]
    while len(groups) < min(n_groups, len(root.features)):
        j = int(np.argmin([own.min() for own in ties]))
        least = int(ties[j].argmin())
        groups.append(groups[j][[least]])
        groups[j] = np.delete(groups[j], least)
        parents.append(parents[j])
        ties[j] = _mean_ties(root, groups[j])
        ties.append(np.array([np.inf]))
    return groups, parents


def _mean_ties(root: Node, group: IntArray) -> FloatArray:
    """Average the ties of every feature to the others of its group; infinite if it is alone."""
    own = root.graph.restricted(np.searchsorted(root.features, group))
    total = np.bincount(own.edges.ravel(), np.repeat(own.weights[0], 2), len(group))
    return total / (len(group) - 1) if len(group) > 1 else np.array([np.inf])


def _joined(node: Node, n_parts: int) -> Node:
    """Join parts of a node, and the communities of its halves, until so many are left."""
    labels = _join_parts(node.graph, node.part_labels, 0, n_parts)
    assert node.halved is not None  # it has parts
    halves = enumerate(node.halved.halves, start=1)
    joined = [_join_parts(node.graph, half, h, n_parts) for h, half in halves]
    halved = replace(node.halved, halves=np.array(joined).reshape(-1, len(node.features)))
    return Node(node.features, node.graph, halved, node.divided(labels))


def _join_parts(graph: FeatureGraph, labels: IntArray, which: int, n_parts: int) -> IntArray:
    """Join the two parts with the largest mean tie until so many are left, (m,)."""
    C = int(labels.max()) + 1
    ties = np.zeros((C, C))
    a, b = labels[graph.edges].T
    np.add.at(ties, (a, b), graph.weights[which])
    ties += ties.T
    sizes, name = np.bincount(labels).astype(float), np.arange(C)
    for _ in range(C - n_parts):
        mean = ties / np.outer(sizes, sizes)
        np.fill_diagonal(mean, -1)
        into, gone = sorted(np.unravel_index(mean.argmax(), mean.shape))
        ties[into] += ties[gone]
        ties[:, into] += ties[:, gone]
        sizes[into] += sizes[gone]
        ties[gone], ties[:, gone] = -np.inf, -np.inf
        name[name == gone] = into
    return np.unique(name[labels], return_inverse=True)[1]


def found_in_halves(node: Node, groups: IntArray, C: int) -> tuple[FloatArray, FloatArray]:
    """Say how well halves find groups of features of a node, (C,), and how often each one, (m,).

    A half finds a group (m,), -1 for none, in the community that has most of it, and has most of
    that, with the features that are tied to it there beyond chance. How well is the Jaccard index
    of both, of the two halves of a pair the smaller one, mean over pairs.
    """
    m, n_halves = len(groups), len(node.tied)
    if not n_halves:
        return np.zeros(C), np.zeros(m)
    community = np.where(node.tied < 0, -2, node.tied + m * np.arange(n_halves)[:, None])
    half, feature = np.nonzero((node.tied >= 0) & (groups >= 0))
    pair = community[half, feature] * C + groups[feature]
    pairs, shared = np.unique(pair, return_counts=True)
    place, group = np.divmod(pairs, C)
    wanted = place // m * C + group  # a group in a half
    best = _first_of_each(wanted, shared)
    most = np.full(n_halves * m, -1)
    of_community = _first_of_each(place, shared)
    most[place[of_community]] = group[of_community]
    best = best[most[place[best]] == group[best]]
    found, jaccard = np.full(n_halves * C, -1), np.zeros(n_halves * C)
    found[wanted[best]] = place[best]
    sizes = np.bincount(community[community >= 0], minlength=n_halves * m)[place[best]]
    others = np.bincount(groups[groups >= 0], minlength=C)[group[best]] - shared[best]
    jaccard[wanted[best]] = shared[best] / (sizes + others)
    often = (community == found.reshape(n_halves, C)[:, groups]).mean(0)
    return jaccard.reshape(-1, 2, C).min(1).mean(0), np.where(groups >= 0, often, 0.0)


def _first_of_each(names: IntArray, counts: IntArray) -> IntArray:
    """Find where each name has its largest count, the first of equal ones."""
    order = np.lexsort((-counts, names))
    return order[np.unique(names[order], return_index=True)[1]]
