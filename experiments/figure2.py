"""Figure 2: two moons (A), correlations within its groups (B), and the loss by both (C, D).

Expected, as printed: the loss falls as the correlation rho grows (C) and stays flat in the noise of
the moons (D); the groups are found throughout. Ten seeds each, with the printed settings and 100
rows (what figure 3 takes), with 1,000 rows, and by default.
About 10 minutes with 2 processes. Needs no data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import running, two_moons
from groupfs.plotting import CYCLE

STUDIES = {"correlation": two_moons.CORRELATIONS, "noise": two_moons.NOISES}
QUICK = {"correlation": [0.6, 0.95], "noise": [0.05, 0.45]}
#: Variants with their label, colour and marker.
SERIES = {
    "100 rows": ("printed settings, 100 rows", CYCLE[5], "o"),
    "1,000 rows": ("printed settings, 1,000 rows", CYCLE[0], "s"),
    "default": ("our default, C chosen", CYCLE[4], "^"),
}
LABELS = {"correlation": r"correlation $\rho$", "noise": "noise of the moons"}
N_SEEDS = 10
#: Correlations whose matrices are shown.
SHOWN = (0.6, 0.8, 0.95)


def cells(quick: bool) -> list[running.Row]:
    return [
        {"study": study, "value": value, "variant": variant, "seed": seed}
        for study, values in (QUICK if quick else STUDIES).items()
        for value in values
        for variant in (("100 rows", "default") if quick else SERIES)
        for seed in range(2 if quick else N_SEEDS)
    ]


def work(study: str, value: float, variant: str, seed: int) -> running.Row:
    settings = {} if variant == "default" else two_moons.printed(study, value)
    return two_moons.fit(variant, seed, {study: value}, settings)


def table(rows: pd.DataFrame, study: str) -> str:
    """Write a line for each value, with loss and rates of every variant."""
    own = rows[rows["study"] == study]
    variants = [variant for variant in SERIES if (own["variant"] == variant).any()]
    lines = []
    for value, at in own.groupby("value"):
        line = [f"{value:.2f}"]
        for variant in variants:
            some = at[at["variant"] == variant]
            rates = " / ".join(f"{some[rate].mean():.2f}" for rate in ("rg_sim", "tpr", "fdr"))
            line.append(f"{some['loss'].mean():.2f} ± {some['loss'].std(ddof=0):.2f}; {rates}")
        lines.append(line)
    head = [study, *(f"{SERIES[variant][0]}: loss; RG_sim / TPR / FDR" for variant in variants)]
    return running.markdown(head, lines)


def ends(rows: pd.DataFrame) -> str:
    """Write the mean loss at the first and the last value of each study, and all exact fits."""
    lines = []
    for variant, (label, *_) in SERIES.items():
        line = [label]
        for study in STUDIES:
            own = rows[(rows["study"] == study) & (rows["variant"] == variant)]
            if len(own):
                loss = own.groupby("value")["loss"].mean()
                line.append(f"{loss.iloc[0]:.2f} to {loss.iloc[-1]:.2f}")
                line.append(f"{own['exact'].sum()} of {len(own)}")
        lines.append(line)
    head = ["", *(f"{study}: {what}" for study in STUDIES for what in ("loss", "exact"))]
    return running.markdown(head, [line for line in lines if len(line) > 1])


def draw(rows: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(11.5, 6.4), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.05))
    places = top.subplots(1, 1 + len(SHOWN), width_ratios=(1.15, *[1] * len(SHOWN)))
    _moons(places[0])
    for ax, rho in zip(places[1:], SHOWN, strict=True):
        X = two_moons.load(100, 0, correlation=rho).data
        shown = ax.imshow(np.corrcoef(X.T), cmap="PuOr", vmin=-1, vmax=1)
        ax.set_title(f"B  $\\rho$ = {rho:g}", fontsize=10)
        ax.set(xticks=[0, 5, 10, 19], yticks=[0, 5, 10, 19])
    top.colorbar(shown, ax=places[-1], shrink=0.8, label="correlation")
    for ax, study, letter in zip(bottom.subplots(1, 2), STUDIES, "CD", strict=True):
        _losses(ax, rows[rows["study"] == study])
        ax.set(xlabel=LABELS[study], ylabel="final loss")
        ax.set_title(f"{letter}  loss by {study}", fontsize=10)
    handles, labels = ax.get_legend_handles_labels()
    bottom.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _moons(ax: Axes) -> None:
    """Draw the moons themselves, by one feature of each group."""
    moons = two_moons.load(1000, 0, correlation=1.0)
    for kind, color in zip((0, 1), (CYCLE[0], CYCLE[5]), strict=True):
        rows = moons.data[moons.target == kind]
        ax.plot(rows[:, 0], rows[:, 5], ".", color=color, markersize=2)
    ax.set(xlabel="features 1 to 5", ylabel="features 6 to 10", xticks=[], yticks=[])
    ax.set_title("A  two moons", fontsize=10)


def _losses(ax: Axes, rows: pd.DataFrame) -> None:
    for variant, (label, color, marker) in SERIES.items():
        by_value = rows[rows["variant"] == variant].groupby("value")["loss"]
        mean, spread = by_value.mean(), by_value.std(ddof=0)
        ax.fill_between(mean.index, mean - spread, mean + spread, color=color, alpha=0.15, lw=0)
        ax.plot(mean.index, mean, color=color, marker=marker, markersize=4, label=label)
    ax.spines[["top", "right"]].set_visible(False)


def main(argv: Sequence[str] | None = None) -> None:
    given = running.options(__file__, __doc__).parse_args(argv)
    rows = running.compute(cells(given.quick), work, given)
    parts = [running.command(rows, "figure2"), *(table(rows, study) for study in STUDIES)]
    running.write(given, rows, parts, ends(rows), {"figure2": draw(rows)})


if __name__ == "__main__":
    main()
