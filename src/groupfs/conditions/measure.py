r"""Mean and correlation of every group under K sets of weights, with intervals and tests of change.

Axes: K conditions or places, n samples, C groups, m features of a group, P arrangements.

Correlations are those of columns without their level: without the mean that they have in each
condition, in units of their spread there. Features that only rise and fall together from condition
to condition would correlate otherwise, as soon as samples exchange their conditions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, gen_batches

from groupfs.conditions import rearrange, weighted
from groupfs.conditions.estimates import Estimate, change_from, correlation_interval, interval
from groupfs.conditions.inputs import Samples, check_share
from groupfs.discovery.members import beyond_edge
from groupfs.utils.types import FloatArray, IntArray

#: Confidence, alpha, permutations, resamples and random state, as :func:`compare` takes them.
Settings = tuple[float, float, int | None, int, int | np.random.RandomState | None]


def measure(
    samples: Samples,
    weights: FloatArray,
    tested: IntArray,
    without_level: weighted.Function,
    strata: IntArray | None,
    settings: Settings,
) -> dict[str, Any]:
    """Measure all groups; return the fields that comparisons and curves have in common.

    Samples count in each condition by ``weights`` (K, n); changes are looked for in those that are
    ``tested`` (k,), and ``strata`` (n,), conditions, are rearrange.resampled each on its own.
    """
    confidence, alpha, n_permutations, n_bootstrap, random_state = settings
    check_share("confidence", confidence)
    check_share("alpha", alpha)
    rng = generator(random_state)
    groups, C, K = samples.groups, len(samples.groups), len(weights)
    exchange = rearrange.plan_exchange(samples.labels, samples.blocks, alpha)
    units = np.arange(len(samples.Z)) if samples.blocks is None else exchange.blocks
    taken = exchange.draw(rearrange.enough_arrangements(n_permutations, C), rng)
    counts = rearrange.draw_counts(units, strata, n_bootstrap, rng)

    def means(w: FloatArray) -> FloatArray:
        return weighted.weighted_means(samples.scores, w)

    r, r_again = np.full((K, C), np.nan), np.full((len(counts), K, C), np.nan)
    r_moved = np.full((len(taken), len(tested), C), np.nan)
    per_correlation = np.full((C, K), np.inf)
    for j in range(C):
        Z = samples.Z[:, groups.by_centrality(j)]
        columns = weighted.columns_of_group(Z, samples.signed, weights, without_level)
        if columns is None:
            continue
        rho = columns.common_correlation
        m = columns.Z.shape[1]  # cohesion where the correlation is one
        per_correlation[j] = [beyond_edge(float(m), m, n) for n in columns.n_samples(weights)]
        r[:, j] = rho(weights)
        r_again[..., j] = repeated(rho, weights, counts, rearrange.resampled)
        r_moved[..., j] = repeated(rho, weights[tested], taken, rearrange.rearranged)
    n_units = weighted.effective_samples(np.stack([np.bincount(units, row) for row in weights]))
    again = repeated(means, weights, counts, rearrange.resampled)
    correlation = correlation_interval(r, r_again, confidence, n_units, 1 / per_correlation.T)
    return {
        "groups": [groups.label(j) for j in range(C)],
        "representatives": [samples.names[i] for i in groups.representatives],
        "sizes": groups.sizes.tolist(),
        "mean": interval(means(weights), again, confidence, n_units),
        "correlation": correlation,
        "cohesion": Estimate(*(part * per_correlation for part in vars(correlation).values())),
        "mean_change": change_from(repeated(means, weights[tested], taken, rearrange.rearranged)),
        "cohesion_change": change_from(r_moved),
        "confidence": confidence,
        "alpha": alpha,
        "blocks": "none" if samples.blocks is None else "whole" if exchange.whole else "within",
    }


def repeated(
    of: weighted.Function, weights: FloatArray, changes: Any, change: Callable[..., FloatArray]
) -> FloatArray:
    """Compute a statistic in every arrangement or resample, (P, K, ...)."""
    K = len(weights)
    parts = gen_batches(len(changes), max(1, weighted.AT_ONCE // weights.size))
    values = np.concatenate([of(change(weights, changes[part])) for part in parts])
    return values.reshape(-1, K, *values.shape[1:])


def generator(random_state: int | np.random.RandomState | None) -> np.random.Generator:
    """Make numpy's generator of what scikit-learn calls a random state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
