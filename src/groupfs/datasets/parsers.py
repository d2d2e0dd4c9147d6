"""One short function per table: from the content of its files to numbers, codes and names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groupfs.datasets.published_files import Content
from groupfs.datasets.readers import read_csv, read_mat, read_numbers, read_rda

#: Raise it whenever a parser's result changes: parsed copies of an older version are not used.
PARSERS_VERSION = 1

HEART_COLUMNS = [  # the file has no header
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg"),
    *("thalach", "exang", "oldpeak", "slope", "ca", "thal"),
]
METABRIC_EXPRESSIONS = slice(31, 520)
LUNG_CLASSES = ["Normal", "Carcinoid", "Colon", "SmallCell"]
N_LUNG_GENES = 500


class Parsed(NamedTuple):
    """A table as published, in whatever number type holds it exactly."""

    data: NDArray[Any]  #: (n, d)
    target: NDArray[np.int64]  #: (n,), codes from 0
    feature_names: list[str]  #: d of them
    target_names: list[str]  #: the name of each code


def allaml(mat: Content) -> Parsed:
    values, labels = read_mat(mat)
    names = [f"gene_{i:04d}" for i in range(values.shape[1])]
    return Parsed(values, codes(labels), names, ["ALL", "AML"])


def faces(mat: Content, shape: tuple[int, int]) -> Parsed:
    """Parse images of people: every image one row, its columns of pixels one after the other."""
    values, labels = read_mat(mat)
    target = codes(labels)
    people = [f"subject_{i + 1}" for i in range(int(target.max()) + 1)]
    return Parsed(values, target, pixel_names(shape), people)


def lung500(rda: Content) -> Parsed:
    values, classes, probes = read_rda(rda, "lung")
    widest = np.sort(np.argsort(-values.var(axis=0), kind="stable")[:N_LUNG_GENES])
    target = np.array([LUNG_CLASSES.index(name) for name in classes], dtype=np.int64)
    return Parsed(values[:, widest], target, [probes[i] for i in widest], LUNG_CLASSES)


def metabric(table: Content) -> Parsed:
    header, *rows = read_csv(table, n_columns=693)
    status = [row[header.index("pr_status")] for row in rows]
    values = read_numbers(table, [row[METABRIC_EXPRESSIONS] for row in rows])
    target = np.array([["Negative", "Positive"].index(word) for word in status], dtype=np.int64)
    return Parsed(values, target, header[METABRIC_EXPRESSIONS], ["pr_negative", "pr_positive"])


def heart_disease(table: Content) -> Parsed:
    rows = read_csv(table, n_columns=14)
    values = read_numbers(table, [row for row in rows if "?" not in row])
    target = (values[:, 13] > 0).astype(np.int64)
    return Parsed(values[:, :13], target, HEART_COLUMNS, ["no_disease", "disease"])


def student(table: Content) -> Parsed:
    header, *rows = read_csv(table, n_columns=33, delimiter=";")
    cells = np.array(rows)
    final_grade = read_numbers(table, cells[:, header.index("G3"), None].tolist())[:, 0]
    values = np.column_stack([_numbers_or_codes(column) for column in cells[:, :30].T])
    return Parsed(values, (final_grade >= 10).astype(np.int64), header[:30], ["fail", "pass"])


def pixel_names(shape: tuple[int, int]) -> list[str]:
    """Return names of the pixels in the order of an image's columns."""
    height, width = shape
    return [f"px_r{row:03d}_c{column:03d}" for column in range(width) for row in range(height)]


def codes(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the labels as numbers from 0, in their own order."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _numbers_or_codes(column: NDArray[np.str_]) -> NDArray[np.float64]:
    try:
        return column.astype(np.float64)
    except ValueError:  # words
        return codes(column).astype(np.float64)
