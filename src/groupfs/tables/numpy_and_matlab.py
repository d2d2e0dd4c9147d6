"""Files of arrays: npy, npz (also of a scipy sparse matrix) and mat. Nothing is ever unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.tables.child_process import parse_in_child
from groupfs.tables.delimited_text import import_pandas
from groupfs.tables.file_content import Content, beyond_memory, refuse_broken
from groupfs.tables.table import Table, TableError, numbered
from groupfs.utils.text import join_names

#: Where the table is looked for in files of several arrays, before the largest one is taken.
TABLE_NAMES = ("X", "x", "data")
COLUMN_NAMES = ("feature_names", "columns", "names", "var_names")
#: Memory that the name of one column takes, and finding names that occur twice.
NAME_BYTES = 200


def read_numpy(content: Content) -> Table:
    """Read the one array of an npy file, or the table among the arrays of an npz file.

    Which of the two it is the file says itself, whatever its name.
    """
    with refuse_broken(content):
        try:
            with content.open() as file:
                if file.read(2) == b"PK":
                    return _read_npz(content)
                file.seek(0)
                array = np.lib.format.read_array(file, allow_pickle=False)
        except ValueError as reason:
            if "allow_pickle" not in str(reason):
                raise
            raise TableError(
                f"{content.source} holds Python objects, which are never unpickled here; save a "
                "plain array of numbers."
            ) from reason
        if array.ndim == 2 and array.size:
            return _table(content.source, array, numbered(array.shape[1]), named=False)
        raise TableError(
            f"{content.source} holds an array of shape {array.shape}; a table has 2 axes, rows and "
            "columns, with at least one value."
        )


def read_mat(content: Content) -> Table:
    """Read the table among the variables of a Matlab file (before 7.3)."""
    variables = parse_in_child(parse_mat, content, ["scipy.io"])
    with refuse_broken(content):
        return _from_variables(content, variables)


def parse_mat(path: str, source: str) -> dict[str, Any]:
    """Read the variables of a Matlab file that are arrays of values."""
    from scipy.io import loadmat

    try:
        variables = loadmat(path)
    except NotImplementedError as reason:
        raise TableError(
            f"{source} is a Matlab 7.3 file; save it with save(..., '-v7')."
        ) from reason
    sparse = {name: checked_csr(value) for name, value in variables.items() if sp.issparse(value)}
    dense = {
        name: value
        for name, value in variables.items()
        if isinstance(value, np.ndarray) and not value.dtype.hasobject
    }
    return sparse | dense


def checked_csr(matrix: Any) -> Any:
    """Return a sparse matrix by rows, once it is known that no index points outside.

    scipy trusts the indices of a file, and writes to memory that is not its own if they lie.
    """
    if len(matrix.shape) != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(f"a sparse array of shape {matrix.shape} and type {matrix.dtype}")
    if hasattr(matrix, "check_format"):
        # scipy overlooks it in a matrix without values
        if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
            raise ValueError("a sparse array with indptr that decreases")
        matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def sparse_table(matrix: Any, names: list[str] | None, content: Content, **more: Any) -> Table:
    """Build the table of a sparse matrix; a few bytes can announce any number of columns."""
    if NAME_BYTES * matrix.shape[1] > content.max_bytes:
        raise beyond_memory(content.max_bytes, content.source)
    named = names is not None
    names = numbered(matrix.shape[1]) if names is None else names
    return Table(checked_csr(matrix), names, content.source, named=named, **more)


def _read_npz(content: Content) -> Table:
    with content.open() as file, zipfile.ZipFile(file) as archive:
        if sum(member.file_size for member in archive.infolist()) > content.max_bytes:
            raise beyond_memory(content.max_bytes, content.source)
    with content.open() as file, np.load(file, allow_pickle=False) as stored:
        if {"format", "shape", "data"} <= set(stored):
            return sparse_table(sp.load_npz(content.open()), None, content)
        return _from_variables(content, dict(stored))


def _from_variables(content: Content, arrays: Mapping[str, Any]) -> Table:
    """Build a table of the array that looks like one, with names and row metadata of others."""
    source = content.source
    tables = {
        name: array
        for name, array in arrays.items()
        if len(array.shape) == 2 and min(array.shape) > 1 and array.dtype.kind in "biuf"
    }
    if not tables:
        what = f"only {join_names(arrays)}" if arrays else "nothing"
        raise TableError(f"{source} holds no table of numbers, {what}.")
    largest = max(tables, key=lambda name: tables[name].shape[0] * tables[name].shape[1])
    chosen = next((name for name in TABLE_NAMES if name in tables), largest)
    table = tables[chosen]
    names = _column_names(arrays, table.shape[1])
    more = {
        "row_metadata": _row_metadata(arrays, chosen, table.shape[0]),
        "notes": [f"The table of {source} is its array {chosen}."] if len(arrays) > 1 else [],
    }
    if sp.issparse(table):
        return sparse_table(table, names, content, **more)
    named = names is not None
    return _table(source, table, names or numbered(table.shape[1]), named=named, **more)


def _column_names(arrays: Mapping[str, Any], n_columns: int) -> list[str] | None:
    for name in COLUMN_NAMES:
        if name in arrays and arrays[name].dtype.kind in "US" and arrays[name].size == n_columns:
            return [str(value).strip() for value in _as_text(arrays[name]).ravel()]
    return None


def _row_metadata(arrays: Mapping[str, Any], chosen: str, n_rows: int) -> Any:
    """Return the arrays with one value per row, such as labels, as a DataFrame."""
    columns = {
        name: _as_text(array).ravel()
        for name, array in arrays.items()
        if name != chosen
        and not sp.issparse(array)
        and array.size == n_rows
        and array.dtype.kind in "biufUS"
        and name not in COLUMN_NAMES
    }
    return import_pandas().DataFrame(columns) if columns else None


def _table(source: str, array: Any, names: list[str], **more: Any) -> Table:
    if array.dtype.kind not in "biufUS":
        raise TableError(f"{source} holds values of type {array.dtype}; a table needs numbers.")
    values = import_pandas().DataFrame(_as_text(array), columns=names)
    return Table(values, names, source, **more)


def _as_text(array: Any) -> Any:
    """Decode an array of bytes; return others as they are."""
    return np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
