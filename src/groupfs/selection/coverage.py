r"""Choose features that stand for all others: each counts by its nearest chosen one.

Axes: m coordinates, d features, T of them that count.

The coverage of chosen features S is :math:`\sum_j w_j \max_{s \in S} r_{js}^2` (facility location).
It falls off with every addition, so what a feature added earlier on is at least what it adds now: a
feature need only be looked at again when it comes first.
"""

import heapq
from collections.abc import Callable

import numpy as np

from groupfs.data.coordinates import Coordinates
from groupfs.utils.types import FloatArray, IntArray

#: Features that count: of more, so many at random stand for all.
MOST_TARGETS = 8192
#: Features of which coverage is computed at a time, as many as fit this number of similarities.
ENTRIES_AT_ONCE = 2**22
#: Similarities that are kept rather than computed again (256 MB at most).
KEPT_ENTRIES = 2**25
#: Features that are looked at again together where similarities are computed again: about as many
#: as one pick takes.
LOOKED_AT = 8


class Coverage:
    """The state of a greedy choice of features by coverage.

    Parameters
    ----------
    squared : callable
        Gives squared similarities of features by index with all that counts, (c, T).
    weights : array of shape (T,)
        How much everything counts.
    at_once : int
        Features that are looked at again together.
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
        found = np.zeros(len(features))
        size = max(1, ENTRIES_AT_ONCE // max(1, len(self._covered)))
        for start in range(0, len(features), size):
            part = slice(start, start + size)
            beyond = self._squared(features[part]) - self._covered
            found[part] = np.maximum(beyond, 0, out=beyond) @ self._weights
        return found

    def add(self, features: IntArray) -> None:
        """Choose features."""
        for feature in features:
            np.maximum(self._covered, self._squared(feature[None])[0], out=self._covered)

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
