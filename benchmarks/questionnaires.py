"""Questionnaires drawn from factors, after the designs of studies of the number of dimensions.

Axes: n rows, k factors, d items. Items have variance one before they are cut into answers. The same
kind and number give the same questionnaire.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from benchmarks.planted_tables import log_uniform

#: Cut points lie evenly in the line up to here, to both sides, before they are shifted.
WIDEST = 2.0
#: Standard deviation of answers on a scale of so many points, before they are rounded.
SPREAD = {5: 1.0, 7: 1.5}
#: Loadings, and rows at least and at most, of each kind of questionnaire.
KINDS: dict[str, tuple[tuple[float, float], tuple[int, int]]] = {
    "two-level": ((0.55, 0.8), (500, 2000)),
    "one-level": ((0.55, 0.8), (500, 2000)),
    "weak": ((0.4, 0.55), (200, 500)),
}
#: Items of a facet; facets and traits of two levels, factors of one, at least and at most.
ITEMS, FACETS, TRAITS, FACTORS = (3, 8), (8, 20), (2, 5), (3, 10)
#: Share of the variance of facets that is their trait's, and most correlation of other factors.
SHARED, MOST_CORRELATION = (0.3, 0.5), 0.3


class Questionnaire(NamedTuple):
    """Answers, the facet of every item, its trait if there are two levels, how it was drawn."""

    X: NDArray[np.float64]
    facets: NDArray[np.int64]
    traits: NDArray[np.int64] | None
    facts: dict[str, Any]


def questionnaire(kind: str, number: int) -> Questionnaire:
    """Draw answers of 5 or 7 points to items of facets, a third of which are reversed.

    Facets of two levels share a part of their variance with the others of their trait. Those of one
    level are unrelated in every second questionnaire, and weakly correlated in the others.
    """
    rng = np.random.default_rng([number, 2, list(KINDS).index(kind)])
    loadings_between, rows_between = KINDS[kind]
    n = round(log_uniform(rng, *rows_between))
    if kind == "two-level":
        k = rng.integers(*FACETS, endpoint=True)
        n_traits = rng.integers(TRAITS[0], min(TRAITS[1], k // 2), endpoint=True)
        trait_of = np.arange(k) % n_traits  # two facets each, and the others anywhere
        trait_of[2 * n_traits :] = rng.integers(n_traits, size=k - 2 * n_traits)
        shared = rng.uniform(*SHARED)
    else:
        k, n_traits = rng.integers(*FACTORS, endpoint=True), 1
        trait_of = np.zeros(k, dtype=np.int64)
        shared = rng.uniform(0, MOST_CORRELATION) if number % 2 else 0.0
    factors = related_factors(rng, n, trait_of, shared)
    facets = rng.permutation(np.repeat(np.arange(k), rng.integers(*ITEMS, k, endpoint=True)))
    Z = items(rng, factors, facets, signed_loadings(rng, len(facets), *loadings_between))
    points = int(rng.choice(list(SPREAD)))
    facts = {"kind": kind, "table": number, "rows": n, "features": len(facets), "groups": int(k)}
    facts |= {"traits": int(n_traits), "shared": float(shared), "points": points}
    traits = trait_of[facets] if n_traits > 1 else None
    return Questionnaire(on_a_scale(Z, points), facets, traits, facts)


def related_factors(rng: Generator, n: int, trait_of: NDArray, shared: float) -> NDArray:
    """Draw factors of variance one that are correlated by ``shared`` within a trait, (n, k)."""
    traits = rng.standard_normal((n, trait_of.max() + 1))
    own = rng.standard_normal((n, len(trait_of)))
    return np.sqrt(shared) * traits[:, trait_of] + np.sqrt(1 - shared) * own


def items(rng: Generator, factors: NDArray, groups: NDArray, loadings: NDArray) -> NDArray:
    """Draw items of variance one from their factors, (n, d); those in group -1 are noise."""
    Z = rng.standard_normal((len(factors), len(groups)))
    drawn = groups >= 0
    own = np.sqrt(1 - loadings[drawn] ** 2)
    Z[:, drawn] = factors[:, groups[drawn]] * loadings[drawn] + Z[:, drawn] * own
    return Z


def signed_loadings(rng: Generator, d: int, weakest: float, strongest: float) -> NDArray:
    """Draw loadings, a third of which are reversed, (d,)."""
    signs = np.where(rng.permutation(d) < d // 3, -1, 1)
    return rng.uniform(weakest, strongest, d) * signs


def on_a_scale(Z: NDArray, points: int) -> NDArray:
    """Round normal items to answers from 1 to ``points``."""
    return np.clip(np.rint((points + 1) / 2 + SPREAD[points] * Z), 1, points)


def in_categories(rng: Generator, Z: NDArray, categories: int, skew: float) -> NDArray:
    """Cut items into categories; every second one, drawn at random, is skewed to the other side."""
    cuts = cut_points(categories, skew)
    sides = rng.permutation(np.where(np.arange(Z.shape[1]) % 2, -1, 1))
    return sides * np.searchsorted(cuts, sides * Z).astype(float)


def cut_points(categories: int, skew: float) -> NDArray:
    """Lay cut points evenly, shifted so that a normal item's answers have the skew asked for."""
    even = np.linspace(-WIDEST, WIDEST, categories + 1)[1:-1]
    return even + brentq(lambda shift: skewness(even + shift) - skew, -WIDEST, WIDEST)


def skewness(cuts: NDArray) -> float:
    """Return the skewness of a normal item's answers 0, 1, ... between cut points."""
    shares = np.diff(norm.cdf(np.concatenate([[-np.inf], cuts, [np.inf]])))
    centred = np.arange(len(shares)) - shares @ np.arange(len(shares))
    return float(shares @ centred**3 / (shares @ centred**2) ** 1.5)
