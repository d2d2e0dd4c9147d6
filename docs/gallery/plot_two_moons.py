"""
Two moons in twenty features
============================

The table of the paper's first experiment. Samples lie on two interleaved moons. Five features
follow the first coordinate, five the second, each with noise of its own; ten more are noise and
nothing else. Which features belong together, and which matter?
"""

# %%
# The table, and what a single pair of features shows
# ---------------------------------------------------
# With one feature of each kind the moons can be guessed. With two noise features there is nothing
# to see. The colours are for us: the selector never gets them.

import matplotlib.pyplot as plt
import pandas as pd

from groupfs.datasets import load_two_moons

moons = load_two_moons(500, random_state=0)
X = pd.DataFrame(moons.data, columns=moons.feature_names)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for ax, (first, second) in zip(axes, [("x1_1", "x2_1"), ("noise_1", "noise_2")], strict=True):
    ax.scatter(X[first], X[second], c=moons.target, cmap="cividis", s=8)
    ax.set(xlabel=first, ylabel=second)

# %%
# Select
# ------
# Nothing is set but the seed.

from groupfs import FeatureGroups

selector = FeatureGroups(random_state=0).fit(X)
for j, group in enumerate(selector.groups_):
    kept = "kept   " if selector.group_kept_[j] else "dropped"
    print(kept, f"smoothness {selector.group_smoothness_[j]:.2f}", ", ".join(X.columns[group]))

# %%
# Left, the correlations of the features, ordered by group: the two blocks are the two coordinates.
# Middle, how smoothly the samples vary along each group, beyond chance. Right, how much of the
# related features the first features explain.

from groupfs.plotting import plot_correlations, plot_explained, plot_groups

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
plot_correlations(selector, X, ax=axes[0])
plot_groups(selector, ax=axes[1])
plot_explained(selector, ax=axes[2])

# %%
# The published method
# --------------------
# ``GroupFS`` learns groups and gates together. The two moons end with open gates, the noise with a
# closed one.

from groupfs import GroupFS
from groupfs.plotting import plot_history

learned = GroupFS(random_state=0).fit(X)
for j, group in enumerate(learned.groups_):
    print(f"gate {learned.group_gates_[j]:5.2f}", ", ".join(X.columns[group]))
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
plot_history(learned, ax=ax)

# %%
# One feature for each group
# --------------------------
# The most central feature of each kept group is enough to draw the moons.

chosen = FeatureGroups(n_per_group=1, random_state=0).set_output(transform="pandas")
pair = chosen.fit_transform(X)

figure, ax = plt.subplots(figsize=(4.4, 3.4), layout="constrained")
ax.scatter(*pair.to_numpy().T, c=moons.target, cmap="cividis", s=8)
ax.set(xlabel=pair.columns[0], ylabel=pair.columns[1])
plt.show()
# sphinx_gallery_thumbnail_number = 4
