"""Draw the pictures of the page on how many features to take, and print the numbers on it.

Run ``python docs/guide/draw_explained.py FOLDER``; FOLDER holds the two files that
``draw_groups.py`` reads. The faces are ``fetch_dataset("yale")``.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import anndata
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.preprocessing import StandardScaler

from groupfs import FeatureGroups
from groupfs.datasets import fetch_dataset
from groupfs.plotting.style import ACCENT, DROPPED, KEPT
from groupfs.utils.types import FloatArray, IntArray

IMAGES = Path(__file__).resolve().parents[1] / "images"
SEED = 0
#: Tables with more features are drawn on a log scale.
MOST_LINEAR = 100
#: How many orders by chance are averaged, and how many features are shown in print.
N_CHANCE, N_SHOWN = 10, 10
#: The share that is marked, and the shares of which the number of features is printed.
ENOUGH = 0.9
SHARES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass
class Fitted:
    """A table and what was fitted to all of its rows, and to one half of them."""

    title: str
    X: FloatArray
    names: list[str]
    selector: FeatureGroups
    chance: FloatArray  #: what the first k related features in any order explain, mean, (k,)
    n_tried: IntArray  #: numbers of features of the two below
    same_rows: FloatArray  #: what they explain in the half of the rows they were chosen in
    other_rows: FloatArray  #: what they explain in the other half


def fit(title: str, X: FloatArray, names: list[str]) -> Fitted:
    """Fit a table and one half of its rows, which are drawn."""
    selector = FeatureGroups(device="cpu", random_state=SEED).fit(X)
    rng = np.random.default_rng(SEED)
    chance = explained_by_chance(selector, X, rng)
    rows = rng.permutation(len(X))
    here, there = X[rows[: len(X) // 2]], X[rows[len(X) // 2 :]]
    half = FeatureGroups(device="cpu", random_state=SEED).fit(here)
    most = min(len(half.feature_order_), len(here) - 2)
    n_tried = np.unique(np.geomspace(1, most, 40).astype(int))
    other = np.array([explained_elsewhere(half, here, there, int(k)) for k in n_tried])
    return Fitted(title, X, names, selector, chance, n_tried, half.explained_[n_tried - 1], other)


def explained_by_chance(
    selector: FeatureGroups, X: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Compute what related features in any order explain, on average over several orders."""
    weights = selector.feature_weights_
    related = np.flatnonzero(weights > 0)
    Z = StandardScaler().fit_transform(X[:, related]) / np.sqrt(len(X))
    curves = []
    for _ in range(N_CHANCE):
        Q, _ = np.linalg.qr(Z[:, rng.permutation(len(related))[: len(X) - 1]])
        curves.append(np.cumsum((Q.T @ Z) ** 2 @ weights[related]))
    return np.mean(curves, axis=0)


def explained_elsewhere(half: FeatureGroups, here: FloatArray, there: FloatArray, k: int) -> float:
    """Compute the weighted mean of R squared of the first k features in rows not seen.

    The regressions are those of the rows that were seen. Features that vary in both count.
    """
    first = half.feature_order_[:k]
    variance = ((there - here.mean(0)) ** 2).mean(0)
    weights = half.feature_weights_ * (variance > 0)
    counted = np.flatnonzero(weights)
    A, B = here[:, first] - here[:, first].mean(0), there[:, first] - here[:, first].mean(0)
    Y = here[:, counted] - here[:, counted].mean(0)
    predicted = B @ np.linalg.lstsq(A, Y, rcond=1e-10)[0]
    missed = ((there[:, counted] - here[:, counted].mean(0) - predicted) ** 2).mean(0)
    return float(np.average(1 - missed / variance[counted], weights=weights[counted]))


def describe(found: Fitted) -> None:
    """Print what the page says of a table."""
    selector, explained = found.selector, found.selector.explained_
    weights = selector.feature_weights_
    counted = weights[weights > 0] * (weights > 0).sum()
    print(f"\n{found.title}: {found.X.shape[0]} x {found.X.shape[1]}, {selector.n_groups_} groups")
    print(f"{len(counted)} features count, weights of {counted.min():.2f} to {counted.max():.2f}")
    for share in SHARES:
        k, n_chance = (1 + np.searchsorted(curve, share) for curve in (explained, found.chance))
        print(f"{share:.0%} explained by {k} features; in any order by {n_chance}")
    first = first_of_groups(selector) + 1
    print(f"first features of the kept groups: {np.sort(first)}")
    for place, feature in enumerate(selector.feature_order_[:N_SHOWN]):
        group = selector.group_labels_[feature]
        print(f"{place + 1:3} {found.names[feature]:10} group {group} {explained[place]:.3f}")
    for place in (2, 5, 10, 25, 50, 100, 164, 200):
        if place <= len(explained):
            print(f"{place} features: {explained[place - 1]:.3f}")
    for k, same, other in zip(found.n_tried, found.same_rows, found.other_rows, strict=True):
        print(f"half the rows, {k} features: there {same:.3f}, in the other half {other:.3f}")


def draw_curves(tables: list[Fitted]) -> Figure:
    """Draw what the first features explain, beside features in any order."""
    figure = Figure(figsize=(8.4, 2.9), layout="constrained")
    axes = figure.subplots(1, len(tables), sharey=True)
    for ax, found in zip(axes, tables, strict=True):
        explained = found.selector.explained_
        n_enough = found.selector.select(explain=ENOUGH).support.sum()
        ax.plot(np.arange(len(explained)) + 1, explained, color=KEPT, label="in the order chosen")
        chance = {"color": ACCENT, "lw": 1.0, "ls": "--", "label": "related features in any order"}
        ax.plot(np.arange(len(found.chance)) + 1, found.chance, **chance)
        first = first_of_groups(found.selector)
        ax.plot(first + 1, explained[first], "k.", ms=4.5, label="first feature of a group")
        ax.plot([1, n_enough, n_enough], [ENOUGH, ENOUGH, 0], color=DROPPED, lw=0.9, ls=":")
        _plain(ax, f"{found.title}\n90 % by {n_enough:,} of {found.X.shape[1]:,} features")
        if len(explained) > MOST_LINEAR:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    axes[-1].legend(framealpha=1, edgecolor="none", fontsize=7, loc="lower right")
    return figure


def first_of_groups(selector: FeatureGroups) -> IntArray:
    """Find the places in the order at which a kept group comes for the first time."""
    kept = np.flatnonzero(selector.group_kept_)
    in_order = selector.group_labels_[selector.feature_order_]
    return np.array([np.flatnonzero(in_order == group)[0] for group in kept])


def draw_other_rows(tables: list[Fitted]) -> Figure:
    """Draw what features chosen in one half of the rows explain there and in the other half."""
    figure = Figure(figsize=(8.4, 2.6), layout="constrained")
    axes = figure.subplots(1, len(tables), sharey=True)
    for ax, found in zip(axes, tables, strict=True):
        ax.plot(found.n_tried, found.same_rows, color=KEPT, label="in the rows of the fit")
        ax.plot(found.n_tried, found.other_rows, color=ACCENT, label="in other rows")
        n_here = len(found.X) // 2
        _plain(ax, f"{found.title}\nfitted to {n_here:,} of {len(found.X):,} rows")
        if found.X.shape[1] > MOST_LINEAR:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    axes[0].legend(frameon=False, fontsize=7, loc="lower right")
    return figure


def _plain(ax: Axes, title: str) -> None:
    ax.set_title(title, size=8.5)
    ax.set_xlabel("number of features", size=8)
    if ax.get_subplotspec().is_first_col():
        ax.set_ylabel("share explained", size=8)
    ax.set_ylim(0, 1.03)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    ax.tick_params(labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)


def main(folder: Path) -> None:
    """Read the tables, fit them, print and draw."""
    warnings.simplefilter("ignore")
    items = np.load(folder / "known-groups/bfi.npz")
    raw = anndata.read_h5ad(folder / "single-cell/10x_pbmc68k_reduced.h5ad").raw
    faces = fetch_dataset("yale").data
    tables = [
        fit("questionnaire", items["X"], items["names"].tolist()),
        fit("blood cells", np.asarray(raw.X.todense()), raw.var_names.tolist()),
        fit("faces", faces, [f"pixel {i}" for i in range(faces.shape[1])]),
    ]
    for found in tables:
        describe(found)
    draw_curves(tables).savefig(IMAGES / "explained-curves.png", dpi=110)
    draw_other_rows(tables).savefig(IMAGES / "explained-other-rows.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
