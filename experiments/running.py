"""What all scripts of this folder share: options, cells side by side, rows, and what is written.

A script computes everything it shows, each time, and writes into a folder of its own: ``fits.csv``
with a row for each fit, ``summary.md`` with what is also printed, ``short.md`` with the table that
README.md shows, and its figures. Rows are read from another folder only where ``--join`` names it,
which runs on several machines need.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from tqdm import tqdm

OUT = Path(__file__).parents[1] / "out"
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")
DPI = 150
NONE = "–"

Row = dict[str, Any]


def options(script: str, about: str | None, **more: dict[str, Any]) -> argparse.ArgumentParser:
    """Make the parser of a script; ``more`` are options of its own, by name."""
    name = Path(script).stem
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, default=OUT / name, help="folder to write to")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--quick", action="store_true", help="a small part, in about a minute")
    parser.add_argument(
        "--join", type=Path, nargs="+", metavar="FOLDER", help="take the rows in these folders"
    )
    for option, settings in more.items():
        parser.add_argument(f"--{option}", **settings)
    return parser


def compute(
    cells: Iterable[Any], work: Callable[..., Row | list[Row]], given: argparse.Namespace
) -> pd.DataFrame:
    """Compute all cells side by side, or join the rows that other runs have computed.

    ``work`` takes what a cell maps names to, and returns a row or several. A cell that fails is
    named and left out; the others go on.
    """
    if given.join:
        rows = pd.concat([pd.read_csv(folder / "fits.csv") for folder in given.join])
        print(f"{len(rows)} rows taken from {', '.join(map(str, given.join))}; nothing computed")
        return rows.reset_index(drop=True)
    todo = [dict(cell) for cell in cells]
    tasks = (delayed(_guarded)(work, cell) for cell in todo)
    done = Parallel(n_jobs=given.jobs, return_as="generator")(tasks)
    found: list[Row] = []
    for rows in tqdm(done, total=len(todo), unit="cell", mininterval=5):
        found += rows
    failed = [row for row in found if "failed" in row]
    for row in failed:
        print(f"failed: {row}", file=sys.stderr)
    given.n_failed = getattr(given, "n_failed", 0) + len(failed)
    return pd.DataFrame([row for row in found if "failed" not in row])


def write(
    given: argparse.Namespace,
    rows: pd.DataFrame,
    parts: Sequence[str],
    short: str,
    figures: Mapping[str, Figure] | None = None,
) -> None:
    """Write rows, summary and figures into the folder of the run, and print the summary.

    ``parts`` begin with the command; ``short`` is the table for readers in a hurry. The status of
    the process says whether a cell has failed.
    """
    given.out.mkdir(parents=True, exist_ok=True)
    rows.to_csv(given.out / "fits.csv", index=False, float_format="%.6g")
    summary = "\n\n".join(part for part in parts if part) + "\n"
    (given.out / "summary.md").write_text(summary)
    command = parts[0].partition(", Python")[0]  # versions are in the summary
    (given.out / "short.md").write_text(f"{short}\n\n{command.rstrip('.')}.\n")
    for name, figure in (figures or {}).items():
        figure.savefig(given.out / f"{name}.png", dpi=DPI)
    print(summary)
    if getattr(given, "n_failed", 0):
        raise SystemExit(f"{given.n_failed} cells failed; they are named above.")


def command(rows: pd.DataFrame, name: str, more: str = "", note: str = "") -> str:
    """Name the command, how many rows and minutes it took, a note on these, and the machines."""
    machines = " and ".join(dict.fromkeys(rows["machine"]))
    minutes = max(1, round(rows["seconds"].sum() / 60))
    note = f" ({note})" if note else ""
    took = f"{len(rows)} row{'s' * (len(rows) > 1)}, {minutes} process minutes{note}"
    return f"`python -m experiments.{name}{more}`: {took}, on {machines}."


def machine(device: str = "cpu") -> str:
    """Name the device and the versions that a row comes from."""
    name = platform.machine()
    if device == "cuda":
        import torch

        name = torch.cuda.get_device_name()
    found = [name, f"Python {platform.python_version()}", *_commit()]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:  # run from its source folder
            continue
    return ", ".join(found)


def _commit() -> list[str]:
    """Name the commit of this checkout, and whether files differ from it; nothing without git."""
    describe = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    folder = Path(__file__).parent
    try:
        told = subprocess.run(describe, cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [f"groupfs at {told.stdout.strip()}"]


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [list(head), ["---"] * len(head), *map(list, lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def number(value: float, form: str = ".1f") -> str:
    return NONE if value != value else format(value, form)


def _guarded(work: Callable[..., Row | list[Row]], cell: Row) -> list[Row]:
    """Compute a cell; its rows get the seconds of the cell, shared among them."""
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what they say is in the rows
            found = work(**cell)
    except Exception as error:  # one fit's failure must not end a night's run
        return [{**cell, "failed": f"{type(error).__name__}: {error}"}]
    rows = [found] if isinstance(found, dict) else found
    seconds = round((time.perf_counter() - began) / max(len(rows), 1), 3)
    plain = {k: v for k, v in cell.items() if isinstance(v, (int, float, str))}
    return [{**plain, **row, "seconds": seconds} for row in rows]


matplotlib.use("Agg")
