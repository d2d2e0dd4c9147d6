r"""Measure a group in other rows: whether its features still go together, and in the same pattern.

Axes: n rows, m features of a group, the most central first, S draws of chance.

Correlations R (m, m) are turned by the signs of the fit, so that a group that holds has none below
zero. *Cohesion* is their mean :math:`\bar r` over pairs; unlike a first eigenvalue it is not higher
where rows are few. That of features with the same correlation throughout has the standard error
:math:`\sqrt{2 / (m (m - 1) n)}\,(1 - \bar r)(1 + (m - 1)\bar r)`.

*Congruence* (Tucker's) compares the loadings a of the fit with those b of the new rows on the first
component of each: :math:`\sum ab / \sqrt{\sum a^2 \sum b^2}`.

A feature is compared with the sum of the others that hold, its own group's common change taken
off: in a group that is weaker throughout no single feature is to blame.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from groupfs.data.standardize import unit_columns
from groupfs.discovery.chance import exceedance
from groupfs.discovery.items import pairwise_correlations
from groupfs.discovery.members import beyond_edge, first_component
from groupfs.utils.types import BoolArray, FloatArray

#: Features of a group that are looked at, the most central ones, and those chance is told by.
MOST_FEATURES, CHANCE_FEATURES = 300, 40
#: Times that columns are shuffled, and random sets of features.
N_SHUFFLES, N_SETS = 99, 199
#: Share of the cohesion of the fit below which a group is weaker, and far below which it is gone.
WEAKER, GONE = 0.75, 0.25
#: p-value of cohesion above which a group is gone, and congruence below which its pattern is not
#: that of the fit (.85 and more is called fair similarity).
STILL_THERE, SAME_PATTERN = 0.01, 0.85
#: Standard errors beyond which a group or a feature has changed, as one of 100 that hold does.
ERRORS = 2.33
#: Share of the correlation with the rest of its group that a feature that holds has, at least.
LEAST_REST = 0.5
#: How far the first eigenvalue of a group in which features are reversed is beyond that of chance.
BEYOND_CHANCE = 1.5


class State(StrEnum):
    """What became of a feature, or of a group."""

    HOLDS = "holds"
    LOST = "lost"
    REVERSED = "reversed"
    MISSING = "missing"
    PRESERVED = "preserved"
    WEAKER = "weaker"
    GONE = "gone"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class Measured:
    """A group in the rows of the fit (``before``) and in other rows."""

    verdict: State
    states: list[State]  #: of the features, (m,)
    item_rest: FloatArray  #: correlation with the sum of the others that hold, (m,)
    loadings: FloatArray  #: on the first component, (m,)
    loadings_before: FloatArray
    cohesion: float  #: mean correlation, features that are reversed now turned
    cohesion_error: float  #: its standard error
    cohesion_before: float
    congruence: float  #: of the loadings
    p_shuffled: float  #: how likely shuffled columns go together as much
    without_lost: State  #: the verdict if features that are lost were none of the group


def mean_correlation(R: FloatArray) -> float:
    """Average the correlations of pairs."""
    m = len(R)
    return float((R.sum() - np.trace(R)) / (m * (m - 1))) if m > 1 else float("nan")


def standard_error(mean: float, m: int, n: float) -> float:
    """Return the standard error of the mean correlation of m features in n rows."""
    return float(np.sqrt(2 / (m * (m - 1) * max(n, 2))) * (1 - mean) * max(1 + (m - 1) * mean, 0))


def congruence(a: FloatArray, b: FloatArray) -> float:
    """Compare two patterns of loadings: 1 if they are in proportion, 0 if unrelated.

    >>> congruence(np.array([0.8, 0.6]), np.array([0.4, 0.3]))
    1.0
    """
    lengths = float(np.sqrt((a @ a) * (b @ b)))
    return round(float(a @ b) / lengths, 12) if lengths > 0 else 0.0


def loadings_of(R: FloatArray) -> FloatArray:
    """Return the loadings on the first component, mostly positive, (m,)."""
    value, vector = first_component(R)
    found = np.sqrt(max(value, 0.0)) * vector
    return found if found.sum() >= 0 else -found


def with_rest(R: FloatArray, turn: FloatArray, among: BoolArray) -> FloatArray:
    """Correlate features with the sum of the others ``among`` them, each turned, (m,)."""
    turned = R * turn[:, None] * turn
    to_all = turned[:, among].sum(1) - among * 1.0
    variance = turned[np.ix_(among, among)].sum() - among * (2 * to_all + 1)
    found: FloatArray = turn * to_all / np.sqrt(np.maximum(variance, 1e-12))
    return np.clip(found, -1, 1)


def measure(then: FloatArray, n_then: float, Z: FloatArray, rng: np.random.Generator) -> Measured:
    """Compare the correlations of the fit, (m, m), with those in new rows, (n, m), NaN in gaps.

    Both are turned so that reversed features agree with their group, the most central first.
    """
    R, n = pairwise_correlations(Z)
    before = loadings_of(then)
    states, rest, now = compare_features(then, n_then, R, n)
    turn = np.where([of is State.REVERSED for of in states], -1.0, 1.0)
    lost = np.array([of is State.LOST for of in states])
    R, same = R * turn[:, None] * turn, congruence(before, now * turn)
    few = Z[:, :CHANCE_FEATURES]
    p = chance_of_density(density(few), few, rng)
    cohesion = mean_correlation(R)
    verdict = _verdict(then, n_then, R, n, same, p)
    others = verdict
    if lost.any() and (~lost).sum() > 1:
        kept = np.ix_(~lost, ~lost)
        same_others = congruence(before[~lost], (now * turn)[~lost])
        others = _verdict(then[kept], n_then, R[kept], n, same_others, p)
    if verdict is State.GONE:
        states = [State.LOST] * len(states)
    return Measured(
        verdict=verdict,
        states=states,
        item_rest=rest,
        loadings=now,
        loadings_before=before,
        cohesion=cohesion,
        cohesion_error=standard_error(cohesion, len(R), n),
        cohesion_before=mean_correlation(then),
        congruence=same,
        p_shuffled=p,
        without_lost=others,
    )


def compare_features(
    then: FloatArray, n_then: float, R: FloatArray, n: float
) -> tuple[list[State], FloatArray, FloatArray]:
    """Say what became of every feature, (m,).

    Returns also their correlations with the others that hold, and their loadings, (m,) each.
    """
    now = loadings_of(R)
    now = now if now @ loadings_of(then) >= 0 else -now
    m = len(R)
    turn, among = np.where(now < 0, -1.0, 1.0), np.ones(m, dtype=bool)
    before = with_rest(then, np.ones(m), among)
    error = np.sqrt(1 / max(n - 3, 1) + 1 / max(n_then - 3, 1))
    for _ in range(3):
        rest = with_rest(R, turn, among)
        share = np.abs(rest[among]) / np.maximum(before[among], 0.05)
        expected = before * min(float(np.median(share)), 1.0)
        off = np.arctanh(np.clip(expected, 0, 0.99)) - np.arctanh(np.clip(rest * turn, -0.99, 0.99))
        lost = (rest * turn < LEAST_REST * expected) & (off > ERRORS * error)
        if (~lost).sum() < 2 or (lost == ~among).all():
            break
        among = ~lost
    # what is scored the other way round still goes with its group as much, and did so before
    is_reversed = (turn < 0) & ~lost & (before > ERRORS / np.sqrt(max(n_then - 3, 1)))
    is_reversed &= np.abs(rest) >= LEAST_REST * before
    is_reversed &= beyond_edge(first_component(R)[0], m, int(max(n, 2))) > BEYOND_CHANCE
    is_reversed &= np.arctanh(np.clip(rest, -0.99, 0.99)) < -ERRORS / np.sqrt(max(n - 3, 1))
    others = ~is_reversed & ~lost
    if is_reversed.any() and others.any():  # two sets that were unrelated have no sign
        to_then, to_now = then[:, others].mean(1), R[:, others].mean(1)
        is_reversed &= (to_then > ERRORS / np.sqrt(max(n_then - 3, 1))) & (to_now < 0)
    kinds = np.where(is_reversed, State.REVERSED, np.where(lost, State.LOST, State.HOLDS))
    return [State(kind) for kind in kinds.tolist()], rest, now


def _verdict(
    then: FloatArray, n_then: float, R: FloatArray, n: float, same: float, p: float
) -> State:
    before, now, m = mean_correlation(then), mean_correlation(R), len(R)
    error = standard_error(max(now, 0.0), m, n)
    most = now + ERRORS * error
    if p > STILL_THERE:  # where rows are few, a group that holds may not stand out either
        return State.GONE if most < WEAKER * before else State.UNKNOWN
    if most < GONE * before:
        return State.GONE
    of_both = np.hypot(error, standard_error(before, m, n_then))
    if (now < WEAKER * before and before - now > ERRORS * of_both) or same < SAME_PATTERN:
        return State.WEAKER
    return State.PRESERVED


def density(Z: FloatArray) -> float:
    """Average the squared correlations of pairs of columns, (n, m), gaps as the mean.

    It says how far features go together, whichever way; gaps lower it here and by chance alike.
    """
    U, (n, m) = unit_columns(np.nan_to_num(Z)), Z.shape
    return float((np.square(U.T @ U / n).sum() - m) / (m * (m - 1)))


def chance_of_density(value: float, Z: FloatArray, rng: np.random.Generator) -> float:
    """Estimate how likely shuffled columns, (n, m), go together as much."""
    drawn = np.array([density(rng.permuted(Z, axis=0)) for _ in range(N_SHUFFLES)])
    return float(exceedance(np.array([value]), drawn)[0])


def chance_of_set(
    value: float, Z: FloatArray, size: int, m: int, rng: np.random.Generator
) -> float:
    """Estimate how likely m random columns of a table, (n, d), go together as much.

    NaN where there are not twice as many as the ``size`` of the group: sets would be nearly it.
    """
    d = Z.shape[1]
    if d < 2 * size:
        return float("nan")
    drawn = [density(Z[:, rng.choice(d, m, replace=False)]) for _ in range(N_SETS)]
    return float((1 + np.sum(np.array(drawn) >= value)) / (1 + N_SETS))
