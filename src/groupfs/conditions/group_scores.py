"""Score groups on the rows of one condition: smoothness beyond chance, with an interval.

Axes: n rows of the condition, C groups, F folds.

Duplicates are each other's nearest neighbours, so a bootstrap would make every graph smooth. The
interval comes from leaving out a tenth of the rows (or blocks) at a time, the jackknife.
"""

import numpy as np
import torch
from scipy.stats import t as student

from groupfs.conditions.level import standardized_within
from groupfs.scoring.excess import SCORED_ROWS, own_graph_smoothness, score_groups
from groupfs.utils.types import FloatArray, IntArray

#: Parts of which one is left out at a time, and shuffles that chance is seen in.
FOLDS, SHUFFLES = 10, 10


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
    folds = _folds(units, rng)
    smallest = min(int((folds != fold).sum()) for fold in range(folds.max() + 1))
    n_neighbors = max(1, min(n_neighbors, smallest - 2))
    found = score_groups(
        X,
        groups,
        n_neighbors=n_neighbors,
        steps=steps,
        n_shuffles=SHUFFLES,
        seed=int(rng.integers(2**31)),
    )
    n_folds = int(folds.max()) + 1
    if n_folds < 2:
        unknown = np.full(len(groups), np.nan)
        return found.excess, unknown, unknown
    left = np.zeros((n_folds, len(groups)))
    for fold in range(n_folds):
        rest = X[torch.from_numpy(np.flatnonzero(folds != fold))]
        for j, group in enumerate(groups):
            left[fold, j] = own_graph_smoothness(rest[None, :, group], n_neighbors, steps).item()
    error = np.sqrt((n_folds - 1) * left.var(0))
    reach = float(student.ppf((1 + confidence) / 2, n_folds - 1)) * error
    reach[[len(group) < 2 for group in groups]] = 0  # a single feature has no excess, surely
    return found.excess, found.excess - reach, found.excess + reach


def _folds(units: IntArray, rng: np.random.Generator) -> IntArray:
    """Divide rows into parts of whole units at random, (n,)."""
    codes = np.unique(units, return_inverse=True)[1]
    n_units = int(codes.max()) + 1
    order: IntArray = rng.permutation(n_units) % FOLDS
    return order[codes]
