r"""How smooth columns are on a graph of the samples that is known, and what chance gives.

Axes: N samples of the table, B of them that are looked at, d features.

A column's smoothness is :math:`s_k = \frac1B\sum_i x_{ik} (P^t x)_{ik}`, with i random rows and P
the walk of the whole graph. The graph does not change when a column is shuffled, so chance is the
same for all columns: its mean depends on their variance alone, and so does its spread but for their
kurtosis. Columns of noise, walked along the same graph, tell both.
"""

from dataclasses import dataclass

import numpy as np
import torch

from groupfs.data.rows import Rows
from groupfs.graphs.affinity import fill_gaps
from groupfs.graphs.sample_graph import MOST_ROWS, SampleGraph
from groupfs.utils.types import FloatArray, IntArray

#: Columns of noise: the mean of chance is known to an eighth of its spread.
NOISE_COLUMNS = 64
#: Numbers that the rows looked at may hold, and their number at least.
ROW_ENTRIES, FEWEST_ROWS = 2**25, 64


@dataclass(frozen=True)
class KnownGraphSmoothness:
    """Columns on a graph, each array (d,)."""

    smoothness: FloatArray  #: s
    chance: FloatArray  #: mean of s when the column is shuffled
    spread: FloatArray  #: standard deviation of s when the column is shuffled


def walked_rows(
    rows: Rows, graph: SampleGraph, steps: int, rng: np.random.Generator, n_rows: int = MOST_ROWS
) -> tuple[FloatArray, FloatArray]:
    """Take random rows, as many as are affordable, and where the walk takes them, (B, d) each."""
    n_rows = min(n_rows, max(FEWEST_ROWS, ROW_ENTRIES // rows.shape[1]))
    return walk_at(rows, graph, graph.random_index(n_rows, rng), steps)


def walk_at(
    rows: Rows, graph: SampleGraph, index: IntArray, steps: int
) -> tuple[FloatArray, FloatArray]:
    """Take rows by index, and where the walk takes them, (B, d) each."""

    def take(index: IntArray) -> FloatArray:
        return np.asarray(fill_gaps(rows.take(torch.from_numpy(index))).cpu().numpy())

    return graph.smoothed(take, index, steps)


def smoothness_on_graph(
    rows: Rows, graph: SampleGraph, steps: int, seed: int
) -> KnownGraphSmoothness:
    """Measure every column on the graph, and what chance gives."""
    rng = np.random.default_rng(seed)
    X, smoothed = walked_rows(rows, graph, steps, rng)
    index = graph.random_index(len(X), rng)
    noise = rng.standard_normal((graph.n_samples, NOISE_COLUMNS))
    noise = (noise - noise.mean(0)) / noise.std(0)
    noise, walked = graph.smoothed(lambda i: noise[i], index, steps)
    chance = (noise * walked).mean(0)
    variance = rows.column_norms / rows.shape[0]
    smoothness: FloatArray = (X * smoothed).mean(0)
    if rows.owner is not None:  # a gap has no variance
        d = rows.shape[1]
        smoothness = np.bincount(rows.owner, smoothness, d).astype(np.float64)
        variance = np.bincount(rows.owner, np.square(X).mean(0), d).astype(np.float64)
    return KnownGraphSmoothness(
        smoothness=smoothness,
        chance=variance * chance.mean(),
        spread=variance * chance.std(ddof=1),
    )
