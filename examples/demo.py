"""FeatureGroups on the two-moons table, nothing set: what it finds, and a figure of how.

Run with ``make demo`` or ``python -m examples.demo``.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

from groupfs import FeatureGroups
from groupfs.datasets import load_two_moons
from groupfs.plotting import plot_correlations, plot_explained, plot_groups

FIGURE = Path("out") / "demo.png"


def main() -> None:
    moons = load_two_moons(random_state=0)
    X = pd.DataFrame(moons.data, columns=moons.feature_names)
    print(f"Two moons: {X.shape[0]} samples, {X.shape[1]} features, 10 of them noise. No labels.\n")

    began = time.perf_counter()
    selector = FeatureGroups(random_state=0).fit(X)
    seconds = time.perf_counter() - began

    print(f"{'group':>5} {'replication':>12} {'kept':>5}  features")
    for j, group in enumerate(selector.groups_):
        kept = "yes" if selector.group_kept_[j] else "no"
        again = selector.group_replication_[j]
        print(f"{j + 1:>5} {again:>12.2f} {kept:>5}  {', '.join(X.columns[group])}")
    print(f"in no group: {', '.join(X.columns[selector.group_labels_ < 0])}")
    few = selector.select(explain=0.9).features
    share = selector.explained_[len(few) - 1]
    names = " and ".join(X.columns[few])
    print(f"\n{names} explain {share:.0%} of the variance of the related features.")
    print(f"Found in {seconds:.1f} s, nothing set.")

    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    plot_correlations(selector, X, ax=axes[0])
    plot_groups(selector, ax=axes[1])
    plot_explained(selector, ax=axes[2])
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=150)
    print(f"Figure: {FIGURE}")


if __name__ == "__main__":
    main()
