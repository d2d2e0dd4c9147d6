"""The tables of ``experiments.which``: planted groups beside noise, by kind, case and number.

They were written before any method was run on them, and not changed afterwards. One case was added
after the others were seen: clusters whose groups are uncorrelated, which correlations cannot tie.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.group_competitors import standardized
from benchmarks.questionnaires import items, related_factors
from groupfs.datasets import load_two_moons

Array = NDArray[Any]
N_ROWS, N_NOISE = 300, 20
#: What each of three groups says of three clusters of samples, and how far samples stray from it;
#: and of four clusters, so that any two groups are uncorrelated.
CLUSTER_MEANS, STRAY = np.array([[-1.2, 0, 1.2], [0, 1.2, -1.2], [1.2, -1.2, 0]]), 0.3
UNCORRELATED = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
#: Bumps around a circle and their width, waves along a line, the share of variance that is theirs.
N_BUMPS, WIDTH, N_WAVES, SIGNAL = 12, 0.2, 8, 0.9


class Planted(NamedTuple):
    """A table, the group of every feature (-1 for noise), and which features say something."""

    X: Array
    groups: Array
    structured: Array


def in_part(rng: Generator, share: float) -> tuple[Array, Array, Array]:
    """Draw four groups, each in some rows of its own alone: X, groups, and these rows (n, 4)."""
    groups = with_noise(np.repeat(np.arange(4), 6))
    active = rng.permuted(np.repeat([np.arange(N_ROWS) < share * N_ROWS], 4, axis=0), axis=1).T
    Z = items(rng, rng.standard_normal((N_ROWS, 4)), groups, np.full(len(groups), 0.8))
    return np.where(active[:, groups], Z, rng.standard_normal(Z.shape)), groups, active


def beside_shifts(
    rng: Generator, size: int, loading: float, says: Array = CLUSTER_MEANS
) -> tuple[Array, Array, Array]:
    """Draw groups of clusters, and shifts of some columns by row: X, groups, which are clusters."""
    clusters = rng.integers(says.shape[1], size=N_ROWS)
    means = says[:, clusters].T + STRAY * rng.standard_normal((N_ROWS, 3))
    factors = np.hstack([standardized(means), rng.standard_normal((N_ROWS, 3))])
    groups = with_noise(np.repeat(np.arange(6), [6, 6, 6, size, size, size]))
    X = items(rng, factors, groups, np.where(groups < 3, 0.8, loading))
    return X, groups, (groups >= 0) & (groups < 3)


def hidden_position(rng: Generator, n_hidden: int, waves: bool) -> tuple[Array, Array]:
    """Draw columns that are bent functions of a hidden position of the sample: X and groups."""
    around = rng.uniform(0, 2 * np.pi, (N_ROWS, n_hidden))
    if waves:  # of the position on a line, uncorrelated
        S = np.cos(np.arange(1, N_WAVES + 1) * around[..., None] / 2)
    else:
        apart = around[..., None] - 2 * np.pi * np.arange(N_BUMPS) / N_BUMPS
        S = np.exp(-0.5 * ((apart + np.pi) % (2 * np.pi) - np.pi) ** 2 / WIDTH**2)
    groups = with_noise(np.repeat(np.arange(n_hidden), S.shape[-1]))
    X, n_planted = rng.standard_normal((N_ROWS, len(groups))), S[0].size
    signal = standardized(S.reshape(N_ROWS, -1))
    X[:, :n_planted] = np.sqrt(SIGNAL) * signal + np.sqrt(1 - SIGNAL) * X[:, :n_planted]
    return X, groups


def moons(rng: Generator, n: int, noise: float) -> tuple[Array, Array]:
    """Draw the paper's table of two moons: X and groups."""
    X = load_two_moons(n, noise=noise, random_state=int(rng.integers(2**31))).data
    return X, np.repeat([0, 1, -1], [5, 5, 10])


def one_factor(rng: Generator, n: int, sizes: list[int], correlation: float) -> tuple[Array, Array]:
    """Draw groups that have a factor each, with loadings of .7: X and groups."""
    groups = with_noise(np.repeat(np.arange(len(sizes)), sizes))
    factors = related_factors(rng, n, np.zeros(len(sizes), dtype=np.int64), correlation)
    return items(rng, factors, groups, np.full(len(groups), 0.7)), groups


def with_noise(groups: Array) -> Array:
    return np.append(groups, np.full(N_NOISE, -1))


#: How the tables of every kind and case are drawn.
CASES: dict[tuple[str, str], Callable[[Generator], tuple[Array, ...]]] = {
    ("part of the rows", "in a third"): lambda rng: in_part(rng, 1 / 3)[:2],
    ("part of the rows", "in a half"): lambda rng: in_part(rng, 1 / 2)[:2],
    ("beside shifts", "shifts as large"): partial(beside_shifts, size=6, loading=0.8),
    ("beside shifts", "shifts larger"): partial(beside_shifts, size=12, loading=0.9),
    ("beside shifts", "groups uncorrelated"): partial(
        beside_shifts, size=6, loading=0.8, says=UNCORRELATED
    ),
    ("graph alone", "bumps, one circle"): partial(hidden_position, n_hidden=1, waves=False),
    ("graph alone", "bumps, two circles"): partial(hidden_position, n_hidden=2, waves=False),
    ("graph alone", "waves, two lines"): partial(hidden_position, n_hidden=2, waves=True),
}
for noise in (0.05, 0.15, 0.25, 0.35, 0.45):
    CASES["two moons", f"noise {noise}"] = partial(moons, n=N_ROWS, noise=noise)
for n in (1000, 300, 100, 50):
    CASES["two moons, rows", f"{n} rows of moons"] = partial(moons, n=n, noise=0.05)
for n in (1000, 100, 50):
    CASES["one factor", f"{n} rows"] = partial(one_factor, n=n, sizes=[6] * 5, correlation=0)
SIZES = [3, 5, 10, 20, 40]
CASES["sizes", "3 to 40 features"] = partial(one_factor, n=N_ROWS, sizes=SIZES, correlation=0.4)


def draw(kind: str, case: str, number: int) -> Planted:
    """Draw a table of a case; columns are in any order."""
    rng = np.random.default_rng([number, *case.encode()])
    X, groups, *structured = CASES[kind, case](rng)
    order = rng.permutation(len(groups))
    says = structured[0] if structured else groups >= 0
    return Planted(np.ascontiguousarray(X[:, order]), groups[order], says[order])
