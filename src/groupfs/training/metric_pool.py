"""The rows that gates are trained on where samples are not compared by euclidean distances.

Axes: B samples of a batch, d features.

The same few batches are used in turn, whether groups stay as they are or are learned, and what the
metric does to them is done once. Ranks and lengths of rows do not depend on the gates: batches hold
other rows, and graphs are those of the gated ones as ever. Geodesic and diffusion graphs of a batch
are built from all features, and a graph that was given is used as it is: the walk of a batch is
known then, and of its rows the products with it are all that is left.
"""

import numpy as np
import torch
from torch import Tensor

from groupfs.data.rows import Rows
from groupfs.graphs.affinity import fill_gaps, random_walk
from groupfs.graphs.sample_graph import SampleGraph
from groupfs.graphs.sample_metrics import FIXED_METRICS, sample_affinity, transform_rows
from groupfs.models.fixed_walk import FixedWalk
from groupfs.models.group_products import Samples
from groupfs.scoring.known_graph import walk_at
from groupfs.training.discovery import FeatureStart
from groupfs.training.row_pool import RowPool, draw_batches
from groupfs.training.settings import MOST_BATCHES, Settings


class TransformedRows:
    """Rows as a metric sees them."""

    def __init__(self, rows: Rows, metric: str) -> None:
        self.rows, self.metric = rows, metric
        self.shape, self.owner = rows.shape, rows.owner

    def random_rows(self, n_rows: int, rng: np.random.Generator) -> Tensor:
        """Draw rows; their ranks are those among them."""
        return transform_rows(self.rows.random_rows(n_rows, rng), self.metric)


def metric_pool(
    rows: Rows, start: FeatureStart, settings: Settings, seed: int, n_bytes: int
) -> RowPool:
    """Draw batches and prepare them; they may take up to ``n_bytes``."""
    metric, steps = settings.metric, settings.diffusion_steps
    if isinstance(metric, SampleGraph):
        return RowPool(_graph_batches(rows, metric, settings.batch_size, steps, seed))
    if metric in FIXED_METRICS:
        batches = draw_batches(rows, settings.batch_size, seed, n_bytes)
        return RowPool([_walked(X, rows, metric, settings) for X in batches])
    labels = start.clusters[0] if start.fixed else None
    seen = TransformedRows(rows, metric)
    return RowPool.of(seen, labels, start.n_groups, settings.batch_size, steps, seed, n_bytes)


def _walked(X: Tensor, rows: Rows, metric: str, settings: Settings) -> FixedWalk:
    """Multiply the columns of a batch with their walk on the graph of all of them."""
    walk, _ = random_walk(sample_affinity(X, settings.n_neighbors, metric))
    smoothed = fill_gaps(X)
    for _ in range(settings.diffusion_steps):
        smoothed = walk @ smoothed
    return FixedWalk.of(X, smoothed, rows.owner, rows.shape[1])


def _graph_batches(
    rows: Rows, graph: SampleGraph, batch_size: int, steps: int, seed: int
) -> list[Samples]:
    """Divide random rows into batches; the walk of each goes through the whole graph."""
    order = np.random.default_rng(seed).permutation(graph.n_samples)[: MOST_BATCHES * batch_size]
    size = min(batch_size, len(order))
    n_batches = -(-len(order) // size)
    batches: list[Samples] = []
    # the first rows fill up a last batch
    for index in np.resize(order, (n_batches, size)):
        X, smoothed = walk_at(rows, graph, index, steps)
        like = rows.take(torch.from_numpy(index[:1]))
        columns, walked = (torch.from_numpy(part).to(like) for part in (X, smoothed))
        batches.append(FixedWalk.of(columns, walked, rows.owner, rows.shape[1]))
    return batches
