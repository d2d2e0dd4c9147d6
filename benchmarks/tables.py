"""The real tables that tests and benchmarks use, read from the files their sources publish.

Files are looked for in the folder named by GROUPFS_DATA, then in ../shared/data beside the project;
nothing is downloaded.
"""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from groupfs.datasets import fetch_dataset, load_two_moons

#: Blood cells of scanpy: 700 cells, 765 genes, ten types (``bulk_labels``).
CELLS = "single-cell/10x_pbmc68k_reduced.h5ad"
#: Answers to psychological tests whose items were written for known scales.
KNOWN = ("bfi", "ability", "holzinger")
#: Tables that come with scikit-learn.
BUNDLED = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}


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


def read(name: str) -> NDArray[np.float64]:
    """Return the numbers of any of the real tables, or of two moons, by name."""
    if name == "two_moons":
        return load_two_moons(random_state=0).data
    if name in KNOWN:
        return known_groups(name)[0]
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)[0]
    if name == "cells":
        from benchmarks.cells import read_cells  # needs scanpy

        return np.asarray(read_cells().X.toarray(), dtype=np.float64)
    return load(name)[0]
