"""Blood cells: do clusters on chosen genes follow the cells' types, and which genes go together?

The cells are 10x_pbmc68k_reduced of scanpy: 700 cells, 765 genes, ten types (``bulk_labels``). The
genes are themselves the most variable ones of the whole table. Values are scaled and put on at most
20 principal components; k-means looks for ten clusters, Leiden has resolution 1 and 15 neighbours.
Seeds are those of GroupFS, of random genes and of the clusterings.

With Hotspot (hotspotsc) and cNMF installed, their programmes are compared with the groups, too.

    python -m benchmarks.cells --seeds 5
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
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

from benchmarks.cell_programmes import FILE, PARTNERS, PROGRAMMES, together
from benchmarks.tables import folder
from groupfs.anndata import select_groups, selector

BUDGET, N_COMPONENTS, N_TYPES = 100, 20, 10
#: Settings of the other methods: as in their tutorials, but smaller modules since genes are few.
NEIGHBORS, SMALLEST_MODULE = 30, 15
N_RUNS, DENSITY = 20, 0.5
#: Genes that differ between made-up batches, and by how much on the scale of logarithms.
SHIFTED, SHIFT = 60, 0.7
Values = NDArray[np.float64]


def read_cells() -> anndata.AnnData:
    """Read log-normalised values, with the counts they are from as a layer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the file is older than today's layout
        published = anndata.read_h5ad(Path(folder(), FILE))
    cells = published.raw.to_adata()
    cells.obsm["X_pca"] = published.obsm["X_pca"]
    per_count = cells.obs["n_counts"].to_numpy()[:, None] / 1e4
    cells.layers["counts"] = np.rint(np.expm1(cells.X.toarray()) * per_count)
    return cells


def gene_choices(cells: anndata.AnnData, seed: int) -> Iterator[tuple[str, Values, bool]]:
    """Yield what is clustered: its name, values, and whether components are to be taken."""
    X = np.asarray(cells.X.toarray(), dtype=np.float64)
    d = X.shape[1]
    found = cells.copy()
    select_groups(found, random_state=seed)
    fitted = selector(found)
    kept = found.uns["groupfs"]["groups"]["kept"].to_numpy()
    yield "group scores of groupfs", found.obsm["groupfs_scores"].to_numpy()[:, kept], False
    yield "genes kept by groupfs", X[:, fitted.get_support()], True
    budget = fitted.select(n_features_to_select=BUDGET).support
    yield "groupfs, budget of 100", X[:, budget], True
    yield "100 highly variable (seurat)", X[:, _highly_variable(cells)], True
    yield "100 most variable", X[:, np.argsort(-X.std(axis=0))[:BUDGET]], True
    yield "100 random", X[:, np.random.default_rng(seed).permutation(d)[:BUDGET]], True
    yield "all", X, True


def _highly_variable(cells: anndata.AnnData) -> NDArray[np.bool_]:
    table = sc.pp.highly_variable_genes(cells, n_top_genes=BUDGET, flavor="seurat", inplace=False)
    return table["highly_variable"].to_numpy()


def cluster(values: Values, components: bool, seed: int) -> dict[str, NDArray[Any]]:
    """Cluster the cells by both methods."""
    points = scale(values)
    if components:
        points = PCA(min(N_COMPONENTS, values.shape[1] - 1), random_state=seed).fit_transform(
            points
        )
    graph = anndata.AnnData(points)
    sc.pp.neighbors(graph, n_neighbors=15, use_rep="X", random_state=seed)
    sc.tl.leiden(
        graph, resolution=1, flavor="igraph", n_iterations=2, directed=False, random_state=seed
    )
    k_means = KMeans(N_TYPES, n_init=10, random_state=seed).fit_predict(points)
    return {"k-means": k_means, "Leiden": graph.obs["leiden"].to_numpy()}


def compare_choices(cells: anndata.AnnData, n_seeds: int) -> None:
    """Print the agreement of clusters with types, mean and deviation over seeds."""
    types = cells.obs["bulk_labels"].to_numpy()
    judged: dict[str, list[list[float]]] = {}
    sizes: dict[str, list[int]] = {}
    for seed in range(n_seeds):
        for name, values, components in gene_choices(cells, seed):
            found = cluster(values, components, seed)
            scores = [
                measure(types, found[method])
                for measure in (normalized_mutual_info_score, adjusted_rand_score)
                for method in ("k-means", "Leiden")
            ]
            judged.setdefault(name, []).append([*scores, len(np.unique(found["Leiden"]))])
            sizes.setdefault(name, []).append(values.shape[1])
    headings = ["NMI k-means", "NMI Leiden", "ARI k-means", "ARI Leiden", "Leiden clusters"]
    print(f"{'':<30}{'columns':>9}" + "".join(f"{heading:>17}" for heading in headings))
    for name, scores in judged.items():
        mean, deviation = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=min(1, n_seeds - 1))
        cells_of_row = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean[:4], deviation, strict=False)]
        size = "-".join(str(n) for n in sorted({min(sizes[name]), max(sizes[name])}))
        row = "".join(f"{entry:>17}" for entry in [*cells_of_row, f"{mean[4]:.1f}"])
        print(f"{name:<30}{size:>9}{row}")


def with_groupfs(cells: anndata.AnnData) -> NDArray[np.int64]:
    select_groups(cells)
    return selector(cells).group_labels_


def with_hotspot(cells: anndata.AnnData) -> NDArray[np.int64]:
    """Find modules by autocorrelation over the cells' neighbours; -1 for genes in none."""
    import hotspot

    cells.obs["total_counts"] = cells.obs["n_counts"]
    found = hotspot.Hotspot(
        cells,
        layer_key="counts",
        model="danb",
        latent_obsm_key="X_pca",
        umi_counts_obs_key="total_counts",
    )
    found.create_knn_graph(weighted_graph=False, n_neighbors=NEIGHBORS)
    table = found.compute_autocorrelations()
    found.compute_local_correlations(table.index[table["FDR"] < 0.05])
    modules = found.create_modules(
        min_gene_threshold=SMALLEST_MODULE, core_only=True, fdr_threshold=0.05
    )
    return modules.reindex(cells.var_names, fill_value=-1).to_numpy().astype(np.int64)


def with_cnmf(cells: anndata.AnnData, n_programmes: int) -> NDArray[np.int64]:
    """Factorise the counts; a gene belongs to the programme in which its score is highest."""
    from cnmf import cNMF

    with tempfile.TemporaryDirectory() as place:
        counts = anndata.AnnData(cells.layers["counts"], obs=cells.obs[[]], var=cells.var[[]])
        counts.write_h5ad(Path(place, "counts.h5ad"))
        model = cNMF(output_dir=place, name="cells")
        model.prepare(
            str(Path(place, "counts.h5ad")),
            components=[n_programmes],
            n_iter=N_RUNS,
            seed=0,
            num_highvar_genes=cells.n_vars,
        )
        model.factorize(worker_i=0, total_workers=1)
        model.combine()
        model.consensus(n_programmes, density_threshold=DENSITY, show_clustering=False)
        scores = model.load_results(n_programmes, DENSITY)[1]
    best = scores.reindex(cells.var_names).to_numpy()
    known = np.isfinite(best).all(axis=1)
    return np.where(known, np.nan_to_num(best).argmax(axis=1), -1)


def programmes_of_their_own(group_of: dict[str, int]) -> int:
    """Count the programmes whose genes share a group without genes of other programmes."""
    groups = {name: {group_of[g] for g in genes.split()} for name, genes in PROGRAMMES.items()}
    return sum(
        len(mine) == 1
        and min(mine) >= 0
        and not any(mine & theirs for other, theirs in groups.items() if other != name)
        for name, mine in groups.items()
    )


def compare_programmes(cells: anndata.AnnData) -> None:
    """Print which genes each method puts together, and how far it agrees with groupfs."""
    names = list(cells.var_names)
    print(
        f"\n{'':<10}{'CPU s':>8}{'groups':>8}{'genes in one':>14}{'programmes':>12}"
        f"{'partners':>10}{'ARI with groupfs':>18}"
    )
    reference: NDArray[np.int64] | None = None
    methods: dict[str, Callable[[anndata.AnnData], NDArray[np.int64]]] = {
        "groupfs": with_groupfs,
        "Hotspot": with_hotspot,
        "cNMF": lambda cells: with_cnmf(cells, N_TYPES),
    }
    for name, find in methods.items():
        start = time.process_time()
        try:
            labels = find(cells.copy())
        except ImportError as missing:
            print(f"{name:<10} {missing.name} is not installed")
            continue
        seconds = time.process_time() - start
        reference = labels if reference is None else reference
        group_of = dict(zip(names, labels.tolist(), strict=True))
        both = (labels >= 0) & (reference >= 0)
        agreement = adjusted_rand_score(reference[both], labels[both])
        partners = sum(together(group_of, genes.split()) for genes in PARTNERS)
        print(
            f"{name:<10}{seconds:>8.1f}{len(np.unique(labels[labels >= 0])):>8}"
            f"{int((labels >= 0).sum()):>14}"
            f"{programmes_of_their_own(group_of):>6} of {len(PROGRAMMES):<2}"
            f"{partners:>5} of {len(PARTNERS):<2}{agreement:>16.2f}"
        )


def compare_batches(cells: anndata.AnnData, n_seeds: int) -> None:
    """Print what an effect of half the cells does to groups, with and without ``batch_key``.

    Cells are put into two batches at random, and in the second SHIFTED genes are higher by SHIFT.
    """
    expected = with_groupfs(cells.copy())
    print(f"\n{'':<14}{'shifted genes selected':>24}{'ARI with the groups before':>28}")
    for batch_key in (None, "batch"):
        shares, agreements = [], []
        for seed in range(n_seeds):
            rng = np.random.default_rng(seed)
            batched = cells.copy()
            second, shifted = rng.random(cells.n_obs) < 0.5, rng.permutation(cells.n_vars)[:SHIFTED]
            values = batched.X.toarray()
            values[np.ix_(second, shifted)] += SHIFT
            batched.X = values
            batched.obs["batch"] = np.where(second, "second", "first")
            select_groups(batched, batch_key=batch_key)
            before = np.isin(shifted, np.flatnonzero(expected >= 0))
            selected = batched.var["groupfs_selected"].to_numpy()[shifted[~before]]
            labels = batched.var["groupfs_group"].cat.codes.to_numpy()
            both = (labels >= 0) & (expected >= 0)
            shares.append(selected.mean())
            agreements.append(adjusted_rand_score(expected[both], labels[both]))
        print(f"{batch_key or 'ignored':<14}{np.mean(shares):>24.0%}{np.mean(agreements):>28.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--programmes", action="store_true", help="compare programmes alone")
    parser.add_argument("--batches", action="store_true", help="compare made-up batches alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # those of the other packages
    cells = read_cells()
    if options.batches:
        return compare_batches(cells, options.seeds)
    if not options.programmes:
        compare_choices(cells, options.seeds)
    compare_programmes(cells)


if __name__ == "__main__":
    main()
