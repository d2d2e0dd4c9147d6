r"""What a group is worth on its own: smoothness on the graph of its own features, beyond chance.

Axes: S shuffles, B samples, d features of a group.

A group's raw score is :math:`s = \mathrm{tr}(X_j^\top P_j^t X_j) / (B d_j)` with :math:`P_j` the
walk built from its columns alone. One feature is always smooth on its own graph, so the score is
compared with that of the same columns shuffled independently, which keeps each column and destroys
what they have in common: the difference is the *excess*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.graphs.affinity import plain_affinity
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.types import FloatArray

#: Shuffles of a few binary columns all score the same: differences below this are rounding.
SMALLEST_SPREAD = 1e-6
#: Numbers that are worked on at a time: what a processor's cache holds, what a GPU is busy with.
ENTRIES_AT_ONCE = {"cpu": 2**20, "cuda": 2**25}
#: Shape of the tail of chance scores, and the least its scale may be.
TAIL_SHAPE, SMALLEST_SCALE = 0.3, 0.3


@dataclass
class GroupScores:
    """Scores of C groups, each array (C,)."""

    smoothness: FloatArray  #: s, on the group's own graph
    excess: FloatArray  #: s minus its mean over shuffles
    z: FloatArray  #: excess over its standard error; zero for single features


def own_graph_smoothness(X: Tensor, n_neighbors: int, steps: int) -> Tensor:
    """s for each of a stack of tables, (S, B, d) to (S,)."""
    affinity = plain_affinity(X @ X.mT, n_neighbors)
    degree = affinity.sum(-1, keepdim=True)
    smoothed = X
    for _ in range(steps):
        smoothed = (affinity @ smoothed) / degree
    return (smoothed * X).mean((-2, -1))


def score_groups(
    X: Tensor,
    groups: list[NDArray[np.int64]],
    *,
    n_neighbors: int,
    steps: int,
    n_shuffles: int,
    seed: int,
) -> GroupScores:
    """Score every group on the rows of X, (B, d)."""
    noise = CounterNoise([seed], X.device)
    smoothness = np.zeros(len(groups))
    excess = np.zeros(len(groups))
    z = np.zeros(len(groups))
    for j, group in enumerate(groups):
        if not len(group):
            continue
        columns = X[:, torch.as_tensor(group, device=X.device)]
        smoothness[j] = own_graph_smoothness(columns[None], n_neighbors, steps).item()
        if len(group) == 1:
            continue  # a single column shuffled is the same column: no excess
        chance = _chance_smoothness(columns, n_neighbors, steps, n_shuffles, noise)
        excess[j] = smoothness[j] - chance.mean()
        spread = chance.std(ddof=1) * np.sqrt(1 + 1 / n_shuffles)
        z[j] = excess[j] / max(spread, SMALLEST_SPREAD)
    return GroupScores(smoothness, excess, z)


def tail_p_values(z: FloatArray, chance: FloatArray) -> FloatArray:
    """How likely chance groups reach z, from the z of some chance groups, (C,) and (m,) to (C,).

    Beyond the median of the chance groups a generalised Pareto tail is fitted, with the shape fixed
    on the heavy side: chance groups of skewed or heavy-tailed columns now and then score far above
    the rest, and a normal tail would call them discoveries.
    """
    median = np.median(chance)
    above = chance[chance > median] - median
    caution = 1 + 1 / np.sqrt(max(len(above), 1))  # the scale is known from few
    scale = max((1 - TAIL_SHAPE) * above.mean() * caution if len(above) else 0.0, SMALLEST_SCALE)
    reach = np.maximum(z - median, 0)
    return np.where(z > median, 0.5 * (1 + TAIL_SHAPE * reach / scale) ** (-1 / TAIL_SHAPE), 1.0)


def _chance_smoothness(
    columns: Tensor, n_neighbors: int, steps: int, n_shuffles: int, noise: CounterNoise
) -> FloatArray:
    """s of shuffled columns, (S,), a few shuffles at a time."""
    entries = len(columns) * max(columns.shape)
    at_once = max(1, ENTRIES_AT_ONCE.get(columns.device.type, 2**22) // entries)
    values = []
    for start in range(0, n_shuffles, at_once):
        size = min(at_once, n_shuffles - start)
        shuffled = _shuffle_columns(columns, size, noise)
        values.append(own_graph_smoothness(shuffled, n_neighbors, steps).double().cpu().numpy())
    return np.concatenate(values)


def _shuffle_columns(X: Tensor, n_shuffles: int, noise: CounterNoise) -> Tensor:
    """Each column in another order, (B, d) to (S, B, d)."""
    shape = (n_shuffles, *X.shape)
    keys = noise.uniform(math.prod(shape), torch.float32).view(shape)
    return X.expand(shape).gather(-2, keys.argsort(dim=-2, stable=True))
