"""Say which depths of the tree are levels of groups, and which of them is shown.

Axes: d features, C groups, K levels.

Halves of the rows agree on a level by the product of their agreements down the tree, mean over
features. Groups are moved at all levels as features move between the narrowest ones.
"""

from dataclasses import dataclass, replace

import numpy as np

from groupfs.discovery.divide import adjusted_rand
from groupfs.discovery.joined import join_groups
from groupfs.discovery.tree import Node, found_again
from groupfs.utils.types import FloatArray, IntArray

#: Levels below this share of the best agreement are left out, and those that are nearly the next.
LEVEL_SHARE, SAME_LEVEL = 0.5, 0.9
#: Agreement of a level that is shown by default, if there is one; else how much less found again
#: than the best level one may be. Nearer than this to the line more pairs of halves are looked at.
CLEAR, ABOUT_FOUND, NEAR = 0.7, 0.1, 0.1


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


@dataclass(frozen=True)
class Level:
    """Groups at one depth of the tree, or of one cut through it."""

    labels: IntArray  #: group of every feature, -1 for none, (d,)
    agreement: float
    parents: list[Node]  #: the node each group is a part of; itself where it is the root
    is_joined: bool = False  #: whether its groups are unions of the tree's broadest

    @property
    def n_groups(self) -> int:
        return len(self.parents)

    @property
    def found_again(self) -> FloatArray:
        """Share of each group that both halves find, (C,)."""
        pairs = enumerate(self.parents)
        return np.array([found_again(parent, self.labels, j) for j, parent in pairs])

    @classmethod
    def of(cls, groups: list[IntArray], parents: list[Node], agreement: float, d: int) -> "Level":
        """Make a level of d features from the features of its groups."""
        labels = np.full(d, -1)
        for j, group in enumerate(groups):
            labels[group] = j
        return cls(labels, agreement, parents)

    def moved(self, narrow: IntArray, settled: IntArray) -> "Level":
        """Move features between the groups as they moved between the narrowest ones, (d,) each."""
        names, first = np.unique(narrow, return_index=True)
        first = first[names >= 0]
        labels = np.where(settled < 0, -1, self.labels[first][settled])
        left, counted = np.unique(labels[labels >= 0], return_inverse=True)
        labels[labels >= 0] = counted
        return replace(self, labels=labels, parents=[self.parents[j] for j in left])


def levels_of(root: Node, d: int) -> list[Level]:
    """List the depths of a tree that halves agree on, broadest first; one if it has no parts."""
    found = _depths(root, d)
    if not root.parts:  # one group, in which there is nothing to agree on but its members
        return [replace(found[0], agreement=float(found[0].found_again[0]))]
    if any(abs(level.agreement - CLEAR) < NEAR for level in found):
        root.look_at_all()
        found = _depths(root, d)
    best = max(level.agreement for level in found)
    if joined := join_groups(root):
        groups = [part.features for part in joined.parts]
        above = Level.of(groups, [joined] * len(groups), joined.agreement, d)
        found.insert(0, replace(above, is_joined=True))
    kept: list[Level] = []
    own = root.features
    for level in reversed(found):
        if level.agreement < LEVEL_SHARE * best:
            continue
        if kept and adjusted_rand(level.labels[own], kept[-1].labels[own]) >= SAME_LEVEL:
            continue
        kept.append(level)
    return kept[::-1]


def _depths(root: Node, d: int) -> list[Level]:
    found: list[Level] = []
    front = [(root, root, 1.0)]  # node, its parent, agreement down to it
    while True:
        front = [
            (part, node if node.parts else parent, agreed * node.agreement)
            for node, parent, agreed in front
            for part in (node.parts or [node])
        ]
        agreement = sum(len(node.features) * agreed for node, _, agreed in front)
        groups, parents = [node.features for node, _, _ in front], [node for _, node, _ in front]
        found.append(Level.of(groups, parents, agreement / len(root.features), d))
        if not any(node.parts for node, _, _ in front):
            return found


def default_level(levels: list[Level]) -> int:
    """Choose the narrowest depth on which halves agree by .7, else one that is found again."""
    depths = [i for i, level in enumerate(levels) if not level.is_joined]
    clear = [i for i in depths if levels[i].agreement >= CLEAR]
    if clear:
        return clear[-1]
    # mean over features
    again = {i: levels[i].found_again[levels[i].labels[levels[i].labels >= 0]] for i in depths}
    share = {i: float(found.mean()) for i, found in again.items()}
    return max(i for i in depths if share[i] >= max(share.values()) - ABOUT_FOUND)
