"""
A pipeline with k-means
=======================

Handwritten digits of few pixels, with as many columns beside them that say nothing. Features are
selected without labels, then k-means looks for ten clusters. Labels are used at the very end, to
see how well clusters and digits agree.
"""

# %%
# Digits, and shuffled digits beside them
# ---------------------------------------
# The left half of each image is a digit. The right half has the same pixels, each shuffled over the
# images on its own: every column keeps its values, and all that columns have in common is gone. So
# the variance of a column does not tell which half it is from.

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
left = digits.images[:500, :, 1:7]  # the outermost columns are nearly always empty
right = np.random.default_rng(0).permuted(left, axis=0)
X = np.concatenate([left, right], axis=2).reshape(500, 8 * 12)
y = digits.target[:500]

# %%
# The pipeline
# ------------
# The selector is a step like any other. All pixels have the same unit, and one that changes more
# does mean more; ``standardize=False`` keeps it that way.

from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

from groupfs import GroupFS

selector = GroupFS(n_features_to_select=24, standardize=False, random_state=0)
pipeline = make_pipeline(selector, KMeans(10, n_init=3, random_state=0))
clusters = pipeline.fit_predict(X)

# %%
# Pixels are chosen one after another, each explaining most of the others on top of those before.
# Strong colours are the pixels selected, pale ones the rest of their groups.

import matplotlib.pyplot as plt

from groupfs.plotting import plot_groups, plot_image_groups

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
plot_image_groups(selector, X, (8, 12), order="C", ax=axes[0])
plot_groups(selector, ax=axes[1])

# %%
# How well do clusters and digits agree?
# --------------------------------------
# Beside it: all columns, the most variable ones, and random ones. Random features are the yardstick
# that no comparison should be without.

from groupfs.baselines import AllFeatures, RandomSelector, VarianceSelector
from groupfs.metrics import clustering_accuracy


def agreement(step):
    found = make_pipeline(step, KMeans(10, n_init=3, random_state=0)).fit_predict(X)
    return clustering_accuracy(y, found)


draws = [agreement(RandomSelector(24, random_state=seed)) for seed in range(5)]
accuracy = {
    "24 random columns (mean of 5)": sum(draws) / len(draws),
    "24 most variable columns": agreement(VarianceSelector(24)),
    "all 96 columns": agreement(AllFeatures()),
    "24 columns by GroupFS": clustering_accuracy(y, clusters),
}

figure, ax = plt.subplots(figsize=(6.5, 2.4), layout="constrained")
colors = ["#B0B0B0", "#B0B0B0", "#B0B0B0", "#0072B2"]
bars = ax.barh(list(accuracy), list(accuracy.values()), color=colors)
ax.bar_label(bars, fmt="%.2f", padding=3)
ax.set(xlabel="share of digits in the cluster of their class", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
plt.show()
# sphinx_gallery_thumbnail_number = 1

# %%
# A quarter of the columns does far better than as many random or variable ones. All columns
# together do well, too: among so many, k-means averages the noise away. Read such a figure with
# care: it is one table and one seed, made to have noise in it. ``experiments/README.md`` compares
# the methods on real tables.
