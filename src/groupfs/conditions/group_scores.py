"""Score groups on the rows of one condition: smoothness beyond chance, with an interval.

Axes: n rows of the condition, C groups, H halves.

Duplicates are each other's nearest neighbours, so a bootstrap would make every graph smooth. The
interval comes from random halves of the rows (or of the blocks), without replacement: what differs
between halves of a sample has the variance that the whole sample has about the truth.
"""

import numpy as np
import torch
from scipy.stats import t as student

from groupfs.conditions.level import standardized_within
from groupfs.scoring.excess import SCORED_ROWS, score_groups
from groupfs.utils.types import FloatArray, IntArray

#: Pairs of halves, and shuffles that chance is seen in.
PAIRS, SHUFFLES = 5, 10


def score_in_condition(
    Z: FloatArray,
    groups: list[IntArray],
    units: IntArray,
    *,
    n_neighbors: int,
    steps: int,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score groups and return values, lower and upper ends, (C,) each; NaN without an interval."""
    rows = rng.permutation(len(Z))[:SCORED_ROWS]
    units, one = units[rows], np.zeros(len(rows), np.int64)
    X = torch.from_numpy(standardized_within(Z[rows], one))
    halves = _halves(units, rng)
    smallest = min([len(X), *map(len, halves)])
    n_neighbors = max(1, min(n_neighbors, smallest - 2))
    seed = int(rng.integers(2**31))

    def excess(rows: torch.Tensor) -> FloatArray:
        return score_groups(
            rows, groups, n_neighbors=n_neighbors, steps=steps, n_shuffles=SHUFFLES, seed=seed
        ).excess

    value = excess(X)
    if not halves:
        unknown = np.full(len(groups), np.nan)
        return value, unknown, unknown
    of_halves = [excess(X[half]) for half in halves]
    reach = float(student.ppf((1 + confidence) / 2, 2 * PAIRS - 1)) * np.std(
        of_halves, axis=0, ddof=1
    )
    return value, value - reach, value + reach


def _halves(units: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """Draw pairs of halves of the units and return their rows; none of a single unit."""
    every = np.unique(units)
    if len(every) < 2:
        return []
    halves = []
    for _ in range(PAIRS):
        first = np.isin(units, rng.permutation(every)[: len(every) // 2])
        halves += [np.flatnonzero(first), np.flatnonzero(~first)]
    return halves
