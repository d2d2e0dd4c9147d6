"""Counts of genes in cells, simulated: modules of genes that follow cell types or gradients.

Counts are negative binomial; the mean of a cell and gene is the depth of the cell times the level
of the gene times what the gene's module does in the cell. Dispersion falls with the level and
scatters around that, as in sequenced cells. Genes of no module have levels and dispersions drawn
alike and follow nothing. Methods get the logarithm of one plus the counts per median depth.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.random import Generator
from numpy.typing import NDArray

N_TYPES = 8
#: Share of the modules that follow cell types; the others are gradients.
FOLLOWING_TYPES = 0.6
#: Genes of a module.
SIZES = (30, 60)
#: Logarithms of the levels (counts of a cell of median depth): mean and spread.
LEVELS = (-0.7, 1.1)
#: Spread of the logarithm of the depth of cells.
DEPTH = 0.35
#: Dispersion at high levels, how much is added as levels fall, spread of its logarithm.
DISPERSION = (0.15, 0.25, 0.4)
#: Change of the logarithm of a gene's mean for one standard deviation of its module, from and to.
LOADINGS = (0.35, 0.9)
#: Spread of a module within a cell type, relative to that between types.
WITHIN_TYPES = 0.6
#: Sparse tables: cells made at a time, and such pieces from which on several processes make them;
#: genes for each module, share of the cells in which it is on, what it counts in these, and other
#: counts of a cell relative to the genes.
AT_ONCE, MANY, PER_MODULE, ON, ACTIVE, OTHERS = 4096, 16, 100, 0.1, 14, 0.04


class Cells(NamedTuple):
    """What methods are given, the module of every gene (-1: none), the type of cells."""

    X: NDArray[np.float64]
    modules: NDArray[np.int64]
    types: NDArray[np.int64]


def simulated_cells(n_cells: int, n_genes: int, n_modules: int, seed: int) -> Cells:
    """Draw a table; genes are in random order, and genes that no cell has are left out."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(SIZES[0], SIZES[1] + 1, n_modules)
    if sizes.sum() > n_genes:
        raise ValueError(f"{n_modules} modules have {sizes.sum()} genes, but n_genes={n_genes}.")
    modules = np.full(n_genes, -1)
    modules[: sizes.sum()] = np.repeat(np.arange(n_modules), sizes)
    modules = rng.permutation(modules)
    types = rng.choice(N_TYPES, n_cells, p=rng.dirichlet(np.full(N_TYPES, 5.0)))

    activity = np.column_stack([module_activity(types, n_modules, rng), np.zeros(n_cells)])
    loadings = rng.uniform(*LOADINGS, n_genes)
    levels = np.exp(rng.normal(*LEVELS, n_genes))
    effect = np.exp(activity[:, modules] * loadings)  # module -1 is the last column, all zeros
    depth = np.exp(rng.normal(0, DEPTH, n_cells))
    means = depth[:, None] * levels * effect / effect.mean(axis=0)
    high, added, scatter = DISPERSION
    dispersion = (high + added / np.sqrt(levels)) * np.exp(rng.normal(0, scatter, n_genes))
    counts = rng.poisson(rng.gamma(1 / dispersion, dispersion * means))
    present = np.ptp(counts, axis=0) > 0
    counts = counts[:, present]
    return Cells(log_normalized(counts), modules[present], types)


def module_activity(types: NDArray[np.int64], n_modules: int, rng: Generator) -> NDArray:
    """Draw what modules do in cells, standardised: on in two or three types, or a gradient."""
    activity = rng.standard_normal((len(types), n_modules))
    for module in range(round(FOLLOWING_TYPES * n_modules)):
        on = np.isin(types, rng.choice(N_TYPES, rng.integers(2, 4), replace=False))
        activity[:, module] = on / max(on.std(), 0.1) + WITHIN_TYPES * activity[:, module]
    return (activity - activity.mean(axis=0)) / activity.std(axis=0)


def log_normalized(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Divide by the depth of cells, as a share of the median; take logarithms of one plus that."""
    depth = counts.sum(axis=1, keepdims=True)
    return np.log1p(counts * (np.median(depth) / np.maximum(depth, 1)))


def sparse_counts(n_cells: int, n_genes: int, seed: int) -> sp.csr_array:
    """Draw a large table of raw counts, about 5 % of them not zero, as bytes.

    What a cell counts is drawn one by one: from all genes by their levels, and from the first genes
    of every hundred if their module is on in it.
    """
    spans = [(start, min(AT_ONCE, n_cells - start)) for start in range(0, n_cells, AT_ONCE)]
    made = (delayed(sparse_block)(n, n_genes, [seed, n_genes, start]) for start, n in spans)
    return sp.vstack(Parallel(-1 if len(spans) > MANY else 1)(made), format="csr")


def sparse_block(n: int, n_genes: int, seed: list[int]) -> sp.csr_array:
    """Draw some cells of a large table; genes have the same levels in all."""
    modules = PER_MODULE * np.arange(n_genes // PER_MODULE)
    levels = np.exp(np.random.default_rng(seed[:2]).normal(*LEVELS, n_genes))
    by_level = np.repeat(np.arange(n_genes), np.ceil(100 * levels / levels.mean()).astype(int))
    rng = np.random.default_rng(seed)
    depth = np.exp(rng.normal(0, DEPTH, (n, 1)))
    drawn = rng.poisson(OTHERS * n_genes * depth)
    others = by_level[rng.integers(len(by_level), size=drawn.sum())]
    of_modules = rng.poisson(ACTIVE * depth * (rng.random((n, len(modules))) < ON))
    own = np.repeat(np.tile(modules, n), of_modules.ravel())
    own += rng.integers(SIZES[0], size=len(own))
    block = sp.csr_array((n, n_genes), dtype=np.uint8)
    for genes, counted in ((others, drawn), (own, of_modules)):
        ends = np.append(0, counted.sum(axis=1).cumsum()).astype(np.int32)
        ones = np.ones(len(genes), dtype=np.uint8)
        block += sp.csr_array((ones, genes.astype(np.int32), ends), shape=(n, n_genes))
    return block
