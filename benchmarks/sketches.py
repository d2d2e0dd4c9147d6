"""Which sketch of a table keeps the neighbours of its features, and so the groups.

Run with ``python -m benchmarks.sketches``. Neighbours that are found in a sketch of the rows (a
random sample of them, or random projections over all of them) are compared with those found in
the whole table of 20,000 x 3,000: normal noise; heavy tails (Student's t with three degrees of
freedom); counts with 95 % zeros. Printed are the share of neighbours that is the same, and the
agreement (adjusted Rand index) of the clusters of the feature graph with the planted modules, as
they come from the sketch, and after exact distances over all rows have chosen among three times as
many candidates.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from benchmarks.large import make_counts, modules
from groupfs.data.rows import DenseRows
from groupfs.graphs.eigenvectors import leading_eigenvectors
from groupfs.graphs.feature_clusters import cluster_features
from groupfs.graphs.feature_graph import affinity_of_neighbors, symmetric_walk
from groupfs.graphs.feature_neighbors import exact_neighbors

N, D, MODULES, KEPT, K = 20_000, 3000, 20, 50, 7


def tables(names: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Make standardised tables, with the modules of their columns, -1 for none."""
    labels = modules(D, MODULES, 0.2)

    def planted(noise: Callable) -> np.ndarray:
        rng = np.random.default_rng(0)
        factors = np.column_stack([rng.standard_normal((N, MODULES)), np.zeros(N)])
        return 0.5 * factors[:, labels] + noise(rng, (N, D))

    make = {
        "normal": lambda: planted(lambda rng, shape: rng.standard_normal(shape)),
        "tails": lambda: planted(lambda rng, shape: rng.standard_t(3, shape)),
        "counts": lambda: make_counts(N, D, MODULES, "cpu").toarray(),
    }
    for name in names.split(","):
        X = make[name]()
        yield name, (X - X.mean(0)) / X.std(0), labels


def sketch(Z: np.ndarray, kind: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows whose inner products of columns estimate those of Z."""
    if kind == "rows":
        return Z[rng.choice(len(Z), size, replace=False)] * np.sqrt(len(Z) / size)
    return (rng.choice([-1.0, 1.0], (size, len(Z))) @ Z) / np.sqrt(size)


def reranked(Z: np.ndarray, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Choose the nearest of the candidates by their distances over all rows."""
    columns = np.ascontiguousarray(Z.T)
    distances = np.empty(candidates.shape)
    for i, others in enumerate(candidates):
        distances[i] = 2 * (len(Z) - columns[others] @ columns[i])
    order = np.argsort(distances, axis=1, kind="stable")[:, : KEPT + 1]
    return (
        np.maximum(np.take_along_axis(distances, order, 1), 0),
        np.take_along_axis(candidates, order, 1),
    )


def judged(
    distances: np.ndarray, nearest: np.ndarray, exact: np.ndarray, labels: np.ndarray
) -> str:
    """Describe shared neighbours, and the agreement of clusters with the modules."""
    same = np.mean([len(set(a) & set(b)) - 1 for a, b in zip(nearest, exact, strict=True)]) / KEPT
    walk = symmetric_walk(affinity_of_neighbors(distances, nearest, K, 2.0 * N))
    clusters = cluster_features(leading_eigenvectors(walk, MODULES + 1), MODULES + 1)
    planted = labels >= 0
    return f"{same:5.2f} {adjusted_rand_score(labels[planted], clusters[planted]):5.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="256,512,1024,4096")
    parser.add_argument("--tables", default="normal,tails,counts")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{N:,} x {D:,}, {MODULES} modules; neighbours shared, agreement with the modules")
    for name, Z, labels in tables(options.tables):
        distances, exact, _ = exact_neighbors(DenseRows(Z), KEPT)
        print(f"{name}: all rows {judged(distances, exact, exact, labels)}", flush=True)
        for size in map(int, options.sizes.split(",")):
            for kind in ("rows", "projections"):
                part = DenseRows(sketch(Z, kind, size, np.random.default_rng(1)))
                near, found, _ = exact_neighbors(part, 3 * KEPT)
                plain = judged(near[:, : KEPT + 1], found[:, : KEPT + 1], exact, labels)
                again = judged(*reranked(Z, found), exact, labels)
                print(f"  {size:5d} {kind:12s} {plain}   among candidates {again}", flush=True)


if __name__ == "__main__":
    main()
