"""The picture of ``benchmarks.peers_picture``: accuracy over seconds, every point with its name."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from groupfs.plotting.style import COLUMN_STYLE, COLUMN_WIDTH, DROPPED, KEPT

#: Distances from a point at which a name is tried, in points of print: right, left, above, below.
DISTANCES = (6, 11, 17, 24)
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
ALIGNED = {1: "left", 0: "center", -1: "right"}, {1: "bottom", 0: "center", -1: "top"}
PANELS = (
    ("ari", "seconds_of_groups", "Groups: adjusted Rand index"),
    ("accuracy", "seconds_of_selection", "Selection: accuracy of 1-nn, 100 genes"),
)


def draw(report: dict[str, Any], path: Path) -> None:
    """Draw both panels; methods that did not end are named below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(COLUMN_STYLE):
        size = (2 * COLUMN_WIDTH, 2.9)
        figure, axes = plt.subplots(1, 2, figsize=size, layout="constrained")
        for ax, (score, seconds, title) in zip(axes, PANELS, strict=True):
            points = {
                name: (record[seconds], record[score])
                for name, record in report["methods"].items()
                if seconds in record
            }
            ax.set(xscale="log", title=title, xlabel="seconds of one core")
            ax.spines[["top", "right"]].set_visible(False)
            for name, (x, y) in points.items():
                ax.plot(x, y, "o", ms=5, color=KEPT if name == "GroupFS" else DROPPED)
            # room for names beside the outermost points
            ax.margins(x=0.25)
            ax.set_ylim(0, 1.02)  # the whole scale: small differences on one table say little
            if score == "accuracy":
                draw_levels(ax, report)
        figure.supxlabel(said_below(report), fontsize=6.5, color="0.4")
        figure.canvas.draw()  # settles where things are, so that names can be placed
        for ax, (score, seconds, _) in zip(axes, PANELS, strict=True):
            place_names(ax, report, score, seconds)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)
        plt.close(figure)


def draw_levels(ax: Any, report: dict[str, Any]) -> None:
    """Draw what all genes and random ones reach, which take no seconds."""
    for name in ("all genes", "random genes"):
        level = report["methods"][name]["accuracy"]
        ax.axhline(level, color="0.75", lw=0.6, ls=(0, (4, 3)), zorder=0)
        where = {"xy": (0, level), "xycoords": ax.get_yaxis_transform()}
        offset = {"xytext": (2, 1), "textcoords": "offset points"}
        ax.annotate(name, **where, **offset, fontsize=6, color="0.45", va="bottom")


def place_names(ax: Any, report: dict[str, Any], score: str, seconds: str) -> None:
    """Write names where they cover neither each other nor a point, the nearest such place."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    renderer = ax.figure.canvas.get_renderer()
    records = {name: r for name, r in report["methods"].items() if seconds in r}
    centers = {n: ax.transData.transform((r[seconds], r[score])) for n, r in records.items()}
    taken = [Bbox.from_bounds(x - 7, y - 7, 14, 14) for x, y in centers.values()]
    taken += [text.get_window_extent(renderer) for text in ax.texts]
    frame = ax.get_window_extent(renderer)
    for name, record in records.items():
        for distance, (right, up) in product(DISTANCES, SIDES):
            text = ax.annotate(
                name,
                (record[seconds], record[score]),
                xytext=(right * distance, up * distance),
                textcoords="offset points",
                ha=ALIGNED[0][right],
                va=ALIGNED[1][up],
                fontsize=7,
                color=KEPT if name == "GroupFS" else "0.25",
                fontweight="bold" if name == "GroupFS" else "normal",
                arrowprops={"arrowstyle": "-", "lw": 0.4, "color": "0.6"} if distance > 6 else None,
            )
            text.set_in_layout(False)
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer)  # without the line to the point
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 + 10 and frame.y0 <= box.y0
            if inside and box.y1 <= frame.y1 and not any(box.overlaps(other) for other in taken):
                break
            if (distance, (right, up)) != (DISTANCES[-1], SIDES[-1]):
                text.remove()
        taken.append(box)


def said_below(report: dict[str, Any]) -> str:
    """Describe the table, and name methods that are missing with the reason."""
    about = f"{report['cells']:,} simulated cells, {report['genes']:,} genes: {report['modules']}"
    about += f" modules and {report['unrelated']:,} unrelated genes; {report['machine']}"
    missing = [
        f"{name} ({record['reason'][:60]})"
        for name, record in report["methods"].items()
        if "reason" in record
    ]
    return about + (f"\nnot shown: {', '.join(missing)}" if missing else "")
