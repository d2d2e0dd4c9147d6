"""Tables of images: groups of pixels, how they are fitted for a figure and how they are drawn."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from experiments import methods, pipeline, store
from experiments.store import Key
from groupfs.datasets import fetch_dataset

FIGURES = store.RESULTS / "figures"
#: Kept groups have the colours of this map, the rest greys between these two, lighter with rank.
COLORS = "viridis"
GREYS = (0.66, 0.93)
#: How much of a photograph shows through the colour of a group.
PHOTO = 0.3
SMALL = 7  #: points, the smallest text
RANKS = "rank of the group (grey: not kept)"


def fit_groups(key: Key, device: str) -> dict[str, Any]:
    """Find the groups of one fit, most important first, as indices of pixels; which are kept."""
    table = fetch_dataset(key["table"])
    selector = methods.build(key["method"], key["table"], None, key["seed"], device)
    selector.set_params(n_groups=key["n_groups"])
    facts = pipeline.fit(selector, table.data, None, device)
    p_values = selector.group_pvalues_
    return {
        **facts,
        "image_shape": list(table.image_shape),
        "groups": [group.tolist() for group in selector.groups_],
        "kept": selector.group_selected_.tolist(),
        "gates": selector.group_gates_.tolist(),
        "scores": selector.group_scores_.tolist(),
        "p_values": None if p_values is None else p_values.tolist(),
        "selected": selector.get_support(indices=True).tolist(),
    }


def fitted(
    name: str, todo: Iterable[Key], work: Callable[..., dict[str, Any]], opt: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the records of the cells in their order, fitted where they are missing."""
    todo = list(todo)
    finished = store.run(name, todo, partial(work, device=opt.device), opt.results)
    return [next(record for record in finished if record["key"] == key) for key in todo]


def options(about: str | None, argv: list[str] | None) -> argparse.Namespace:
    """Read the command line of the figures that need fits."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=store.RESULTS, help="folder of the facts")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="folder to draw into")
    return parser.parse_args(argv)


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
