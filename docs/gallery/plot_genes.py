"""
Genes: programmes in blood cells
================================

Blood cells of several types, 765 genes. Which genes are switched on together, and in which cells?
:func:`groupfs.anndata.select_groups` finds such programmes of genes without knowing the types,
and scores every cell for each of them.
"""

# %%
# The cells
# ---------
# The 700 cells that come with scanpy. Their ``X`` is scaled, as it often is in files that have been
# through a tutorial; the log-normalised values are in ``adata.raw``. With a file of your own the
# first line is ``adata = sc.read_h5ad("my_cells.h5ad")``.

import matplotlib.pyplot as plt
import scanpy as sc

plt.rcParams["savefig.bbox"] = "tight"  # scanpy's legends lie outside the axes
adata = sc.datasets.pbmc68k_reduced()
with plt.rc_context({"figure.figsize": (4.5, 3.4)}):
    sc.pl.umap(adata, color="bulk_labels", frameon=False, legend_fontsize=8, title="types")

# %%
# Programmes of genes
# -------------------
# Nothing needs to be set. Genes that go with no other are left out, and the number of groups is the
# one found again in halves of the cells.

import groupfs.anndata

groupfs.anndata.select_groups(adata, use_raw=True)

found = adata.uns["groupfs"]["groups"]
told = found[["size", "representative", "p_adjusted", "replication", "kept"]]
print(told.round({"replication": 2}).to_string(float_format="{:.2g}".format))

# %%
# The genes that say most about their group are its markers. T cells, B cells, NK cells, monocytes,
# dendritic and plasma cells, progenitors, and cells that divide: each has a programme.

markers = groupfs.anndata.markers(adata, n_genes=4)
for group, genes in markers.items():
    print(f"{group:<16} {', '.join(genes)}")

# %%
# In which cells
# --------------
# The names of the groups are columns of ``adata.obs``: scores, one for every cell, that scanpy
# draws by name, yellow where they are high. A score is the mean of the group's standardised genes,
# the central ones counting most.

look = {"cmap": "cividis", "frameon": False, "colorbar_loc": None, "wspace": 0.05, "size": 25}
with plt.rc_context({"figure.figsize": (2.3, 2.1)}):
    sc.pl.umap(adata, color=list(markers), ncols=5, **look)

# %%
# The markers fit into a dot plot as they are. The types, which have not been looked at before, are
# rows.

sc.pl.dotplot(adata, groupfs.anndata.markers(adata, n_genes=3), groupby="bulk_labels", cmap="Blues")

# %%
# How the groups were judged
# --------------------------
# A group is kept if its genes hold together beyond what chance gives, and if it is found again in
# halves of the cells.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
groupfs.anndata.plot_groups(adata, ax=axes[0])
groupfs.anndata.plot_correlations(adata, ax=axes[1])
plt.show()

# %%
# Beside highly variable genes
# ----------------------------
# The usual choice of genes looks at them one by one. How many genes of each programme are among the
# 100 most variable ones?

import pandas as pd

cells = adata.raw.to_adata()
sc.pp.highly_variable_genes(cells, n_top_genes=100)
variable = cells.var["highly_variable"]
group = adata.var["groupfs_group"]
counts = pd.DataFrame({"genes": group.value_counts(), "variable": group[variable].value_counts()})
counts = counts.loc[found.index].assign(representative=found["representative"])
print(counts.to_string())
print(f"{group[variable].isna().sum()} of the 100 are in no group")

# %%
# Both are a list of genes; only the groups say what belongs together. And the handful of scores is
# a table of its own, in which the types can be looked for. Here is how far k-means clusters agree
# with them, the mean of ten seeds (1 is perfect, chance is about 0); :doc:`/guide/cells` has more
# choices of genes and where highly variable genes do better.

from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

agreement = {}
for name, values in {
    f"{len(markers)} scores": adata.obs[list(markers)],
    "100 variable genes": PCA(20, random_state=0).fit_transform(
        scale(cells[:, variable].X.toarray().astype(float))
    ),
}.items():
    values, types = scale(values), adata.obs["bulk_labels"]
    runs = [KMeans(10, n_init=10, random_state=seed).fit_predict(values) for seed in range(10)]
    agreement[name] = sum(adjusted_rand_score(types, clusters) for clusters in runs) / len(runs)
    print(f"{name:<20} {agreement[name]:.2f}")

# %%
# The groups stay in the object when it is written to a file, and so does what these figures are
# drawn from. ``groupfs.anndata.report(adata, "report.html", label="bulk_labels")`` writes a page to
# click through and to pass on.
#
# sphinx_gallery_thumbnail_number = 2
