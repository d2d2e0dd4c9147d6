"""Features stay where they belong: each in the group it goes with most, or in none.

Axes: d features, C groups.
"""

import numpy as np

from groupfs.graphs.similarity import Correlations, strength_by_group
from groupfs.utils.types import IntArray

#: A feature moves to a group that it goes with this many times as much as with its own. Where all
#: features have something in common, groups differ by little and most of it is chance: with 1.1
#: scales of ability tests fall apart, with 1.25 to 2 they do not.
CLEARLY_NEARER = 1.5
#: Rounds of moves, at most.
MOST_ROUNDS = 3


def settle_features(
    correlations: Correlations, labels: IntArray, n_groups: int, signed: bool
) -> IntArray:
    """Move features to groups they are clearly nearer to, (d,).

    Nearness is the mean of the three largest abs(r) with features of the group.
    """
    every = np.arange(len(labels))
    for _ in range(MOST_ROUNDS):
        strength = strength_by_group(correlations, labels, n_groups, signed)
        own = strength[every, labels]
        moves = strength.max(1) > CLEARLY_NEARER * np.maximum(own, 0)
        if not moves.any():
            break
        labels = np.where(moves, strength.argmax(1), labels)
    return labels
