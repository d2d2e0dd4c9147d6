"""Order all features so that the first k say most of what the related ones say, for every k.

Axes: d features.

Features are chosen by what they explain of the related ones, smooth ones counting more (module
``explained``); when all is explained, by coverage. Features in groups come first, then other
related ones, then the rest. One order serves every budget: each is a beginning of it.
"""

from dataclasses import dataclass

import numpy as np
import torch

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import Rows
from groupfs.graphs.similarity import feature_similarities
from groupfs.selection.block_order import order_blocks
from groupfs.selection.column_factor import (
    ColumnFactor,
    cholesky,
    exact_products,
    factor_columns,
)
from groupfs.selection.coverage import Coverage
from groupfs.selection.explained import LEAST_MISSING, ExplainedVariance, weighted_targets
from groupfs.utils.types import FloatArray, IntArray

#: Features chosen one by one; those after them follow by what they would cover.
MOST_PICKS = 1024
#: Features chosen by a sketch that are put in order again by exact products: at least so many, and
#: no more than give so many products or take so many multiplications.
FEWEST_EXACT, EXACT_ENTRIES = 16, 2**24
#: Similarity above which two features of any kinds are copies.
SAME_FEATURE = 1 - 1e-6
MULTIPLICATIONS = {"cpu": 2e11, "cuda": 1e14}


@dataclass(frozen=True)
class FeatureOrder:
    """All features, first to last, and what the first k explain."""

    order: IntArray  #: (d,)
    explained: FloatArray  #: share of the weighted variance after each, ends at one, (d,)
    weights: FloatArray  #: how much every feature counts, summing to one, (d,)


def order_features(
    rows: Rows, weights: FloatArray, stages: list[IntArray], last: IntArray
) -> FeatureOrder:
    """Order features by what they explain of all features, each counting by its weight.

    Parameters
    ----------
    rows
        The table.
    weights
        How much the variance of each feature counts, not negative, (d,). Copies of a feature share
        its weight.
    stages
        Features to choose from, disjoint; those of the first are chosen before any of the second.
    last
        Features in none of the stages, in the order in which they follow.
    """
    if isinstance(rows, FeatureRows) and not rows.is_plain:
        shared = weights / (np.abs(feature_similarities(rows)) > SAME_FEATURE).sum(1)
        shared = shared / shared.sum()
        order, gains = order_blocks(rows, shared, stages, MOST_PICKS)
    else:
        rows = rows.filled() if isinstance(rows, FeatureRows) else rows
        factor = factor_columns(rows)
        shared = weights / factor.copies()
        shared = shared / shared.sum()
        order, gains = _greedy(factor, shared, stages)
        if not factor.is_exact:
            gains = _beyond_chance(gains, len(factor.F))
            order, gains = _ranked_exactly(rows, shared, order, gains, stages)
    # directions that rounding hides may be missing in the sum
    explained = np.minimum(np.cumsum(np.append(gains, np.zeros(len(last)))) / gains.sum(), 1.0)
    explained[len(order) - 1 :] = 1.0
    return FeatureOrder(np.append(order, last), explained, shared)


def _greedy(
    factor: ColumnFactor, weights: FloatArray, stages: list[IntArray]
) -> tuple[IntArray, FloatArray]:
    """Order the features of the stages; return them, and what each adds."""
    F = factor.F
    w = torch.as_tensor(weights, device=F.device)
    state = ExplainedVariance(F, weighted_targets(F, w))
    coverage = Coverage(F, w)
    order: list[int] = []
    gains: list[float] = []
    for stage in stages:
        chosen, added = pick(state, stage, MOST_PICKS - len(order))
        coverage.add(chosen)
        others = np.setdiff1d(stage, chosen, assume_unique=True)
        others = coverage.order(others, MOST_PICKS - len(order) - len(chosen))
        order += [*chosen.tolist(), *others.tolist()]
        gains += [*added.tolist(), *state.add_in_order(others).tolist()]
    return np.array(order, dtype=np.int64), np.array(gains)


def pick(
    state: ExplainedVariance, candidates: IntArray, n_picks: int
) -> tuple[IntArray, FloatArray]:
    """Choose candidates by what they explain until nothing is left to explain; (p,) and gains."""
    allowed = torch.zeros(state.F.shape[1], dtype=torch.bool, device=state.F.device)
    allowed[torch.as_tensor(candidates, device=state.F.device)] = True
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < n_picks and state.missing() > LEAST_MISSING:
        worth = torch.where(allowed, state.gains(), 0)
        best = int(worth.argmax())
        if not worth[best] > 0:
            break
        chosen.append(best)
        gains.append(state.add(best))
        allowed[best] = False
    return np.array(chosen, dtype=np.int64), np.array(gains)


def _beyond_chance(gains: FloatArray, n_rows: int) -> FloatArray:
    """Correct what features add in a sketch of few rows for what any would (adjusted R squared)."""
    left = 1 - np.minimum(np.cumsum(gains), 1)
    inflation = n_rows / np.maximum(n_rows - np.arange(1, len(gains) + 1), 1)
    explained = np.maximum.accumulate(np.clip(1 - left * inflation, 0, 1))
    return np.diff(explained, prepend=0.0)


def _ranked_exactly(
    rows: Rows, weights: FloatArray, order: IntArray, estimates: FloatArray, stages: list[IntArray]
) -> tuple[IntArray, FloatArray]:
    """Order the first features again by exact products; return the order, and what each adds.

    What is left to explain after these is shared by the others in proportion to the estimates.
    """
    N, d = rows.shape
    most = MULTIPLICATIONS.get(rows.device.type, MULTIPLICATIONS["cpu"])
    affordable = min(EXACT_ENTRIES // d, int(most / (N * d)))
    first = order[: min(MOST_PICKS, max(FEWEST_EXACT, affordable))]
    R = exact_products(rows, first)
    F = cholesky(R[torch.as_tensor(first, device=R.device)])
    T = torch.linalg.solve_triangular(F.T, R.T, upper=False)
    w = torch.as_tensor(weights, device=R.device)
    state = ExplainedVariance(F, weighted_targets(T, w))
    again: list[int] = []
    gains: list[float] = []
    for stage in stages:
        chosen, added = pick(state, np.flatnonzero(np.isin(first, stage)), len(first))
        others = np.setdiff1d(np.flatnonzero(np.isin(first, stage)), chosen)
        again += [*chosen.tolist(), *others.tolist()]
        gains += [*added.tolist(), *state.add_in_order(others).tolist()]
    rest = estimates[len(first) :]
    rest = rest if rest.any() else np.ones(len(rest))
    rest = rest * max(0.0, 1 - sum(gains)) / max(rest.sum(), 1e-300)
    again_first = first[np.array(again, dtype=np.int64)]
    return np.append(again_first, order[len(first) :]), np.append(gains, rest)
