"""Tables with planted groups of features, and tables without structure, drawn by number.

Every feature begins as a normal variable; its kind is a map of the line to itself, so that features
of a group go together whatever they look like: counts, answers on a scale, heavy tails. The same
number gives the same table.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import nbinom, norm
from scipy.stats import t as student

#: Cells of a planted table at most; rows give way.
MOST_CELLS = 20_000_000
#: Every so many planted tables one has no noise features.
WITHOUT_NOISE = 3
#: Rows and columns of tables without structure.
ROWS, COLUMNS = (60, 150, 400), (12, 40, 150, 500)
#: Answers of a scale, and to a question at most.
LEVELS, MOST_ANSWERS = 5, 6
#: Counts end here; larger ones are rarer than one in a million million.
MOST_COUNT = 200
#: Normal variables between which the quantiles of heavy tails are interpolated.
GRID = np.linspace(-8, 8, 4001)

#: from normal variables to columns of a kind
Shape = Callable[[NDArray, Generator], NDArray]


def as_normal(Z: NDArray, rng: Generator) -> NDArray:
    """Leave normal variables as they are."""
    return Z


def as_binary(Z: NDArray, rng: Generator) -> NDArray:
    """Cut each column in two, the rarer answer given by a sixth of the rows or more."""
    return (rng.uniform(-1, 1, Z.shape[1]) < Z).astype(float)


def as_rare_binary(Z: NDArray, rng: Generator) -> NDArray:
    """Cut each column in two, one answer given by between one and twenty per cent of the rows."""
    return (norm.isf(log_uniform(rng, 0.01, 0.2, Z.shape[1])) < Z).astype(float)


def as_ordinal(Z: NDArray, rng: Generator) -> NDArray:
    """Cut each column into the answers of a scale, at places of its own."""
    cuts = np.sort(rng.uniform(-1.6, 1.6, (LEVELS - 1, Z.shape[1])), axis=0)
    return _cut(Z, cuts)


def as_counts(Z: NDArray, rng: Generator) -> NDArray:
    """Turn columns into overdispersed counts with means from 0.05 to 2: many zeros."""
    means = log_uniform(rng, 0.05, 2, Z.shape[1])
    return _counts(Z, 0.5, 0.5 / (0.5 + means))


def as_rare_counts(Z: NDArray, rng: Generator) -> NDArray:
    """Turn columns into overdispersed counts of which 95 per cent are zero."""
    return _counts(Z, 0.1, np.full(Z.shape[1], 0.95 ** (1 / 0.1)))


def as_heavy_tails(Z: NDArray, rng: Generator) -> NDArray:
    """Give columns the tails of Student's t with three degrees of freedom."""
    return np.interp(Z, GRID, student.ppf(norm.cdf(GRID), 3))


def as_mixed(Z: NDArray, rng: Generator) -> NDArray:
    """Give columns different kinds, in turn."""
    kinds = (as_normal, as_rare_binary, as_ordinal, as_rare_counts, as_heavy_tails)
    X = np.empty_like(Z)
    for place, shape in enumerate(kinds):
        X[:, place :: len(kinds)] = shape(Z[:, place :: len(kinds)], rng)
    return X


def as_indicators(Z: NDArray, rng: Generator) -> NDArray:
    """Put indicators of the answers to unrelated questions in place of the columns."""
    columns: list[NDArray] = []
    while len(columns) < Z.shape[1]:
        n_answers = int(rng.integers(2, MOST_ANSWERS + 1))
        answers = rng.choice(n_answers, size=len(Z), p=rng.dirichlet(np.full(n_answers, 3.0)))
        columns += [(answers == answer).astype(float) for answer in range(n_answers)]
    return np.column_stack(columns)


PLANTED_KINDS: dict[str, Shape] = {"normal": as_normal, "binary": as_binary, "ordinal": as_ordinal}
PLANTED_KINDS |= {"counts": as_counts, "heavy tails": as_heavy_tails}
LEVEL_KINDS: dict[str, Shape] = {"normal": as_normal, "rare binary": as_rare_binary}
LEVEL_KINDS |= {"ordinal": as_ordinal, "rare counts": as_rare_counts, "heavy tails": as_heavy_tails}
LEVEL_KINDS |= {"indicators": as_indicators, "mixed": as_mixed}


@dataclass(frozen=True)
class PlantedTable:
    """A table, the group of every feature (-1 for noise), and how it was drawn."""

    X: NDArray[np.float64]
    groups: NDArray[np.int64]
    facts: dict[str, float | int | str]

    @property
    def n_groups(self) -> int:
        """Planted groups that have features that vary."""
        return len(np.unique(self.groups[self.groups >= 0]))


def planted_table(number: int) -> PlantedTable:
    """Draw a table with planted groups; kinds take turns, and a third of them have no noise."""
    rng = np.random.default_rng([number, 0])
    kind = list(PLANTED_KINDS)[number % len(PLANTED_KINDS)]
    n_noise = 0 if number % WITHOUT_NOISE == 0 else round(log_uniform(rng, 1, 2000))
    sizes = planted_sizes(rng)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    d = len(groups)
    n_rows = min(round(log_uniform(rng, 60, 5000)), MOST_CELLS // (d + n_noise))
    weakest = rng.uniform(0.3, 0.8)
    strongest = rng.uniform(weakest, 0.9)
    flipped = rng.choice([0, rng.uniform(0, 0.5), 0.5])
    correlation = rng.uniform(0, 0.4)

    loadings = rng.uniform(weakest, strongest, d) * np.where(rng.random(d) < flipped, -1, 1)
    common, own = rng.standard_normal((n_rows, 1)), rng.standard_normal((n_rows, len(sizes)))
    factors = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    Z = rng.standard_normal((n_rows, d + n_noise))
    Z[:, :d] = factors[:, groups] * loadings + Z[:, :d] * np.sqrt(1 - loadings**2)
    X = PLANTED_KINDS[kind](Z, rng)
    order = rng.permutation(d + n_noise)
    order = order[X[:, order].std(axis=0) > 0]
    groups = np.append(groups, np.full(n_noise, -1))[order]
    facts = {"table": number, "kind": kind, "rows": n_rows, "features": len(order)}
    facts |= {"noise": int((groups < 0).sum()), "groups": len(np.unique(groups[groups >= 0]))}
    return PlantedTable(np.ascontiguousarray(X[:, order]), groups, facts)


def planted_sizes(rng: Generator) -> NDArray[np.int64]:
    """Draw the numbers of features of 2 to 40 groups, 3 to 60 each."""
    n_groups = round(log_uniform(rng, 2, 40))
    return np.rint(log_uniform(rng, 3, log_uniform(rng, 4, 60), n_groups)).astype(np.int64)


def unstructured_table(kind: str, number: int) -> NDArray[np.float64]:
    """Draw a table whose columns have nothing to do with each other, but for indicators."""
    rng = np.random.default_rng([number, 1, list(LEVEL_KINDS).index(kind)])
    Z = rng.standard_normal((rng.choice(ROWS), rng.choice(COLUMNS)))
    X = LEVEL_KINDS[kind](Z, rng)
    return X[:, X.std(axis=0) > 0]


def log_uniform(rng: Generator, low: float, high: float, size: int | None = None) -> NDArray:
    """Draw numbers whose logarithms are uniform."""
    return np.exp(rng.uniform(np.log(low), np.log(high), size))


def _counts(Z: NDArray, size: float, p: NDArray) -> NDArray:
    """Turn columns into negative binomial counts."""
    return _cut(Z, norm.ppf(nbinom.cdf(np.arange(MOST_COUNT)[:, None], size, p)))


def _cut(Z: NDArray, cuts: NDArray) -> NDArray:
    """Count the cut points below each number; those of a column are sorted."""
    X = np.empty_like(Z)
    for j in range(Z.shape[1]):
        X[:, j] = np.searchsorted(cuts[:, j], Z[:, j])
    return X
