r"""How replication grows with the rows: in quarters and halves of them, and beyond.

Axes: m groups of a level, or levels; T sizes of tables.

The rows are taken as they were dealt, so that a quarter of them is a random table of its own, whose
halves are compared as those of all rows are, on the tree that all rows gave.

What more rows would show is told from all of them: on the scale of :math:`\mathrm{logit}` what is
found again grows about evenly with each doubling of the rows. That slope differs little between
tables, and quarters and halves of one table, which are poor and noisy, say nothing of its own.
"""

from dataclasses import dataclass, replace

import numpy as np

from groupfs.discovery.discover import Divided
from groupfs.discovery.divide import Halved
from groupfs.discovery.feature_graph import FeatureGraph, connect_features
from groupfs.discovery.levels import Cut, depths_of, join_groups
from groupfs.discovery.tree import Node
from groupfs.groups import FEWEST_HALVED
from groupfs.utils.progress import doing
from groupfs.utils.types import FloatArray, IntArray

#: Parts that the rows are divided into, from quarters to all of them.
PARTS = (4, 2, 1)
#: Growth of logit replication of groups, and of agreement on levels, with each doubling of the
#: rows; how much of a group's height is its level's, which says more than one group alone; and the
#: error of the rows that are told, in doublings. From planted and real tables.
GROUP_SLOPE, LEVEL_SLOPE, OF_LEVEL, ERROR = 1.25, 1.0, 0.25, 0.45
#: Shares are as far from none and all as can be told, and half of an interval of 95 %.
LOWEST, HIGHEST, REACH = 0.05, 0.985, 1.96


@dataclass(frozen=True)
class Curves:
    """What tables of several sizes show of groups, or of levels, (m of them)."""

    n_rows: FloatArray  #: rows of a table of each size, the largest last, (T,)
    shown: FloatArray  #: mean over the tables of each size, (T, m)
    height: FloatArray  #: on the logit scale, of all rows, (m,)
    slope: float

    @classmethod
    def of_levels(cls, n_rows: FloatArray, shown: FloatArray) -> "Curves":
        """Make curves of agreement on levels."""
        return cls(n_rows, shown, logit(shown[-1]), LEVEL_SLOPE)

    @classmethod
    def of_groups(cls, n_rows: FloatArray, shown: FloatArray, agreement: float) -> "Curves":
        """Make curves of the groups of a level with so much agreement."""
        height = (1 - OF_LEVEL) * logit(shown[-1]) + OF_LEVEL * logit(np.array(agreement))
        return cls(n_rows, shown, height, GROUP_SLOPE)

    def at(self, times: float) -> FloatArray:
        """Tell what so many times the rows would show, with an interval of 95 %, (3, m)."""
        doublings = np.log2(times) + REACH * ERROR * np.array([[0], [-1], [1]])
        return np.asarray(1 / (1 + np.exp(-self.height - self.slope * doublings)))

    def needed(self, target: float) -> FloatArray:
        """Tell the rows at which a target is reached, with an interval of 95 %, (3, m)."""
        doublings = (logit(np.array(target)) - self.height) / self.slope
        return np.asarray(
            self.n_rows[-1] * 2 ** (doublings + REACH * ERROR * np.array([[0], [-1], [1]]))
        )


def logit(share: FloatArray) -> FloatArray:
    """Stretch shares, (m,), none and all a little less than that."""
    clipped = np.clip(share, LOWEST, HIGHEST)
    return np.asarray(np.log(clipped / (1 - clipped)))


@dataclass(frozen=True)
class Growth:
    """Replication of the groups of every level, and agreement on the levels, by rows."""

    labels: list[IntArray]  #: of each level, of the features of the table, (d,)
    replication: list[Curves]  #: of the groups of each level
    agreement: Curves  #: of the levels


def measure_growth(divided: Divided, signed: bool) -> Growth:
    """Compare halves of quarters and halves of the rows, and of all, on the tree of all rows."""
    similarity = divided.table.similarity.restricted(divided.distinct)
    dealt, cuts = divided.graph.dealt, divided.cuts
    assert dealt is not None  # who has too few rows was refused
    parts = [p for p in PARTS if len(dealt) // p >= 2 * FEWEST_HALVED] or [1]
    again: list[list[FloatArray]] = [[] for _ in cuts]
    agreed: list[FloatArray] = []
    for n_parts in parts:
        found = []
        for rows in np.array_split(dealt, n_parts):
            doing()
            if n_parts == 1:
                found.append(cuts)
                continue
            graph = connect_features(similarity, signed, rows=rows)
            found.append(_levels_on(divided, graph))
        agreed.append(np.mean([[one.agreement for one in levels] for levels in found], axis=0))
        for k, of_level in enumerate(again):
            of_level.append(np.mean([levels[k].again[0] for levels in found], axis=0))
    n_rows, agreement = np.array([len(dealt) / n for n in parts]), np.array(agreed)
    return Growth(
        [divided.place(cut.labels) for cut in cuts],
        [Curves.of_groups(n_rows, np.array(of), agreement[-1, k]) for k, of in enumerate(again)],
        Curves.of_levels(n_rows, agreement),
    )


def _levels_on(divided: Divided, graph: FeatureGraph) -> list[Cut]:
    """Return the levels as other halves find them: on the same tree, with their own communities."""
    root, new = _regrown(divided.root, graph)
    depths, found = depths_of(root, graph.n_features), []
    joined = join_groups(root) if any(cut.is_joined for cut in divided.cuts) else None
    for cut in divided.cuts:
        if cut.is_joined:
            above = joined or Node(root.features, root.graph)
            agreement = above.agreement if joined else 0.0
            found.append(replace(cut, agreement=agreement, parents=[above] * cut.n_groups))
            continue
        parents = [new[id(node)] for node in cut.parents]
        agreement = depths[min(cut.depth, len(depths) - 1)].agreement
        found.append(replace(cut, agreement=agreement, parents=parents))
    if not root.parts:  # one group, in which there is nothing to agree on but its members
        found = [replace(cut, agreement=float(cut.again[0][0])) for cut in found]
    return found


def _regrown(node: Node, graph: FeatureGraph) -> tuple[Node, dict[int, Node]]:
    """Copy a tree with the ties of other halves, which are divided at the same resolutions."""
    own = graph.restricted(node.features)
    halved = None
    if node.halved is not None:
        halved = Halved(own, node.halved.resolution, np.zeros((0, own.n_features), dtype=np.int64))
        halved.look_at(own.n_pairs)
    parts, new = [], dict[int, Node]()
    for part in node.parts:
        copied, below = _regrown(part, graph)
        parts.append(copied)
        new |= below
    found = Node(node.features, own, halved, parts)
    return found, new | {id(node): found}
