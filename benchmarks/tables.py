"""The real tables that tests and benchmarks use, read from the files their sources publish.

Files are looked for in the folder named by GROUPFS_DATA, then in ../shared/data beside the project.
"""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path

import numpy as np
import scipy.io
from numpy.typing import NDArray

MAT_FILES = {
    "allaml": "ALLAML.mat",
    "yale": "Yale.mat",
    "ar10p": "warpAR10P.mat",
    "pie10p": "warpPIE10P.mat",
}
NAMES = (*MAT_FILES, "lung500", "metabric", "heart_disease", "student", "nmnist38")


class TablesMissing(FileNotFoundError):
    """No folder with the published files on this machine."""


def folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    for candidate in (os.environ.get("GROUPFS_DATA"), beside):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    raise TablesMissing("no tables: set GROUPFS_DATA to the folder that holds the published files")


def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """X as published (not standardised) and labels from 0."""
    if name in MAT_FILES:
        content = scipy.io.loadmat(folder() / MAT_FILES[name])
        return content["X"].astype(float), _codes(content["Y"].ravel())
    return {
        "lung500": _lung500,
        "metabric": _metabric,
        "heart_disease": _heart_disease,
        "student": _student,
        "nmnist38": _nmnist38,
    }[name]()


def _codes(labels: NDArray) -> NDArray[np.int64]:
    return np.unique(labels, return_inverse=True)[1]


def _lung500() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    import rdata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = rdata.read_rda(folder() / "lung.rda")["lung"]
    values = np.asarray(table, dtype=float)
    widest = np.sort(np.argsort(-values.var(0, ddof=1))[:500])
    classes = [str(v) for v in np.asarray(table.coords["dim_0"])]
    return values[:, widest], _codes(np.array(classes))


def _metabric() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    import pandas as pd

    table = pd.read_csv(folder() / "METABRIC_RNA_Mutation.csv.zip", low_memory=False)
    return table.iloc[:, 31:520].to_numpy(float), _codes(table["pr_status"].to_numpy(str))


def _heart_disease() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    table = np.genfromtxt(folder() / "processed.cleveland.data", delimiter=",", missing_values="?")
    table = table[np.isfinite(table).all(axis=1)]
    return table[:, :13], (table[:, 13] > 0).astype(np.int64)


def _student() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    import pandas as pd

    table = pd.read_csv(folder() / "student-mat.csv", sep=";")
    columns = [
        values.to_numpy(float)
        if pd.api.types.is_numeric_dtype(values)
        else _codes(values.to_numpy(str)).astype(float)
        for _, values in table.iloc[:, :30].items()
    ]
    return np.column_stack(columns), (table["G3"].to_numpy() >= 10).astype(np.int64)


def _nmnist38() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """500 threes and 500 eights of MNIST, each the larger of digit and uniform noise."""
    with gzip.open(folder() / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder() / "train-labels-idx1-ubyte.gz") as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8)
    rng = np.random.default_rng(0)
    rows = [rng.choice(np.flatnonzero(digits == digit), 500, replace=False) for digit in (3, 8)]
    chosen = images[np.concatenate(rows)].astype(float)
    return np.maximum(chosen, rng.uniform(0, 255, chosen.shape)), np.repeat([0, 1], 500)
