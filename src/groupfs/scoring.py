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

from groupfs._noise import CounterNoise
from groupfs.graphs import random_walk, self_tuning_graph, squared_distances

FloatArray = NDArray[np.float64]
#: Shuffles of a few binary columns all score the same: differences below this are rounding.
SMALLEST_SPREAD = 1e-6


@dataclass
class GroupScores:
    """Scores of C groups, each array (C,)."""

    smoothness: FloatArray  #: s, on the group's own graph
    excess: FloatArray  #: s minus its mean over shuffles
    z: FloatArray  #: excess over its standard error; zero for single features


def own_graph_smoothness(X: Tensor, n_neighbors: int, steps: int) -> Tensor:
    """s for each of a stack of tables, (S, B, d) to (S,)."""
    graph = self_tuning_graph(squared_distances(X @ X.mT), n_neighbors)
    walk, _ = random_walk(graph.affinity)
    smoothed = X
    for _ in range(steps):
        smoothed = walk @ smoothed
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
        shuffled = _shuffle_columns(columns, n_shuffles, noise)
        chance = own_graph_smoothness(shuffled, n_neighbors, steps).double().cpu().numpy()
        excess[j] = smoothness[j] - chance.mean()
        spread = chance.std(ddof=1) * np.sqrt(1 + 1 / n_shuffles)
        z[j] = excess[j] / max(spread, SMALLEST_SPREAD)
    return GroupScores(smoothness, excess, z)


def _shuffle_columns(X: Tensor, n_shuffles: int, noise: CounterNoise) -> Tensor:
    """Each column in another order, (B, d) to (S, B, d)."""
    shape = (n_shuffles, *X.shape)
    keys = noise.uniform(math.prod(shape), torch.float32).view(shape)
    return X.expand(shape).gather(-2, keys.argsort(dim=-2, stable=True))
