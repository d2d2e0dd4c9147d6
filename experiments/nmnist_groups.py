"""Groups of pixels of noisy threes and eights: where they lie, and where the two digits differ.

No label plays a part in the groups; classes name the samples and give the difference of the means.

Run with ``python -m experiments.nmnist_groups``; what is finished is not fitted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.choose_c import paper_n_groups
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
from experiments.protocol import standardized
from experiments.store import Key
from groupfs.datasets import fetch_dataset

NAME = "nmnist_groups"
TABLE = "nmnist38"
N_SAMPLES = 3  #: of each digit
HEADING = {"size": 9, "ha": "center"}


def cells(seed: int = 0) -> Iterator[Key]:
    """Yield the default, the paper's number of groups, and all of the paper's settings."""
    C = paper_n_groups(TABLE)
    yield {"table": TABLE, "method": "GroupFS", "n_groups": "auto", "seed": seed}
    yield {"table": TABLE, "method": "GroupFS", "n_groups": C, "seed": seed}
    yield {"table": TABLE, "method": "GroupFS paper", "n_groups": C, "seed": seed}


def compute(key: Key, device: str = "cpu") -> dict[str, Any]:
    """Find the groups of one fit and, from the classes, what is drawn beside them."""
    table = fetch_dataset(key["table"])
    record = fit_groups(key, device)
    return {
        **record,
        "samples": samples(table.target),
        "differences": differences(record["selected"], table.data, table.target),
    }


def samples(y: NDArray[np.int64]) -> list[int]:
    """Choose the rows to draw: the first few of each class, class after class."""
    return [int(row) for label in np.unique(y) for row in np.flatnonzero(y == label)[:N_SAMPLES]]


def differences(
    selected: list[int], X: NDArray[np.float64], y: NDArray[np.int64]
) -> dict[str, float]:
    """Measure how far the classes' means differ in selected pixels and in the others.

    In standard deviations of a pixel, averaged over pixels.
    """
    Z = standardized(X)
    apart = np.abs(Z[y == 1].mean(0) - Z[y == 0].mean(0))
    chosen = np.isin(np.arange(Z.shape[1]), selected)
    return {"selected": float(apart[chosen].mean()), "others": float(apart[~chosen].mean())}


def title_of(record: dict[str, Any]) -> str:
    """Name a fit in two lines."""
    given = record["key"]["n_groups"] != "auto"
    if record["key"]["method"] == "GroupFS paper":
        name = "the paper's settings"
    else:
        name = "default, the paper's C" if given else "default, C chosen"
    shut = max(record["gates"]) <= 0.5
    kept = "no gate open: first kept" if shut else f"{sum(record['kept'])} kept"
    return f"{name}\n{len(record['groups'])} groups, {kept}"


def draw(records: Iterable[dict[str, Any]], folder: Path) -> None:
    """Draw samples and the difference of the means above, maps of the groups below."""
    records = list(records)
    table = fetch_dataset(TABLE)
    X, y, shape = table.data, table.target, table.image_shape
    # places are given: the layout that is solved for differs in the last digits between runs
    figure = Figure(figsize=(7, 4.9))
    sides = {"left": 0.01, "right": 0.99}
    axes = figure.subplots(
        1, 2 * N_SAMPLES + 1, gridspec_kw={**sides, "top": 0.94, "bottom": 0.75, "wspace": 0.1}
    )
    for ax, row in zip(axes, records[0]["samples"], strict=False):
        ax.imshow(as_image(X[row], shape), cmap="gray", interpolation="nearest")
        ax.set_axis_off()
    apart = as_image(X[y == 1].mean(0) - X[y == 0].mean(0), shape)
    most = np.abs(apart).max()
    axes[-1].imshow(apart, cmap="PuOr", vmin=-most, vmax=most, interpolation="nearest")
    axes[-1].set_axis_off()
    figure.text(
        0.5, 0.96, "Samples, and the difference of the means (purple: 8 is brighter)", **HEADING
    )
    figure.text(0.5, 0.69, "Pixels by the rank of their group (outlined: kept)", **HEADING)
    grid = figure.subplots(
        2,
        len(records),
        squeeze=False,
        gridspec_kw={**sides, "top": 0.61, "bottom": 0.13, "wspace": 0.05, "hspace": 0.08},
        height_ratios=(16, 1),
    )
    for record, (ax, legend) in zip(records, grid.T, strict=True):
        draw_groups(ax, record)
        ax.set_title(title_of(record), size=8)
        draw_ranks(legend, record)
        kept, others = record["differences"].values()
        note = f"3 and 8 differ by {kept:.2f} sd in kept pixels,\n{others:.2f} sd in the others"
        legend.set_xlabel(f"{RANKS}\n{note}", size=SMALL)
    save(figure, folder, NAME)


def main(argv: list[str] | None = None) -> None:
    opt = options(__doc__, argv)
    records = fitted(NAME, cells(opt.seed), compute, opt)
    for record in records:
        print(title_of(record).replace("\n", ": "))
    draw(records, opt.figures)


if __name__ == "__main__":
    main()
