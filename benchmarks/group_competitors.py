"""Methods that put features into groups, and how well they find planted ones.

Ours finds the number of groups and leaves features out. Of the others, clustering is told the right
number; factor analysis takes that of parallel analysis. They leave no feature out.

- Ward: FeatureAgglomeration of scikit-learn on standardised columns, as it comes.
- average linkage: AgglomerativeClustering on one less the absolute correlation.
- spectral: SpectralClustering on the absolute correlation.
- factors: FactorAnalysis after varimax; a feature goes where its absolute loading is largest.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.cluster import AgglomerativeClustering, FeatureAgglomeration, SpectralClustering
from sklearn.decomposition import FactorAnalysis
from sklearn.metrics import adjusted_rand_score

import groupfs
from benchmarks.machine import now
from benchmarks.planted_tables import PlantedTable
from benchmarks.records import Record, attempt

#: Parallel analysis: shuffled tables, the percentile that an eigenvalue must pass, most factors.
N_SHUFFLED, PERCENTILE, MOST_FACTORS = 10, 95, 100
#: Steps of factor analysis: a thousand, as by default, take minutes on wide tables.
FACTOR_STEPS = 100


class Found(NamedTuple):
    """The group of every feature, -1 for none, and which features are kept."""

    labels: NDArray[np.int64]
    kept: NDArray[np.bool_]


def fitted(X: Any, seed: int, **parameters: Any) -> Any:
    """Fit ours as it comes, without warnings; older versions have it in ``GroupFS``."""
    selector = getattr(groupfs, "FeatureGroups", groupfs.GroupFS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector(**{"device": "cpu", "random_state": seed, **parameters}).fit(X)


def timed_fit(X: Any, seed: int, **parameters: Any) -> tuple[Any, float]:
    """Fit ours, and return it with the seconds that it took."""
    began = now()
    selector = fitted(X, seed, **parameters)
    return selector, now() - began


def with_groupfs(X: NDArray, n_groups: int, seed: int) -> Found:
    """Find groups and their number."""
    selector = fitted(X, seed)
    kept = selector.select(n_groups_to_select="significant").support
    return Found(selector.group_labels_, kept)


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
    settings = {"rotation": "varimax", "max_iter": FACTOR_STEPS, "random_state": seed}
    model = FactorAnalysis(n_factors, **settings).fit(Z)
    return everything(np.abs(model.components_).argmax(axis=0))


#: from a table, the right number of groups and a seed to groups
Method = Callable[[NDArray, int, int], Found]
METHODS: dict[str, Method] = {
    "groupfs": with_groupfs,
    "Ward": with_ward,
    "average linkage": with_average_linkage,
    "spectral": with_spectral,
    "factors": with_factors,
}


def chosen(methods: dict[str, Method], names: list[str] | None) -> dict[str, Method]:
    """Take the methods that are named, or all."""
    return {name: method for name, method in methods.items() if name in (names or methods)}


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


def scores(table: PlantedTable, result: Found) -> dict[str, float | int | None]:
    """Compare found groups with planted ones.

    ``ari`` leaves noise features aside, and planted ones in no group are alone; ``ari_all`` takes
    noise as a group and features in no group as another. Shares of none are None.
    """
    planted, noise = table.groups >= 0, table.groups < 0
    n_found = len(np.unique(result.labels[result.labels >= 0]))
    return {
        "ari": rand_index(table.groups[planted], result.labels[planted]),
        "ari_all": float(adjusted_rand_score(table.groups, result.labels)),
        "surplus": n_found - table.n_groups,
        "noise_kept": float(result.kept[noise].mean()) if noise.any() else None,
        "lost": float(1 - result.kept[planted].mean()),
    }


def rand_index(groups: NDArray, labels: NDArray) -> float:
    """Compare groups with labels by the adjusted Rand index; features labelled -1 are alone."""
    alone = np.where(labels < 0, -1 - np.arange(len(labels)), labels)
    return float(adjusted_rand_score(groups, alone))


def compare(table: PlantedTable, seed: int, methods: Mapping[str, Method]) -> list[Record]:
    """Run methods on a table; one that breaks leaves its reason in place of scores."""
    records: list[Record] = []
    for name, method in methods.items():
        began = now()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = attempt(
                {**table.facts, "method": name},
                lambda method=method: scores(table, method(table.X, table.n_groups, seed)),
            )
        records.append(record | {"seconds": round(now() - began, 3)})
    return records
