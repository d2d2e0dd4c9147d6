r"""Walk on a graph of the samples that was given: affinities somebody else worked out.

Axes: N samples of the table, B of them that are looked at, d features.

Its walk is :math:`P = D^{-1} W` without steps that stay. Rows drawn at random from a graph of
nearest neighbours would lose most of their edges: of 100,000 samples with 15 neighbours each, 512
have hardly an edge among them. So the graph is never cut down to the rows that are looked at.
Random rows say *where* a column is compared with its walk, :math:`x_i (P^t x)_i`, and the walk goes
to all neighbours they have in the whole graph; only the rows it reaches are read.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from groupfs.data.table import Rows
from groupfs.utils.errors import ParameterError
from groupfs.utils.types import FloatArray, IntArray

#: Metrics that have a name; :mod:`groupfs.discovery.smoothness` has their equations.
METRICS = ("euclidean", "cosine", "rank")
#: Rows that a column is compared with its walk at, and numbers held of the rows it reaches.
WALKED_ROWS, REACHED_ENTRIES = 4096, 2**24
#: Rows that a part has about, at least: the fewer they are, the more often the same rows are read.
FEWEST_IN_PART = 4
#: Numbers that the rows looked at may hold, and their number at least.
ROW_ENTRIES, FEWEST_WALKED_ROWS = 2**25, 64
#: Columns of noise: the mean of chance is known to an eighth of its spread.
NOISE_COLUMNS = 64


class SampleGraph:
    """Affinities of all samples, (N, N), not negative, symmetric, no diagonal; and their walk."""

    def __init__(self, affinity: sp.csr_array) -> None:
        self.n_samples = affinity.shape[0]
        degree = np.asarray(affinity.sum(axis=1)).ravel()
        # a sample without neighbours is smoothed to zero, the mean: it says nothing
        share = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
        self.walk = sp.csr_array(sp.diags_array(share) @ affinity)

    def random_index(self, n_rows: int, rng: np.random.Generator) -> IntArray:
        """Draw samples to look at, or take all where there are no more, (n_rows,)."""
        if n_rows >= self.n_samples:
            return np.arange(self.n_samples)
        return np.sort(rng.choice(self.n_samples, n_rows, replace=False))

    def smoothed(
        self,
        take: Callable[[IntArray], FloatArray],
        index: IntArray,
        steps: int,
        most_entries: int = REACHED_ENTRIES,
    ) -> tuple[FloatArray, FloatArray]:
        """Return some rows, and where the walk on the whole graph takes them, (B, d) each.

        ``take`` gives rows of the table by index, ascending. Rows are looked at in parts, so that
        those they reach hold at most ``most_entries`` numbers; where a single row reaches too many
        for that to help, as in a graph of all pairs or after many steps, all are held at once.
        """
        reached, d = self._reached(index, steps), take(index[:1]).shape[1]
        most_rows = most_entries // d
        of_one = len(self._reached(index[:1], steps)[-1])
        if len(reached[-1]) > most_rows >= FEWEST_IN_PART * of_one and len(index) > 1:
            parts = np.array_split(index, 2)
            both = [self.smoothed(take, part, steps, most_entries) for part in parts]
            return np.concatenate([x for x, _ in both]), np.concatenate([y for _, y in both])
        X = smooth = take(reached[-1])
        for inner, outer in zip(reached[-2::-1], reached[:0:-1], strict=True):
            smooth = self.walk[inner][:, outer] @ smooth
        return X[np.searchsorted(reached[-1], index)], smooth[np.searchsorted(reached[0], index)]

    def _reached(self, index: IntArray, steps: int) -> list[IntArray]:
        """Find the samples that a walk reaches in 0, 1, ... steps at most, ascending."""
        reached = [np.unique(index)]
        for _ in range(steps):
            neighbors = self.walk[reached[-1]].indices
            reached.append(np.union1d(reached[-1], neighbors))
        return reached


def walked_rows(
    rows: Rows, graph: SampleGraph, steps: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Take random rows, as many as are affordable, and where the walk takes them, (B, d) each."""
    n_rows = min(WALKED_ROWS, max(FEWEST_WALKED_ROWS, ROW_ENTRIES // rows.shape[1]))

    def take(index: IntArray) -> FloatArray:
        return np.nan_to_num(rows.take(index), copy=False)

    return graph.smoothed(take, graph.random_index(n_rows, rng), steps)


def smoothness_on_graph(
    rows: Rows, graph: SampleGraph, steps: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    r"""Measure every feature on the graph, and what chance gives, (d,) each.

    Here a column's smoothness is :math:`s_k = \frac1B\sum_i x_{ik} (P^t x)_{ik}`, with i random
    rows and P the walk of the whole graph. The graph does not change when a column is shuffled, so
    chance is the same for all columns but for their variance. Columns of noise, walked along the
    same graph, tell it.
    """
    rng = np.random.default_rng(seed)
    X, smoothed = walked_rows(rows, graph, steps, rng)
    index = graph.random_index(len(X), rng)
    noise = rng.standard_normal((graph.n_samples, NOISE_COLUMNS))
    noise = (noise - noise.mean(0)) / noise.std(0)
    noise, walked = graph.smoothed(lambda i: noise[i], index, steps)
    smoothness, variance = (
        np.bincount(rows.feature_of_column, values.mean(0)).astype(np.float64)
        for values in (X * smoothed, np.square(X))
    )
    return smoothness, variance * (noise * walked).mean()


def check_metric(metric: Any, n_samples: int) -> SampleGraph:
    """Return the checked graph of a metric that has no name."""
    graph = metric
    if hasattr(metric, "kneighbors_graph"):
        try:
            graph = metric.kneighbors_graph(mode="connectivity")
        except NotFittedError as reason:
            raise ParameterError(
                f"metric={type(metric).__name__} is not fitted, and copies that scikit-learn makes "
                "of estimators, as in a grid search, are not either; fit it on the rows of X, or "
                "give its kneighbors_graph().",
                "metric",
            ) from reason
    return SampleGraph(check_affinity(graph, n_samples))


def check_affinity(graph: Any, n_samples: int, name: str = "metric") -> sp.csr_array:
    """Check affinities of all samples, given as the parameter ``name``.

    Where the two of a pair differ the larger one counts, and the diagonal does not.
    """
    if not sp.issparse(graph):
        graph = np.asarray(graph)
    if graph.shape != (n_samples, n_samples):
        raise ParameterError(
            f"{name} has shape {graph.shape} but X has {n_samples} samples; give affinities of "
            f"all pairs of samples, ({n_samples}, {n_samples}).",
            name,
        )
    if not (np.issubdtype(graph.dtype, np.number) or graph.dtype == bool):
        raise ParameterError(
            f"{name} has values of type {graph.dtype}; give affinities, numbers that are larger "
            "the nearer two samples are.",
            name,
        )
    edges = sp.coo_array(graph, dtype=np.float64)
    row, column = edges.coords
    apart = row != column
    ends = (row[apart], column[apart])
    affinity = sp.csr_array((edges.data[apart], ends), shape=edges.shape)
    if not np.isfinite(affinity.data).all():
        raise ParameterError(
            f"{name} has {int((~np.isfinite(affinity.data)).sum())} affinities that are NaN or "
            "infinite; give 0 for samples that are not neighbours.",
            name,
        )
    if affinity.data.size and affinity.data.min() < 0:
        raise ParameterError(
            f"{name} has negative affinities (the lowest is {affinity.data.min():.3g}); give "
            "numbers that are larger the nearer two samples are, 0 for no neighbours.",
            name,
        )
    affinity = sp.csr_array(affinity.maximum(affinity.T))
    affinity.eliminate_zeros()
    if not affinity.nnz:
        raise ParameterError(
            f"{name} is a graph without edges; give numbers above 0 for samples that are "
            "neighbours.",
            name,
        )
    affinity.sort_indices()
    return affinity
