r"""Columns that stand for all others: each feature counts by its nearest chosen one.

Axes: m coordinates, d columns.

The coverage of chosen columns S is :math:`\sum_j w_j \max_{s \in S} r_{js}^2` (facility location).
It falls off with every addition, so what a column added earlier on is at least what it adds now: a
column need only be looked at again when it comes first.
"""

import heapq
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from groupfs.utils.types import FloatArray, IntArray

#: Columns that count: of more, so many at random stand for all.
MOST_TARGETS = 8192
#: Columns of which coverage is computed at a time, as many as fit this number of correlations.
ENTRIES_AT_ONCE = {"cpu": 2**22, "cuda": 2**27}

#: Correlations that are kept rather than computed again (256 MB at most).
KEPT_ENTRIES = 2**25
#: Columns that are looked at again together: about as many as one pick takes.
LOOKED_AT = 8


class Coverage:
    """The state of a greedy choice of columns by coverage.

    Parameters
    ----------
    F : Tensor of shape (m, d)
        Coordinates of the columns, of length one.
    weights : Tensor of shape (d,)
        How much every column counts.
    """

    def __init__(self, F: Tensor, weights: Tensor) -> None:
        self.F = F
        used = torch.nonzero(weights > 0).ravel()
        if len(used) > MOST_TARGETS:
            drawn = np.random.default_rng(0).permutation(len(used))[:MOST_TARGETS]
            used = used[torch.as_tensor(np.sort(drawn), device=used.device)]
        self._targets = F[:, used]
        self._weights = weights[used].to(F.dtype)
        self._covered = F.new_zeros(len(used))

    def gains(self, columns: IntArray) -> FloatArray:
        """Compute what columns would add to the coverage of the chosen ones, (p,)."""
        found = [
            self._weights @ (squared - self._covered[:, None]).clamp_(min=0)
            for squared in self._squared(columns)
        ]
        return torch.cat(found).double().cpu().numpy() if found else np.zeros(0)

    def add(self, columns: IntArray) -> None:
        """Choose columns."""
        for squared in self._squared(columns):
            self._covered = torch.maximum(self._covered, squared.amax(1))

    def order(self, columns: IntArray, n_picks: int) -> IntArray:
        """Choose from columns one after another, the best addition first.

        After ``n_picks`` the others follow by what they would add to these.
        """
        if self.F.device.type == "cpu" and len(columns) * len(self._covered) <= KEPT_ENTRIES:
            return self._order_kept(columns, n_picks)
        heap = [(-gain, place) for place, gain in enumerate(self.gains(columns).tolist())]
        heapq.heapify(heap)
        picked: list[int] = []
        while heap and len(picked) < n_picks:
            first = [heapq.heappop(heap)[1] for _ in range(min(LOOKED_AT, len(heap)))]
            gains = self.gains(columns[first])
            best = int(gains.argmax())
            if not heap or gains[best] >= -heap[0][0] * (1 - 1e-9):
                self.add(columns[[first[best]]])
                picked.append(first.pop(best))
                gains = np.delete(gains, best)
            for gain, place in zip(gains.tolist(), first, strict=True):
                heapq.heappush(heap, (-gain, place))
        others = [place for _, place in sorted(heap)]
        return columns[np.array([*picked, *others], dtype=np.int64)]

    def _order_kept(self, columns: IntArray, n_picks: int) -> IntArray:
        """Choose as ``order`` does, with all correlations computed beforehand."""
        covered, weights = self._covered.numpy(), self._weights.numpy()
        squared = np.empty((len(columns), len(covered)), dtype=covered.dtype)
        start = 0
        for part in self._squared(columns):
            squared[start : start + part.shape[1]] = part.T.numpy()
            start += part.shape[1]
        order, covered = cover(squared, weights, covered, n_picks)
        self._covered = torch.from_numpy(covered)
        return columns[order]

    def _squared(self, columns: IntArray) -> Iterator[Tensor]:
        """Yield squared correlations of all that counts with columns, some of them at a time."""
        at_once = ENTRIES_AT_ONCE.get(self.F.device.type, ENTRIES_AT_ONCE["cpu"])
        size = max(1, at_once // max(1, len(self._covered)))
        for start in range(0, len(columns), size):
            index = torch.as_tensor(columns[start : start + size], device=self.F.device)
            yield (self._targets.T @ self.F[:, index]).square_()


def cover(
    squared: FloatArray, weights: FloatArray, covered: FloatArray, n_picks: int
) -> tuple[IntArray, FloatArray]:
    """Order columns, the best addition first, and return what those picked cover.

    ``squared`` (p, d) are squared similarities of the columns with all that counts, ``weights`` and
    ``covered`` (d,). After ``n_picks`` the others follow by what they would add to these.
    """
    covered = covered.copy()
    gains = [float(np.maximum(own - covered, 0) @ weights) for own in squared]
    heap = [(-gain, place) for place, gain in enumerate(gains)]
    heapq.heapify(heap)
    picked: list[int] = []
    while heap and len(picked) < n_picks:
        _, place = heapq.heappop(heap)
        gain = float(np.maximum(squared[place] - covered, 0) @ weights)
        if heap and gain < -heap[0][0] * (1 - 1e-9):
            heapq.heappush(heap, (-gain, place))
            continue
        np.maximum(covered, squared[place], out=covered)
        picked.append(place)
    others = [place for _, place in sorted(heap)]
    return np.array([*picked, *others], dtype=np.int64), covered
