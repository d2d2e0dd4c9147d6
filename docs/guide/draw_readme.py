"""Draw the picture of the README: a questionnaire sorted into its scales, cells, figure 3.

Run ``python docs/guide/draw_readme.py FOLDER`` after ``python -m experiments.figure3 --out
experiments/results/figure3``; FOLDER holds ``known-groups/bfi.npz`` (X and names:
the 25 items of the data set bfi of the R package psychTools, gaps filled by medians) and
``single-cell/10x_pbmc68k_reduced.h5ad`` (the cells that scanpy ships).
"""

import sys
import warnings
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
from matplotlib.figure import Figure, SubFigure

from groupfs import FeatureGroups
from groupfs.anndata import select_groups
from groupfs.utils.types import FloatArray, IntArray

IMAGES = Path(__file__).resolve().parents[1] / "images"
FITS = IMAGES.parents[1] / "experiments" / "results" / "figure3" / "fits.csv"
RATES = {"rg_sim": "RG$_{sim}$", "tpr": "TPR", "fdr": "FDR"}
#: Programmes that are drawn, those with the highest scores first, and genes that name each.
N_PROGRAMMES, N_GENES = 6, 2
#: What the letters of the items stand for.
SCALES = {
    "N": "Neuroticism",
    "E": "Extraversion",
    "C": "Conscient.",
    "A": "Agreeableness",
    "O": "Openness",
}


def draw_questionnaire(figure: SubFigure, X: FloatArray, names: list[str]) -> None:
    """Draw correlations of the items as they come, and sorted by the groups that are found."""
    selector = FeatureGroups(random_state=0).fit(pd.DataFrame(X, columns=names))
    print(selector.to_frame().to_string())
    as_they_come = np.random.default_rng(0).permutation(len(names))
    by_group = np.concatenate(
        [group[np.argsort(-selector.centrality_[group])] for group in selector.groups_]
    )
    turn = np.where(selector.group_signs_ < 0, -1, 1)
    left, right = figure.subplots(1, 2)
    _draw_correlations(left, X, names, as_they_come, np.ones_like(turn))
    _draw_correlations(right, X, names, by_group, turn)
    edges = np.cumsum([0, *map(len, selector.groups_)]) - 0.5
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        box = [start, stop, stop, start, start], [start, start, stop, stop, start]
        right.plot(*box, color="black", linewidth=0.9)
        scale = SCALES[names[by_group[int(start + 1)]][0]]
        right.text(len(names), (start + stop) / 2, scale, fontsize=5.5, rotation=270, va="center")
    left.set_title("25 items of a questionnaire, in random order", fontsize=9)
    right.set_title(f"sorted into the {selector.n_groups_} groups found: its scales", fontsize=9)


def _draw_correlations(
    ax: object, X: FloatArray, names: list[str], order: IntArray, turn: IntArray
) -> None:
    r = np.corrcoef(X[:, order] * turn[order], rowvar=False)
    ax.imshow(r, cmap="RdBu_r", vmin=-0.7, vmax=0.7)
    marked = ["−" * int(turn[i] < 0) + names[i] for i in order]
    ax.set_yticks(range(len(order)), marked, fontsize=6)
    ax.set_xticks([])
    ax.tick_params(length=0, pad=1)
    ax.spines[:].set_visible(False)


def draw_cells(figure: SubFigure, path: Path) -> None:
    """Draw every cell at its place in the umap, coloured by its scores of some programmes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = anndata.read_h5ad(path)
    places = cells.obsm["X_umap"]
    cells = cells.raw.to_adata()
    select_groups(cells)
    scores = np.asarray(cells.obsm["groupfs_scores"])
    groups, group_of = cells.uns["groupfs"]["groups"], cells.var["groupfs_group"].astype(str)
    print(groups.to_string())
    axes = figure.subplots(2, N_PROGRAMMES // 2).ravel()
    for j, ax in enumerate(axes):
        members = cells.var[group_of == groups.index[j]].query("groupfs_sign > 0")
        central = members.sort_values("groupfs_centrality", ascending=False).index
        most = np.quantile(np.abs(scores[:, j]), 0.98)
        ax.scatter(
            *places.T, c=scores[:, j], s=3, cmap="RdBu_r", vmin=-most, vmax=most, linewidths=0
        )
        ax.set_title(", ".join(central[:N_GENES]), fontsize=7, style="italic", pad=3)
        ax.set_axis_off()
    n_kept = int(groups["kept"].sum())
    figure.suptitle(
        f"700 blood cells, coloured by {N_PROGRAMMES} of the {n_kept} gene programmes found",
        fontsize=9,
    )


def draw_figure_3(figure: SubFigure, fits: pd.DataFrame) -> None:
    """Draw the paper's rates for every number of features and of groups, means over ten seeds."""
    own = fits[fits["variant"] == "100 rows"]
    axes = figure.subplots(3, 1, sharex=True)
    for ax, (rate, name) in zip(axes, RATES.items(), strict=True):
        mean = own.pivot_table(index="C", columns="n_features", values=rate)
        sides = (mean.columns[0] - 0.5, mean.columns[-1] + 0.5)
        extent = (*sides, mean.index[0] - 0.5, mean.index[-1] + 0.5)
        best = "cividis_r" if rate == "fdr" else "cividis"
        image = {"cmap": best, "vmin": 0, "vmax": 1, "origin": "lower", "aspect": "auto"}
        shown = ax.imshow(mean.to_numpy(), extent=extent, **image)
        ax.set_ylabel(f"{name}\ngroups C", fontsize=7)
        ax.tick_params(labelsize=6, length=2)
        ax.set_yticks([3, 12, 20])
        figure.colorbar(shown, ax=ax, ticks=[0, 1], pad=0.03).ax.tick_params(labelsize=6)
    axes[-1].set_xlabel("features d", fontsize=7)
    figure.suptitle("the paper's figure 3", fontsize=9)


def main(folder: Path) -> None:
    """Draw the three parts and write the picture."""
    stored = np.load(folder / "known-groups" / "bfi.npz")
    figure = Figure(figsize=(12.8, 3.6), layout="constrained")
    left, right, paper = figure.subfigures(1, 3, width_ratios=[1.25, 1, 0.42], wspace=0.02)
    draw_questionnaire(left, stored["X"], [str(name) for name in stored["names"]])
    draw_cells(right, folder / "single-cell" / "10x_pbmc68k_reduced.h5ad")
    draw_figure_3(paper, pd.read_csv(FITS))
    figure.savefig(IMAGES / "readme.png", dpi=160)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
