"""
Genes: modules in single cells
==============================

Counts of 240 genes in 600 cells, most of them zero. Three cell types have a module of 15 genes
each, and a fourth module follows a programme that runs through all types. The other 180 genes are
just expressed. :func:`groupfs.anndata.select_groups` looks for modules, without the types.
"""

# %%
# Made-up counts
# --------------
# Cells differ in depth, as real ones do. The matrix is sparse and stays so.

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

rng = np.random.default_rng(0)
n_cells, n_genes, module_size = 600, 240, 15
MODULES = ["T", "B", "Mono", "programme"]

cell_type = rng.integers(3, size=n_cells)
programme = rng.beta(0.7, 0.7, n_cells)
activity = np.column_stack([cell_type == 0, cell_type == 1, cell_type == 2, programme])
rate = np.tile(rng.gamma(1.0, 0.25, n_genes), (n_cells, 1))
for place in range(len(MODULES)):
    genes = slice(place * module_size, (place + 1) * module_size)
    rate[:, genes] = 0.1 + 3.0 * activity[:, [place]]
depth = rng.lognormal(0, 0.3, (n_cells, 1))
counts = rng.poisson(rate * depth * rng.gamma(4, 0.25, rate.shape))

names = [f"{module}_{i + 1}" for module in MODULES for i in range(module_size)]
names += [f"other_{i + 1}" for i in range(n_genes - len(names))]
adata = AnnData(sp.csr_matrix(counts, dtype=np.float32), var=pd.DataFrame(index=names))
adata.obs["type"] = pd.Categorical.from_codes(cell_type, MODULES[:3])
print(f"{adata.shape[0]} cells x {adata.shape[1]} genes, {adata.X.nnz / counts.size:.0%} not zero")

# %%
# Filter, normalise, take logarithms, select
# ------------------------------------------
# With scanpy the first lines are ``sc.pp.filter_genes``, ``sc.pp.normalize_total`` and
# ``sc.pp.log1p``. Genes that go with no other are left out, and the number of groups is the one at
# which two halves of the cells share the most information.

from groupfs.anndata import select_groups

expressed = np.asarray((adata.X > 0).mean(axis=0)).ravel() > 0.05
adata = adata[:, expressed].copy()
size = np.asarray(adata.X.sum(axis=1))
adata.X = sp.csr_matrix(adata.X.multiply(np.median(size) / size)).log1p()

select_groups(adata)

found = adata.uns["groupfs"]["groups"]
print(found.round(3).to_string())

# %%
# What the groups are
# -------------------
# Which of the made-up modules their genes are from. All four groups hold together beyond chance and
# are found again in halves of the cells, so all are kept; the other genes are in no group.

module = pd.Series(adata.var_names.str.split("_").str[0], adata.var_names, name="module")
table = pd.crosstab(adata.var["groupfs_group"], module)[MODULES]
print(table.to_string())

# %%
# A score for every cell
# ----------------------
# ``adata.obsm["groupfs_scores"]`` has the mean z-score of each group's genes in each cell. It is
# what one would hand to a plot, a test or a clustering.

import matplotlib.pyplot as plt

scores = adata.obsm["groupfs_scores"]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=[3, 2])
order = np.lexsort((programme, cell_type))
image = axes[0].imshow(
    scores[order, :4].T, aspect="auto", cmap="cividis", interpolation="nearest", vmin=-1, vmax=2
)
axes[0].set_yticks(range(4), [f"group {name}" for name in found.index[:4]])
axes[0].set_xticks([])
axes[0].set_xlabel("cells, ordered by type, then by the programme")
axes[0].set_title("Score of each group in each cell")
figure.colorbar(image, ax=axes[0], label="mean z-score")
for code, name in enumerate(MODULES[:3]):
    mine = cell_type == code
    axes[1].scatter(scores[mine, 0], scores[mine, 1], s=8, label=name)
axes[1].set(xlabel="score of group 1", ylabel="score of group 2", title="Two of the scores")
axes[1].legend(frameon=False)
axes[1].spines[["top", "right"]].set_visible(False)
plt.show()
# sphinx_gallery_thumbnail_number = 1
