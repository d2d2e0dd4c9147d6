"""How many groups a table has: the distortion curve E(C), the C we take and the paper's.

Each table is looked at with the feature graph our default keeps and, where that leaves out
neighbours, with the full one, which is the paper's. The curve needs no labels and no seed.

Run with ``python -m experiments.choose_c``; what is finished is not computed again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments import paper, store
from experiments.drawing import save
from experiments.store import Key
from groupfs import GroupFS
from groupfs.datasets import fetch_dataset, load_two_moons
from groupfs.discovery.number_of_groups import choose_n_groups
from groupfs.plotting import CYCLE

NAME = "choose_c"
#: Features of every table, which say whether our graph leaves out neighbours.
N_FEATURES = {"two_moons": 20, "student": 30} | {
    name: size["n_features"] for name, size in paper.results()["datasets"].items()
}
TABLES = tuple(N_FEATURES)
#: With more features than these our graph keeps so many neighbours of each.
MANY_FEATURES, KEPT_NEIGHBORS = 512, 50
#: Tables that take up to a minute.
SLOW = ("allaml",)
MOST_GROUPS = 30


def cells(tables: Iterable[str] = TABLES, quick: bool = False) -> Iterator[Key]:
    """Yield every table with our graph and, where it differs, the full one."""
    for table in tables:
        if quick and table in SLOW:
            continue
        yield {"table": table, "graph": "default"}
        if N_FEATURES[table] > MANY_FEATURES:
            yield {"table": table, "graph": "full"}


def paper_n_groups(table: str) -> int | None:
    """Look up the paper's C; none for nmnist, whose row the misprint swallowed."""
    if table == "two_moons":
        studies = paper.hyperparameters()["two_moons"]["ablations"]
        return studies["noise_std"]["0.05"]["n_groups"]
    printed = paper.settings("groupfs_corrected", table)
    return None if printed is None else printed["n_groups"]


def compute(key: Key, device: str = "cpu") -> dict[str, Any]:
    """Compute the curve of one table, as ``fit`` sees it before training."""
    X = _load(key["table"])
    ours = key["graph"] == "default" and X.shape[1] > MANY_FEATURES
    selector = GroupFS(
        preset="paper",  # the curve is about all features, signs and all
        feature_neighbors=KEPT_NEIGHBORS if ours else "all",
        n_init=1,
        max_epochs=1,  # nothing that is trained bears on the curve
        random_state=0,
        device=device,
    ).fit(X)
    curve = selector.distortion_
    n_varying = int((selector.group_labels_ >= 0).sum())
    printed = paper_n_groups(key["table"])
    return {
        "settings": {k: v for k, v in selector.get_params().items() if v is not None},
        "n_samples": X.shape[0],
        "n_features": n_varying,
        "n_groups": choose_n_groups(curve, n_varying),
        "paper_n_groups": printed,
        "paper_is_dip": None if printed is None else is_dip(curve, printed),
        "distortion": {str(C): value for C, value in curve.items()},
        "machine": store.machine(device),
    }


def is_dip(curve: dict[int, float], C: int) -> bool:
    """Tell whether E(C) lies below both of its neighbours, as the paper asks."""
    return C in curve and all(curve[C] < curve.get(other, np.inf) for other in (C - 1, C + 1))


def draw(records: Iterable[dict[str, Any]], folder: Path) -> None:
    """Draw the curves as small multiples, per feature, with our C and the paper's marked."""
    by_cell = {(r["key"]["table"], r["key"]["graph"]): r for r in records}
    tables = [table for table in TABLES if (table, "default") in by_cell]
    n_rows = -(-len(tables) // 4)
    figure = Figure(figsize=(13, 0.6 + 2.7 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, 4, squeeze=False).ravel()
    for table, ax in zip(tables, axes, strict=False):
        ours = by_cell[table, "default"]
        _curve(ax, ours, "our graph", CYCLE[0], "o", "-")
        if (table, "full") in by_cell:
            _curve(ax, by_cell[table, "full"], "the full graph", CYCLE[1], "s", "--")
        printed = ours["paper_n_groups"]
        if printed is not None:
            ax.axvline(printed, color=CYCLE[5], linestyle=":", label="the paper's C")
        ax.set_title(f"{table} ({ours['n_features']} features)", fontsize=10)
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[len(tables) :]:
        ax.set_axis_off()
    figure.supxlabel("groups C")
    figure.supylabel("distortion E(C) / d")
    handles = {
        label: handle
        for ax in axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper center", ncols=5, frameon=False
    )
    save(figure, folder, NAME)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default=",".join(TABLES), help="comma-separated")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help=f"without {', '.join(SLOW)}")
    parser.add_argument("--results", type=Path, default=store.RESULTS)
    parser.add_argument("--figures", type=Path, help="folder to draw into")
    options = parser.parse_args(argv)
    tables = options.tables.split(",")
    if unknown := set(tables) - set(TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}; choose from {', '.join(TABLES)}")
    todo = cells(tables, options.quick)
    work = partial(compute, device=options.device)
    finished = store.run(NAME, todo, work, options.results, options.jobs)
    for record in finished:
        table, graph = record["key"]["table"], record["key"]["graph"]
        printed = record["paper_n_groups"]
        dip = {True: "a dip", False: "no dip", None: "not known"}[record["paper_is_dip"]]
        print(f"{table:>13} {graph:>7}: C = {record['n_groups']}, the paper's {printed} ({dip})")
    if options.figures:
        draw(finished, options.figures)


def _load(table: str) -> Any:
    if table == "two_moons":
        return load_two_moons(n_features=N_FEATURES[table], random_state=0).data
    return fetch_dataset(table, return_X_y=True)[0]


def _curve(
    ax: Axes, record: dict[str, Any], label: str, color: str, marker: str, line: str
) -> None:
    """Draw E(C) / d, with the C that is chosen as a large mark."""
    d, C = record["n_features"], record["n_groups"]
    curve = {int(C): value / d for C, value in record["distortion"].items()}
    shown = [C for C in curve if C <= MOST_GROUPS]
    ax.plot(shown, [curve[C] for C in shown], color=color, linestyle=line, label=label)
    ax.plot(
        C,
        curve[C],
        color=color,
        marker=marker,
        markersize=8,
        linestyle="",
        clip_on=False,
        label=f"our C on {label}",
    )


if __name__ == "__main__":
    main()
