"""Memory of models trained side by side, and how many memberships of a feature it has room for.

Axes: d features, C groups, R models side by side.
"""

from __future__ import annotations

from groupfs.utils.errors import ParameterError
from groupfs.utils.text import format_bytes

#: Bytes that a membership takes in training: itself, gradient, moments, noise, temporary copies;
#: where few are kept of each feature, also which; then a feature takes some of its own, once.
DENSE_BYTES, CANDIDATE_BYTES, FEATURE_BYTES = 64, 96, 256
#: With fewer candidates features could hardly move between groups.
FEWEST_CANDIDATES = 3


def n_candidates_that_fit(d: int, C: int, R: int, budget_bytes: int) -> int | None:
    """Find how many memberships of each feature fit; None where all do.

    Examples
    --------
    >>> from groupfs.data.model_memory import n_candidates_that_fit
    >>> n_candidates_that_fit(20_000, 30, 2, 2**31) is None
    True
    >>> n_candidates_that_fit(1_000_000, 100, 2, 2**31)
    9
    """
    needed = memory_of_models(d, C, R, None)
    if needed <= budget_bytes:
        return None
    fewest = min(FEWEST_CANDIDATES, C)
    fitting = (budget_bytes // d - FEATURE_BYTES) // (CANDIDATE_BYTES * R)
    if fitting < fewest:
        least = memory_of_models(d, C, R, fewest)
        raise ParameterError(
            f"{d} features in {C} groups need {format_bytes(needed)} of memory for {R} "
            f"model{'s' if R > 1 else ''} side by side, and {format_bytes(least)} if each feature "
            f"keeps the {fewest} groups nearest to it, but {format_bytes(budget_bytes)} are "
            f"available; {'choose n_init=1, ' if R > 1 else ''}raise max_memory or leave out "
            "columns.",
            "max_memory",
        )
    return min(fitting, C)


def memory_of_models(d: int, C: int, R: int, n_candidates: int | None) -> int:
    """Estimate the bytes of R models in training with all or the best memberships of features."""
    if n_candidates is None:
        return DENSE_BYTES * d * C * R
    return (CANDIDATE_BYTES * n_candidates * R + FEATURE_BYTES) * d
