"""One short function per table: from the content of its files to numbers, codes and names.

Files have been checked by their sha256, so their formats are not doubted here.
"""

import csv
import io
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.io
from numpy.typing import NDArray

from groupfs.utils.packages import import_optional
from groupfs.utils.types import FloatArray

N_IMAGES = 12_000


class Parsed(NamedTuple):
    """A table as published, in whatever number type holds it exactly."""

    data: NDArray[Any]  #: (n, d)
    target: NDArray[np.int64]  #: (n,), codes from 0
    feature_names: list[str]  #: d of them
    target_names: list[str]  #: the name of each code


def allaml(mat: bytes) -> Parsed:
    values, labels = _read_mat(mat)
    names = [f"gene_{i:04d}" for i in range(values.shape[1])]
    return Parsed(values, _codes(labels), names, ["ALL", "AML"])


def faces(mat: bytes, shape: tuple[int, int]) -> Parsed:
    """Parse images of people: every image one row, its columns of pixels one after the other."""
    values, labels = _read_mat(mat)
    target = _codes(labels)
    people = [f"subject_{i + 1}" for i in range(int(target.max()) + 1)]
    return Parsed(values, target, pixel_names(shape), people)


def lung500(rda: bytes) -> Parsed:
    rdata = import_optional(
        "rdata", 'lung.rda is read with the package rdata: install it (the extra "data").'
    )
    with warnings.catch_warnings(action="ignore"):  # about the encoding of plain ASCII names
        matrix = rdata.read_rda(io.BytesIO(rda))["lung"]
    classes, probes = (list(map(str, matrix.coords[axis].values)) for axis in matrix.dims)
    values = np.asarray(matrix, dtype=np.float64)
    widest = np.sort(np.argsort(-values.var(axis=0), kind="stable")[:500])
    names = ["Normal", "Carcinoid", "Colon", "SmallCell"]
    target = np.array([names.index(name) for name in classes], dtype=np.int64)
    return Parsed(values[:, widest], target, [probes[i] for i in widest], names)


def metabric(table: bytes) -> Parsed:
    header, *rows = _read_csv(table)
    status = [row[header.index("pr_status")] for row in rows]
    values = np.array([row[31:520] for row in rows], dtype=np.float64)  # brca1 to ugt2b7
    target = np.array([["Negative", "Positive"].index(word) for word in status], dtype=np.int64)
    return Parsed(values, target, header[31:520], ["pr_negative", "pr_positive"])


def heart_disease(table: bytes) -> Parsed:
    values = np.array([row for row in _read_csv(table) if "?" not in row], dtype=np.float64)
    target = (values[:, 13] > 0).astype(np.int64)
    names = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal"  # no header
    return Parsed(values[:, :13], target, names.split(), ["no_disease", "disease"])


def student(table: bytes) -> Parsed:
    header, *rows = _read_csv(table, delimiter=";")
    cells = np.array(rows)
    final_grade = cells[:, header.index("G3")].astype(np.float64)
    values = np.column_stack([_numbers_or_codes(column) for column in cells[:, :30].T])
    return Parsed(values, (final_grade >= 10).astype(np.int64), header[:30], ["fail", "pass"])


def nmnist(images: bytes, labels: bytes, shape: tuple[int, int]) -> Parsed:
    """Draw digits with MNIST's class frequencies; a pixel is the larger of digit and noise."""
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, *shape)
    digits = np.frombuffer(labels, np.uint8, offset=8)
    # numpy promises that the numbers of this older generator never change.
    rng = np.random.RandomState(0)
    chosen = _draw(rng, digits)
    by_columns = pixels[chosen].transpose(0, 2, 1).reshape(N_IMAGES, -1)
    noise = rng.randint(0, 256, by_columns.shape, dtype=np.uint8)
    names, target = [str(digit) for digit in range(10)], digits[chosen].astype(np.int64)
    return Parsed(np.maximum(by_columns, noise), target, pixel_names(shape), names)


def nmnist38(images: bytes, labels: bytes, shape: tuple[int, int]) -> Parsed:
    """Return the first 500 threes and the first 500 eights, in the order they come."""
    data, target, names, _ = nmnist(images, labels, shape)
    rows = [np.flatnonzero(target == digit)[:500] for digit in (3, 8)]
    chosen = np.sort(np.concatenate(rows))
    return Parsed(data[chosen], (target[chosen] == 8).astype(np.int64), names, ["3", "8"])


def pixel_names(shape: tuple[int, int]) -> list[str]:
    """Return names of the pixels in the order of an image's columns."""
    height, width = shape
    return [f"px_r{row:03d}_c{column:03d}" for column in range(width) for row in range(height)]


def _read_mat(content: bytes) -> tuple[NDArray[Any], NDArray[Any]]:
    variables = scipy.io.loadmat(io.BytesIO(content))
    return variables["X"], variables["Y"].ravel()


def _read_csv(content: bytes, delimiter: str = ",") -> list[list[str]]:
    lines = io.StringIO(content.decode("utf-8-sig"), newline="")
    return [row for row in csv.reader(lines, delimiter=delimiter) if row]


def _codes(labels: NDArray[Any]) -> NDArray[np.int64]:
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _numbers_or_codes(column: NDArray[np.str_]) -> FloatArray:
    try:
        return column.astype(np.float64)
    except ValueError:  # words
        return _codes(column).astype(np.float64)


def _draw(rng: np.random.RandomState, digits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Draw rows in random order, of each digit its share; rounding favours the largest rest."""
    share = np.bincount(digits, minlength=10) * N_IMAGES / digits.size
    counts = np.floor(share).astype(np.int64)
    counts[np.argsort(counts - share, kind="stable")[: N_IMAGES - counts.sum()]] += 1
    shuffled, kept = rng.permutation(digits.size), np.zeros(digits.size, dtype=bool)
    for digit, count in enumerate(counts):
        kept[np.flatnonzero(digits[shuffled] == digit)[:count]] = True
    return shuffled[kept]
