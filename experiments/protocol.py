"""How every selection is judged, on the selected columns, standardised; labels only compare.

By k-means with ten seeds, as in the paper; by the class of the nearest other row; and by how much
of the variance of all columns the selected ones explain, which needs no label.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from experiments.criteria import explained_variance, neighbor_accuracy
from groupfs.metrics import clustering_accuracy

#: Seeds of k-means; each is one start, which is what the paper's standard deviations speak for.
KMEANS_SEEDS = range(10)
#: Scores by k-means, and the others.
CLUSTERS, OTHERS = ("accuracy", "accuracy_std", "ari", "ari_std"), ("neighbor", "explained")


@dataclass(frozen=True)
class Judgement:
    """What a selection is worth, in percent; means and deviations are over the seeds of k-means."""

    accuracy: float  #: of k-means, after the best matching of clusters and classes
    accuracy_std: float
    ari: float  #: adjusted Rand index of k-means
    ari_std: float
    neighbor: float  #: accuracy of the nearest other row
    explained: float  #: variance of all columns

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def standardized(X: NDArray) -> NDArray:
    """Give every column mean zero and variance one; constant ones become zero."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def judge(Z: NDArray, y: NDArray, selected: NDArray) -> Judgement:
    """Judge a selection of columns, maybe none, of a standardised table with classes."""
    selected = np.asarray(selected, dtype=np.int64)
    others = neighbor_accuracy(Z[:, selected], y), explained_variance(Z, selected)
    return Judgement(
        **judge_clusters(Z, y, selected), **dict(zip(OTHERS, _percent(others), strict=True))
    )


def judge_clusters(Z: NDArray, y: NDArray, selected: NDArray) -> dict[str, float]:
    """Judge a selection by k-means alone."""
    S = Z[:, np.asarray(selected, dtype=np.int64)]
    with threadpool_limits(1, "openmp"):  # more threads only get in each other's way here
        scores = [_agreement(y, _clusters(S, len(np.unique(y)), seed)) for seed in KMEANS_SEEDS]
    (accuracy, ari), (accuracy_std, ari_std) = np.mean(scores, 0), np.std(scores, 0)
    return dict(zip(CLUSTERS, _percent((accuracy, accuracy_std, ari, ari_std)), strict=True))


def _percent(values: Iterable[float]) -> list[float]:
    return [float(100 * value) for value in values]


def _clusters(S: NDArray, n_clusters: int, seed: int) -> NDArray:
    if not S.shape[1]:
        return np.zeros(len(S), dtype=np.int64)
    return KMeans(n_clusters, n_init=1, random_state=seed).fit_predict(S)


def _agreement(y: NDArray, clusters: NDArray) -> tuple[float, float]:
    return clustering_accuracy(y, clusters), adjusted_rand_score(y, clusters)
