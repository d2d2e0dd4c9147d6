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
from groupfs.utils.progress import doing
from groupfs.utils.types import FloatArray, IntArray

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
    halves: IntArray  #: communities of each half, (2 S, m)
    indices: FloatArray = field(default_factory=lambda: np.zeros(0))  #: agreement of pairs, (S,)

    @property
    def agreement(self) -> float:
        return float(self.indices.mean()) if len(self.indices) else 1.0

    def look_at(self, n_pairs: int) -> None:
        """Divide halves until there are so many pairs, at most all."""
        doing()
        some = slice(1 + len(self.halves), 1 + 2 * n_pairs)
        found = self.graph.communities(self.resolution, some)
        self.halves = np.concatenate([self.halves, found])
        self.indices = np.append(self.indices, agreement(found[::2], found[1::2]))


def divide(graph: FeatureGraph, least: float) -> tuple[Halved, IntArray] | None:
    """Find the parts of features, (m,), and what halves find; None if they are one thing.

    They are if halves agree on parts less than ``least``. Tables that have no halves are divided at
    one resolution.
    """
    if graph.n_features < 2 * FEWEST:
        return None
    tried = [
        Halved(graph, resolution, np.zeros((0, graph.n_features), dtype=np.int64))
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
        if not _is_far(best.indices[:k] - one.indices[:k], ABOUT_AS_WELL):
            found.append(one)
    return [*found, best] if found or not _is_far(best.indices, least) else []


def _is_far(values: FloatArray, line: float) -> bool:
    """Tell whether a mean is far enough from a line to say on which side of it it is."""
    error = max(float(values.std()), 0.02) / np.sqrt(len(values))
    return abs(float(values.mean()) - line) >= CLEAR_ERRORS * error


def _is_several(parts: IntArray) -> bool:
    """Tell whether two parts or more are large enough for groups."""
    return int((np.bincount(parts) >= FEWEST).sum()) > 1


def agreement(a: IntArray, b: IntArray) -> FloatArray:
    """Compare pairs of partitions, (S, m) each to (S,), by the adjusted Rand index.

    0 if one of the two has a single part of several features.
    """
    (of_a, several_a), (of_b, several_b) = _together(a), _together(b)
    both = _together(a * (int(b.max(initial=0)) + 1) + b)[0]
    by_chance = of_a * of_b / (a.shape[1] * (a.shape[1] - 1.0))
    most = (of_a + of_b) / 2
    index = np.divide(both - by_chance, most - by_chance, np.ones(len(a)), where=most != by_chance)
    return np.where(np.minimum(several_a, several_b) < 2, 0.0, index)


def _together(labels: IntArray) -> tuple[FloatArray, IntArray]:
    """Count ordered pairs of features in one part, and parts of several, (S, m) to (S,) each."""
    most = int(labels.max(initial=0)) + 1
    parts, n = np.unique(labels + most * np.arange(len(labels))[:, None], return_counts=True)
    row = parts // most
    pairs = np.bincount(row, n * (n - 1.0), len(labels)).astype(np.float64)
    return pairs, np.bincount(row, n > 1, len(labels)).astype(np.int64)


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
