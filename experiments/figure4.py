"""Figure 4: groups of pixels in noisy threes and eights, coloured by their rank.

Expected: seven groups with the printed settings, the first ones where a 3 and an 8 differ.
GroupFS with the printed lambda2, with the lowest loss and the largest gain along a sweep of it
(``published``), and FeatureGroups with nothing set. Labels only name the digits that are shown, and
give the difference of the means.
Needs the published data (``GROUPFS_DATA``); about 1 minute with ``--device cuda``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

from experiments import data, published, running
from experiments.table1 import models_of
from groupfs import FeatureGroups
from groupfs.datasets import fetch_dataset

TABLE = "nmnist38"
#: Digits of each class that are drawn.
N_SHOWN = 3
COLORS = "viridis"
SMALL = 7  #: points, the smallest text


def maps(device: str, quick: bool, folder: Path | None = None) -> list[running.Row]:
    """Fit what is drawn: groups by rank, and which of them are kept."""
    X, y, Z, _ = data.load(TABLE)
    models = models_of([TABLE], device, quick, folder)[TABLE]
    by_gain = published.largest_gain(models)
    by_loss, named = published.lowest_loss(models), {}
    named["printed λ2"] = next(m for m in models if m.printed)
    if by_loss is not None and by_gain is not None:
        named["lowest loss of the sweep"] = by_loss
        named["largest gain of the sweep"] = by_gain
    if by_loss is by_gain and by_gain is not None:
        named = {"printed λ2": named["printed λ2"], "lowest loss, largest gain": by_gain}
    found = [
        {"fit": name, "groups": model.groups, "kept": model.is_open, "gain": model.gain}
        for name, model in named.items()
    ]
    ours = FeatureGroups(random_state=0, device="cpu").fit(X)
    found.append({"fit": "FeatureGroups", "groups": ours.groups_, "kept": ours.group_kept_})
    apart = np.abs(Z[y == 1].mean(0) - Z[y == 0].mean(0))
    rows = []
    for row in found:
        first = row["groups"][0]
        kept = np.concatenate(
            [first[:0], *(g for g, k in zip(row["groups"], row["kept"], strict=True) if k)]
        )
        figures = {"n_groups": len(row["groups"]), "n_kept": int(np.sum(row["kept"]))}
        of_kept = float(apart[kept].mean()) if len(kept) else np.nan
        of_pixels = {"apart_first": apart[first].mean(), "apart_kept": of_kept}
        rows.append({**row, **figures, **of_pixels, "apart_all": apart.mean()})
    return [{**row, "machine": running.machine(device)} for row in rows]


def table_of(rows: Sequence[running.Row]) -> str:
    lines = [
        [
            row["fit"],
            f"{row['n_kept']} of {row['n_groups']}",
            running.number(row.get("gain", np.nan), "+.3f"),
            ", ".join(str(len(group)) for group in row["groups"][:7]),
            *(running.number(row[f"apart_{which}"], ".2f") for which in ("first", "kept", "all")),
        ]
        for row in rows
    ]
    head = ["", "groups kept", "gain", "pixels of the first seven groups"]
    head += [f"3 and 8 apart, {which} (sd)" for which in ("first group", "kept", "all pixels")]
    return running.markdown(head, lines)


def draw(rows: Sequence[running.Row]) -> Figure:
    """Draw digits and the difference of the means above, maps of the groups below."""
    table = fetch_dataset(TABLE)
    X, y, shape = table.data, table.target, table.image_shape
    figure = Figure(figsize=(1.9 * max(4, len(rows)), 4.8), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 2.6))
    axes = top.subplots(1, 2 * N_SHOWN + 1)
    shown = [row for label in (0, 1) for row in np.flatnonzero(y == label)[:N_SHOWN]]
    for ax, row in zip(axes, shown, strict=False):
        ax.imshow(as_image(X[row], shape), cmap="gray", interpolation="nearest")
    apart = as_image(X[y == 1].mean(0) - X[y == 0].mean(0), shape)
    most = np.abs(apart).max()
    axes[-1].imshow(apart, cmap="PuOr", vmin=-most, vmax=most, interpolation="nearest")
    for ax in axes:
        ax.set_axis_off()
    top.suptitle("Digits, and the difference of the means (purple: 8 is brighter)", fontsize=9)
    bottom.suptitle("Pixels by the rank of their group (outlined: gate open, or kept)", fontsize=9)
    grid = bottom.subplots(2, len(rows), squeeze=False, height_ratios=(14, 1))
    for row, (ax, legend) in zip(rows, grid.T, strict=True):
        draw_groups(ax, row["groups"], np.asarray(row["kept"]), shape)
        words = "kept" if row["fit"] == "FeatureGroups" else "gates open"
        ax.set_title(f"{row['fit']}\n{row['n_kept']} of {row['n_groups']} {words}", size=8)
        draw_ranks(legend, np.asarray(row["kept"]))
    return figure


def as_image(values: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    """Turn one value per pixel into an upright image; tables hold images by columns."""
    return np.asarray(values).reshape(shape, order="F")


def rank_image(groups: Iterable[Iterable[int]], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Rank each pixel's group, from 1; 0 for pixels in no group."""
    ranks = np.zeros(shape[0] * shape[1], dtype=np.int64)
    for rank, group in enumerate(groups, 1):
        ranks[list(group)] = rank
    return as_image(ranks, shape)


def rank_colors(n_groups: int) -> NDArray[np.float64]:
    """Choose a colour for each group, dark for the first, (C, 3)."""
    return np.asarray(matplotlib.colormaps[COLORS](np.linspace(0, 1, n_groups))[:, :3])


def borders(image: NDArray[Any]) -> NDArray[np.float64]:
    """Find edges between neighbouring pixels that differ, as two points (x, y); (n, 2, 2)."""
    below = np.argwhere(image[1:] != image[:-1])[:, None, ::-1]
    beside = np.argwhere(image[:, 1:] != image[:, :-1])[:, None, ::-1]
    across = below + np.array([[-0.5, 0.5], [0.5, 0.5]])
    down = beside + np.array([[0.5, -0.5], [0.5, 0.5]])
    return np.concatenate([across, down])


def draw_groups(
    ax: Axes, groups: Sequence[Any], kept: NDArray[np.bool_], shape: tuple[int, int]
) -> None:
    """Draw pixels in the colours of their groups, with their ranks; kept groups outlined."""
    ranks = rank_image(groups, shape)
    colors = np.vstack([np.ones((1, 3)), rank_colors(len(groups))])
    ax.imshow(colors[ranks], interpolation="nearest")
    _draw_edges(ax, borders(ranks), color="white", linewidth=0.4)
    outlined = np.pad(np.where(np.append(False, kept)[ranks], ranks, 0), 1)
    _draw_edges(ax, borders(outlined) - 1, color="black", linewidth=0.9)
    for rank in range(1, len(groups) + 1):
        y, x = _middle(ranks == rank)
        halo = [withStroke(linewidth=1.8, foreground="white")]
        ax.text(x, y, str(rank), size=SMALL, ha="center", va="center", path_effects=halo)
    ax.set_axis_off()


def draw_ranks(ax: Axes, kept: NDArray[np.bool_]) -> None:
    """Draw the legend of a map: one cell per group in rank order, kept ones outlined."""
    ax.imshow(rank_colors(len(kept))[None], aspect="auto")
    for place in np.flatnonzero(kept):
        corner = (place - 0.5, -0.5)
        ax.add_patch(Rectangle(corner, 1, 1, fill=False, linewidth=0.9, clip_on=False, zorder=3))
    shown = range(len(kept)) if len(kept) <= 13 else [0, *range(4, len(kept), 5)]
    ax.set_xticks(shown, [str(place + 1) for place in shown], size=SMALL)
    ax.set(yticks=[])
    ax.set_xlabel("rank", size=SMALL)
    ax.tick_params(length=0, pad=2)
    ax.spines[:].set_visible(False)


def _draw_edges(ax: Axes, edges: NDArray[np.float64], **style: Any) -> None:
    """Draw all edges as one line with gaps."""
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


def main(argv: Sequence[str] | None = None) -> None:
    parser = running.options(
        __file__,
        __doc__,
        device={"default": "cpu", "choices": ["cpu", "cuda"]},
        sweep={"type": Path, "metavar": "FOLDER", "help": "take swept models from this folder"},
    )
    given = parser.parse_args(argv)
    if given.join:
        parser.error("there is nothing to join: a map needs the models themselves")
    cell = {"device": given.device, "quick": given.quick, "folder": given.sweep}
    found = running.compute([cell], maps, given)
    rows = found.to_dict("records")
    plain = found.assign(
        groups=[";".join(" ".join(map(str, group)) for group in row["groups"]) for row in rows],
        kept=[" ".join(str(int(k)) for k in row["kept"]) for row in rows],
    )
    stored = f"with the swept models of {given.sweep.parent.name}" if given.sweep else ""
    parts = [running.command(plain, "figure4", " --device cuda", stored), table_of(rows)]
    running.write(given, plain, parts, table_of(rows), {"figure4": draw(rows)})


if __name__ == "__main__":
    main()
