"""
A questionnaire
===============

Eight hundred people answered 26 items on a scale from 1 to 5. Twenty items belong to four scales of
five; six were thrown in and measure nothing in common. As in most questionnaires, some items are
worded the other way round, some are much better than others, and people high on one scale are a
little higher on the others too. Nobody tells the selector which item belongs where.
"""

# %%
# Made-up answers
# ---------------

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
SCALES = ["calm", "curious", "orderly", "sociable"]
REVERSED = ["calm_2", "curious_4", "orderly_5", "sociable_1"]

N_PEOPLE, LOADINGS = 800, [0.75, 0.7, 0.6, 0.5, 0.45]


def answers(trait, loading):
    """What an item shares with a trait, and what it does not."""
    return loading * trait + np.sqrt(1 - loading**2) * rng.standard_normal(N_PEOPLE)


common = rng.standard_normal(N_PEOPLE)
items = {}
for scale in SCALES:
    trait = answers(common, 0.45)  # traits correlate by 0.2
    items |= {f"{scale}_{i + 1}": answers(trait, loading) for i, loading in enumerate(LOADINGS)}
items |= {f"filler_{i + 1}": answers(common, 0) for i in range(6)}
thresholds = [-1.3, -0.4, 0.4, 1.3]
X = pd.DataFrame({name: 1 + np.digitize(value, thresholds) for name, value in items.items()})
X[REVERSED] = 6 - X[REVERSED]
print(X.iloc[:3, :7])

# %%
# Find the scales
# ---------------
# Nothing has to be turned round first: an item and its reverse say the same, so a reversed item
# finds its scale. A minus marks items that are low where the scale is high. At first the most
# central item sets the direction and has no minus, whatever its wording: ``sociable_1`` is worded
# the other way round, so the others have a minus. ``towards("sociable_2")`` makes that one set it.

from groupfs import FeatureGroups

selector = FeatureGroups(random_state=0).fit(X)
table = selector.to_frame().dropna(subset="group")
marks = np.where(table["centrality"] < 0, "-", "")
for number, names in (marks + table["feature"]).groupby(table["group"]):
    print(f"{number}, replication {selector.group_replication_[number - 1]:.2f}:", ", ".join(names))
print("in no group:", ", ".join(X.columns[selector.group_labels_ < 0]))
selector = selector.towards("sociable_2")
print("now with a minus:", ", ".join(X.columns[selector.group_signs_ < 0]))

# %%
# The groups are the four scales. All of them hold together beyond chance and are found again in
# halves of the people, so all are kept. The fillers go with no other item and are in no group.

n_scales = int(selector.group_kept_.sum())
print(f"{n_scales} scales, {selector.get_support().sum()} items")

# %%
# The four blocks are the scales.

import matplotlib.pyplot as plt

from groupfs.plotting import plot_correlations, plot_groups

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot_correlations(selector, X, ax=axes[0])
plot_groups(selector, ax=axes[1])

# %%
# Scores and a short form
# -----------------------
# A person's score on a scale is the mean of its items, those with a minus turned round and the
# central ones counting most. It is high where the item that sets the direction, after which it is
# called, is high. One item of each scale makes a short form of four.

print(selector.scores_frame(X).head(3).round(2))
print("short form:", ", ".join(X.columns[selector.select(n_per_group=1).features]))

# %%
# A short form of any length is the beginning of one order of the items: each explains most of the
# items of the scales on top of those before it. The curve says what a length is worth.

from groupfs.plotting import plot_explained

plot_explained(selector)
eight = X.columns[selector.select(n_features_to_select=8).features]
print(f"{len(eight)} items explain {selector.explained_[7]:.0%}:", ", ".join(eight))
plt.show()
# sphinx_gallery_thumbnail_number = 1
