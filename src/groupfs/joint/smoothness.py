"""Smoothness of groups beyond chance, by which gates start and groups are ranked; in torch.

Axes: S tables side by side, B samples, p features of a group. What it means is said in
:mod:`groupfs.discovery.smoothness`; here shuffles come from the noise of training.
"""

import numpy as np
import torch
from torch import Tensor

from groupfs.discovery.smoothness import SCORED_ROWS
from groupfs.joint.batches import Batches
from groupfs.joint.counter_rng import CounterNoise
from groupfs.joint.graph import plain_affinity
from groupfs.joint.settings import Settings
from groupfs.utils.types import FloatArray, IntArray

#: Numbers that are worked on at a time: what a processor's cache holds, what a GPU is busy with.
ENTRIES_AT_ONCE = {"cpu": 2**20, "cuda": 2**25}


def group_smoothness(
    rows: Batches, groups: list[IntArray], settings: Settings, seed: int, n_shuffles: int
) -> FloatArray:
    """Measure the smoothness of every group beyond chance on random rows, (C,).

    A single feature shuffled is the same feature: it has none.
    """
    X = rows.random(SCORED_ROWS, np.random.default_rng(seed))
    K, t = settings.n_neighbors, settings.diffusion_steps
    noise, found = CounterNoise([seed], X.device), np.zeros(len(groups))
    for j, group in enumerate(groups):
        if len(group) < 2:
            continue
        columns = X[:, torch.as_tensor(np.sort(group), device=X.device)]
        entries = len(columns) * max(columns.shape)
        at_once = max(1, ENTRIES_AT_ONCE.get(X.device.type, 2**22) // entries)
        chance = []
        for start in range(0, n_shuffles, at_once):
            n = min(at_once, n_shuffles - start)
            keys = noise.uniform(n * columns.numel(), torch.float32).view(n, *columns.shape)
            order = keys.argsort(dim=-2, stable=True)  # another one for each column
            shuffled = columns.expand_as(keys).gather(-2, order)
            chance.append(own_graph_smoothness(shuffled, K, t).double())
        smoothness = own_graph_smoothness(columns[None], K, t).item()
        found[j] = smoothness - torch.cat(chance).cpu().numpy().mean()
    return found


def own_graph_smoothness(X: Tensor, n_neighbors: int, steps: int) -> Tensor:
    """Compute s for each of a stack of tables, (S, B, p) to (S,)."""
    affinity = plain_affinity(X @ X.mT, n_neighbors)
    degree = affinity.sum(-1, keepdim=True)
    smoothed = X
    for _ in range(steps):
        smoothed = (affinity @ smoothed) / degree
    return (smoothed * X).mean((-2, -1))
