"""Methods that put features into groups, and how well they find planted ones.

GroupFS finds the number of groups and leaves features out. Of the others, clustering is told the
right number; factor analysis takes that of parallel analysis. They leave no feature out.

- Ward: FeatureAgglomeration of scikit-learn on standardised columns, as it comes.
- average linkage: AgglomerativeClustering on one less the absolute correlation.
- spectral: SpectralClustering on the absolute correlation.
- factors: FactorAnalysis after varimax; a feature goes where its absolute loading is largest.

``python -m benchmarks.group_competitors IN.npz OUT.npz`` fits the groupfs that Python finds; this
is how an older version of the library is run, in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.cluster import AgglomerativeClustering, FeatureAgglomeration, SpectralClustering
from sklearn.decomposition import FactorAnalysis
from sklearn.metrics import adjusted_rand_score

import groupfs
from benchmarks.planted_tables import PlantedTable

ROOT = Path(__file__).resolve().parents[1]
#: An older version that takes longer for one table is given up.
LIMIT_SECONDS = 900
#: Parallel analysis: shuffled tables, the percentile that an eigenvalue must pass, most factors.
N_SHUFFLED, PERCENTILE, MOST_FACTORS = 10, 95, 100
#: Steps of factor analysis: a thousand, as by default, take minutes on wide tables.
FACTOR_STEPS = 100


@dataclass(frozen=True)
class Found:
    """The group of every feature, -1 for none, and which features are kept."""

    labels: NDArray[np.int64]
    kept: NDArray[np.bool_]


#: from a table, the right number of groups and a seed to groups
Method = Callable[[NDArray, int, int], Found]


def fitted(X: NDArray, seed: int, **parameters: Any) -> groupfs.GroupFS:
    """Fit GroupFS as it comes, on one thread and without warnings."""
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return groupfs.GroupFS(device="cpu", random_state=seed, **parameters).fit(X)


def with_groupfs(X: NDArray, n_groups: int, seed: int) -> Found:
    """Find groups with GroupFS; gates alone are trained, so one epoch finds and keeps the same."""
    selector = fitted(X, seed, max_epochs=1)
    return Found(selector.group_labels_, selector.get_support())


def with_ward(X: NDArray, n_groups: int, seed: int) -> Found:
    """Cluster standardised columns by Ward's linkage; signs matter to it."""
    return everything(FeatureAgglomeration(n_groups).fit(standardized(X)).labels_)


def with_average_linkage(X: NDArray, n_groups: int, seed: int) -> Found:
    """Cluster columns by average linkage of their absolute correlations."""
    model = AgglomerativeClustering(n_groups, metric="precomputed", linkage="average")
    return everything(model.fit(1 - absolute_correlation(X)).labels_)


def with_spectral(X: NDArray, n_groups: int, seed: int) -> Found:
    """Cluster columns by the eigenvectors of their absolute correlations."""
    model = SpectralClustering(n_groups, affinity="precomputed", random_state=seed)
    return everything(model.fit(absolute_correlation(X)).labels_)


def with_factors(X: NDArray, n_groups: int, seed: int) -> Found:
    """Take each feature's largest loading on the rotated factors that parallel analysis counts."""
    Z = standardized(X)
    n_factors = parallel_analysis(Z, seed)
    if n_factors < 2:
        return everything(np.full(Z.shape[1], n_factors - 1))
    model = FactorAnalysis(
        n_factors, rotation="varimax", max_iter=FACTOR_STEPS, random_state=seed
    ).fit(Z)
    return everything(np.abs(model.components_).argmax(axis=0))


METHODS: dict[str, Method] = {
    "groupfs": with_groupfs,
    "Ward": with_ward,
    "average linkage": with_average_linkage,
    "spectral": with_spectral,
    "factors": with_factors,
}


def methods(landed: str | None) -> dict[str, Method]:
    """Name the methods, with GroupFS of another source folder if one is given."""
    return METHODS | ({"landed": partial(with_landed, source=landed)} if landed else {})


def with_landed(X: NDArray, n_groups: int, seed: int, source: str) -> Found:
    """Find groups with the library in a source folder, trained to the end, in another process."""
    with tempfile.TemporaryDirectory() as name:
        given, found = Path(name, "given.npz"), Path(name, "found.npz")
        np.savez(given, X=X, seed=seed)
        command = [sys.executable, "-m", "benchmarks.group_competitors", str(given), str(found)]
        paths = os.pathsep.join([str(Path(source).resolve()), str(ROOT)])
        subprocess.run(
            command,
            cwd=name,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            check=True,
            timeout=LIMIT_SECONDS,
        )
        with np.load(found) as arrays:
            if not Path(str(arrays["library"])).is_relative_to(Path(source).resolve()):
                raise FileNotFoundError(f"There is no groupfs in {source}; give a src folder.")
            return Found(arrays["labels"], arrays["kept"])


def everything(labels: NDArray) -> Found:
    """Keep all features, as methods do that know no noise."""
    return Found(labels, np.ones(len(labels), dtype=bool))


def parallel_analysis(Z: NDArray, seed: int) -> int:
    """Count the leading eigenvalues of the correlations above those of shuffled columns."""
    rng = np.random.default_rng(seed)
    ours = leading_eigenvalues(Z)
    shuffled = [leading_eigenvalues(rng.permuted(Z, axis=0)) for _ in range(N_SHUFFLED)]
    above = ours > np.percentile(shuffled, PERCENTILE, axis=0)
    return int(np.append(above, False).argmin())


def leading_eigenvalues(Z: NDArray) -> NDArray:
    """Return the largest eigenvalues of the correlations of standardised columns, largest first."""
    gram = (Z.T @ Z if Z.shape[1] <= len(Z) else Z @ Z.T) / len(Z)
    last = len(gram) - 1
    wanted = (max(0, last - MOST_FACTORS + 1), last)
    return eigh(gram, eigvals_only=True, subset_by_index=wanted)[::-1]


def standardized(X: NDArray) -> NDArray:
    """Centre columns and give them variance one."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def absolute_correlation(X: NDArray) -> NDArray:
    """Correlate columns, whatever the sign, (d, d)."""
    Z = standardized(X)
    return np.minimum(np.abs(Z.T @ Z) / len(Z), 1)


def scores(table: PlantedTable, found: Found) -> dict[str, float | int | None]:
    """Compare found groups with planted ones.

    ``ari`` leaves noise features aside, and planted ones in no group are alone; ``ari_all`` takes
    noise as a group and features in no group as another. Shares of none are None.
    """
    planted, noise = table.groups >= 0, table.groups < 0
    alone = np.where(found.labels < 0, -1 - np.arange(len(found.labels)), found.labels)
    n_found = len(np.unique(found.labels[found.labels >= 0]))
    return {
        "ari": float(adjusted_rand_score(table.groups[planted], alone[planted])),
        "ari_all": float(adjusted_rand_score(table.groups, found.labels)),
        "surplus": n_found - table.n_groups,
        "noise_kept": float(found.kept[noise].mean()) if noise.any() else None,
        "lost": float(1 - found.kept[planted].mean()),
    }


def compare(table: PlantedTable, seed: int, landed: str | None) -> list[dict[str, Any]]:
    """Run all methods on a table; one that breaks leaves its reason in place of scores."""
    records: list[dict[str, Any]] = []
    for name, method in methods(landed).items():
        record = {**table.facts, "method": name}
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = method(table.X, table.n_groups, seed)
            record |= scores(table, found)
        except Exception as reason:  # a finding as others are
            record["failure"] = f"{type(reason).__name__}: {reason}"
        records.append(record | {"seconds": round(time.perf_counter() - began, 3)})
    return records


def main() -> None:
    given, out = sys.argv[1:]
    with np.load(given) as arrays:
        selector = fitted(arrays["X"], int(arrays["seed"]))
    labels, kept = selector.group_labels_, selector.get_support()
    np.savez(out, labels=labels, kept=kept, library=groupfs.__file__)


if __name__ == "__main__":
    main()
