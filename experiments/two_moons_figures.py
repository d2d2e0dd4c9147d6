"""Figures of the two-moons studies, drawn from the summary that ``two_moons.aggregate`` gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from experiments.drawing import save
from groupfs.plotting import CYCLE

Summary = list[dict[str, Any]]

RATES = {
    "rg_sim": "RG$_{sim}$",
    "tpr": "TPR",
    "fdr": "FDR",
    "kept_tpr": "TPR of kept groups",
    "kept_fdr": "FDR of kept groups",
}
AXES = {"correlation": r"correlation $\rho$", "noise": "noise of the moons"}
#: Variant, whether C is chosen, label, colour, marker, its size, line. Curves that coincide show
#: one through the other.
SERIES = (
    ("default", True, "default, C chosen", CYCLE[4], "o", 7, "-"),
    ("default", False, "default, the paper's C", CYCLE[0], "s", 3.5, "--"),
    ("paper", False, "the paper's settings", CYCLE[5], "^", 5, ":"),
)
MISSING = "#E4E4E4"


def draw(summary: Summary, folder: Path) -> None:
    """Draw all figures, as PNG and SVG."""
    curves(summary, folder)
    for variant in ("default", "paper"):
        heat_maps(summary, variant, folder)


def curves(summary: Summary, folder: Path) -> None:
    """Draw loss and rates over the correlation and over the noise, with bands of a deviation."""
    names = {"loss": "loss", **RATES}
    figure = Figure(figsize=(15, 5.4), layout="constrained")
    grid = figure.subplots(2, len(names), sharex="row", squeeze=False)
    for study, axes in zip(AXES, grid, strict=True):
        for ax, (measure, title) in zip(axes, names.items(), strict=True):
            rows = [row for row in summary if row["key"]["study"] == study]
            _curves(ax, rows, study, measure)
            ax.set_title(title, fontsize=10)
            ax.set_xlabel(AXES[study])
            ax.spines[["top", "right"]].set_visible(False)
            if measure in RATES:
                ax.set_ylim(-0.04, 1.04)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    save(figure, folder, "two_moons_curves")


def _curves(ax: Axes, rows: Summary, study: str, measure: str) -> None:
    for variant, chosen, label, color, marker, size, line in SERIES:
        own = [
            (row["key"][study], row[f"{measure}_mean"], row[f"{measure}_std"])
            for row in rows
            if row["key"]["variant"] == variant and (row["key"]["n_groups"] == "auto") == chosen
        ]
        if not own:
            continue
        x, mean, std = np.array(sorted(own)).T
        low, high = mean - std, mean + std
        if measure in RATES:
            low, high = low.clip(0, 1), high.clip(0, 1)
        ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
        ax.plot(x, mean, line, color=color, marker=marker, markersize=size, label=label)


def heat_maps(summary: Summary, variant: str, folder: Path) -> None:
    """Draw mean and deviation of every rate for each number of groups and of features."""
    rows = [
        row for row in summary if row["key"]["study"] == "grid" and row["key"]["variant"] == variant
    ]
    if not rows:
        return
    figure = Figure(figsize=(12.5, 8), layout="constrained")
    grid = figure.subplots(2, len(RATES), sharex=True, sharey=True, squeeze=False)
    for column, (measure, title) in zip(grid.T, RATES.items(), strict=True):
        best = "cividis_r" if "fdr" in measure else "cividis"
        _heat_map(column[0], rows, f"{measure}_mean", best, 1.0)
        _heat_map(column[1], rows, f"{measure}_std", "viridis", 0.5)
        column[0].set_title(f"{title}, mean", fontsize=10)
        column[1].set_title(f"{title}, std", fontsize=10)
        column[1].set_xlabel("features d")
    for ax in grid[:, 0]:
        ax.set_ylabel("groups C")
    label = "our default" if variant == "default" else "the paper's settings"
    figure.suptitle(
        f"Two moons with {label} (framed: 3 $\\leq$ C $\\leq$ d - 8; means: yellow is best)"
    )
    save(figure, folder, f"two_moons_grid_{variant}")


def _heat_map(ax: Axes, rows: Summary, name: str, cmap: str, most: float) -> None:
    places = [(row["key"]["n_groups"], row["key"]["n_features"], row[name]) for row in rows]
    C, d, values = (np.array(axis) for axis in zip(*places, strict=True))
    image = np.full((C.max() - C.min() + 1, d.max() - d.min() + 1), np.nan)
    image[C - C.min(), d - d.min()] = values
    extent = (d.min() - 0.5, d.max() + 0.5, C.min() - 0.5, C.max() + 0.5)
    ax.set_facecolor(MISSING)
    shown = ax.imshow(
        image, cmap=cmap, vmin=0, vmax=most, origin="lower", extent=extent, aspect="auto"
    )
    columns = np.arange(d.min(), d.max() + 1)
    sides = np.column_stack([columns - 0.5, columns + 0.5]).ravel()
    top = np.repeat(columns - 8 + 0.5, 2)
    frame = np.column_stack([[sides[0], *sides, sides[-1]], [2.5, *top, 2.5]])
    ax.add_patch(Polygon(frame, fill=False, edgecolor="white", linewidth=2.5))
    ax.add_patch(Polygon(frame, fill=False, edgecolor=CYCLE[5], linewidth=1.2))
    ax.set_xticks(np.unique(d))
    ax.set_yticks(range(C.min(), C.max() + 1, 3))
    ax.figure.colorbar(shown, ax=ax, location="bottom", shrink=0.8, pad=0.02)
