"""File formats: mat, rda, csv, idx and amat bytes to arrays, and nothing about single tables.

Every reader refuses what does not look like its format and names the file in the error.
"""

from __future__ import annotations

import csv
import io
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.io
from numpy.typing import NDArray

from groupfs.datasets.published_files import Content
from groupfs.utils.text import one_line

IDX_UNSIGNED_BYTE = 8  #: type code of the only idx content MNIST uses


class Matrix(NamedTuple):
    """Numbers with the names of their rows and columns."""

    values: NDArray[np.float64]
    row_names: list[str]
    column_names: list[str]


def read_mat(content: Content) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read the table ``X`` (n, d) and the labels ``Y`` (n,) of a MATLAB file."""
    try:
        variables = scipy.io.loadmat(io.BytesIO(content.data))
    except Exception as reason:
        raise _malformed(content, f"is not a MATLAB file ({reason})") from reason
    missing = [name for name in ("X", "Y") if name not in variables]
    if missing:
        raise _malformed(content, f"lacks the variable {missing[0]}")
    values, labels = variables["X"], variables["Y"]
    if not all(isinstance(v, np.ndarray) and v.dtype.kind in "biuf" for v in (values, labels)):
        raise _malformed(content, "has X or Y that are no numbers")
    labels = labels.ravel()
    if not (values.ndim == 2 and labels.size == values.shape[0]):
        raise _malformed(content, f"has X of shape {values.shape} but {labels.size} labels")
    _refuse_non_finite(content, values)
    return values, labels


def read_rda(content: Content, variable: str) -> Matrix:
    """Read a named numeric matrix of an R data file; needs the package rdata."""
    try:
        import rdata
    except ImportError as reason:
        raise ImportError(
            f'{content.name} is read with the package rdata: install it (the extra "data").'
        ) from reason
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the encoding of plain ASCII names
            variables = rdata.read_rda(io.BytesIO(content.data))
    except Exception as reason:
        raise _malformed(content, f"is not an R data file ({reason})") from reason
    if variable not in variables:
        raise _malformed(content, f"lacks the variable {variable}")
    matrix = variables[variable]
    values = np.asarray(matrix)
    named = len(getattr(matrix, "coords", ())) == values.ndim == 2
    if not (named and np.issubdtype(values.dtype, np.number)):
        raise _malformed(content, f"has no numeric matrix {variable} with row and column names")
    values = values.astype(np.float64)
    _refuse_non_finite(content, values)
    rows, columns = ([str(v) for v in matrix.coords[axis].values] for axis in matrix.dims)
    return Matrix(values, rows, columns)


def read_csv(content: Content, n_columns: int, delimiter: str = ",") -> list[list[str]]:
    """Read all rows, the header among them, each with the same known number of cells."""
    try:
        text = content.data.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        raise _malformed(content, f"is not UTF-8 text ({reason})") from reason
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [row for row in lines if row]
    except csv.Error as reason:
        raise _malformed(content, f"is not csv ({reason})") from reason
    if not rows:
        raise _malformed(content, "is empty")
    for number, row in enumerate(rows, 1):
        if len(row) != n_columns:
            raise _malformed(content, f"has {len(row)} cells in row {number}, not {n_columns}")
    return rows


def read_numbers(content: Content, cells: list[list[str]]) -> NDArray[np.float64]:
    """Convert cells of a csv file that must all be finite numbers."""
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError as reason:
        raise _malformed(content, f"has a cell that is no number ({reason})") from reason
    _refuse_non_finite(content, values)
    return values


def read_idx(content: Content, n_axes: int) -> NDArray[np.uint8]:
    """Read an array of unsigned bytes in the format of MNIST's files."""
    start = 4 + 4 * n_axes
    head = content.data[:start]
    if len(head) < start or head[:4] != bytes([0, 0, IDX_UNSIGNED_BYTE, n_axes]):
        raise _malformed(content, f"is not an idx file of unsigned bytes with {n_axes} axes")
    shape = tuple(int(size) for size in np.frombuffer(head[4:], ">u4"))
    if len(content.data) - start != np.prod(shape, dtype=object):
        given = len(content.data) - start
        raise _malformed(content, f"announces the shape {shape} but holds {given} values")
    return np.frombuffer(content.data, np.uint8, offset=start).reshape(shape)


def read_amat(content: Content, n_columns: int) -> NDArray[np.float64]:
    """Read a text file of numbers between spaces, one row per line."""
    try:
        values = np.loadtxt(io.BytesIO(content.data), ndmin=2)
    except ValueError as reason:
        raise _malformed(content, f"is not a table of numbers ({reason})") from reason
    if values.shape[1] != n_columns:
        raise _malformed(content, f"has {values.shape[1]} numbers per line, not {n_columns}")
    _refuse_non_finite(content, values)
    return values


def _malformed(content: Content, what: str) -> ValueError:
    return ValueError(
        one_line(f"{content.name} {what}; it is not the file that its source publishes.")
    )


def _refuse_non_finite(content: Content, values: NDArray[Any]) -> None:
    if not np.isfinite(values).all():
        raise _malformed(content, "holds values that are missing or infinite")
