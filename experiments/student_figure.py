"""The students' table as a figure: what each method selects here, beside what the paper prints.

Run with ``python -m experiments.student_figure`` after ``python -m experiments.student``; methods
that have not been run are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.colors
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from experiments import methods, paper, store
from experiments.drawing import FIGURES, save
from experiments.student import Marks, as_printed, marks_of, printed_marks
from groupfs.plotting import CYCLE

NAME = "student_figure"
#: Columns of the figure, in this order; the paper's are those of the last two as well.
METHODS = tuple(m for m in (*methods.METHODS, *methods.GROUPFS) if m not in ("ALL", "RANDOM"))
LABELS = {"GroupFS": "default", "GroupFS paper": "paper's settings"}
PRINTED = "the paper"
TICK = "✓"
SHARED = "#D6E6F2"


class Column(NamedTuple):
    """What one method selects, here or in the paper."""

    method: str  #: as the paper names it
    label: str
    marks: Marks  #: of the first seed
    shared: list[int]  #: for each seed, how many features are in the paper's selection too
    fit: dict[str, Any] | None  #: of the first seed; None for the paper's


def columns(records: Iterable[dict[str, Any]], printed: dict[str, Any]) -> list[Column]:
    """List every method's own columns, then the paper's, method after method."""
    fits: dict[str, list[dict[str, Any]]] = {}
    for record in sorted(records, key=lambda record: record["key"]["seed"]):
        fits.setdefault(record["key"]["method"], []).append(record)
    drawn = []
    for method in METHODS:
        name = as_printed(method)
        theirs = printed["selected"].get(name)
        if method in fits:
            first = fits[method][0]
            chosen = [set(fit["selections"][0]["features"]) for fit in fits[method]]
            shared = [] if theirs is None else [len(own & set(theirs)) for own in chosen]
            marks = marks_of(first["selections"][0])
            drawn.append(Column(name, LABELS.get(method, "here"), marks, shared, first))
        if theirs is not None and method != "GroupFS":  # once for both of ours
            drawn.append(Column(name, PRINTED, printed_marks(printed, name), [], None))
    return drawn


def draw(drawn: list[Column], printed: dict[str, Any], folder: Path) -> None:
    """Draw features down, columns across; shaded where the paper's selection agrees."""
    features = printed["features"]
    lefts = _lefts(drawn)
    width = lefts[-1] + 1
    figure = Figure(
        figsize=(1.5 + 0.31 * width, 1.65 + 0.185 * len(features)), layout="constrained"
    )
    ax = figure.subplots()
    for row in range(0, len(features), 2):
        ax.axhspan(row - 0.5, row + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
    for column, left in zip(drawn, lefts, strict=True):
        _draw_column(ax, column, left, printed)
    for method in dict.fromkeys(column.method for column in drawn):
        own = [left for c, left in zip(drawn, lefts, strict=True) if c.method == method]
        ax.text(own[0] + 0.1, -5.5, method, size=8, weight="bold")
        ax.plot([own[0] + 0.1, own[-1] + 0.9], [-5.3] * 2, "k", linewidth=0.8, clip_on=False)
    last = len(features)
    ax.axhline(last - 0.5, color="black", linewidth=0.8)
    below = ["in both selections", "with other seeds"]
    ax.set_yticks(range(last + 2), [*features, *below], size=7.5)
    ax.set(xlim=(0, width), ylim=(last + 1.6, -6.3), xticks=[])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel(
        f"{TICK} selected     1, 2, ... selected, number of its group     "
        "shaded: selected in the paper too",
        size=7.5,
    )
    save(figure, folder, NAME)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=store.RESULTS, help="has student.npz")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="folder to draw into")
    opt = parser.parse_args(argv)
    records = list(store.Store(opt.results / "student.npz"))
    if not records:
        parser.error(f"{opt.results} has no student.npz; run python -m experiments.student first")
    printed = paper.results()["student"]
    drawn = columns(records, printed)
    draw(drawn, printed, opt.figures)


def _lefts(drawn: list[Column]) -> list[float]:
    """Place the columns, of width one; the name of a method needs the width of two."""
    lefts = [0.0]
    first = 0.0
    for before, column in zip(drawn, drawn[1:], strict=False):
        if column.method == before.method:
            lefts.append(lefts[-1] + 1)
        else:
            first = max(lefts[-1] + 1.35, first + 2.3)
            lefts.append(first)
    return lefts


def _draw_column(ax: Axes, column: Column, left: float, printed: dict[str, Any]) -> None:
    features = printed["features"]
    theirs = printed["selected"].get(column.method, [])
    style = {"ha": "center", "va": "center", "size": 7.5}
    for row, feature in enumerate(features):
        if feature not in column.marks:
            continue
        if column.fit is not None and feature in theirs:
            ax.add_patch(Rectangle((left, row - 0.5), 1, 1, facecolor=SHARED, linewidth=0))
        group = column.marks[feature]
        if group is None:
            ax.text(left + 0.5, row, TICK, **style)
            continue
        color = CYCLE[(group - 1) % len(CYCLE)]
        ax.scatter(left + 0.5, row, 75, color=color, linewidths=0, zorder=2)
        ax.text(left + 0.5, row + 0.04, str(group), color=_ink(color), **style)
    slant = "italic" if column.fit is None else "normal"
    ax.text(left + 0.5, -0.8, column.label, size=7, rotation=90, ha="center", style=slant)
    first, others = column.shared[:1], column.shared[1:]
    for row, numbers in enumerate((first, others), len(features)):
        ax.text(left + 0.5, row, ", ".join(map(str, numbers)), **style)


def _ink(color: str) -> str:
    """Choose black or white, whichever is legible on a colour."""
    red, green, blue = matplotlib.colors.to_rgb(color)
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"


if __name__ == "__main__":
    main()
