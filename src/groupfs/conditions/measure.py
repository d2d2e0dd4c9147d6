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
    used = [most_central(group, samples.centrality) for group in samples.groups]
    for j, group in enumerate(used):
        if len(group) < 2:
            continue
        Z = samples.Z[:, group]
        columns = GroupColumns(without_level(Z), samples.signed, exclusive_pairs(Z))
        r[:, j] = columns.common_correlation(weights)
        r_again[..., j] = _resampled(columns.common_correlation, weights, counts)
        r_moved[..., j] = chance_values(columns.common_correlation, weights[tested], taken)
    per_correlation = _cohesion_per_correlation([len(g) for g in used], effective_samples(weights))
    n_units = effective_samples(_of_units(weights, units))
    correlation = correlation_interval(r, r_again, confidence, n_units, 1 / per_correlation.T)
    return Measured(
        mean=interval(means, again, confidence, n_units),
        correlation=correlation,
        cohesion=correlation.scaled(per_correlation),
        mean_change=change_from(moved),
        cohesion_change=change_from(r_moved),
    )


def _cohesion_per_correlation(sizes: list[int], n_samples: FloatArray) -> FloatArray:
    """Return the cohesion of groups whose correlation is one, (C, K); infinite for one feature."""
    return np.array(
        [[beyond_edge(float(m), m, n) if m > 1 else np.inf for n in n_samples] for m in sizes]
    )


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
