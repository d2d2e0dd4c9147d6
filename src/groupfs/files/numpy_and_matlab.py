"""Files of arrays: npy, npz (also of a scipy sparse matrix) and mat. Nothing is ever unpickled."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.files.file_content import Content
from groupfs.files.file_table import FileTable, TableError, numbered
from groupfs.utils.text import join_names

#: Where the table is looked for in files of several arrays, before the largest one is taken.
TABLE_NAMES = ("X", "x", "data")
COLUMN_NAMES = ("feature_names", "columns", "names", "var_names")


def read_numpy(content: Content) -> FileTable:
    """Read the one array of an npy file, or the table among the arrays of an npz file.

    Which of the two it is the file says itself, whatever its name.
    """
    try:
        with content.open() as file:
            stored = np.load(file, allow_pickle=False)
            if not isinstance(stored, np.ndarray):
                if not {"format", "shape", "data"} <= set(stored):
                    return _from_variables(content.source, dict(stored))
                file.seek(0)
                stored = sp.load_npz(file)
    except ValueError as reason:
        if "Object arrays" not in str(reason):
            raise
        raise TableError(
            f"{content.source} holds Python objects, which are never unpickled here; save a "
            "plain array of numbers."
        ) from reason
    if stored.ndim != 2 or not (sp.issparse(stored) or stored.size):
        raise TableError(
            f"{content.source} holds an array of shape {stored.shape}; a table has 2 axes, rows "
            "and columns, with at least one value."
        )
    return _table(content.source, stored, None)


def read_mat(content: Content) -> FileTable:
    """Read the table among the variables of a Matlab file (before 7.3) that are arrays."""
    from scipy.io import loadmat

    try:
        with content.open() as file:
            variables = loadmat(file)
    except NotImplementedError as reason:
        raise TableError(
            f"{content.source} is a Matlab 7.3 file; save it with save(..., '-v7')."
        ) from reason
    arrays = {
        name: value
        for name, value in variables.items()
        if sp.issparse(value) or isinstance(value, np.ndarray) and not value.dtype.hasobject
    }
    return _from_variables(content.source, arrays)


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


def _from_variables(source: str, arrays: Mapping[str, Any]) -> FileTable:
    """Build a table of the array that looks like one, with names and row metadata of others."""
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
    n_rows, n_columns = table.shape
    names = [
        [str(value).strip() for value in _as_text(arrays[name]).ravel()]
        for name in COLUMN_NAMES
        if name in arrays and arrays[name].dtype.kind in "US" and arrays[name].size == n_columns
    ]
    metadata = _row_metadata(arrays, chosen, n_rows)
    notes = [f"The table of {source} is its array {chosen}."] if len(arrays) > 1 else []
    return _table(source, table, names[0] if names else None, row_metadata=metadata, notes=notes)


def _row_metadata(arrays: Mapping[str, Any], chosen: str, n_rows: int) -> Any:
    """Return the arrays with one value per row, such as labels, as a DataFrame."""
    import pandas as pd

    columns = {
        name: _as_text(array).ravel()
        for name, array in arrays.items()
        if name != chosen
        and not sp.issparse(array)
        and array.size == n_rows
        and array.dtype.kind in "biufUS"
        and name not in COLUMN_NAMES
    }
    return pd.DataFrame(columns) if columns else None


def _table(source: str, array: Any, names: list[str] | None, **more: Any) -> FileTable:
    """Build the table of an array, with numbered columns where there are no names."""
    import pandas as pd

    if array.dtype.kind not in "biufUS":
        raise TableError(f"{source} holds values of type {array.dtype}; a table needs numbers.")
    columns = numbered(array.shape[1]) if names is None else names
    is_sparse = sp.issparse(array)
    values = checked_csr(array) if is_sparse else pd.DataFrame(_as_text(array), columns=columns)
    return FileTable(values, columns, source, named=names is not None, **more)


def _as_text(array: Any) -> Any:
    """Decode an array of bytes; return others as they are."""
    return np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
