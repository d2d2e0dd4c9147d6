"""Draw the pictures of the page on how groups are found, and print the numbers on it.

Run ``python docs/guide/draw_groups.py FOLDER``; FOLDER holds ``known-groups/bfi.npz`` (X and names:
the 25 items of the data set bfi of the R package psychTools, gaps filled by medians) and
``single-cell/10x_pbmc68k_reduced.h5ad`` (the cells that scanpy ships).
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import anndata
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from groupfs import FeatureGroups
from groupfs.discovery.chance import Relatedness, chance_cohesion, measure_relatedness
from groupfs.discovery.discover import CHANCE_SEED
from groupfs.discovery.members import group_components
from groupfs.plotting.style import ACCENT, DROPPED, KEPT
from groupfs.utils.types import BoolArray, FloatArray, IntArray

IMAGES = Path(__file__).resolve().parents[1] / "images"
SEED = 0
#: Shuffled items that are added to the questionnaire, and how often that is done.
N_SHUFFLED, N_DRAWS = 10, 10


@dataclass
class Found:
    """A fitted table, and what its features and groups were compared with."""

    title: str
    X: FloatArray
    names: list[str]
    selector: FeatureGroups
    relatedness: Relatedness
    cohesion: FloatArray  #: (C,)
    chance: FloatArray  #: cohesion of chance groups


def find(title: str, X: FloatArray, names: list[str]) -> Found:
    """Fit a table, and look again at what the fit has compared it with."""
    selector = FeatureGroups(device="cpu", random_state=SEED).fit(X)
    table, _ = selector._open(X)
    relatedness = measure_relatedness(table.similarity, CHANCE_SEED)
    place = {column: i for i, column in enumerate(table.columns.tolist())}
    groups = [np.array([place[i] for i in group]) for group in selector.groups_]
    n_related = int(relatedness.related.sum())
    chance = chance_cohesion(relatedness.chance, n_related, None, signed=False)
    cohesion = group_components(table.similarity, groups).cohesion
    return Found(title, X, names, selector, relatedness, cohesion, chance)


def describe(found: Found) -> None:
    """Print what the page says of a table."""
    selector, names = found.selector, found.names
    n_alone = int((selector.group_labels_ < 0).sum())
    print(f"\n{found.title}: {found.X.shape[0]} x {found.X.shape[1]}")
    print(f"unrelated {int((~found.relatedness.related).sum())}, in no group {n_alone}")
    for level in selector.levels_:
        print(f"{level.n_groups:3} groups: agreement {level.agreement:.2f}")
    print(f"shown {selector.n_groups_}")
    print(f"cohesion of {len(found.chance)} chance groups: at most {found.chance.max():.1f}")
    for j, group in enumerate(selector.groups_):
        central = group[np.argsort(-selector.centrality_[group], kind="stable")]
        signs = np.where(selector.group_signs_[central] < 0, "-", "")
        shown = " ".join(f"{s}{names[i]}" for s, i in zip(signs, central, strict=True))
        print(
            f"{'kept' if selector.group_kept_[j] else 'left':5}{len(group):4}  "
            f"smoothness {selector.group_smoothness_[j]:.3f}  cohesion {found.cohesion[j]:6.1f}  "
            f"p {selector.group_pvalues_[j]:.1g}  "
            f"replication {selector.group_replication_[j]:.2f}  {shown[:110]}"
        )


def draw_correlations(found: Found) -> Figure:
    """Draw correlations of the items mixed, and sorted by group with their signs turned."""
    selector = found.selector
    mixed = np.random.default_rng(SEED).permutation(len(found.names))
    turn = np.where(selector.group_signs_ < 0, -1, 1)
    ordered = np.concatenate(selector.groups_)
    figure = Figure(figsize=(8, 4.1), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, order, signs, title in (
        (axes[0], mixed, np.ones_like(turn), "items in any order"),
        (axes[1], ordered, turn, "sorted by group, signs turned"),
    ):
        r = np.corrcoef(found.X[:, order] * signs[order], rowvar=False)
        image = ax.imshow(r, cmap="RdBu_r", vmin=-0.8, vmax=0.8)
        labels = [("-" if signs[i] < 0 else "") + found.names[i] for i in order]
        ax.set_xticks(range(len(order)), labels, size=6, rotation=90)
        ax.set_yticks(range(len(order)), labels, size=6)
        ax.tick_params(length=0)
        ax.set_title(title, size=10)
    edges = np.cumsum([len(group) for group in selector.groups_])[:-1] - 0.5
    for edge in edges:
        axes[1].axhline(edge, color="white", lw=1.5)
        axes[1].axvline(edge, color="white", lw=1.5)
    figure.colorbar(image, ax=axes, label="correlation r", shrink=0.8)
    return figure


def draw_strengths(questionnaire: Found, cells: Found) -> Figure:
    """Draw how far features go with others, against chance."""
    figure = Figure(figsize=(8, 2.9), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, found in zip(axes, (questionnaire, cells), strict=True):
        strength, related = found.relatedness.strength, found.relatedness.related
        chance = found.relatedness.chance.strength.ravel()
        bins = np.linspace(0, max(strength.max(), chance.max()) * 1.02, 45)
        weights = np.full(len(chance), len(strength) / len(chance))
        ax.hist(chance, bins, weights=weights, color=DROPPED, label="shuffled tables")
        ax.hist(strength[related], bins, color=KEPT, alpha=0.8, label="related")
        ax.hist(strength[~related], bins, histtype="step", color=ACCENT, lw=1.4, label="unrelated")
        ax.set(xlabel="mean of the three largest |r|", ylabel="features", title=found.title)
        _plain(ax)
    axes[1].legend(frameon=False, fontsize=8)
    return figure


def draw_cohesion(tables: list[Found]) -> Figure:
    """Draw cohesion of groups against that of chance groups."""
    figure = Figure(figsize=(8, 2.7), layout="constrained")
    axes = figure.subplots(1, len(tables))
    for ax, found in zip(axes, tables, strict=True):
        kept = found.selector.group_kept_
        every = np.concatenate([found.chance, found.cohesion])
        bins = np.geomspace(max(every.min(), 0.1) * 0.9, every.max() * 1.1, 50)
        heights, _, _ = ax.hist(
            found.chance, bins, color=DROPPED, label="groups of shuffled tables"
        )
        y = np.linspace(0.25, 0.9, len(kept)) * heights.max()
        ax.scatter(found.cohesion[kept], y[kept], color=KEPT, s=22, label="kept")
        if not kept.all():
            ax.scatter(
                found.cohesion[~kept], y[~kept], s=22, fc="none", ec=ACCENT, label="not kept"
            )
        ax.set(xscale="log", xlabel="cohesion", ylabel="chance groups", title=found.title)
        ax.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        ax.minorticks_off()
        _plain(ax)
    axes[1].legend(frameon=False, fontsize=8)
    return figure


def with_shuffled(X: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Add shuffled copies of some columns, and say of which."""
    columns = np.sort(rng.choice(X.shape[1], N_SHUFFLED, replace=False))
    return np.hstack([X, rng.permuted(X[:, columns], axis=0)]), columns


def is_elsewhere(labels: IntArray, scales: IntArray) -> BoolArray:
    """Find the items that are not in the group that most items of their scale are in."""
    usual = np.array([np.bincount(labels[scales == scale] + 1).argmax() - 1 for scale in scales])
    return labels != usual


def _plain(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.title.set_fontsize(10)


def main(folder: Path) -> None:
    """Read the tables, fit them, print and draw."""
    warnings.simplefilter("ignore")
    items = np.load(folder / "known-groups/bfi.npz")
    X, names = items["X"], items["names"].tolist()
    rng = np.random.default_rng(SEED)
    more, columns = with_shuffled(X, rng)
    raw = anndata.read_h5ad(folder / "single-cell/10x_pbmc68k_reduced.h5ad").raw
    questionnaire = find("questionnaire", X, names)
    describe(questionnaire)
    mixed = find(
        "questionnaire and shuffled items", more, names + [f"shuffled_{names[i]}" for i in columns]
    )
    describe(mixed)
    p_values = mixed.selector.relatedness_pvalues_
    print(f"p-values of items: at most {p_values[: len(names)].max():.1g}")
    print("p-values of shuffled items:", np.sort(p_values[len(names) :]).round(3))
    for draw in range(1, N_DRAWS):
        other, _ = with_shuffled(X, rng)
        labels = FeatureGroups(device="cpu", random_state=draw).fit(other).group_labels_
        away = [names[i] for i in np.flatnonzero(is_elsewhere(labels[: len(names)], items["g"]))]
        n_outside = int((labels[len(names) :] < 0).sum())
        print(f"draw {draw + 1}: {n_outside} shuffled items in no group, items elsewhere: {away}")
    cells = find("blood cells", np.asarray(raw.X.todense()), raw.var_names.tolist())
    describe(cells)
    pictures = {
        "correlations": draw_correlations(questionnaire),
        "strength": draw_strengths(mixed, cells),
        "cohesion": draw_cohesion([questionnaire, cells]),
    }
    for name, figure in pictures.items():
        figure.savefig(IMAGES / f"groups-{name}.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
