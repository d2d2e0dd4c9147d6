"""
A questionnaire
===============

Four hundred people answered 26 items on a scale from 1 to 5. Twenty items belong to four scales of
five; six were thrown in and measure nothing in common. Some items are worded the other way round,
as in most questionnaires. Nobody tells the selector which item belongs where.
"""

# %%
# Made-up answers
# ---------------

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
SCALES = ["calm", "curious", "orderly", "sociable"]
REVERSED = ["calm_2", "curious_4", "orderly_5", "sociable_1"]

traits = rng.standard_normal((400, len(SCALES)))
items = {
    f"{scale}_{number + 1}": 0.8 * traits[:, j] + 0.6 * rng.standard_normal(400)
    for j, scale in enumerate(SCALES)
    for number in range(5)
}
items |= {f"filler_{number + 1}": rng.standard_normal(400) for number in range(6)}
thresholds = [-1.3, -0.4, 0.4, 1.3]
X = pd.DataFrame({name: 1 + np.digitize(value, thresholds) for name, value in items.items()})
X[REVERSED] = 6 - X[REVERSED]
print(X.iloc[:3, :7])

# %%
# Turn reversed items round first
# -------------------------------
# A feature and its negative are as far apart as two features can be, so a reversed item would not
# find its scale. Whoever wrote the questionnaire knows these items; their correlations with the
# rest of their scale give them away, too.

for name in REVERSED:
    rest = [item for item in X if item.startswith(name[:-1]) and item != name]
    print(f"{name:11} {X[rest].corrwith(X[name]).mean():.2f}")
X[REVERSED] = 6 - X[REVERSED]

# %%
# Find the scales
# ---------------

from groupfs import GroupFS

selector = GroupFS(random_state=0).fit(X)
for group, p, gate in zip(
    selector.groups_, selector.group_pvalues_, selector.group_gates_, strict=True
):
    print(f"p = {p:.1g}, gate {gate:5.2f}: ", ", ".join(X.columns[group]))

# %%
# The groups are the four scales and the fillers, and the p-values of the four stand out. Yet not
# all of their gates are open. The scales were made independent of each other, and people cannot be
# neighbours in four independent things as well as in two: such groups compete. If all groups that
# stand out from chance are wanted, ask for that many.

n_scales = int((selector.group_pvalues_ < selector.alpha).sum())
selector = GroupFS(n_groups_to_select=n_scales, random_state=0).fit(X)
print(f"{n_scales} scales, {selector.get_support().sum()} items")

# %%
# The four blocks are the scales; what is left over are the fillers.

import matplotlib.pyplot as plt

from groupfs.plotting import plot_affinity, plot_groups

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot_affinity(selector, X, ax=axes[0])
plot_groups(selector, ax=axes[1])

# %%
# Scores and a short form
# -----------------------
# The mean of its items is a person's score on a scale. The most central item of each scale makes a
# short form of four questions.

kept = np.flatnonzero(selector.group_selected_)
scores = pd.DataFrame({f"scale {j + 1}": X.iloc[:, selector.groups_[j]].mean(axis=1) for j in kept})
print(scores.head(3).round(2))
print("short form:", ", ".join(X.columns[selector.representatives_[kept]]))
plt.show()
# sphinx_gallery_thumbnail_number = 1
