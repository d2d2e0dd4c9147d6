"""How many groups: the curve E(C), its lowest value and local minima, and the paper's C.

Expected on two moons, as printed: 3 groups for rho <= 0.75 and 12 from 0.80 on. On 45 tables each
of 100 and of 1,000 rows; then the real tables, with the full graph of their features, as published.
Needs the published data (``GROUPFS_DATA``); about 1 minute with 2 processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments import data, paper, running, two_moons
from groupfs import GroupFS
from groupfs.data.open_table import open_matrix
from groupfs.joint.clusters import lowest_distortion
from groupfs.joint.graph import feature_walk
from groupfs.plotting import CYCLE

N_SEEDS = 5
ROWS = (100, 1000)
REAL = (*data.NINE, "student")
QUICK_REAL = ("heart_disease", "student")
K = 7


def curve_of(X: Any) -> dict[int, float]:
    """Compute E(C) as ``GroupFS(preset="paper")`` does before training."""
    table = open_matrix(GroupFS(), X, True)
    _, curve, _ = lowest_distortion(feature_walk(table.similarity, K, None))
    return curve


def minima(curve: dict[int, float]) -> list[int]:
    """List the C at which E(C) is below both of its neighbours, or below one at an end."""
    return [
        C for C, E in curve.items() if curve.get(C - 1, np.inf) > E and curve.get(C + 1, np.inf) > E
    ]


def work(table: str, n_samples: int = 0, correlation: float = 0.0, seed: int = 0) -> running.Row:
    if table == "two_moons":
        X = two_moons.load(n_samples, seed, correlation=correlation).data
        printed = two_moons.printed("correlation", correlation)["n_groups"]
    else:
        X = data.load(table).X
        printed = (paper.settings("groupfs_corrected", table) or {})["n_groups"]
    curve = curve_of(X)
    return {
        "printed": printed,
        "lowest": min(curve, key=lambda C: curve[C]),
        "minima": " ".join(map(str, minima(curve))),
        "curve": " ".join(f"{E / X.shape[1]:.5f}" for E in curve.values()),
        "machine": running.machine(),
    }


def moons_table(rows: pd.DataFrame) -> str:
    """Write the C of the lowest E(C) by correlation, and on how many tables it is the printed."""
    lines = []
    for correlation, own in rows.groupby("correlation"):
        numbers = [
            ", ".join(map(str, own[own["n_samples"] == n]["lowest"].astype(int))) for n in ROWS
        ]
        lines.append([f"{correlation:.2f}", f"{own['printed'].iloc[0]:.0f}", *numbers])
    hits = (rows["printed"] == rows["lowest"]).groupby(rows["n_samples"])
    total = [f"{hits.sum()[n]} of {hits.size()[n]}" for n in ROWS]
    lines.append(["the printed C", "", *total])
    return running.markdown(["rho", "the paper", *(f"{n:,} rows, by seed" for n in ROWS)], lines)


def real_table(rows: pd.DataFrame) -> str:
    lines = [
        [
            row.table,
            running.number(row.printed, ".0f"),
            f"{row.lowest:.0f}",
            row.minima.replace(" ", ", "),
        ]
        for row in rows.itertuples()
    ]
    return running.markdown(["", "the paper's C", "lowest E(C)", "local minima"], lines)


def draw(rows: pd.DataFrame) -> Figure:
    """Draw E(C) / d of every real table and of one of two moons, with both C marked."""
    moons = rows[(rows["correlation"] == 0.95) & (rows["n_samples"] == 1000)].head(1)
    shown = pd.concat([moons, rows[rows["table"] != "two_moons"]])
    n_rows = -(-len(shown) // 4)
    figure = Figure(figsize=(12, 0.5 + 2.5 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, 4, squeeze=False).ravel()
    for ax in axes[len(shown) :]:
        ax.set_axis_off()
    for ax, row in zip(axes, shown.itertuples(), strict=False):
        curve = np.array(row.curve.split(), dtype=float)
        C = np.arange(2, 2 + len(curve))
        ax.plot(C, curve, color=CYCLE[0])
        ax.plot(row.lowest, curve.min(), "o", color=CYCLE[0], clip_on=False, label="lowest E(C)")
        if row.printed == row.printed:
            ax.axvline(row.printed, color=CYCLE[5], linestyle=":", label="the paper's C")
        ax.set_title(row.table, fontsize=10)
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("groups C")
    figure.supylabel("E(C) / d")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return figure


def main(argv: Sequence[str] | None = None) -> None:
    given = running.options(__file__, __doc__).parse_args(argv)
    moons = [
        {"table": "two_moons", "n_samples": n, "correlation": rho, "seed": seed}
        for n in ROWS
        for rho in two_moons.CORRELATIONS
        for seed in range(1 if given.quick else N_SEEDS)
    ]
    real = [{"table": table} for table in (QUICK_REAL if given.quick else REAL)]
    rows = running.compute([*moons, *real], work, given)
    is_moons = rows["table"] == "two_moons"
    parts = [
        running.command(rows, "choosing_c"),
        moons_table(rows[is_moons]),
        real_table(rows[~is_moons]),
    ]
    short = real_table(rows[~is_moons])
    running.write(given, rows, parts, short, {"choosing_c": draw(rows)})


if __name__ == "__main__":
    main()
