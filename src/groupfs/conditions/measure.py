r"""Mean and correlation of every group under K sets of weights, with intervals and tests of change.

Axes: K conditions or places, n samples, C groups, m features of a group, P arrangements beside the
given one, B resamples, U units: blocks, or samples.

Correlations are those of columns without their level: without the mean that they have in each
condition, in units of their spread there. Features that only rise and fall together from condition
to condition would correlate otherwise, as soon as samples exchange their conditions.

If conditions do not matter, it does not matter which sample has which. Samples of one block (of one
donor, say) are alike, so they may not be mixed with others: where conditions vary within blocks,
they are exchanged within these; where every block has one condition, whole blocks exchange theirs.
Resamples are of whole blocks, too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.utils import check_random_state, gen_batches

from groupfs.conditions import weighted
from groupfs.conditions.estimates import change_from, correlation_interval, interval
from groupfs.conditions.inputs import Samples, check_share
from groupfs.utils.types import FloatArray, IntArray
from groupfs.utils.warn import warn

#: Arrangements that are drawn, in all and for each group where groups are many.
USUAL, PER_GROUP = 999, 40
#: Arrangements below which no p-value can say anything.
FEWEST_ARRANGEMENTS = 3
#: Blocks of which each has a condition (a time, say) of its own, from which chance can be told.
FEWEST_BLOCKS = 4
#: Groups whose relations are compared, at most.
MOST_RELATED = 20
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
    ``tested`` (k,), and ``strata`` (n,), conditions, are resampled each on its own, and also
    compared two at a time, and by how the groups are related there.
    """
    confidence, alpha, n_permutations, n_bootstrap, random_state = settings
    check_share("confidence", confidence)
    check_share("alpha", alpha)
    rng, groups = generator(random_state), samples.groups
    C, K = len(groups), len(weights)
    exchange = plan_exchange(samples.labels, samples.blocks, alpha)
    units = np.arange(len(samples.Z)) if samples.blocks is None else exchange.blocks
    taken = exchange.draw(enough_arrangements(n_permutations, C), rng)
    counts = draw_counts(units, strata, n_bootstrap, rng)

    means = partial(weighted.weighted_means, samples.scores)
    scored = partial(weighted.n_scored, samples.scores)
    r, r_again = np.full((K, C), np.nan), np.full((len(counts), K, C), np.nan)
    r_moved = np.full((len(taken), len(tested), C), np.nan)
    worth = np.ones(r_moved.shape)
    for j in range(C):
        columns = weighted.columns_of_group(samples.turned(j), weights, without_level)
        if columns is None:
            continue
        r[:, j] = columns.cohesion(weights)
        r_again[..., j] = repeated(columns.cohesion, weights, counts, resampled)
        r_moved[..., j] = repeated(columns.cohesion, weights[tested], taken, rearranged)
        worth[..., j] = repeated(columns.n_samples, weights[tested], taken, rearranged)
    n_units = weighted.effective_samples(np.stack([np.bincount(units, row) for row in weights]))
    again = repeated(means, weights, counts, resampled)
    found: dict[str, Any] = {}
    if strata is not None:
        pairs = list(combinations(range(K), 2))
        one, other = np.array(pairs).T
        how = confidence, np.minimum(n_units[one], n_units[other])
        value = means(weights)
        found["pairs"] = pairs
        found["mean_difference"] = interval(
            value[one] - value[other], again[:, one] - again[:, other], *how
        )
        found["cohesion_difference"] = interval(
            r[one] - r[other], r_again[:, one] - r_again[:, other], *how
        )
        found |= _relations(samples, weights, without_level, counts, taken, confidence, n_units)
    return {
        **found,
        "groups": [groups.label(j) for j in range(C)],
        "representatives": [samples.names[i] for i in groups.representatives],
        "sizes": groups.sizes.tolist(),
        "mean": interval(means(weights), again, confidence, n_units),
        "cohesion": correlation_interval(r, r_again, confidence, n_units),
        "mean_change": change_from(
            *(repeated(of, weights[tested], taken, rearranged) for of in (means, scored))
        ),
        "cohesion_change": change_from(r_moved, worth),
        "confidence": confidence,
        "alpha": alpha,
        "blocks": "none" if samples.blocks is None else "whole" if exchange.whole else "within",
    }


def _relations(
    samples: Samples,
    weights: FloatArray,
    without_level: weighted.Function,
    counts: FloatArray,
    taken: IntArray,
    confidence: float,
    n_units: FloatArray,
) -> dict[str, Any]:
    """Correlate the scores of the first groups, two at a time, in every condition."""
    C = min(len(samples.groups), MOST_RELATED)
    found: dict[str, Any] = {"related": list(combinations(range(C), 2))}
    if C < 2:
        return found
    scores = weighted.GroupColumns(without_level(samples.scores[:, :C]))
    again = repeated(scores.pairs, weights, counts, resampled)
    moved = repeated(scores.pairs, weights, taken, rearranged)
    worth = repeated(scores.n_samples, weights, taken, rearranged)
    found["relation"] = correlation_interval(scores.pairs(weights), again, confidence, n_units)
    return found | {"relation_change": change_from(moved, worth[..., None])}


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


@dataclass(frozen=True)
class Exchange:
    """Which samples may exchange their conditions."""

    blocks: IntArray  #: block of each sample, numbered from 0 without gaps, (n,)
    whole: bool  #: whether whole blocks exchange their conditions, and not samples within them

    def draw(self, n_arrangements: int, rng: np.random.Generator) -> IntArray:
        """Draw from which sample each takes its condition, (P + 1, n); the first is as given."""
        taken = np.tile(np.arange(len(self.blocks)), (1 + n_arrangements, 1))
        if self.whole:
            first = np.unique(self.blocks, return_index=True)[1]
            shuffled = rng.permuted(np.tile(first, (n_arrangements, 1)), axis=1)
            taken[1:] = shuffled[:, self.blocks]
        else:
            by_block = np.argsort(self.blocks, kind="stable")
            taken[1:, by_block] = np.argsort(self.blocks + rng.random(taken[1:].shape), axis=1)
        return taken


def enough_arrangements(asked_for: int | None, n_groups: int) -> int:
    """Choose how many arrangements to draw: a single group must be able to stand out."""
    return max(USUAL, PER_GROUP * n_groups) if asked_for is None else asked_for


def plan_exchange(labels: Any, blocks: IntArray | None, alpha: float) -> Exchange:
    """Find out who may exchange conditions; refuse where nobody may."""
    labels = np.unique(labels, return_inverse=True)[1]
    given = np.zeros(len(labels)) if blocks is None else blocks
    _, first, own = np.unique(given, return_index=True, return_inverse=True)
    whole = blocks is not None and bool((labels == labels[first][own]).all())
    if whole and np.bincount(labels[first]).max() == 1 and len(first) < FEWEST_BLOCKS:
        raise ValueError(
            f"the {len(first)} blocks have one condition each and no condition has two blocks, so "
            "a difference between conditions may be one between blocks; it takes several blocks in "
            "every condition, or several conditions in a block."
        )
    exchanged = [labels[first]] if whole else [labels[own == b] for b in range(len(first))]
    numbers = [np.bincount(part) for part in exchanged]
    log_count = sum(gammaln(n.sum() + 1) - gammaln(n + 1).sum() for n in numbers)
    count = np.exp(min(log_count, 50))
    if count < FEWEST_ARRANGEMENTS - 0.5:
        raise ValueError(
            f"conditions can be exchanged between samples in {count:.0f} way(s) that respect the "
            "blocks, so nothing can be compared with chance; it takes more blocks in every "
            "condition, or conditions that vary within blocks."
        )
    if 1 / count > alpha:
        warn(
            f"Conditions can be exchanged in only {count:.0f} ways that respect the blocks, so no "
            f"p-value can be below {1 / count:.2g}."
        )
    return Exchange(own, whole)


def rearranged(weights: FloatArray, taken: IntArray) -> FloatArray:
    """Give samples weights of those they take conditions from: (K, n), (P, n) to (P K, n)."""
    return weights[:, taken].swapaxes(0, 1).reshape(-1, weights.shape[1])


def draw_counts(
    units: IntArray, strata: IntArray | None, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Draw units with replacement, within strata if each lies in one, and count samples, (B, n)."""
    first = np.unique(units, return_index=True)[1]
    of_units = np.zeros(len(first), dtype=np.int64)
    if strata is not None and (strata == strata[first][units]).all():
        of_units = strata[first]
    counts = np.zeros((n_resamples, len(first)))
    for stratum in np.unique(of_units):
        inside = np.flatnonzero(of_units == stratum)
        shares = np.full(len(inside), 1 / len(inside))
        counts[:, inside] = rng.multinomial(len(inside), shares, size=n_resamples)
    return counts[:, units]


def resampled(weights: FloatArray, counts: FloatArray) -> FloatArray:
    """Count every sample as often as it was drawn: weights (K, n), counts (B, n) to (B K, n)."""
    return (counts[:, None] * weights).reshape(-1, weights.shape[1])
