"""Figure 3: RG_sim, TPR and FDR on two moons for every number of features d and of groups C.

Expected, as printed: for 3 <= C <= d - 8 both groups and nothing else (RG_sim = TPR = 1, FDR = 0)
in almost every run; C = 2 merges noise in, and C > d - 8 takes the groups apart.
Ten seeds with 100 rows, three with 1,000 (the paper does not say how many rows), controls of these,
and our default, which is given C alone. Means and standard deviations. About 45 minutes with 2
processes; ``--variants "100 rows"`` alone 5. Needs no data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from experiments import running, two_moons
from groupfs.plotting import CYCLE

#: Tables of each kind; the others are controls and have one.
SEEDS = {"100 rows": 10, "1,000 rows": 3, "default": 3}
RATES = {"rg_sim": "RG$_{sim}$", "tpr": "TPR", "fdr": "FDR"}
#: Variants that are drawn, with what stands above their columns.
DRAWN = {
    "100 rows": "printed settings, 100 rows",
    "1,000 rows": "printed settings, 1,000 rows",
    "default": "our default, given C",
}
MISSING = "#E4E4E4"


def cells(variants: Sequence[str], quick: bool) -> list[running.Row]:
    grid = {20: [2, 3, 8, 12, 15, 20]} if quick else two_moons.GRID
    return [
        {"variant": variant, "n_features": d, "C": C, "seed": seed}
        for variant in variants
        for d, numbers in grid.items()
        for C in numbers
        for seed in range(1 if quick else SEEDS.get(variant, 1))
    ]


def work(variant: str, n_features: int, C: int, seed: int) -> running.Row:
    settings = two_moons.printed("grid", C=C, d=n_features)
    return two_moons.fit(variant, seed, {"n_features": n_features}, settings)


def inside(rows: pd.DataFrame) -> pd.Series:
    """Which fits lie where the paper finds both groups: 3 <= C <= d - 8."""
    return (rows["C"] >= 3) & (rows["C"] <= rows["n_features"] - 8)


def table(rows: pd.DataFrame) -> str:
    """Count exact runs inside the frame, and describe the corners, a line per variant."""
    head = [
        *("variant", "seeds", "3 <= C <= d - 8: exact", "just the moons' gates open"),
        *("C = 2: RG_sim, TPR, FDR", "C > d - 8: RG_sim, TPR, FDR", "C = d: RG_sim"),
    ]
    lines = []
    for variant, own in rows.groupby("variant", sort=False):
        within = own[inside(own)]
        corners = [own[own["C"] == 2], own[own["C"] > own["n_features"] - 8]]
        means = [" / ".join(f"{corner[rate].mean():.2f}" for rate in RATES) for corner in corners]
        every = own[own["C"] == own["n_features"]]["rg_sim"].mean()
        lines.append(
            [
                str(variant),
                str(own["seed"].nunique()),
                *(_share(within[name]) for name in ("exact", "kept_exact")),
                *means,
                f"{every:.2f}",
            ]
        )
    return running.markdown(head, lines)


def draw(rows: pd.DataFrame) -> Figure:
    """Draw means above and standard deviations below, three rates for each variant."""
    shown = [variant for variant in DRAWN if (rows["variant"] == variant).any()]
    figure = Figure(figsize=(1.0 + 4.1 * len(shown), 5.6), layout="constrained")
    for part, variant in zip(np.ravel(figure.subfigures(1, len(shown))), shown, strict=True):
        own = rows[rows["variant"] == variant]
        part.suptitle(DRAWN[variant], fontsize=11)
        grid = part.subplots(2, len(RATES), sharex=True, sharey=True)
        for column, (rate, title) in zip(grid.T, RATES.items(), strict=True):
            by_cell = own.groupby(["C", "n_features"])[rate]
            mean, spread = by_cell.mean(), by_cell.std(ddof=0)
            _heat_map(column[0], mean, "cividis_r" if rate == "fdr" else "cividis", 1.0)
            _heat_map(column[1], spread, "Greys", 0.5)
            column[0].set_title(title, fontsize=10)
            column[1].set_xlabel("features d")
        for ax, words in zip(grid[:, 0], ("mean", "standard deviation"), strict=True):
            ax.set_ylabel(f"{words}\ngroups C")
    return figure


def main(argv: Sequence[str] | None = None) -> None:
    parser = running.options(
        __file__,
        __doc__,
        variants={"nargs": "+", "default": list(two_moons.VARIANTS), "metavar": "VARIANT"},
    )
    given = parser.parse_args(argv)
    if unknown := set(given.variants) - set(two_moons.VARIANTS):
        parser.error(f"no variant {unknown}; there are {', '.join(two_moons.VARIANTS)}")
    rows = running.compute(cells(given.variants, given.quick), work, given)
    relative = rows[rows["variant"] == "100 rows"]["sparsity"]
    weights = (
        f"Printed λ2 relative to critical, 100 rows: {relative.mean():.2f} ± {relative.std():.2f}"
    )
    parts = [running.command(rows, "figure3"), table(rows), f"{weights}." if len(relative) else ""]
    running.write(given, rows, parts, table(rows), {"figure3": draw(rows)})


def _share(hits: pd.Series) -> str:
    return f"{hits.sum()} of {len(hits)} ({hits.mean():.1%})"


def _heat_map(ax: Axes, values: pd.Series, cmap: str, most: float) -> None:
    """Draw a value for each C and d, with a frame around what the paper finds."""
    image = values.unstack("n_features")
    image = image.reindex(range(image.index.min(), image.index.max() + 1))
    d, C = image.columns.to_numpy(), image.index.to_numpy()
    extent = (d[0] - 0.5, d[-1] + 0.5, C[0] - 0.5, C[-1] + 0.5)
    ax.set_facecolor(MISSING)
    shown = ax.imshow(
        image.to_numpy(), cmap=cmap, vmin=0, vmax=most, origin="lower", extent=extent, aspect="auto"
    )
    sides = np.column_stack([d - 0.5, d + 0.5]).ravel()
    frame = np.column_stack([[sides[0], *sides, sides[-1]], [2.5, *np.repeat(d - 7.5, 2), 2.5]])
    ax.add_patch(Polygon(frame, fill=False, edgecolor="white", linewidth=2.5))
    ax.add_patch(Polygon(frame, fill=False, edgecolor=CYCLE[5], linewidth=1.2))
    ax.set_xticks(d[::2] if len(d) > 4 else d)
    ax.set_yticks(range(C[0], C[-1] + 1, 3))
    ax.figure.colorbar(shown, ax=ax, location="bottom", shrink=0.85, pad=0.02)


if __name__ == "__main__":
    main()
