"""Join the groups of a table into broader ones, where halves of the rows join them alike.

Axes: d features, m of them in the tree, C groups.

Features of weakly related groups are told apart at once, and what these groups have in common does
not show. So the groups themselves are made a graph, tied by the mean tie of their features, and
divided into communities: the whole table's groups, and in every half those that the half found.
"""

import numpy as np

from groupfs.discovery.divide import ABOUT_AS_WELL, LEAST_AGREEMENT, RESOLUTIONS, Halved, agreement
from groupfs.discovery.feature_graph import FeatureGraph
from groupfs.discovery.tree import Node
from groupfs.utils.types import IntArray

#: Groups at least of which broader ones are made, two of two.
FEWEST_JOINED = 4


def join_groups(root: Node) -> Node | None:
    """Divide the features of a tree into unions of its broadest groups; None if halves do not."""
    if len(root.parts) < FEWEST_JOINED or root.halved is None or not root.halved.halves:
        return None
    labels = np.empty(len(root.features), dtype=np.int64)
    for j, part in enumerate(root.parts):
        labels[np.searchsorted(root.features, part.features)] = j
    tables = [_between(root.graph, labels, 0)]
    tables += [_between(root.graph, half, h + 1) for h, half in enumerate(root.halved.halves)]
    tried = []
    for resolution in RESOLUTIONS:
        whole, *halves = [graph.communities(resolution, slice(1))[0] for graph in tables]
        if (np.bincount(whole) > 1).sum() < 2:
            continue
        own = [found[half] for found, half in zip(halves, root.halved.halves, strict=True)]
        of_groups = [_majority(found, labels) for found in own]
        indices = [agreement(a, b) for a, b in zip(of_groups[::2], of_groups[1::2], strict=True)]
        tried.append((Halved(root.graph, resolution, own, indices), whole))
    best = max((one.agreement for one, _ in tried), default=-1.0)
    if best < LEAST_AGREEMENT:
        return None
    halved, whole = next(one for one in tried if one[0].agreement >= best - ABOUT_AS_WELL)
    places = [np.flatnonzero(whole[labels] == j) for j in range(whole.max() + 1)]
    return Node(root.features, root.graph, halved, [root.part(own) for own in places])


def _between(graph: FeatureGraph, labels: IntArray, which: int) -> FeatureGraph:
    """Tie groups of features, (m,), by the mean tie of their features in the whole or a half."""
    C = int(labels.max()) + 1
    a, b = np.sort(labels[graph.edges], axis=1).T
    apart = a != b
    key, pair = np.unique(a[apart] * C + b[apart], return_inverse=True)
    edges, sizes = np.stack([key // C, key % C], 1), np.bincount(labels)
    ties = np.bincount(pair, graph.weights[which, apart], len(key))
    ties /= sizes[edges].prod(1)
    return FeatureGraph(C, edges, ties[None], graph.n_rows[[which]])


def _majority(found: IntArray, labels: IntArray) -> IntArray:
    """Give each group the community that most of its features are in, (C,)."""
    table = np.zeros((labels.max() + 1, found.max() + 1))
    np.add.at(table, (labels, found), 1)
    return table.argmax(1)
