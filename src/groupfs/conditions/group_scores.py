"""Score groups on the rows of each condition: smoothness beyond chance, with an interval.

Axes: n rows of the condition, C groups, K conditions.

Duplicates are each other's nearest neighbours, so a bootstrap would make every graph smooth. The
interval comes from random halves of the rows (or of the blocks), without replacement: what differs
between halves of a sample has the variance that the whole sample has about the truth.
"""

from functools import partial

import numpy as np
import torch
from scipy.stats import t as student

from groupfs.conditions.estimates import Estimate
from groupfs.conditions.inputs import Samples
from groupfs.conditions.level import standardized_within
from groupfs.discovery.smoothness import N_NEIGHBORS, SCORED_ROWS, beyond_chance
from groupfs.utils.types import FloatArray, IntArray

#: Pairs of halves, and shuffles that chance is seen in.
PAIRS, SHUFFLES = 5, 10


def score_conditions(samples: Samples, confidence: float, rng: np.random.Generator) -> Estimate:
    """Score all groups on the rows of each condition, (C, K)."""
    scores, units = [], samples.units
    for k in range(int(samples.labels.max()) + 1):
        inside = np.flatnonzero(samples.labels == k)
        Z = samples.Z[inside]
        scores.append(score_in_condition(Z, samples.groups, units[inside], confidence, rng))
    return Estimate(*(np.stack(values, axis=1) for values in zip(*scores, strict=True)))


def score_in_condition(
    Z: FloatArray,
    groups: list[IntArray],
    units: IntArray,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score groups and return values, lower and upper ends, (C,) each; NaN without an interval."""
    rows = rng.permutation(len(Z))[:SCORED_ROWS]
    X = torch.from_numpy(standardized_within(Z[rows], np.zeros(len(rows), np.int64)))
    halves = _halves(units[rows], rng)
    n_neighbors = max(1, min(N_NEIGHBORS, min([len(X), *map(len, halves)]) - 2))
    seed = int(rng.integers(2**31))

    smoothness = partial(
        beyond_chance, groups=groups, n_neighbors=n_neighbors, n_shuffles=SHUFFLES, seed=seed
    )
    value = smoothness(X)
    reach = np.full(len(groups), np.nan)
    if halves:
        widening = float(student.ppf((1 + confidence) / 2, 2 * PAIRS - 1))
        reach = widening * np.std([smoothness(X[half]) for half in halves], axis=0, ddof=1)
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
