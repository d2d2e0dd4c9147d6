"""GroupFS on the two-moons table, nothing set: what it finds, and a figure of how.

Run with ``make demo`` or ``python -m examples.demo``.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

from groupfs import GroupFS
from groupfs.datasets import load_two_moons
from groupfs.plotting import plot_correlations, plot_groups, plot_history

FIGURE = Path("out") / "demo.png"


def main() -> None:
    moons = load_two_moons(random_state=0)
    X = pd.DataFrame(moons.data, columns=moons.feature_names)
    print(f"Two moons: {X.shape[0]} samples, {X.shape[1]} features, 10 of them noise. No labels.\n")

    began = time.perf_counter()
    selector = GroupFS(random_state=0).fit(X)
    seconds = time.perf_counter() - began

    print(f"{'group':>5} {'score':>7} {'p-value':>8} {'gate':>6} {'kept':>5}  features")
    for j, group in enumerate(selector.groups_):
        kept = "yes" if selector.group_selected_[j] else "no"
        print(
            f"{j + 1:>5} {selector.group_scores_[j]:>7.3f} {selector.group_pvalues_[j]:>8.1g} "
            f"{selector.group_gates_[j]:>6.2f} {kept:>5}  {', '.join(X.columns[group])}"
        )
    print(f"\nSelected: {', '.join(selector.get_feature_names_out())}")
    print(f"{selector.n_groups_} groups, {selector.n_iter_} epochs, {seconds:.1f} s")

    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    plot_correlations(selector, X, ax=axes[0])
    plot_groups(selector, ax=axes[1])
    plot_history(selector, ax=axes[2])
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=150)
    print(f"Figure: {FIGURE}")


if __name__ == "__main__":
    main()
