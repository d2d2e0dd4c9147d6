"""select_groups in a single-cell workflow: normalise, log, select, PCA; seconds, memory, truth.

Run with ``python -m benchmarks.anndata_workflow``. Counts of 20,000 cells and 3,000 genes are
simulated: negative binomial, 95 % zeros, eight cell populations, seven modules of 40 to 120 genes
of which six mark populations and one is active in some cells of all. Printed are the seconds of
each step, the peak memory, how well the modules are found and how many of a cell's neighbours on
principal components are of its population, with all genes and with the selected ones. ``--backed``
selects from a file that is opened backed; ``--cells`` and ``--genes`` change the size.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import warnings
from pathlib import Path

import anndata
import numpy as np
import scipy.sparse as sp
import torch
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from groupfs.anndata import select_groups
from groupfs.metrics import selection_rates

#: Share of the 3,000 genes in each module; the last is active in cells of all populations.
MODULE_SHARES = np.array([120, 100, 80, 70, 50, 40, 40]) / 3000
#: Share of each population, and the modules that are active in it.
POPULATIONS = (0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.04)
ACTIVE = ((0,), (1,), (0, 2), (3,), (1, 4), (5,), (2, 3), (4,))
CYCLING = 0.2
#: Dispersion of the negative binomial; mean and deviation of the genes' log means.
DISPERSION, LOG_MEAN, LOG_SPREAD = 0.4, -4.4, 1.6
#: How many times a gene of an active module is expressed, and the spread of that as a log.
FOLD, FOLD_SPREAD = 8.0, 0.4
#: Spread of a module's activity among the cells in which it is active.
ACTIVITY_SPREAD = 0.35
#: Counts of a cell in the genes that are not in the table: it holds the variable ones of many.
OTHER_COUNTS = 1500
ROWS_AT_ONCE = 2000


def simulate(n_cells: int, n_genes: int, seed: int = 0) -> anndata.AnnData:
    """Simulate sparse counts; ``obs["population"]`` and ``var["module"]`` (-1: none) are true."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum((MODULE_SHARES * n_genes).round().astype(int), 2)
    module = np.full(n_genes, -1)
    module[rng.permutation(n_genes)[: sizes.sum()]] = np.repeat(np.arange(len(sizes)), sizes)
    population = rng.choice(len(POPULATIONS), n_cells, p=POPULATIONS)
    patterns = np.array([np.isin(np.arange(len(sizes)), modules) for modules in ACTIVE])
    active = patterns[population]
    active[:, -1] = rng.random(n_cells) < CYCLING
    activity = active * rng.gamma(1 / ACTIVITY_SPREAD**2, ACTIVITY_SPREAD**2, active.shape)
    activity = np.column_stack([activity, np.zeros(n_cells)])  # the last one for module -1
    log_fold = rng.normal(np.log(FOLD), FOLD_SPREAD, n_genes)
    log_mean = rng.normal(LOG_MEAN, LOG_SPREAD, n_genes)
    depth = np.exp(rng.normal(0, 0.4, n_cells))

    blocks = []
    for start in range(0, n_cells, ROWS_AT_ONCE):
        here = slice(start, start + ROWS_AT_ONCE)
        mean = depth[here, None] * np.exp(log_mean + activity[here][:, module] * log_fold)
        counts = rng.poisson(mean * rng.gamma(1 / DISPERSION, DISPERSION, mean.shape))
        blocks.append(sp.csr_matrix(counts.astype(np.float32)))
    adata = anndata.AnnData(sp.vstack(blocks, format="csr"))
    adata.var_names = [f"gene{i}" for i in range(n_genes)]
    adata.var["module"], adata.obs["population"] = module, population
    own = np.asarray(adata.X.sum(axis=1)).ravel()
    adata.obs["total_counts"] = own + rng.poisson(OTHER_COUNTS * depth)
    return adata


def normalize(adata: anndata.AnnData) -> None:
    """Scale to 10,000 counts per cell, of all its genes, and log1p, in place, as scanpy does."""
    factors = 1e4 / adata.obs["total_counts"].to_numpy()
    adata.X = sp.csr_matrix(adata.X.multiply(factors[:, None]), dtype=np.float32)
    adata.X.data = np.log1p(adata.X.data)


def purity(adata: anndata.AnnData, genes: np.ndarray) -> float:
    """Measure which share of a cell's 15 neighbours on 20 components is of its population."""
    pca = PCA(min(20, genes.sum() - 1), svd_solver="arpack", random_state=0)
    points = pca.fit_transform(sp.csr_matrix(adata.X[:, genes]))
    neighbors = NearestNeighbors(n_neighbors=15).fit(points).kneighbors(return_distance=False)
    population = adata.obs["population"].to_numpy()
    return float((population[neighbors] == population[:, None]).mean())


def report(adata: anndata.AnnData) -> None:
    module = adata.var["module"].to_numpy()
    selected = adata.var["groupfs_selected"].to_numpy()
    labels = adata.var["groupfs_group"].cat.codes.to_numpy()
    planted = module >= 0
    table = adata.uns["groupfs"]["groups"]
    print(
        f"\n{'group':>5} {'size':>5} {'score':>7} {'p':>8} {'gate':>6} {'kept':>5}  genes by module"
    )
    for rank, (name, row) in enumerate(table.iterrows()):
        counts = np.bincount(module[labels == rank] + 1, minlength=len(MODULE_SHARES) + 1)
        inside = ", ".join(
            f"{count} of {'none' if place == 0 else place}"
            for place, count in enumerate(counts)
            if count
        )
        print(
            f"{name:>5} {row['size']:>5} {row.score:>7.3f} {row.p_adjusted:>8.1g} {row.gate:>6.2f} "
            f"{'yes' if row.kept else 'no':>5}  {inside}"
        )
    found, false = selection_rates(np.flatnonzero(planted), np.flatnonzero(selected))
    kept = {int(m) for m in np.unique(module[selected]) if m >= 0}
    print(
        f"\n{len(table)} groups, {int(table.kept.sum())} kept; modules with selected genes: "
        f"{len(kept)} of {len(MODULE_SHARES)}"
    )
    agreement = adjusted_rand_score(module[planted], labels[planted])
    print(f"planted genes: groups and modules agree with an ARI of {agreement:.3f}")
    print(f"selected: {selected.sum()} genes, {found:.1%} of the planted ones, {false:.1%} others")
    everything = np.ones(adata.n_vars, dtype=bool)
    print(
        "neighbours of the same population on 20 PCs: "
        f"{purity(adata, everything):.1%} with all genes, {purity(adata, selected):.1%} with the "
        f"selected ones, {purity(adata, planted):.1%} with the planted ones"
    )


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=20_000)
    parser.add_argument("--genes", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sparsity", type=float, default=0.7)
    parser.add_argument("--backed", action="store_true", help="select from a file opened backed")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    clock, clock_of_processor = time.perf_counter(), time.process_time()

    def lap(step: str) -> None:
        nonlocal clock, clock_of_processor
        now = time.perf_counter()
        worked = time.process_time() - clock_of_processor
        print(
            f"{step:<28} {now - clock:7.1f} s ({worked:.1f} s of processor), "
            f"peak memory {peak_memory():.2f} GB",
            flush=True,
        )
        clock, clock_of_processor = now, clock_of_processor + worked

    adata = simulate(options.cells, options.genes, options.seed)
    zeros = 1 - adata.X.nnz / np.prod(adata.shape)
    lap(f"{adata.n_obs} x {adata.n_vars}, {zeros:.1%} zeros")
    normalize(adata)
    lap("normalise, log")
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", UserWarning)  # genes that are zero in all cells
        if options.backed:
            path = Path(folder) / "cells.h5ad"
            adata.write_h5ad(path)
            adata = anndata.read_h5ad(path, backed="r+")
            lap("write, open backed")
        select_groups(adata, sparsity=options.sparsity)
        lap("select_groups")
        path = Path(folder) / "selected.h5ad"
        adata.write_h5ad(path)
        adata = anndata.read_h5ad(path)
        lap("write, read back")
    report(adata)


if __name__ == "__main__":
    main()
