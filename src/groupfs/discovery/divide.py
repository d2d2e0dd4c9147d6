r"""Divide features into communities at the resolution on which halves of the rows agree.

Axes: m features, S pairs of halves, C parts.

Communities are those of modularity, whose null model, ties in proportion to the strengths of both
ends, is about that of one common factor. Of four resolutions the broadest is taken at which halves
of the rows agree about as well as at any; as many pairs of halves are looked at as it takes to
choose it. Parts of one-factor groups are told by the agreement that these reach.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from groupfs.discovery.feature_graph import FeatureGraph
from groupfs.utils.types import IntArray

#: Resolutions of the modularity, in steps of the root of two about 1, broadest first.
RESOLUTIONS = (0.7, 1.0, 1.4, 2.0)
#: Agreement at which finer resolutions need not be looked at, and how much less counts as much.
SURE, ABOUT_AS_WELL = 0.975, 0.05
#: Agreement below which a group is not divided: parts of a one-factor group reach as much.
LEAST_AGREEMENT = 0.25
#: Features of a group, at least.
FEWEST = 3
#: Tries of the whole table's communities.
TRIES = 5
#: Pairs of halves that are looked at first, and standard errors beyond which a choice is clear.
FIRST_PAIRS, CLEAR_ERRORS = 8, 3.0


@dataclass
class Halved:
    """What halves of the rows find at one resolution, in the pairs that were looked at."""

    graph: FeatureGraph
    resolution: float
    halves: list[IntArray] = field(default_factory=list)  #: communities of each half, (m,)
    indices: list[float] = field(default_factory=list)  #: agreement of the two of each pair

    @property
    def agreement(self) -> float:
        return float(np.mean(self.indices)) if self.indices else 1.0

    def look_at(self, n_pairs: int) -> None:
        """Divide halves until there are so many pairs, at most all."""
        some = slice(1 + len(self.halves), 1 + 2 * n_pairs)
        found = self.graph.communities(self.resolution, some)
        self.halves += found
        self.indices += [agreement(a, b) for a, b in zip(found[::2], found[1::2], strict=True)]


def divide(graph: FeatureGraph, least: float) -> tuple[Halved, IntArray] | None:
    """Find the parts of features, (m,), and what halves find; None if they are one thing.

    They are if halves agree on parts less than ``least``. Tables that have no halves are divided at
    one resolution.
    """
    if graph.n_features < 2 * FEWEST:
        return None
    tried = [
        Halved(graph, resolution)
        for resolution in (RESOLUTIONS if graph.has_halves else (1.0,))
        if _is_several(graph.communities(resolution, slice(1))[0])
    ]
    if graph.has_halves:
        tried = _look_at_halves(graph, tried, least)
    best = max((one.agreement for one in tried), default=-1.0)
    if best < least:
        return None
    chosen = next(one for one in tried if one.agreement >= best - ABOUT_AS_WELL)  # the broadest
    (parts,) = graph.communities(chosen.resolution, slice(1), TRIES)
    return (chosen, join_small(graph, parts)) if _is_several(parts) else None


def _look_at_halves(graph: FeatureGraph, tried: list[Halved], least: float) -> list[Halved]:
    """Divide halves at several resolutions, as many pairs of them as it takes to choose one."""
    seen = min(FIRST_PAIRS, graph.n_pairs)
    for i, one in enumerate(tried):
        one.look_at(seen)
        if one.agreement >= SURE:
            tried = tried[: i + 1]
            break
    while seen < graph.n_pairs and (undecided := _undecided(tried, least)):
        seen = min(2 * seen, graph.n_pairs)
        for one in undecided:
            one.look_at(seen)
    return tried


def _undecided(tried: list[Halved], least: float) -> list[Halved]:
    """List the resolutions that more pairs of halves could make a difference to.

    None if it is clear whether the features are divided at all, and at which resolution.
    """
    best = max(tried, key=lambda one: one.agreement, default=None)
    if best is None or _is_far(best.indices, least) and best.agreement < least:
        return []
    found = []
    for one in tried[: tried.index(best)]:
        k = min(len(best.indices), len(one.indices))
        if not _is_far(np.subtract(best.indices[:k], one.indices[:k]).tolist(), ABOUT_AS_WELL):
            found.append(one)
    return [*found, best] if found or not _is_far(best.indices, least) else []


def _is_far(values: list[float], line: float) -> bool:
    """Tell whether a mean is far enough from a line to say on which side of it it is."""
    error = max(float(np.std(values)), 0.02) / np.sqrt(len(values))
    return abs(float(np.mean(values)) - line) >= CLEAR_ERRORS * error


def _is_several(parts: IntArray) -> bool:
    """Tell whether two parts or more are large enough for groups."""
    return int((np.bincount(parts) >= FEWEST).sum()) > 1


def agreement(a: IntArray, b: IntArray) -> float:
    """Compare two partitions; 0 if one of them has a single part of several features."""
    if min((np.bincount(a) > 1).sum(), (np.bincount(b) > 1).sum()) < 2:
        return 0.0
    return adjusted_rand(a, b)


def adjusted_rand(a: IntArray, b: IntArray) -> float:
    """Compute the adjusted Rand index of two partitions, (m,) each."""
    both = np.unique(a * (int(b.max()) + 1) + b, return_counts=True)[1]
    pairs, of_a, of_b = ((n * (n - 1.0)).sum() for n in (both, np.bincount(a), np.bincount(b)))
    by_chance = of_a * of_b / (len(a) * (len(a) - 1.0))
    most = (of_a + of_b) / 2
    return 1.0 if most == by_chance else float((pairs - by_chance) / (most - by_chance))


def join_small(graph: FeatureGraph, labels: IntArray) -> IntArray:
    """Give features of parts that are too small to the part they are tied to most, (m,)."""
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] >= FEWEST]
    number = np.full(len(sizes), -1)
    number[order] = np.arange(len(order))
    found = number[labels]
    own, other = np.concatenate([graph.edges, graph.edges[:, ::-1]]).T
    small = (found[own] < 0) & (found[other] >= 0)
    ties = np.tile(graph.weights[0], 2)[small]
    shape = (graph.n_features, len(order))
    strength = sp.coo_array((ties, (own[small], found[other[small]])), shape=shape).tocsr()
    nearest = strength.argmax(axis=1)
    return np.where(found < 0, nearest, found)
