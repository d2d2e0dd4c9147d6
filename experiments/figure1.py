"""Figure 1: a drawing of the method, our own, of a model that was trained on two moons.

From left to right what a step computes: the batch, memberships M and gates z, the batch gated by
the weights M z of the features, and the graph of its samples; below, the terms of the loss. All of
it is what a fit of ``GroupFS(preset="paper")`` holds. A few seconds; needs no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch

from experiments import running, two_moons
from groupfs import GroupFS
from groupfs.plotting import CYCLE

SEED, C, K = 0, 3, 7
TERMS = {"L_s": r"$L_s$", "L_f": r"$L_f$", "L_reg": r"$L_{reg}$"}


def fit() -> tuple[Any, Any]:
    moons = two_moons.load(100, SEED)
    return moons, GroupFS(preset="paper", n_groups=C, random_state=SEED, device="cpu").fit(
        moons.data
    )


def nearest(X: np.ndarray) -> np.ndarray:
    """Find the K nearest other rows of every row, (N, K)."""
    squared = ((X[:, None] - X) ** 2).sum(-1)
    np.fill_diagonal(squared, np.inf)
    return np.argsort(squared, axis=1)[:, :K]


def draw(moons: Any, model: Any) -> Figure:
    figure = Figure(figsize=(12, 4.9), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(2.4, 1))
    figure.get_layout_engine().set(wspace=0.09)  # room for the arrows
    axes = top.subplots(1, 5, width_ratios=(1.5, 0.75, 0.8, 1.5, 1.6))
    batch, membership, gates, gated, graph = axes
    Z = (moons.data - moons.data.mean(0)) / moons.data.std(0)
    weights = model.feature_gates_
    _image(batch, Z, "the batch $X_B$\n100 rows, 20 features")
    _image(membership, model.membership_, "memberships $M$\nof features in groups", "Blues")
    membership.set_xlabel("groups", fontsize=8)
    places = np.arange(model.n_groups_)
    gates.barh(places, model.group_gates_.clip(0, 1), color=CYCLE[0], height=0.6)
    gates.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
    gates.set(xlim=(0, 1), yticks=[], ylabel="")
    for j in places:
        gates.text(0.03, j, str(j + 1), color="white", fontsize=8, va="center")
    gates.invert_yaxis()
    gates.set_title("gates $z$ of the groups\nopen above ½", fontsize=9)
    _image(gated, Z * weights, "the gated batch $\\tilde X = X_B\\,\\mathrm{diag}(Mz)$\n")
    _graph(graph, moons, Z * weights)
    for start, end in zip(axes[:-1], axes[1:], strict=True):
        _arrow(top, start, end)
    panels = bottom.subplots(1, len(TERMS) + 1)
    for ax, (term, title) in zip(panels, TERMS.items(), strict=False):
        ax.plot([record[term] for record in model.history_], color=CYCLE[5], linewidth=1)
        ax.set_title(title, fontsize=10)
    panels[-1].plot([record["loss"] for record in model.history_], color="black", linewidth=1)
    panels[-1].set_title(r"$L = L_s + \lambda_1 L_f + \lambda_2 L_{reg}$", fontsize=10)
    for ax in panels:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=7)
        ax.set_xlabel("epoch", fontsize=8)
    return figure


def _image(ax: Axes, values: np.ndarray, title: str, cmap: str = "PuOr") -> None:
    most = np.abs(values).max()
    ax.imshow(values, aspect="auto", cmap=cmap, vmin=0 if cmap == "Blues" else -most, vmax=most)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=9)


def _graph(ax: Axes, moons: Any, gated: np.ndarray) -> None:
    """Draw the samples where they lie in the moons, joined to their nearest as gated."""
    places = np.column_stack([moons.data[:, :5].mean(1), moons.data[:, 5:10].mean(1)])
    for i, others in enumerate(nearest(gated)):
        for j in others:
            ax.plot(*places[[i, j]].T, color="0.8", linewidth=0.5, zorder=1)
    colors = np.array([CYCLE[0], CYCLE[5]])[moons.target]
    ax.scatter(*places.T, c=colors, s=9, zorder=2, linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title("graph of the samples, as gated\nrandom walk $P$", fontsize=9)


def _arrow(figure: Any, start: Axes, end: Axes) -> None:
    across = {"coordsA": start.transAxes, "coordsB": end.transAxes, "arrowstyle": "-|>"}
    style = {"color": "0.3", "mutation_scale": 14}
    figure.add_artist(ConnectionPatch((1.02, 0.5), (-0.02, 0.5), **style, **across))


def main(argv: Sequence[str] | None = None) -> None:
    parser = running.options(__file__, __doc__)
    given = parser.parse_args(argv)
    if given.join:
        parser.error("there is nothing to join: the drawing needs the model itself")
    moons, model = fit()
    gates = ", ".join(f"{mu:.2f}" for mu in model.group_gates_)
    sizes = ", ".join(str(len(group)) for group in model.groups_)
    row = {"gates": gates, "sizes": sizes, "seconds": 0.0, "machine": running.machine()}
    table = running.markdown(["features of the groups", "gates"], [[sizes, gates]])
    rows = pd.DataFrame([row])
    parts = [running.command(rows, "figure1"), table]
    running.write(given, rows, parts, table, {"figure1": draw(moons, model)})


if __name__ == "__main__":
    main()
