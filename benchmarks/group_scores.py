"""How much of a table is left in one score per group: clusters and neighbours against labels.

``python -m benchmarks.group_scores`` prints, for blood cells (700 cells, 765 genes) and for tables
of scikit-learn, how well k-means (as many clusters as labels) agrees with the labels and how often
the five nearest neighbours have the label of a sample (five folds): for all columns, standardised;
for the scores of the groups that ``GroupFS`` keeps with nothing set; and for as many columns made
in other ways. Labels only judge. Figures are means over seeds of the methods and of the measures,
with the lowest and the highest.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.cluster import FeatureAgglomeration, KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.cell_programmes import FILE, genes_of
from benchmarks.tables import folder
from groupfs import GroupFS

Array = NDArray[np.float64]
MEASURES = ("k-means NMI", "k-means ARI", "neighbours")


def load(name: str) -> tuple[Array, NDArray[np.int64]]:
    """Return the table of this name and its labels."""
    if name != "cells":
        found = getattr(datasets, f"load_{name}")()
        return found.data, found.target
    import anndata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the file is older than today's layout
        cells = anndata.read_h5ad(Path(folder(), FILE))
    return genes_of(cells)[0], cells.obs["bulk_labels"].cat.codes.to_numpy()


def represent(X: Array, seed: int) -> dict[str, Array]:
    """Give the table in several ways: whole, as scores, and as as many columns made otherwise."""
    selector = GroupFS(output="scores", random_state=seed).fit(X)
    scores = selector.transform(X)
    Z, n = StandardScaler().fit_transform(X), scores.shape[1]
    representatives = selector.set_params(output="representatives").get_support()
    return {
        "all columns": Z,
        "scores of the kept groups": scores,
        "their representatives": Z[:, representatives],
        "means of FeatureAgglomeration": FeatureAgglomeration(n).fit_transform(Z),
        "principal components": PCA(n, random_state=seed).fit_transform(Z),
        "random columns": Z[:, np.random.default_rng(seed).permutation(Z.shape[1])[:n]],
    }


def judge(X: Array, y: NDArray[np.int64], seed: int) -> list[float]:
    """Compare clusters and neighbours with labels."""
    clusters = KMeans(len(np.unique(y)), n_init=10, random_state=seed).fit_predict(X)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    accuracy = cross_val_score(KNeighborsClassifier(5), X, y, cv=folds).mean()
    agreements: list[Callable[..., float]] = [normalized_mutual_info_score, adjusted_rand_score]
    return [*(agree(y, clusters) for agree in agreements), float(accuracy)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=["cells", "breast_cancer", "digits", "wine"])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.tables:
        X, y = load(name)
        print(f"\n{name}: {X.shape[0]} samples, {X.shape[1]} columns, {len(np.unique(y))} labels")
        print(f"{'':32s}{'columns':>9s}" + "".join(f"{measure:>21s}" for measure in MEASURES))
        found: dict[str, list[list[float]]] = {}
        for seed in range(options.seeds):
            for way, Z in represent(X, seed).items():
                found.setdefault(way, []).append([Z.shape[1], *judge(Z, y, seed)])
        for way, rows in found.items():
            mean, low, high = (f(rows, axis=0) for f in (np.mean, np.min, np.max))
            sizes = f"{low[0]:.0f}" if low[0] == high[0] else f"{low[0]:.0f}-{high[0]:.0f}"
            figures = [f"{mean[i]:.3f} ({low[i]:.3f}-{high[i]:.3f})" for i in (1, 2, 3)]
            print(f"{way:32s}{sizes:>9s}" + "".join(f"{figure:>21s}" for figure in figures))


if __name__ == "__main__":
    main()
