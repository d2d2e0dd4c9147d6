r"""Choose features that stand for all others: each counts by its nearest chosen one.

Axes: m coordinates, d features, T of them that count.

The coverage of chosen features S is :math:`\sum_j w_j \max_{s \in S} r_{js}^2` (facility location).
It falls off with every addition, so what a feature added earlier on is at least what it adds now: a
feature need only be looked at again when it comes first.
"""

import heapq
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from groupfs.data.coordinates import Coordinates
from groupfs.utils.types import FloatArray, IntArray

#: Features that count: of more, so many at random stand for all.
MOST_TARGETS = 8192
#: Features of which coverage is computed at a time, as many as fit this number of similarities.
ENTRIES_AT_ONCE = {"cpu": 2**22, "cuda": 2**27}
#: Similarities that are kept rather than computed again (256 MB at most).
KEPT_ENTRIES = 2**25
#: Features that are looked at again together: about as many as one pick takes.
LOOKED_AT = 8


class Coverage:
    """The state of a greedy choice of features by coverage.

    Parameters
    ----------
    squared : callable
        Gives squared similarities of all that counts with features by index, (T, c).
    weights : Tensor of shape (T,)
        How much everything counts.
    """

    def __init__(self, squared: Callable[[IntArray], Tensor], weights: Tensor) -> None:
        self._of, self._weights = squared, weights
        self._covered = torch.zeros_like(weights)

    @classmethod
    def of(cls, found: Coordinates, weights: FloatArray) -> "Coverage":
        """Cover features by their similarities, or by those of their columns, and weights, (d,)."""
        w = torch.from_numpy(weights)
        if found.squared is None:
            assert found.F is not None  # without similarities there are coordinates
            return cls.of_columns(found.F, w.to(found.F.device))
        alike = found.squared
        return cls(lambda features: alike[:, features], w)

    @classmethod
    def of_columns(cls, F: Tensor, weights: Tensor, most_targets: int = MOST_TARGETS) -> "Coverage":
        """Cover columns by their coordinates, of length one, (m, d), and weights, (d,)."""
        used = torch.nonzero(weights > 0).ravel()
        if len(used) > most_targets:
            drawn = np.random.default_rng(0).permutation(len(used))[:most_targets]
            used = used[torch.as_tensor(np.sort(drawn), device=used.device)]
        targets = F[:, used]

        def squared(columns: IntArray) -> Tensor:
            index = torch.as_tensor(columns, device=F.device)
            return (targets.T @ F[:, index]).square_()

        return cls(squared, weights[used].to(F.dtype))

    def gains(self, features: IntArray) -> FloatArray:
        """Compute what features would add to the coverage of the chosen ones, (c,)."""
        found = [
            self._weights @ (squared - self._covered[:, None]).clamp_(min=0)
            for squared in self._squared(features)
        ]
        return torch.cat(found).double().cpu().numpy() if found else np.zeros(0)

    def add(self, features: IntArray) -> None:
        """Choose features."""
        for squared in self._squared(features):
            self._covered = torch.maximum(self._covered, squared.amax(1))

    def order(self, features: IntArray, n_picks: int, kept_entries: int = KEPT_ENTRIES) -> IntArray:
        """Choose from features one after another, the best addition first.

        After ``n_picks`` the others follow by what they would add to these.
        """
        if (
            self._covered.device.type == "cpu"
            and features.size * len(self._covered) <= kept_entries
        ):
            return features[self._order_kept(features, n_picks)]
        order = _lazily(
            lambda places: self.gains(features[places]),
            lambda place: self.add(features[[place]]),
            len(features),
            n_picks,
            LOOKED_AT,
        )
        return features[order]

    def _order_kept(self, features: IntArray, n_picks: int) -> IntArray:
        """Choose as ``order`` does, with all similarities computed beforehand."""
        covered, weights = self._covered.numpy(), self._weights.numpy()
        kept = np.empty((len(features), len(covered)), dtype=covered.dtype)
        start = 0
        for part in self._squared(features):
            kept[start : start + part.shape[1]] = part.T.numpy()
            start += part.shape[1]

        def gains(places: list[int]) -> FloatArray:
            return np.array([np.maximum(kept[i] - covered, 0) @ weights for i in places])

        def add(place: int) -> None:
            np.maximum(covered, kept[place], out=covered)

        return _lazily(gains, add, len(features), n_picks, 1)

    def _squared(self, features: IntArray) -> Iterator[Tensor]:
        """Yield squared similarities of all that counts with features, some of them at a time."""
        at_once = ENTRIES_AT_ONCE.get(self._covered.device.type, ENTRIES_AT_ONCE["cpu"])
        size = max(1, at_once // max(1, len(self._covered)))
        for start in range(0, len(features), size):
            yield self._of(features[start : start + size])


def _lazily(
    gains: Callable[[list[int]], FloatArray],
    add: Callable[[int], None],
    n: int,
    n_picks: int,
    at_once: int,
) -> IntArray:
    """Order n places, the best addition first; look at those again that come first, (n,)."""
    heap = [(-gain, place) for place, gain in enumerate(gains(list(range(n))).tolist())]
    heapq.heapify(heap)
    picked: list[int] = []
    while heap and len(picked) < n_picks:
        first = [heapq.heappop(heap)[1] for _ in range(min(at_once, len(heap)))]
        now = gains(first)
        best = int(now.argmax())
        if not heap or now[best] >= -heap[0][0] * (1 - 1e-9):
            add(first[best])
            picked.append(first.pop(best))
            now = np.delete(now, best)
        for gain, place in zip(now.tolist(), first, strict=True):
            heapq.heappush(heap, (-gain, place))
    others = [place for _, place in sorted(heap)]
    return np.array([*picked, *others], dtype=np.int64)
