"""Blood cells: do clusters on chosen genes follow the cells' types, and which genes go together?

The cells are 10x_pbmc68k_reduced of scanpy: 700 cells, 765 genes, ten types (``bulk_labels``). The
genes are themselves the most variable ones of the whole table. Values are scaled and put on at most
20 principal components; k-means looks for ten clusters, Leiden has resolution 1 and 15 neighbours.
Seeds are those of ours, of random genes and of the clusterings.

Programmes are genes that biology knows to go together; ``--programmes`` looks at these alone.

    python -m benchmarks.cells --seeds 5
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import scanpy as sc
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import scale

from benchmarks.group_competitors import fitted
from benchmarks.tables import CELLS, folder

BUDGET, N_COMPONENTS, N_TYPES = 100, 20, 10
PROGRAMMES = {
    "HLA": "HLA-DRA HLA-DRB1 HLA-DPA1 HLA-DPB1 CD74",
    "monocytes": "LST1 AIF1 TYROBP FCN1",
    "dendritic": "LYZ CST3 FCER1A CLEC10A",
    "NK": "NKG7 GNLY GZMB PRF1 CST7",
    "T": "CD3D CD3E IL32 LCK",
    "B": "CD79A CD79B MS4A1",
    "plasma": "IGJ MZB1 TNFRSF17",
    "CD34+": "PRSS57 GATA2",
    "cycling": "STMN1 PCNA MCM7 HMGB2",
}
#: Genes that belong together whatever else is in their group.
PARTNERS = (
    *("CD3D CD3E", "CD79A CD79B MS4A1", "NKG7 GNLY GZMB"),
    *("LST1 AIF1", "HLA-DRA CD74", "PCNA MCM7"),
)


def read_cells() -> anndata.AnnData:
    """Read log-normalised values, with the counts they are from as a layer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the file is older than today's layout
        published = anndata.read_h5ad(Path(folder(), CELLS))
    cells = published.raw.to_adata()
    cells.obsm["X_pca"] = published.obsm["X_pca"]
    per_count = cells.obs["n_counts"].to_numpy()[:, None] / 1e4
    cells.layers["counts"] = np.rint(np.expm1(cells.X.toarray()) * per_count)
    return cells


def gene_choices(cells: anndata.AnnData, seed: int) -> Iterator[tuple[str, NDArray, bool]]:
    """Yield what is clustered: its name, values, and whether components are to be taken."""
    X = np.asarray(cells.X.toarray(), dtype=np.float64)
    d = X.shape[1]
    selector = fitted(X, seed, output="scores")
    yield "group scores of groupfs", selector.transform(X), False
    kept = selector.select(n_groups_to_select="significant").support
    yield "genes kept by groupfs", X[:, kept], True
    yield "groupfs, budget of 100", X[:, selector.select(n_features_to_select=BUDGET).support], True
    settings = {"n_top_genes": BUDGET, "flavor": "seurat", "inplace": False}
    variable = sc.pp.highly_variable_genes(cells, **settings)["highly_variable"].to_numpy()
    yield "100 highly variable (seurat)", X[:, variable], True
    yield "100 most variable", X[:, np.argsort(-X.std(axis=0))[:BUDGET]], True
    yield "100 random", X[:, np.random.default_rng(seed).permutation(d)[:BUDGET]], True
    yield "all", X, True


def cluster(values: NDArray, components: bool, seed: int) -> dict[str, NDArray[Any]]:
    """Cluster the cells by both methods."""
    points = scale(values)
    if components:
        n_components = min(N_COMPONENTS, values.shape[1] - 1)
        points = PCA(n_components, random_state=seed).fit_transform(points)
    graph = anndata.AnnData(points)
    sc.pp.neighbors(graph, n_neighbors=15, use_rep="X", random_state=seed)
    settings = {"flavor": "igraph", "n_iterations": 2, "directed": False}
    sc.tl.leiden(graph, resolution=1, random_state=seed, **settings)
    k_means = KMeans(N_TYPES, n_init=10, random_state=seed).fit_predict(points)
    return {"k-means": k_means, "Leiden": graph.obs["leiden"].to_numpy()}


def compare_choices(cells: anndata.AnnData, n_seeds: int) -> None:
    """Print the agreement of clusters with types, mean and deviation over seeds."""
    types = cells.obs["bulk_labels"].to_numpy()
    judged: dict[str, list[list[float]]] = {}
    for seed in range(n_seeds):
        for name, values, components in gene_choices(cells, seed):
            clusters = cluster(values, components, seed)
            scores = [
                measure(types, clusters[method])
                for measure in (normalized_mutual_info_score, adjusted_rand_score)
                for method in ("k-means", "Leiden")
            ]
            judged.setdefault(name, []).append([values.shape[1], *scores])
    headings = ["NMI k-means", "NMI Leiden", "ARI k-means", "ARI Leiden"]
    print(f"{'':<30}{'columns':>9}" + "".join(f"{heading:>17}" for heading in headings))
    for name, scores in judged.items():
        mean, deviation = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=min(1, n_seeds - 1))
        words = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean[1:], deviation[1:], strict=True)]
        print(f"{name:<30}{mean[0]:>9.0f}" + "".join(f"{word:>17}" for word in words))


def together(group_of: dict[str, int], genes: list[str]) -> bool:
    """Tell whether genes share a group."""
    groups = {group_of[gene] for gene in genes}
    return len(groups) == 1 and min(groups) >= 0


def of_their_own(group_of: dict[str, int]) -> list[str]:
    """Name the programmes whose genes share a group without genes of other programmes."""
    groups = {name: {group_of[g] for g in genes.split()} for name, genes in PROGRAMMES.items()}
    times = Counter(group for found in groups.values() for group in found)
    whole = [name for name, genes in PROGRAMMES.items() if together(group_of, genes.split())]
    return [name for name in whole if times[min(groups[name])] == 1]


def follow_programmes(cells: anndata.AnnData, seed: int) -> None:
    """Print which programmes are groups of their own, and which partners are together."""
    selector = fitted(np.asarray(cells.X.toarray(), dtype=np.float64), seed)
    labels = selector.group_labels_
    group_of = dict(zip(cells.var_names, labels.tolist(), strict=True))
    alone = of_their_own(group_of)
    partners = sum(together(group_of, genes.split()) for genes in PARTNERS)
    print(
        f"seed {seed}: {selector.n_groups_} groups, {selector.group_kept_.sum()} kept, of "
        f"{(labels >= 0).sum()} genes; {len(alone)} of {len(PROGRAMMES)} programmes are groups of "
        f"their own ({', '.join(alone)}); {partners} of {len(PARTNERS)} partners are together"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--programmes", action="store_true", help="look at programmes alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # those of the other packages
    cells = read_cells()
    if not options.programmes:
        compare_choices(cells, options.seeds)
    for seed in range(options.seeds):
        follow_programmes(cells, seed)


if __name__ == "__main__":
    main()
