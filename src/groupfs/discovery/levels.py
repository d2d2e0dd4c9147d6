"""Say which depths of the tree are levels of groups, and which of them is shown.

Axes: d features, m of them in the tree, C groups, K levels.

Halves of the rows agree on a level by the product of their agreements down the tree, mean over
features. Groups are moved at all levels as features move between the narrowest ones. Features of
weakly related groups are told apart at the root, where what these groups have in common does not
show; so above it stands what comes of dividing the graph of the groups, tied by the mean tie of
their features: the whole table's groups, and in every half those that the half found.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from groupfs.data.halves import MOST_PAIRS
from groupfs.discovery.divide import (
    ABOUT_AS_WELL,
    LEAST_AGREEMENT,
    RESOLUTIONS,
    Halved,
    agreement,
)
from groupfs.discovery.feature_graph import FeatureGraph
from groupfs.discovery.tree import Node, found_in_halves
from groupfs.groups import CLEAR_LEVEL, NEAR_LINE
from groupfs.utils.types import FloatArray, IntArray

#: Levels below this share of the best agreement are left out, and those that are nearly the next.
LEVEL_SHARE, SAME_LEVEL = 0.5, 0.9
#: How much less found again than the best level one may be that is shown where none is clear.
ABOUT_FOUND = 0.1
#: Groups at least of which broader ones are made, two of two.
FEWEST_JOINED = 4


@dataclass(frozen=True)
class Cut:
    """Groups at one depth of the tree, or of one cut through it."""

    labels: IntArray  #: group of every feature, -1 for none, (d,)
    agreement: float
    parents: list[Node]  #: the node each group is a part of; itself where it is the root
    is_joined: bool = False  #: whether its groups are unions of the tree's broadest
    depth: int = 0  #: of the tree, from 0 for the root's parts

    @property
    def n_groups(self) -> int:
        return len(self.parents)

    @cached_property
    def again(self) -> tuple[FloatArray, FloatArray]:
        """How well halves find the groups, (C,), and how often each feature in its own, (d,)."""
        shares, often = np.zeros(self.n_groups), np.zeros(len(self.labels))
        for parent in {id(node): node for node in self.parents}.values():
            groups = self.labels[parent.features]
            found, stable = found_in_halves(parent, groups, self.n_groups)
            own = np.array([node is parent for node in self.parents])
            inside = own[groups] & (groups >= 0)
            shares[own], often[parent.features[inside]] = found[own], stable[inside]
        return shares, often

    @classmethod
    def of(cls, groups: list[IntArray], parents: list[Node], agreement: float, d: int) -> "Cut":
        """Make a cut of d features from the features of its groups."""
        labels = np.full(d, -1)
        for j, group in enumerate(groups):
            labels[group] = j
        return cls(labels, agreement, parents)

    def moved(self, narrow: IntArray, settled: IntArray) -> "Cut":
        """Move features between the groups as they moved between the narrowest ones, (d,) each."""
        names, first = np.unique(narrow, return_index=True)
        first = first[names >= 0]
        labels = np.where(settled < 0, -1, self.labels[first][settled])
        left, counted = np.unique(labels[labels >= 0], return_inverse=True)
        labels[labels >= 0] = counted
        return replace(self, labels=labels, parents=[self.parents[j] for j in left])


def levels_of(root: Node, d: int, broader: bool = True) -> list[Cut]:
    """List the depths of a tree that halves agree on, broadest first; one if it has no parts.

    With ``broader`` what its broadest groups are joined to comes before them.
    """
    found = depths_of(root, d)
    if not root.parts:  # one group, in which there is nothing to agree on but its members
        return [replace(found[0], agreement=float(found[0].again[0][0]))]
    if any(abs(level.agreement - CLEAR_LEVEL) < NEAR_LINE for level in found):
        root.look_at_all()
        found = depths_of(root, d)
    best = max(level.agreement for level in found)
    if broader and (joined := join_groups(root)):
        groups = [part.features for part in joined.parts]
        above = Cut.of(groups, [joined] * len(groups), joined.agreement, d)
        found.insert(0, replace(above, is_joined=True))
    kept: list[Cut] = []
    own = root.features
    for level in reversed(found):
        if level.agreement < LEVEL_SHARE * best:
            continue
        if kept and agreement(level.labels[None, own], kept[-1].labels[None, own]) >= SAME_LEVEL:
            continue
        kept.append(level)
    return kept[::-1]


def depths_of(root: Node, d: int) -> list[Cut]:
    """List the depths of a tree, broadest first, with how far halves agree on each."""
    found: list[Cut] = []
    front = [(root, root, 1.0)]  # node, its parent, agreement down to it
    while True:
        front = [
            (part, node if node.parts else parent, agreed * node.agreement)
            for node, parent, agreed in front
            for part in (node.parts or [node])
        ]
        mean = sum(len(node.features) * agreed for node, _, agreed in front) / len(root.features)
        groups, parents = [node.features for node, _, _ in front], [node for _, node, _ in front]
        found.append(replace(Cut.of(groups, parents, mean, d), depth=len(found)))
        if not any(node.parts for node, _, _ in front):
            return found


def default_level(levels: list[Cut]) -> int:
    """Choose the narrowest depth on which halves agree by .7, else one that is found again."""
    depths = [i for i, level in enumerate(levels) if not level.is_joined]
    clear = [i for i in depths if levels[i].agreement >= CLEAR_LEVEL]
    if clear:
        return clear[-1]
    # mean over features
    share = {i: levels[i].again[0][levels[i].labels[levels[i].labels >= 0]].mean() for i in depths}
    return max(i for i in depths if share[i] >= max(share.values()) - ABOUT_FOUND)


def join_groups(root: Node) -> Node | None:
    """Divide the features of a tree into unions of its broadest groups; None if halves do not."""
    if len(root.parts) < FEWEST_JOINED or root.halved is None or not len(root.halved.halves):
        return None
    labels, halves = root.part_labels, root.halved.halves[: 2 * MOST_PAIRS]
    graphs = [_between(root.graph, own, i) for i, own in enumerate([labels, *halves])]
    tried = []
    for resolution in RESOLUTIONS:
        whole, *found = [graph.communities(resolution, slice(1))[0] for graph in graphs]
        if (np.bincount(whole) > 1).sum() < 2:
            continue
        joined = np.array([of[half] for of, half in zip(found, halves, strict=True)])
        of_groups = np.array([_majority(own, labels) for own in joined])
        indices = agreement(of_groups[::2], of_groups[1::2])
        tried.append((Halved(root.graph, resolution, joined, indices), whole))
    best = max((one.agreement for one, _ in tried), default=-1.0)
    if best < LEAST_AGREEMENT:
        return None
    halved, whole = next(one for one in tried if one[0].agreement >= best - ABOUT_AS_WELL)
    return Node(root.features, root.graph, halved, root.divided(whole[labels]))


def _between(graph: FeatureGraph, labels: IntArray, which: int) -> FeatureGraph:
    """Tie groups of features, (m,), by the mean tie of their features in the whole or a half."""
    C = int(labels.max()) + 1
    a, b = np.sort(labels[graph.edges], axis=1).T
    apart = a != b
    key, pair = np.unique(a[apart] * C + b[apart], return_inverse=True)
    edges, sizes = np.stack([key // C, key % C], 1), np.bincount(labels)
    ties = np.bincount(pair, graph.weights[which, apart], len(key)) / sizes[edges].prod(1)
    return FeatureGraph(C, edges, ties[None], graph.n_rows[[which]])


def _majority(found: IntArray, labels: IntArray) -> IntArray:
    """Give each group the community that most of its features are in, (C,)."""
    table = np.zeros((labels.max() + 1, found.max() + 1))
    np.add.at(table, (labels, found), 1)
    return table.argmax(1)
