"""Files of arrays: npy, npz (also of a scipy sparse matrix) and mat. Nothing is ever unpickled."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.tables._table import Table, TableError, listed, numbered
from groupfs.tables.content import Content, refuse_bomb
from groupfs.tables.text import _pandas

#: Where the table is looked for in files of several arrays, before the largest one is taken.
TABLE_NAMES = ("X", "x", "data")
COLUMN_NAMES = ("feature_names", "columns", "names", "var_names")


def read_numpy(content: Content) -> Table:
    """The one array of an npy file; of an npz file the table, arrays of as many rows beside it.

    Which of the two it is the file says itself, whatever its name.
    """
    stored = _load(content)
    if isinstance(stored, np.ndarray):
        names = numbered(_width(content.source, stored))
        return _table(content.source, stored, names, named=False)
    with stored:
        refuse_bomb(stored.zip, content.size(), content.source)
        try:
            arrays = {name: stored[name] for name in stored.files}
        except (OSError, ValueError, zipfile.BadZipFile, zlib.error) as reason:
            raise _broken(content.source, reason) from reason
    if {"indices", "indptr", "format", "shape", "data"} <= set(arrays):
        return _sparse_table(content)
    return _from_variables(content.source, arrays)


def read_mat(content: Content) -> Table:
    """The table among the variables of a Matlab file (before 7.3)."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        variables = loadmat(content.file())
    except NotImplementedError as reason:
        raise TableError(
            f"{content.source} is a Matlab 7.3 file; save it with save(..., '-v7')."
        ) from reason
    except (MatReadError, OSError, ValueError, TypeError, EOFError, zlib.error) as reason:
        raise _broken(content.source, reason) from reason
    found = {
        name: value
        for name, value in variables.items()
        if not name.startswith("__") and (sp.issparse(value) or isinstance(value, np.ndarray))
    }
    return _from_variables(content.source, found)


def _load(content: Content) -> Any:
    try:
        return np.load(content.file(), allow_pickle=False)
    except ValueError as reason:
        if "allow_pickle" in str(reason) or "pickled" in str(reason):
            raise TableError(
                f"{content.source} is broken or holds Python objects, which are never unpickled "
                "here; save a plain array of numbers."
            ) from reason
        raise _broken(content.source, reason) from reason
    except (EOFError, OSError, zipfile.BadZipFile) as reason:
        raise _broken(content.source, reason) from reason


def _broken(source: str, reason: Exception) -> TableError:
    what = str(reason).strip().rstrip(".") or type(reason).__name__
    return TableError(f"{source} is broken or not what its name says ({what}).")


def _sparse_table(content: Content) -> Table:
    try:
        matrix = sp.csr_array(sp.load_npz(content.file()))
    except (OSError, ValueError, TypeError) as reason:
        raise _broken(content.source, reason) from reason
    names = numbered(matrix.shape[1])
    return Table(matrix, names, content.source, named=False)


def _from_variables(source: str, arrays: Mapping[str, Any]) -> Table:
    tables = {
        name: array
        for name, array in arrays.items()
        if array.ndim == 2 and min(array.shape) > 1 and array.dtype.kind in "biuf"
    }
    if not tables:
        what = f"only {listed(arrays)}" if arrays else "nothing"
        raise TableError(f"{source} holds no table of numbers, {what}.")
    chosen = next((name for name in TABLE_NAMES if name in tables), None)
    if chosen is None:
        chosen = max(tables, key=lambda name: tables[name].shape[0] * tables[name].shape[1])
    table = tables[chosen]
    names = _column_names(arrays, table.shape[1])
    beside = _beside(arrays, chosen, table.shape[0])
    notes = [f"The table of {source} is its array {chosen}."] if len(arrays) > 1 else []
    named = names is not None
    names = numbered(table.shape[1]) if names is None else names
    return _table(source, table, names, named=named, beside=beside, notes=notes)


def _column_names(arrays: Mapping[str, Any], n_columns: int) -> list[str] | None:
    for name in COLUMN_NAMES:
        if name in arrays and arrays[name].dtype.kind in "US" and arrays[name].size == n_columns:
            return [str(value).strip() for value in arrays[name].ravel()]
    return None


def _beside(arrays: Mapping[str, Any], chosen: str, n_rows: int) -> Any:
    """Arrays with one value per row, such as labels."""
    columns = {
        name: array.ravel()
        for name, array in arrays.items()
        if name != chosen
        and not sp.issparse(array)
        and array.size == n_rows
        and array.dtype.kind in "biufUS"
        and name not in COLUMN_NAMES
    }
    return _pandas().DataFrame(columns) if columns else None


def _width(source: str, array: Any) -> int:
    if array.ndim != 2:
        raise TableError(
            f"{source} holds an array of shape {array.shape}; a table has 2 axes, rows and columns."
        )
    return int(array.shape[1])


def _table(source: str, array: Any, names: list[str], **more: Any) -> Table:
    if sp.issparse(array):
        return Table(sp.csr_array(array), names, source, **more)
    if array.dtype.kind not in "biufUS":
        raise TableError(f"{source} holds values of type {array.dtype}; a table needs numbers.")
    return Table(_pandas().DataFrame(array, columns=names), names, source, **more)
