r"""Whether features mean the same in every condition: which of a group are off, lost or reversed.

Axes: K conditions, n samples, m features of a group, C groups.

In each condition the correlations of a group's features are compared with those in all others, as
:mod:`groupfs.preservation` compares other rows with those of a fit. What a condition raises or
lowers a single feature by, beyond its group, is the mean there of
:math:`e = z - \beta s / \rho`, with the mean s of the other features, the slope :math:`\beta` of z
on it and its reliability :math:`\rho`: without that, all features of a group that is higher would
seem to be.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from groupfs.conditions.inputs import Samples
from groupfs.conditions.weighted import Function, columns_of_group
from groupfs.preservation.measure import (
    ERRORS,
    State,
    compare_features,
    loadings_of,
    mean_correlation,
)
from groupfs.utils.text import join_names, join_words
from groupfs.utils.types import BoolArray, FloatArray

#: Deviations that a feature is off beyond its group, at least, and standard errors, to be told.
OFF, OFF_ERRORS = 0.2, 3.3
#: A group is scored the other way round where its relations with others are turned by half at
#: least, by so many standard errors.
TURNED, TURNED_ERRORS = -0.5, 2.33
#: How much less turned another group may be that may as well be the one.
NEARLY = 0.3
#: A condition, a group that is turned there, those with which it goes the other way, and those of
#: them that may be the turned ones instead.
Turned = tuple[int, int, list[int], list[int]]
#: Reliability of the sum of the other features, at least.
LEAST_RELIABLE = 0.1


@dataclass(frozen=True)
class FeaturesOf:
    """Features of a group in every condition, the most central first; of 30 at most."""

    names: list[str]  #: (m,)
    states: list[list[State]]  #: in every condition, "holds", "lost" or "reversed", (K, m)
    item_rest: FloatArray  #: correlation with the sum of the others that hold, (K, m)
    mean: FloatArray  #: of the feature, turned, in deviations, (K, m)
    beyond: FloatArray  #: of the feature beyond its group, (K, m)
    is_off: BoolArray  #: whether that is more than chance, (K, m)


def features_within(
    samples: Samples, group: int, weights: FloatArray, without_level: Function
) -> FeaturesOf | None:
    """Compare the features of a group in every condition with those in all others."""
    Z = samples.turned(group)
    columns = columns_of_group(Z, weights, without_level)
    if columns is None or columns.Z.shape[1] < 3:
        return None
    Z, others = Z[:, columns.places], weights.sum(0) - weights
    n, n_others = columns.n_samples(weights), columns.n_samples(others)
    inside, outside = columns.correlations(weights), columns.correlations(others)
    # where a feature runs the other way in most conditions, or of two in most rows, few have given
    # it the sign of the fit
    loadings = np.array([loadings_of(R) for R in inside])
    loadings *= np.where((loadings @ loadings_of(outside.mean(0)) < 0), -1, 1)[:, None]
    several = len(n) > 2
    mostly = np.median(loadings, 0) if several else np.average(loadings, axis=0, weights=n)
    turn = np.where(mostly < (0 if several else -ERRORS / np.sqrt(n.sum())), -1.0, 1.0)
    inside, outside = (R * turn[:, None] * turn for R in (inside, outside))
    found = [
        compare_features(then, n_then, R, n_of)[:2]
        for then, n_then, R, n_of in zip(outside, n_others, inside, n, strict=True)
    ]
    members = samples.groups.by_centrality(group)[columns.places]
    beyond, error = _beyond_group(Z, columns.Z, weights)
    return FeaturesOf(
        names=[samples.names[i] for i in members],
        states=[states for states, _ in found],
        item_rest=np.array([rest for _, rest in found]),
        mean=_means(Z, weights)[0],
        beyond=beyond,
        is_off=(np.abs(beyond) >= OFF) & (np.abs(beyond) > OFF_ERRORS * error),
    )


def _means(Z: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Average columns in every condition, and count their values, (K, m) each."""
    n = weights @ (~np.isnan(Z)).astype(float)
    return weights @ np.nan_to_num(Z) / np.maximum(n, 1e-300), n


def _beyond_group(
    Z: FloatArray, flat: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Average features beyond the others of their group, and its standard error, (K, m) each.

    ``flat`` are the columns without the level of conditions, from which slopes are.
    """
    m = Z.shape[1]
    r = mean_correlation(np.ma.corrcoef(np.ma.masked_invalid(flat).T).filled(0))
    reliability = max((m - 1) * r / (1 + (m - 2) * r), LEAST_RELIABLE) if r > 0 else 1.0
    rest, flat_rest = _rest(Z), _rest(flat)
    both = ~np.isnan(flat) & ~np.isnan(flat_rest)
    product = np.where(both, flat * flat_rest, 0).sum(0)
    slope = product / np.maximum(np.where(both, np.square(flat_rest), 0).sum(0), 1e-12)
    off = Z - slope / reliability * rest
    off -= np.nanmean(off, axis=0)
    beyond, n = _means(off, weights)
    return beyond, np.nanstd(off, axis=0) / np.sqrt(np.maximum(n, 1))


def _rest(Z: FloatArray) -> FloatArray:
    """Average the other columns of every row, as far as they are there, (n, m)."""
    present = ~np.isnan(Z)
    total, n = np.nansum(Z, axis=1, keepdims=True), present.sum(1, keepdims=True)
    others = n - present
    return np.where(others > 0, (total - np.nan_to_num(Z)) / np.maximum(others, 1), np.nan)


def turned_groups(
    relation: FloatArray, related: list[tuple[int, int]], n: Any, off: FloatArray
) -> list[Turned]:
    """Find groups whose relations with others have the other sign in a condition.

    ``relation`` (K, pairs) are correlations of scores, ``off`` (C, K) how far means are off, which
    tells two groups apart that are turned against each other.
    """
    C, found = len(off), list[Turned]()
    R = np.zeros((len(relation), C, C))
    for (i, j), r in zip(related, relation.T, strict=True):
        R[:, i, j] = R[:, j, i] = r
    for k in range(len(R)):
        others = np.average(np.delete(R, k, 0), axis=0, weights=np.delete(n, k))
        length = np.square(others).sum(0)
        error = 1 / np.sqrt(np.maximum(length * n[k], 1e-12))
        for _ in range(C):  # each that is found is turned back before the next is looked for
            share = (R[k] * others).sum(0) / np.maximum(length, 1e-12)
            j = int(np.lexsort((-np.abs(off[:, k]), share.round(1)))[0])
            against = (np.abs(others[j]) > TURNED_ERRORS / np.sqrt(n[k])) & (
                R[k, j] * others[j] < 0
            )
            is_turned = share[j] < TURNED and share[j] + TURNED_ERRORS * error[j] < 0
            if not is_turned or not against.any():
                break
            rivals = against & (share < TURNED) & (share <= share[j] + NEARLY)
            found.append((k, j, np.flatnonzero(against).tolist(), np.flatnonzero(rivals).tolist()))
            R[k, j] *= -1
            R[k, :, j] *= -1
    return found


def remarks(
    name: str,
    conditions: list[Any],
    titles: list[str],
    features: list[FeaturesOf | None],
    turned: list[Turned],
) -> list[str]:
    """Say what looks like reversed scoring, and which features differ beyond their group."""
    told = []
    for k, j, others, rivals in turned:
        of, against = features[j], join_words([titles[i] for i in others])
        instead = f", or else {join_words([titles[i] for i in rivals])}," if rivals else ""
        told.append(
            f"Where {name} is {conditions[k]}, {titles[j]} "
            f"({join_names(of.names if of else [])}) as a whole{instead} looks scored the other "
            f"way round: its correlation with {against} has the other sign there."
        )
    for title, of in zip(titles, features, strict=True):
        if of is None:
            continue
        for k, states in enumerate(of.states):
            names = [n for n, s in zip(of.names, states, strict=True) if s is State.REVERSED]
            if names:
                told.append(
                    f"Where {name} is {conditions[k]}, {join_names(names)} of {title} "
                    f"{'runs' if len(names) == 1 else 'run'} against the others, unlike elsewhere: "
                    "this looks like reversed scoring."
                )
    return told
