"""How every selection is judged: k-means on the selected columns, standardised, ten seeds."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from groupfs.metrics import clustering_accuracy

#: Seeds of k-means; each is one start, which is what the paper's standard deviations speak for.
KMEANS_SEEDS = range(10)


@dataclass(frozen=True)
class Agreement:
    """Agreement of k-means with the classes, in percent, over the seeds of k-means."""

    accuracy: float
    accuracy_std: float
    ari: float
    ari_std: float

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def standardized(X: NDArray) -> NDArray:
    """Give every column mean zero and variance one; constant ones become zero."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def judge(Z: NDArray, y: NDArray, selected: NDArray) -> Agreement:
    """Cluster the samples by the selected columns of a standardised table; labels only compare."""
    n_classes = len(np.unique(y))
    scores = []
    with threadpool_limits(1, "openmp"):  # more threads only get in each other's way here
        for seed in KMEANS_SEEDS:
            found = KMeans(n_classes, n_init=1, random_state=seed).fit_predict(Z[:, selected])
            scores.append([clustering_accuracy(y, found), adjusted_rand_score(y, found)])
    (accuracy, ari), (accuracy_std, ari_std) = np.mean(scores, 0), np.std(scores, 0)
    return Agreement(*(float(100 * v) for v in (accuracy, accuracy_std, ari, ari_std)))
