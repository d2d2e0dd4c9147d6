r"""Score groups by the smoothness of their features on their own graph, beyond chance.

Axes: S shuffles, B samples, d features of a group.

A group's raw score is :math:`s = \mathrm{tr}(X_j^\top P_j^t X_j) / (B d_j)` with :math:`P_j` the
walk built from its columns alone. One feature is always smooth on its own graph, so the score is
compared with that of the same columns shuffled independently, which keeps each column and destroys
what they have in common: the difference is the *excess*. Shuffled columns get a graph by the same
metric. A graph that is known beforehand stays as it is when columns are shuffled; there a single
feature has an excess, too.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from groupfs.data.feature_basis import columns_of
from groupfs.data.rows import Rows
from groupfs.graphs.affinity import fill_gaps
from groupfs.graphs.sample_graph import SampleGraph
from groupfs.graphs.sample_metrics import sample_affinity, transform_rows
from groupfs.scoring.known_graph import smoothness_on_graph
from groupfs.utils.counter_rng import CounterNoise
from groupfs.utils.types import FloatArray, IntArray

#: Rows on which groups are scored.
SCORED_ROWS = 512
#: Shuffles of a few binary columns all score the same: differences below this are rounding.
SMALLEST_SPREAD = 1e-6
#: Numbers that are worked on at a time: what a processor's cache holds, what a GPU is busy with.
ENTRIES_AT_ONCE = {"cpu": 2**20, "cuda": 2**25}


@dataclass
class GroupScores:
    """Scores of C groups, each array (C,)."""

    smoothness: FloatArray  #: s, on the group's own graph
    excess: FloatArray  #: s minus its mean over shuffles
    z: FloatArray  #: excess over its standard error; zero for single features


def score_on_rows(
    rows: Rows,
    groups: list[IntArray],
    *,
    n_neighbors: int,
    steps: int,
    n_shuffles: int,
    seed: int,
    metric: str | SampleGraph = "euclidean",
) -> GroupScores:
    """Score every group on some random rows of a table."""
    if isinstance(metric, SampleGraph):
        return _score_on_graph(rows, groups, metric, steps, seed)
    X = rows.random_rows(SCORED_ROWS, np.random.default_rng(seed))
    return score_groups(
        X,
        groups,
        rows.owner,
        n_neighbors=n_neighbors,
        steps=steps,
        n_shuffles=n_shuffles,
        seed=seed,
        metric=metric,
    )


def own_graph_smoothness(
    X: Tensor, n_neighbors: int, steps: int, metric: str = "euclidean"
) -> Tensor:
    """Compute s for each of a stack of tables, (S, B, d) to (S,)."""
    affinity = sample_affinity(X, n_neighbors, metric)
    degree = affinity.sum(-1, keepdim=True)
    X = fill_gaps(X)
    smoothed = X
    for _ in range(steps):
        smoothed = (affinity @ smoothed) / degree
    return (smoothed * X).mean((-2, -1))


def score_groups(
    X: Tensor,
    groups: list[IntArray],
    owner: IntArray | None = None,
    *,
    n_neighbors: int,
    steps: int,
    n_shuffles: int,
    seed: int,
    metric: str = "euclidean",
) -> GroupScores:
    """Score every group on the rows of X, (B, d).

    Where features own several columns, ``owner`` is the feature of every column; the columns of a
    feature are shuffled together.
    """
    X = transform_rows(X, metric)  # before shuffles, which would part the lengths of rows
    if metric == "rank":  # the ranks of a shuffled column are those of the column, shuffled
        metric = "euclidean"
    noise = CounterNoise([seed], X.device)
    smoothness = np.zeros(len(groups))
    excess = np.zeros(len(groups))
    z = np.zeros(len(groups))
    for j, group in enumerate(groups):
        if not len(group):
            continue
        index, own = (group, None) if owner is None else columns_of(owner, group)
        columns = X[:, torch.as_tensor(index, device=X.device)]
        per_feature = len(index) / len(group)
        smooth = own_graph_smoothness(columns[None], n_neighbors, steps, metric).item()
        smoothness[j] = per_feature * smooth
        if len(group) == 1:
            continue  # a single column shuffled is the same column: no excess
        chance = _chance_smoothness(columns, n_neighbors, steps, n_shuffles, noise, metric, own)
        chance *= per_feature
        excess[j] = smoothness[j] - chance.mean()
        spread = chance.std(ddof=1) * np.sqrt(1 + 1 / n_shuffles)
        z[j] = excess[j] / max(spread, SMALLEST_SPREAD)
    return GroupScores(smoothness, excess, z)


def _score_on_graph(
    rows: Rows, groups: list[IntArray], graph: SampleGraph, steps: int, seed: int
) -> GroupScores:
    """Average over the columns of every group what they are on a graph that is known."""
    found = smoothness_on_graph(rows, graph, steps, seed)
    smoothness, excess, z = (np.zeros(len(groups)) for _ in range(3))
    for j, group in enumerate(groups):
        if len(group):
            smoothness[j] = found.smoothness[group].mean()
            excess[j] = smoothness[j] - found.chance[group].mean()
            spread = np.linalg.norm(found.spread[group]) / len(group)
            z[j] = excess[j] / max(spread, SMALLEST_SPREAD)
    return GroupScores(smoothness, excess, z)


def _chance_smoothness(
    columns: Tensor,
    n_neighbors: int,
    steps: int,
    n_shuffles: int,
    noise: CounterNoise,
    metric: str,
    owner: IntArray | None,
) -> FloatArray:
    """Compute s of shuffled columns, (S,), a few shuffles at a time."""
    entries = len(columns) * max(columns.shape)
    at_once = max(1, ENTRIES_AT_ONCE.get(columns.device.type, 2**22) // entries)
    values = []
    for start in range(0, n_shuffles, at_once):
        size = min(at_once, n_shuffles - start)
        shuffled = _shuffle_columns(columns, size, noise, owner)
        smoothness = own_graph_smoothness(shuffled, n_neighbors, steps, metric)
        values.append(smoothness.double().cpu().numpy())
    return np.concatenate(values)


def _shuffle_columns(
    X: Tensor, n_shuffles: int, noise: CounterNoise, owner: IntArray | None
) -> Tensor:
    """Put each column in another order, or those of a feature in one, (B, d) to (S, B, d)."""
    B, p = X.shape
    n_features = p if owner is None else int(owner[-1]) + 1
    shape = (n_shuffles, B, n_features)
    keys = noise.uniform(math.prod(shape), torch.float32).view(shape)
    order = keys.argsort(dim=-2, stable=True)
    if owner is not None:
        order = order[..., torch.as_tensor(owner, device=X.device)]
    return X.expand(n_shuffles, B, p).gather(-2, order)
