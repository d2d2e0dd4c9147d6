r"""Order all features so that the first k say most of what the related ones say, for every k.

Axes: N samples, d features, T of them that count, p columns, m coordinates.

Features are chosen by what they explain of the related ones, smooth ones counting more (module
``explained``). From 95 % on all related ones count alike, as smooth ones have had their say; when
all is explained, features are chosen by coverage: each counts by its nearest chosen one. Features
in groups come first, then other related ones, then the rest. One order serves every budget: each is
a beginning of it.

Columns are known by coordinates (:mod:`groupfs.data.coordinates`), which may be a sketch: then the
first features are ordered again by exact products. Of features of several columns a target of a
dimensions counts with the mean of its R squared over them. Similarities other than correlation know
no residuals: there a feature is explained by the most alike chosen one, with the square of their
similarity.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.linalg

from groupfs.data.coordinates import DEFAULT, Coordinates, Limits, cholesky
from groupfs.data.similarity import Similarity
from groupfs.data.table import Table
from groupfs.selection.explained import TOGETHER, ExplainedVariance, weighted_targets
from groupfs.selection.held_out import explained_held_out
from groupfs.utils.threads import in_threads, spans
from groupfs.utils.types import BoolArray, FloatArray, IntArray

#: Share of the weighted variance that may be missing when all features begin to count alike.
MAY_MISS = 0.05
#: Multiplications of exact products of features chosen by a sketch, and features at least.
MULTIPLICATIONS, FEWEST_EXACT = 2e11, 16
#: Features that count: of more, so many at random stand for all.
MOST_TARGETS = 8192
#: Features of which coverage is computed at a time, as many as fit this number of similarities.
ENTRIES_AT_ONCE = 2**22
#: Similarities that are kept rather than computed again (256 MB at most).
KEPT_ENTRIES = 2**25
#: Features looked at again together where similarities are computed again: as many as picks take.
LOOKED_AT = 8


@dataclass(frozen=True)
class FeatureOrder:
    """All features, first to last, and what the first k explain."""

    order: IntArray  #: (d,)
    explained: FloatArray  #: share of the weighted variance after each, ends at one, (d,)
    weights: FloatArray  #: how much every feature counts, summing to one
    held_out: FloatArray | None = None  #: share the first explain in rows left out


def rank_features(
    table: Table, comes_first: BoolArray, smoothness: FloatArray, last: IntArray
) -> FeatureOrder:
    """Order the features: some of the user's columns first, then other related ones, then the last.

    Within each part a feature is the one that explains most on top of those before it; features
    count by how smoothly they vary over the samples, (d,).
    """
    inside, weights = np.setdiff1d(np.arange(len(smoothness)), last), np.zeros(len(smoothness))
    weights[inside] = smoothness[inside] if smoothness[inside].any() else 1.0
    first = comes_first[table.columns[inside]]
    found = order_features(table.similarity, weights, [inside[first], inside[~first]], last)
    placed = np.zeros(len(table.names))
    placed[table.columns] = found.weights
    return FeatureOrder(table.columns[found.order], found.explained, placed, found.held_out)


def order_features(
    similarity: Similarity,
    weights: FloatArray,
    stages: list[IntArray],
    last: IntArray,
    limits: Limits = DEFAULT,
) -> FeatureOrder:
    """Order features by what they explain of all features, each counting by its weight, (d,).

    Duplicates of a feature share its weight. ``stages`` are features to choose from, disjoint;
    those of the first are chosen before any of the second, and the ``last`` follow as they are.
    """
    found = similarity.coordinates(limits)
    weights = weights / found.n_duplicates
    weights = weights / weights.sum()
    alike = np.where(weights > 0, 1 / found.n_duplicates, 0.0)
    both = (weights, alike / alike.sum())
    states = None  # similarities other than correlation know no residuals
    if found.F is not None:
        each = [np.repeat(w / found.sizes, found.sizes) for w in both]
        states = _states(found.F, found.F, each, found.sizes)
    coverage = Coverage.of(found, weights if states is None else both[1])
    order, gains = _greedy(states, coverage, stages, limits.most_picks)
    if states is None and found.squared is not None:
        reached = np.maximum.accumulate(found.squared[order], axis=0) @ weights
        gains = np.diff(reached, prepend=0.0)
    if found.is_sketch and found.F is not None:
        gains = _beyond_chance(gains, len(found.F))
        order, gains = _ranked_exactly(similarity, both, order, gains, stages, limits)
    # directions that rounding hides may be missing in the sum
    explained = np.minimum(np.cumsum(np.append(gains, np.zeros(len(last)))) / gains.sum(), 1.0)
    explained[len(order) - 1 :] = 1.0
    order, held_out = np.append(order, last), None
    if found.F is not None:
        held_out = explained_held_out(similarity, order, explained, weights)
    return FeatureOrder(order, explained, weights, held_out)


class Coverage:
    r"""The state of a greedy choice of features by coverage.

    The coverage of chosen features S is :math:`\sum_j w_j \max_{s \in S} r_{js}^2` (facility
    location). It falls off with every addition, so what a feature added earlier on is at least what
    it adds now: a feature need only be looked at again, ``at_once`` with others, when it comes
    first. ``squared`` gives squared similarities of features by index with all that counts, (c, T).
    """

    def __init__(
        self, squared: Callable[[IntArray], FloatArray], weights: FloatArray, at_once: int = 1
    ) -> None:
        self._squared, self._weights, self._at_once = squared, weights, at_once
        self._covered = np.zeros_like(weights)

    @classmethod
    def of(cls, found: Coordinates, weights: FloatArray) -> "Coverage":
        """Cover features by their similarities, or by those of their columns, and weights, (d,)."""
        if found.squared is not None:
            return cls(found.squared.__getitem__, weights)
        assert found.F is not None  # without similarities there are coordinates
        F, used = found.F, np.flatnonzero(weights > 0)
        if len(used) > MOST_TARGETS:
            used = np.sort(np.random.default_rng(0).permutation(used)[:MOST_TARGETS])
        targets = F[:, used]

        def squared(columns: IntArray | slice) -> FloatArray:
            products = F[:, columns].T @ targets
            return np.square(products, out=products)

        w = weights[used].astype(F.dtype)
        if F.shape[1] * len(used) <= KEPT_ENTRIES:
            return cls(squared(slice(None)).__getitem__, w)
        return cls(squared, w, LOOKED_AT)

    def gains(self, features: IntArray) -> FloatArray:
        """Compute what features would add to the coverage of the chosen ones, (c,)."""

        def of_some(some: IntArray) -> FloatArray:
            beyond = self._squared(some) - self._covered
            return np.asarray(np.maximum(beyond, 0, out=beyond) @ self._weights, dtype=np.float64)

        return np.concatenate([np.zeros(0), *in_threads(of_some, self._parts(features))])

    def add(self, features: IntArray) -> None:
        """Choose features."""
        for (some,) in self._parts(features):
            np.maximum(self._covered, self._squared(some).max(0), out=self._covered)

    def _parts(self, features: IntArray) -> list[tuple[IntArray]]:
        """Cut features into as many as are compared at a time."""
        size = max(1, ENTRIES_AT_ONCE // max(1, len(self._covered)))
        return [(features[start:stop],) for start, stop in spans(len(features), size)]

    def order(self, features: IntArray, n_picks: int) -> IntArray:
        """Choose from features one after another, the best addition first.

        After ``n_picks`` the others follow by what they would add to these.
        """
        heap = list(zip((-self.gains(features)).tolist(), features.tolist(), strict=True))
        heapq.heapify(heap)
        picked: list[int] = []
        while heap and len(picked) < n_picks:
            first = np.array([heapq.heappop(heap)[1] for _ in range(min(self._at_once, len(heap)))])
            now = self.gains(first)
            best = int(now.argmax())
            if not heap or now[best] >= -heap[0][0] * (1 - 1e-9):
                self.add(first[[best]])
                picked.append(int(first[best]))
                first, now = np.delete(first, best), np.delete(now, best)
            for gain, feature in zip(now.tolist(), first.tolist(), strict=True):
                heapq.heappush(heap, (-gain, feature))
        others = [feature for _, feature in sorted(heap)]
        return np.array([*picked, *others], dtype=np.int64)


def _states(
    F: FloatArray, targets: FloatArray, weights: Sequence[FloatArray], sizes: IntArray
) -> list[ExplainedVariance]:
    """Make the states of a choice by weights, and of one in which targets count alike."""
    own, alike = weights
    differ = not np.allclose(own, alike, rtol=1e-6, atol=0)
    used = (own, alike) if differ else (own,)
    return [ExplainedVariance(F, weighted_targets(targets, w), sizes) for w in used]


def _greedy(
    states: list[ExplainedVariance] | None,
    coverage: Coverage | None,
    stages: list[IntArray],
    n_picks: int,
) -> tuple[IntArray, FloatArray]:
    """Order the features of the stages; return them, and what each adds as far as that is known."""
    order: list[int] = []
    gains: list[float] = []
    for stage in stages:
        chosen, added = stage[:0], np.zeros(0)
        if states is not None:
            chosen, added = _explaining(states, stage, n_picks - len(order))
        others = np.setdiff1d(stage, chosen, assume_unique=True)
        if coverage is not None:
            coverage.add(chosen)
            others = coverage.order(others, n_picks - len(order) - len(chosen))
        order += [*chosen.tolist(), *others.tolist()]
        if states is not None:
            gains += [*added.tolist(), *states[0].add_in_order(others).tolist()]
    return np.array(order, dtype=np.int64), np.array(gains)


def _explaining(
    states: list[ExplainedVariance], stage: IntArray, n_picks: int
) -> tuple[IntArray, FloatArray]:
    """Choose features of a stage by what they explain, first by weights, then all counting alike.

    What each adds is by weights.
    """
    weighted, *alike = states
    chosen, added = weighted.pick(stage, n_picks, *[MAY_MISS] * len(alike))
    for even in alike:
        for feature in chosen:
            even.add(int(feature))
        rest = np.setdiff1d(stage, chosen, assume_unique=True)
        more, _ = even.pick(rest, n_picks - len(chosen))
        added = np.append(added, [weighted.add(int(feature)) for feature in more])
        chosen = np.append(chosen, more)
    return chosen, added


def _beyond_chance(gains: FloatArray, n_rows: int) -> FloatArray:
    """Correct what features add in a sketch of few rows for what any would (adjusted R squared)."""
    left = 1 - np.minimum(np.cumsum(gains), 1)
    inflation = n_rows / np.maximum(n_rows - np.arange(1, len(gains) + 1), 1)
    explained = np.maximum.accumulate(np.clip(1 - left * inflation, 0, 1))
    return np.diff(explained, prepend=0.0)


def _ranked_exactly(
    similarity: Similarity,
    weights: Sequence[FloatArray],
    order: IntArray,
    estimates: FloatArray,
    stages: list[IntArray],
    limits: Limits,
) -> tuple[IntArray, FloatArray]:
    """Order the first features again by exact products; return the order, and what each adds.

    What is left to explain after these is shared by the others in proportion to the estimates.
    """
    N, d = similarity.shape
    affordable = min(limits.exact_entries // d, int(MULTIPLICATIONS / (N * d)))
    first = order[: min(limits.most_picks, max(FEWEST_EXACT, affordable))]
    R = similarity.correlations_with(first)  # (d, c)
    F = cholesky(R[first])
    solve = partial(scipy.linalg.solve_triangular, F, trans=1, check_finite=False)
    parts = [(R[start:stop].T,) for start, stop in spans(len(R), TOGETHER)]
    T = np.concatenate(list(in_threads(solve, parts)), axis=1)
    states = _states(F, T, weights, np.ones(len(first), dtype=np.int64))
    inside = [np.flatnonzero(np.isin(first, stage)) for stage in stages]
    again, gains = _greedy(states, None, inside, len(first))
    rest = estimates[len(first) :]
    rest = rest if rest.any() else np.ones(len(rest))
    rest = rest * max(0.0, 1 - gains.sum()) / max(rest.sum(), 1e-300)
    return np.append(first[again], order[len(first) :]), np.append(gains, rest)
