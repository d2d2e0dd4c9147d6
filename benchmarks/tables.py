"""The real tables that tests and benchmarks use, read from the files their sources publish.

Files are looked for in the folder named by GROUPFS_DATA, then in ../shared/data beside the project;
nothing is downloaded.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groupfs.datasets import fetch_dataset

#: Blood cells of scanpy: 700 cells, 765 genes, ten types (``bulk_labels``).
CELLS = "single-cell/10x_pbmc68k_reduced.h5ad"
#: Answers to psychological tests whose items were written for known scales.
KNOWN = ("bfi", "ability", "holzinger")


class TablesMissing(FileNotFoundError):
    """No folder with the published files on this machine."""


def folder() -> Path:
    """Find the folder with the published files."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    for candidate in (os.environ.get("GROUPFS_DATA"), shared):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    raise TablesMissing("no tables: set GROUPFS_DATA to the folder that holds the published files")


def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return X as published (not standardised) and labels from 0."""
    return fetch_dataset(name, data_home=folder(), return_X_y=True, download_if_missing=False)


def known_groups(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return a table as answered, and the known group of every column."""
    with np.load(folder() / "known-groups" / f"{name}.npz", allow_pickle=True) as stored:
        _, groups = np.unique(stored["g"], return_inverse=True)
        return stored["X"].astype(np.float64), groups


def machine() -> str:
    """Name the processor."""
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    return text.partition("model name\t: ")[2].partition("\n")[0] or platform.machine()
