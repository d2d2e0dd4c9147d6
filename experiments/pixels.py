"""Groups of pixels: on three tables of faces, and on noisy threes and eights.

No label plays a part in the groups. Of the digits, classes name the samples and give the difference
of the means. Maps show the groups by rank, over the mean face or alone; kept ones are outlined.

Run with ``python -m experiments.pixels``; what is finished is not fitted again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from experiments import methods, pipeline, store
from experiments.choose_c import paper_n_groups
from experiments.drawing import FIGURES, save
from experiments.protocol import standardized
from experiments.store import Key
from groupfs.datasets import fetch_dataset

FACES, DIGITS = ("yale", "ar10p", "pie10p"), "nmnist38"
#: Images that are drawn: of so many people, and of each digit.
N_SAMPLES = 3
#: Kept groups have the colours of this map, the rest greys between these two, lighter with rank.
COLORS = "viridis"
GREYS = (0.66, 0.93)
#: How much of a photograph shows through the colour of a group.
PHOTO = 0.3
SMALL = 7  #: points, the smallest text
RANKS = "rank of the group (grey: not kept)"
HEADING = {"size": 9, "ha": "center"}


def cells(name: str, seed: int = 0) -> Iterator[Key]:
    """Yield the default on faces; on digits also the paper's C, and all of the paper's settings."""
    for table in FACES if name == "faces" else (DIGITS,):
        yield {"table": table, "method": "GroupFS", "n_groups": "auto", "seed": seed}
    if name != "faces":
        C = paper_n_groups(DIGITS)
        yield {"table": DIGITS, "method": "GroupFS", "n_groups": C, "seed": seed}
        yield {"table": DIGITS, "method": "GroupFS paper", "n_groups": C, "seed": seed}


def compute(key: Key, device: str = "cpu") -> dict[str, Any]:
    """Find the groups of one fit, most important first, and what is drawn beside them."""
    table = fetch_dataset(key["table"])
    X, y = table.data, table.target
    selector = methods.build(key["method"], key["table"], None, key["seed"], device)
    selector.set_params(n_groups=key["n_groups"])
    facts = pipeline.fit(selector, X, None, device)
    selected = selector.get_support(indices=True).tolist()
    on_digits = key["table"] == DIGITS
    return {
        **facts,
        "image_shape": list(table.image_shape),
        "groups": [group.tolist() for group in selector.groups_],
        "kept": selector.group_kept_.tolist(),
        "gates": np.asarray(getattr(selector, "group_gates_", [1.0])).tolist(),
        "selected": selected,
        "samples": first_of_each(y) if on_digits else most_alike(X, y),
        **({"differences": differences(selected, X, y)} if on_digits else {}),
    }


def most_alike(X: NDArray[np.float64], y: NDArray[np.int64]) -> list[int]:
    """Choose the rows to draw: of the first few people the face most like all of theirs."""
    alike = []
    for person in np.unique(y)[:N_SAMPLES]:
        rows = np.flatnonzero(y == person)
        distance = np.linalg.norm(X[rows] - X[rows].mean(0), axis=1)
        alike.append(int(rows[np.argmin(distance)]))
    return alike


def first_of_each(y: NDArray[np.int64]) -> list[int]:
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


def draw_faces(records: Iterable[dict[str, Any]], folder: Path) -> None:
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
    save(figure, folder, "faces")


def draw_digits(records: Iterable[dict[str, Any]], folder: Path) -> None:
    """Draw samples and the difference of the means above, maps of the groups below."""
    records = list(records)
    table = fetch_dataset(DIGITS)
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
    save(figure, folder, "nmnist_groups")


def title_of(record: dict[str, Any]) -> str:
    """Name a fit of digits in two lines."""
    given = record["key"]["n_groups"] != "auto"
    if record["key"]["method"] == "GroupFS paper":
        name = "the paper's settings"
    else:
        name = "default, the paper's C" if given else "default, C chosen"
    shut = max(record["gates"]) <= 0.5
    kept = "no gate open: first kept" if shut else f"{sum(record['kept'])} kept"
    return f"{name}\n{len(record['groups'])} groups, {kept}"


def mean_face(X: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Average all faces, upright, from 0 (the darkest pixel) to 1 (the brightest)."""
    mean = as_image(X.mean(0), shape)
    return (mean - mean.min()) / (mean.max() - mean.min())


def as_image(values: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    """Turn one value per pixel into an upright image; tables hold images by columns."""
    return np.asarray(values).reshape(shape, order="F")


def rank_image(groups: Iterable[Iterable[int]], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Rank each pixel's group, from 1; 0 for constant pixels, which are in no group."""
    ranks = np.zeros(shape[0] * shape[1], dtype=np.int64)
    for rank, group in enumerate(groups, 1):
        ranks[list(group)] = rank
    return as_image(ranks, shape)


def rank_colors(kept: Iterable[bool]) -> NDArray[np.float64]:
    """Choose a colour for each group that is kept and a grey for each that is not, (C, 3)."""
    kept = np.asarray(list(kept))
    colors = np.empty((len(kept), 3))
    colors[kept] = matplotlib.colormaps[COLORS](np.linspace(0, 1, kept.sum()))[:, :3]
    colors[~kept] = np.linspace(*GREYS, (~kept).sum())[:, None]
    return colors


def painted(
    ranks: NDArray[np.int64], kept: Iterable[bool], photo: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Paint pixels in the colours of their groups, (height, width, 3).

    Parameters
    ----------
    photo : (height, width) or None
        Grey values from 0 to 1 below the colours; groups that are not kept show nothing else.
    """
    kept = np.asarray(list(kept))
    image = np.vstack([np.ones((1, 3)), rank_colors(kept)])[ranks]
    if photo is None:
        return image
    colored = np.concatenate([[False], kept])[ranks][..., None]
    grey = np.repeat(photo[..., None], 3, axis=2)
    return np.where(colored, PHOTO * grey + (1 - PHOTO) * image, grey)


def borders(image: NDArray[Any]) -> NDArray[np.float64]:
    """Find edges between neighbouring pixels that differ, as two points (x, y); (n, 2, 2)."""
    below = np.argwhere(image[1:] != image[:-1])[:, None, ::-1]
    beside = np.argwhere(image[:, 1:] != image[:, :-1])[:, None, ::-1]
    across = below + np.array([[-0.5, 0.5], [0.5, 0.5]])
    down = beside + np.array([[0.5, -0.5], [0.5, 0.5]])
    return np.concatenate([across, down])


def draw_groups(
    ax: Axes,
    record: dict[str, Any],
    photo: NDArray[np.float64] | None = None,
) -> None:
    """Draw pixels in the colours of their groups; kept groups outlined, with their ranks."""
    ranks = rank_image(record["groups"], record["image_shape"])
    ax.imshow(painted(ranks, record["kept"], photo), interpolation="nearest")
    _draw_edges(ax, borders(ranks), color="white", linewidth=0.4)
    kept = [rank for rank, keep in enumerate(record["kept"], 1) if keep]
    outlined = np.pad(np.where(np.isin(ranks, kept), ranks, 0), 1)
    _draw_edges(ax, borders(outlined) - 1, color="black", linewidth=0.9)
    for rank in kept:
        y, x = _middle(ranks == rank)
        halo = [withStroke(linewidth=1.8, foreground="white")]
        ax.text(x, y, str(rank), size=SMALL, ha="center", va="center", path_effects=halo)
    ax.set_axis_off()


def draw_ranks(ax: Axes, record: dict[str, Any]) -> None:
    """Draw the legend of a map: one cell per group in rank order, kept ones outlined."""
    kept = np.array(record["kept"])
    C = len(kept)
    ax.imshow(rank_colors(kept)[None], aspect="auto")
    for place in range(C):
        ax.axvline(place + 0.5, color="white", linewidth=0.8)
    for place in np.flatnonzero(kept):
        corner = (place - 0.5, -0.5)
        ax.add_patch(Rectangle(corner, 1, 1, fill=False, linewidth=0.9, clip_on=False, zorder=3))
    shown = range(C) if C <= 13 else [0, *range(4, C, 5)]
    ax.set_xticks(shown, [str(place + 1) for place in shown], size=SMALL)
    ax.tick_params(length=0, pad=2)
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--results", type=Path, default=store.RESULTS, help="folder of the facts")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="folder to draw into")
    opt = parser.parse_args(argv)
    for name, draw in (("faces", draw_faces), ("nmnist_groups", draw_digits)):
        todo = list(cells(name))
        finished = store.run(name, todo, partial(compute, device=opt.device), opt.results)
        records = [record for record in finished if record["key"] in todo]
        for record in records:
            n_groups, n_kept = len(record["groups"]), sum(record["kept"])
            label = f"{record['key']['table']} {record['key']['method']}"
            print(f"{label}: {n_groups} groups, {n_kept} kept, {len(record['selected'])} pixels")
        draw(records, opt.figures)


def _draw_edges(ax: Axes, edges: NDArray[np.float64], **style: Any) -> None:
    """Draw all edges as one line with gaps, which keeps an SVG small."""
    gaps = np.full((len(edges), 1, 2), np.nan)
    x, y = np.concatenate([edges, gaps], axis=1).reshape(-1, 2).T
    ax.plot(x, y, solid_capstyle="butt", clip_on=False, **style)


def _middle(mask: NDArray[np.bool_]) -> tuple[int, int]:
    """Find the pixel of a group's largest piece that lies farthest from its border."""
    pieces, n_pieces = ndimage.label(mask)
    largest = 1 + np.argmax(np.bincount(pieces.ravel(), minlength=n_pieces + 1)[1:])
    depth = ndimage.distance_transform_edt(np.pad(pieces == largest, 1))[1:-1, 1:-1]
    y, x = np.unravel_index(np.argmax(depth), mask.shape)
    return int(y), int(x)


if __name__ == "__main__":
    main()
