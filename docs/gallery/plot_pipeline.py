"""
A grid search over budgets
==========================

Measurements of tumours as a data frame: how many of them does a classifier need? The features are
selected without labels, within each fold; the labels are for the classifier, and tell how well
every budget does.
"""

# %%
# A frame of twenty features
# --------------------------
# Cell nuclei were measured in ten ways; here are the mean and the standard error of each.

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

cancer = load_breast_cancer(as_frame=True)
X, y = cancer.data.filter(regex="^mean|error$"), cancer.target
print(X.shape)

# %%
# A step like any other
# ---------------------
# The search finds the groups again for every fold and budget, which takes seconds. One fit for each
# fold is enough with the loop of :doc:`/guide/pipelines`.

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from groupfs import FeatureGroups

budgets = [2, 4, 6, 8, 12, 20]
pipeline = Pipeline(
    [
        ("select", FeatureGroups(random_state=0)),
        ("scale", StandardScaler()),
        ("classify", LogisticRegression()),
    ]
)
search = GridSearchCV(pipeline, {"select__n_features_to_select": budgets}, cv=5).fit(X, y)
as_scores = GridSearchCV(pipeline, {"select__output": ["scores"]}, cv=5).fit(X, y)

# %%
# Random features are the yardstick that no comparison should be without.

from sklearn.model_selection import cross_val_score

from groupfs.baselines import RandomSelector


def by_chance(n_features):
    draws = []
    for seed in range(10):
        chosen = RandomSelector(n_features, random_state=seed)
        steps = [("select", chosen), *pipeline.steps[1:]]
        draws.append(cross_val_score(Pipeline(steps), X, y, cv=5).mean())
    return np.mean(draws)


accuracy = pd.DataFrame(
    {
        "FeatureGroups": search.cv_results_["mean_test_score"],
        "random": [by_chance(budget) for budget in budgets],
    },
    index=budgets,
)
print(accuracy.round(3))

# %%
# What was found
# --------------
# Another budget needs no other fit: a parameter of the selection is heeded at once.

selector = search.best_estimator_["select"].set_params(n_features_to_select=6)
print(selector.get_feature_names_out().tolist())

# %%
# ``to_frame`` has a row for each feature: its group, how central it is there (below zero if it runs
# against the group), how often the group is found again in halves of the rows, and why the feature
# is selected or not.

found = selector.to_frame()
print(found[["feature", "group", "centrality", "replication", "selected"]].round(2).to_string())

# %%
print(found["why"][0])

# %%
# A score for each group
# ----------------------
# In place of features ``transform`` can give one number for each group: the mean of its features in
# units of their deviations, central ones counting more.

selector.set_params(n_features_to_select=None, output="scores").set_output(transform="pandas")
scores = selector.transform(X)
print(scores.head(3).round(2).T)

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
axes[0].plot(budgets, accuracy["random"], "o-", color="#B0B0B0", label="random (mean of 10)")
axes[0].plot(budgets, accuracy["FeatureGroups"], "o-", color="#0072B2", label="FeatureGroups")
n_groups = as_scores.best_estimator_["select"].group_kept_.sum()
axes[0].plot(n_groups, as_scores.best_score_, "D", color="#D55E00", label="scores of groups")
axes[0].set(xlabel="columns", ylabel="accuracy, mean of 5 folds", title="How many are enough?")
axes[0].set_xticks(budgets)
axes[0].legend(frameon=False)
for diagnosis, color in ((1, "#0072B2"), (0, "#D55E00")):
    points = scores[y == diagnosis].to_numpy()[:, :2].T
    axes[1].scatter(*points, s=8, color=color, alpha=0.7, label=cancer.target_names[diagnosis])
axes[1].legend(frameon=False)
axes[1].set(xlabel=scores.columns[0], ylabel=scores.columns[1], title="Two groups, two diagnoses")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Few features, chosen without labels, do better here than as many random ones; from a dozen on it
# makes no difference which, and all twenty do best: where a classifier can have all columns, let it
# have them. The scores of five groups do no better than four single features, but they can be
# read and drawn. It is one table: ``experiments/README.md`` compares the methods on many.
# sphinx_gallery_thumbnail_number = 1
