r"""Mean and correlation of every group under K sets of weights, with intervals and tests of change.

Axes: K conditions or places, n samples, C groups, m features of a group, P arrangements.

Correlations are those of columns without their level: without the mean that they have in each
condition, in units of their spread there. Features that only rise and fall together from condition
to condition would correlate otherwise, as soon as samples exchange their conditions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from groupfs.conditions.estimates import (
    Change,
    Estimate,
    change_from,
    correlation_interval,
    interval,
)
from groupfs.conditions.inputs import Samples
from groupfs.conditions.pairwise import known_everywhere, seldom_together
from groupfs.conditions.rearrange import rearranged
from groupfs.conditions.weighted import (
    GroupColumns,
    chunks,
    effective_samples,
    exclusive_pairs,
    most_central,
    weighted_means,
)
from groupfs.scoring.cohesion import beyond_edge
from groupfs.utils.types import FloatArray, IntArray

#: From columns to columns without the level of their conditions, (n, m) to (n, m).
WithoutLevel = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Measured:
    """What is known of C groups under K sets of weights."""

    mean: Estimate
    correlation: Estimate
    cohesion: Estimate
    mean_change: Change
    cohesion_change: Change


def measure(
    samples: Samples,
    weights: FloatArray,
    tested: IntArray,
    without_level: WithoutLevel,
    taken: IntArray,
    units: IntArray,
    counts: FloatArray,
    confidence: float,
) -> Measured:
    """Measure all groups.

    Parameters
    ----------
    weights : (K, n)
        How much each sample counts in each condition.
    tested : (k,)
        The conditions that changes are looked for in.
    taken : (P + 1, n)
        From which sample each takes its condition, as given in the first row.
    units : (n,)
        What is resampled as a whole: blocks, or samples.
    counts : (B, n)
        How often each sample is in each resample.
    """
    means = weighted_means(samples.scores, weights)
    again = _resampled(lambda w: weighted_means(samples.scores, w), weights, counts)
    moved = chance_values(lambda w: weighted_means(samples.scores, w), weights[tested], taken)
    C, K = len(samples.groups), len(weights)
    r, r_again = np.full((K, C), np.nan), np.full((len(counts), K, C), np.nan)
    r_moved = np.full((len(taken), len(tested), C), np.nan)
    per_correlation = np.full((C, K), np.inf)
    used = [most_central(group, samples.centrality) for group in samples.groups]
    for j, group in enumerate(used):
        columns = columns_of_group(samples.Z[:, group], samples.signed, weights, without_level)
        if columns is None:
            continue
        per_correlation[j] = _cohesion_per_correlation(columns, weights)
        r[:, j] = columns.common_correlation(weights)
        r_again[..., j] = _resampled(columns.common_correlation, weights, counts)
        r_moved[..., j] = chance_values(columns.common_correlation, weights[tested], taken)
    n_units = effective_samples(_of_units(weights, units))
    correlation = correlation_interval(r, r_again, confidence, n_units, 1 / per_correlation.T)
    return Measured(
        mean=interval(means, again, confidence, n_units),
        correlation=correlation,
        cohesion=correlation.scaled(per_correlation),
        mean_change=change_from(moved),
        cohesion_change=change_from(r_moved),
    )


def columns_of_group(
    Z: FloatArray, signed: bool, weights: FloatArray, without_level: WithoutLevel
) -> GroupColumns | None:
    """Prepare columns of a group, (n, m), to be correlated; None if there are not two of them.

    Features that a condition has too few values of are left out of all, and pairs that too few
    samples have both of count as unrelated in all: else conditions would differ by their gaps.
    """
    if gaps := bool(np.isnan(Z).any()):
        Z = Z[:, known_everywhere(Z, weights)]
    if Z.shape[1] < 2:
        return None
    excluded = exclusive_pairs(Z)
    if gaps:
        excluded = excluded | seldom_together(Z, weights)
        np.fill_diagonal(excluded, False)
    return GroupColumns(without_level(Z), signed, excluded)


def _cohesion_per_correlation(columns: GroupColumns, weights: FloatArray) -> list[float]:
    """Return the cohesion that a group whose correlation is one has, (K,)."""
    m = columns.Z.shape[1]
    return [beyond_edge(float(m), m, n) for n in columns.n_samples(weights)]


def _of_units(weights: FloatArray, units: IntArray) -> FloatArray:
    """Add up the weights of each unit, (K, n) to (K, U)."""
    return np.stack([np.bincount(units, row) for row in weights])


def _resampled(
    statistic: Callable[[FloatArray], FloatArray], weights: FloatArray, counts: FloatArray
) -> FloatArray:
    """Compute a statistic in every resample, (B, K, ...)."""
    (K, n), found = weights.shape, []
    for part in chunks(len(counts), K * n):
        values = statistic((counts[part, None] * weights).reshape(-1, n))
        found.append(values.reshape(-1, K, *values.shape[1:]))
    return np.concatenate(found)


def chance_values(
    statistic: Callable[[FloatArray], FloatArray], weights: FloatArray, taken: IntArray
) -> FloatArray:
    """Compute a statistic in every arrangement, (P + 1, K, ...)."""
    (K, n), found = weights.shape, []
    for part in chunks(len(taken), K * n):
        values = statistic(rearranged(weights, taken[part]))
        found.append(values.reshape(-1, K, *values.shape[1:]))
    return np.concatenate(found)
