"""Files of matrices: npy, npz (also of a scipy sparse matrix), mat and h5ad; none is unpickled."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.files.file_content import Content
from groupfs.files.file_table import FileTable, TableError, numbered
from groupfs.utils.errors import ParameterError
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
                return _table(content.source, stored)
            if not {"format", "shape", "data"} <= set(stored):
                return _from_variables(content.source, dict(stored))
            file.seek(0)
            return _table(content.source, sp.load_npz(file))
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


def read_h5ad(content: Content, layer: str | None, use_raw: bool) -> FileTable:
    """Read X, a layer or ``raw``, its variables as columns and ``obs`` as row metadata."""
    import h5py
    from anndata import read_h5ad as read
    from anndata.utils import make_index_unique

    with content.on_disk() as path:
        with h5py.File(path, "r") as file:
            if "var" not in file or "obs" not in file:
                raise TableError(f"{content.source} is no h5ad file: it has no obs and var in it.")
            has_X = "X" in file
        # X and raw stay in the file until they are asked for; without X, anndata reads it all
        cells = read(path, backed="r" if has_X else None)
        try:
            _check_choice(content.source, cells, layer, use_raw)
            matrix = cells.layers[layer] if layer else cells.raw.X if use_raw else cells.X
            values = matrix.to_memory() if hasattr(matrix, "to_memory") else matrix
            values = values if sp.issparse(values) else np.asarray(values)
        finally:
            cells.file.close()
    obs, variables = cells.obs, (cells.raw if use_raw else cells).var_names
    if values.shape != (len(obs), len(variables)):
        raise ValueError(f"X of shape {values.shape} for {len(obs)} obs, {len(variables)} var")
    names = [str(name) for name in make_index_unique(variables.astype(str))]  # as scanpy does
    again = [new for new, name in zip(names, variables, strict=True) if new != str(name)]
    told = f"Names of variables that occur again were numbered: {join_names(again)}."
    notes = [told] if again else []
    if layer is None and not use_raw and cells.raw is not None and (values < 0).sum():
        notes.append(
            "Values are negative in part, as scaled ones are; the file also has raw values of "
            f"{cells.raw.shape[1]:,} variables, from before scaling, and use_raw=True selects from "
            "these."
        )
    metadata = obs.reset_index(drop=True) if len(obs.columns) else None
    return _table(content.source, values, names, row_metadata=metadata, notes=notes)


def _check_choice(source: str, cells: Any, layer: str | None, use_raw: bool) -> None:
    layers = list(cells.layers)
    there = f"its layers are {join_names(layers)}" if layers else "it has no layers"
    if layer is not None and layer not in layers:
        raise ParameterError(f"layer={layer!r}: {source} has no such layer; {there}.", "layer")
    if use_raw and cells.raw is None:
        raise ParameterError(f"use_raw=True: {source} has no raw values; {there}.", "use_raw")
    if layer is None and not use_raw and cells.X is None:
        others = ["layer=NAME takes one"] * bool(layers)
        others += ["use_raw=True takes raw"] * (cells.raw is not None)
        raise TableError(f"{source} has no X; {', '.join([there, *others])}.")


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
    own = [str(name).strip() for name in names[0]] if names else None
    notes = [f"The table of {source} is its array {chosen}."] if len(arrays) > 1 else []
    frame = pd.DataFrame(metadata) if metadata else None
    return _table(source, tables[chosen], own, row_metadata=frame, notes=notes)


def _table(source: str, array: Any, names: list[str] | None = None, **more: Any) -> FileTable:
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
    values = _checked_csr(array) if is_sparse else pd.DataFrame(_as_text(array), columns=columns)
    return FileTable(values, columns, source, named=names is not None, **more)


def _checked_csr(matrix: Any) -> Any:
    """Return a sparse matrix by rows, once it is known that no index points outside.

    scipy trusts the indices of a file, and writes to memory that is not its own if they lie.
    """
    if hasattr(matrix, "check_format"):
        # scipy overlooks it in a matrix without values
        if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
            raise ValueError("a sparse array with indptr that decreases")
        matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def _as_text(array: Any) -> Any:
    return np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
