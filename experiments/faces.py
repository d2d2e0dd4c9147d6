"""Groups of pixels of three tables of faces, over the mean face, beside a few of the faces.

Groups are those of GroupFS by default; no label plays a part in them.

Run with ``python -m experiments.faces``; what is finished is not fitted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.drawing import save
from experiments.pixels import (
    RANKS,
    SMALL,
    as_image,
    draw_groups,
    draw_ranks,
    fit_groups,
    fitted,
    options,
)
from experiments.store import Key
from groupfs.datasets import fetch_dataset

NAME = "faces"
TABLES = ("yale", "ar10p", "pie10p")
N_SAMPLES = 3


def cells(seed: int = 0) -> Iterator[Key]:
    for table in TABLES:
        yield {"table": table, "method": "GroupFS", "n_groups": "auto", "seed": seed}


def compute(key: Key, device: str = "cpu") -> dict[str, Any]:
    """Find the groups of one fit, and the rows of the faces that are drawn beside them."""
    table = fetch_dataset(key["table"])
    return {**fit_groups(key, device), "samples": samples(table.data, table.target)}


def samples(X: NDArray[np.float64], y: NDArray[np.int64]) -> list[int]:
    """Choose the rows to draw: of the first few people the face most like all of theirs."""
    found = []
    for person in np.unique(y)[:N_SAMPLES]:
        rows = np.flatnonzero(y == person)
        distance = np.linalg.norm(X[rows] - X[rows].mean(0), axis=1)
        found.append(int(rows[np.argmin(distance)]))
    return found


def mean_face(X: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Average all faces, upright, from 0 (the darkest pixel) to 1 (the brightest)."""
    mean = as_image(X.mean(0), shape)
    return (mean - mean.min()) / (mean.max() - mean.min())


def draw(records: Iterable[dict[str, Any]], folder: Path) -> None:
    """Draw for each table some faces, below them the map of its groups and the ranks."""
    records = list(records)
    # places are given: the layout that is solved for differs in the last digits between runs
    figure = Figure(figsize=(7, 4.8))
    columns = figure.add_gridspec(
        1, len(records), left=0.01, right=0.99, top=0.99, bottom=0.1, wspace=0.06
    )
    for record, column in zip(records, columns, strict=True):
        table = fetch_dataset(record["key"]["table"])
        shown = record["samples"]
        grid = column.subgridspec(
            5, len(shown), height_ratios=(1.02, 0.28, 2.82, 0.08, 0.17), hspace=0, wspace=0.08
        )
        for place, row in enumerate(shown):
            ax = figure.add_subplot(grid[0, place], anchor="S")
            ax.imshow(as_image(table.data[row], table.image_shape), cmap="gray")
            ax.set_axis_off()
        ax = figure.add_subplot(grid[2, :], anchor="N")
        draw_groups(ax, record, mean_face(table.data, table.image_shape))
        n_groups, n_kept = len(record["groups"]), sum(record["kept"])
        ax.set_title(f"{record['key']['table']}: {n_groups} groups, {n_kept} kept", size=8)
        legend = figure.add_subplot(grid[4, :])
        draw_ranks(legend, record)
        legend.set_xlabel(RANKS, size=SMALL)
    save(figure, folder, NAME)


def main(argv: list[str] | None = None) -> None:
    opt = options(__doc__, argv)
    records = fitted(NAME, cells(opt.seed), compute, opt)
    for record in records:
        table, n_groups, n_kept = record["key"]["table"], len(record["groups"]), sum(record["kept"])
        print(f"{table:>7}: {n_groups} groups, {n_kept} kept, {len(record['selected'])} pixels")
    draw(records, opt.figures)


if __name__ == "__main__":
    main()
