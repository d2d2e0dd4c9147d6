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
            if isinstance(stored, np.ndarray):
                return table_of(content.source, stored)
            if not {"format", "shape", "data"} <= set(stored):
                return _from_variables(content.source, dict(stored))
            file.seek(0)
            return table_of(content.source, sp.load_npz(file))
    except ValueError as reason:
        if "Object arrays" not in str(reason):
            raise
        raise TableError(
            f"{content.source} holds Python objects, which are never unpickled here; save a "
            "plain array of numbers."
        ) from reason


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
    # scipy adds what it knows of the file under names that Matlab's variables cannot have
    arrays = {name: value for name, value in variables.items() if not name.startswith("__")}
    return _from_variables(content.source, arrays)


def checked_csr(matrix: Any) -> Any:
    """Return a sparse matrix by rows, once it is known that no index points outside.

    scipy trusts the indices of a file, and writes to memory that is not its own if they lie.
    """
    if hasattr(matrix, "check_format"):
        # scipy overlooks it in a matrix without values
        if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
            raise ValueError("a sparse array with indptr that decreases")
        matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def _from_variables(source: str, arrays: Mapping[str, Any]) -> FileTable:
    """Build a table of the array that looks like one, with names and row metadata of others.

    Row metadata are the arrays with one value per row, such as labels.
    """
    import pandas as pd

    tables = {
        name: array
        for name, array in arrays.items()
        if len(array.shape) == 2 and min(array.shape) > 1 and array.dtype.kind in "biuf"
    }
    if not tables:
        what = f"only {join_names(arrays)}" if arrays else "nothing"
        raise TableError(f"{source} holds no table of numbers, {what}.")
    largest = max(tables, key=lambda name: np.prod(tables[name].shape))
    chosen = next((name for name in TABLE_NAMES if name in tables), largest)
    n_rows, n_columns = tables[chosen].shape
    columns = {
        name: _as_text(array).ravel()
        for name, array in arrays.items()
        if name != chosen and not sp.issparse(array) and array.dtype.kind in "biufUS"
    }
    named = [columns.pop(name) for name in COLUMN_NAMES if name in columns]
    names = [own for own in named if own.size == n_columns and own.dtype.kind == "U"]
    metadata = {name: column for name, column in columns.items() if column.size == n_rows}
    return table_of(
        source,
        tables[chosen],
        [str(name).strip() for name in names[0]] if names else None,
        row_metadata=pd.DataFrame(metadata) if metadata else None,
        notes=[f"The table of {source} is its array {chosen}."] if len(arrays) > 1 else [],
    )


def table_of(source: str, array: Any, names: list[str] | None = None, **more: Any) -> FileTable:
    """Build the table of an array, with numbered columns where there are no names."""
    import pandas as pd

    is_sparse = sp.issparse(array)
    if array.ndim != 2 or not (is_sparse or array.size):
        raise TableError(
            f"{source} holds an array of shape {array.shape}; a table has 2 axes, rows and "
            "columns, with at least one value."
        )
    if array.dtype.kind not in "biufUS":
        raise TableError(f"{source} holds values of type {array.dtype}; a table needs numbers.")
    columns = names or numbered(array.shape[1])
    values = checked_csr(array) if is_sparse else pd.DataFrame(_as_text(array), columns=columns)
    return FileTable(values, columns, source, named=names is not None, **more)


def _as_text(array: Any) -> Any:
    """Decode an array of bytes; return others as they are."""
    return np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
