"""Where figures of the experiments are written: as PNG and as SVG, the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

FIGURES = Path(__file__).parent / "results" / "figures"
DPI = 150


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write NAME.png and NAME.svg into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=DPI)
    with matplotlib.rc_context({"svg.hashsalt": name}):  # names of parts are random otherwise
        figure.savefig(folder / f"{name}.svg", dpi=DPI, metadata={"Date": None})
