"""Files of arrays: npy, npz (also of a scipy sparse matrix) and mat. Nothing is ever unpickled."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from groupfs.tables.delimited_text import _pandas
from groupfs.tables.file_content import Content, most_bytes, refuse_bomb, refuse_larger, refusing
from groupfs.tables.matlab import check_mat
from groupfs.tables.table import Table, TableError, numbered
from groupfs.utils.text import join_names

#: Where the table is looked for in files of several arrays, before the largest one is taken.
TABLE_NAMES = ("X", "x", "data")
COLUMN_NAMES = ("feature_names", "columns", "names", "var_names")
#: Memory that the name of one column takes, and finding names that occur twice.
NAME_BYTES = 200


def read_numpy(content: Content) -> Table:
    """The one array of an npy file; of an npz file the table, arrays of as many rows beside it.

    Which of the two it is the file says itself, whatever its name.
    """
    with refusing(content):
        with content.open() as file:
            if file.read(2) == b"PK":
                arrays = _arrays(file, content)
            else:
                arrays = {"": _array(file, content.size(), content.source)}
        if {"indices", "indptr", "format", "shape", "data"} <= set(arrays):
            matrix = sound_csr(sp.load_npz(content.file()), content)
            return Table(matrix, numbered(matrix.shape[1]), content.source, named=False)
        if "" not in arrays:
            return _from_variables(content, arrays)
        if not arrays[""].size:
            raise TableError(f"{content.source} holds an array without a value.")
        names = numbered(_width(content.source, arrays[""]))
        return _table(content.source, arrays[""], names, named=False)


def read_mat(content: Content) -> Table:
    """The table among the variables of a Matlab file (before 7.3)."""
    from scipy.io import loadmat

    with refusing(content):
        with content.open() as file:
            check_mat(file, content.size(), most_bytes(content.size()))
        try:
            variables = loadmat(content.file())
        except NotImplementedError as reason:
            raise TableError(
                f"{content.source} is a Matlab 7.3 file; save it with save(..., '-v7')."
            ) from reason
        found = {
            name: value
            for name, value in variables.items()
            if not name.startswith("__") and (sp.issparse(value) or isinstance(value, np.ndarray))
        }
        return _from_variables(content, found)


def _arrays(file: IO[bytes], content: Content) -> dict[str, Any]:
    """All arrays of an npz file; other things in it are left alone."""
    with zipfile.ZipFile(file) as archive:
        refuse_bomb(archive, content.size(), content.source)
        arrays = {}
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name and name != member.filename:
                with archive.open(member) as stored:
                    arrays[name] = _array(stored, member.file_size, content.source)
    return arrays


def check_array(file: IO[bytes], size: int, source: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type that an npy file announces; refused are objects, and more than it holds.

    numpy would set aside whatever a header asks for.
    """
    shape, dtype = _header(file)
    if dtype.hasobject:
        raise TableError(
            f"{source} holds Python objects, which are never unpickled here; save a plain array "
            "of numbers."
        )
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize > size or min((0, *shape)) < 0:
        raise ValueError(f"an array of shape {shape} and type {dtype} in {size} bytes")
    return shape, dtype


def _array(file: IO[bytes], size: int, source: str) -> Any:
    file.seek(0)
    shape, dtype = check_array(file, size, source)
    refuse_larger(math.prod(shape) * dtype.itemsize, size, source)
    if 0 in shape:
        return np.empty(0, dtype)
    file.seek(0)
    return _lettered(np.lib.format.read_array(file, allow_pickle=False))


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    version = np.lib.format.read_magic(file)
    if version not in readers:
        raise ValueError(f"npy of version {version}")
    shape, _, dtype = readers[version](file)
    return shape, dtype


def _lettered(array: Any) -> Any:
    """An array that has nothing but letters if it is of text; Python fails at others anywhere."""
    if array.dtype.kind == "U":
        letters = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).view(np.uint32)
        if ((letters > 0x10FFFF) | ((letters >= 0xD800) & (letters < 0xE000))).any():
            raise ValueError("text with letters that there are not")
    return array


def sound_csr(matrix: Any, content: Content) -> Any:
    """A sparse matrix by rows, once it is known that nothing in it points outside.

    scipy trusts the places of the values, and writes to memory that is not its own if they lie.
    """
    if len(matrix.shape) != 2:
        raise ValueError(f"a sparse array of shape {matrix.shape}")
    n_rows, n_columns = matrix.shape
    refuse_larger(8 * n_rows + NAME_BYTES * n_columns, content.size(), content.source)
    if hasattr(matrix, "check_format"):
        # scipy overlooks it in a matrix of zeros, and where the difference is beyond its integers
        if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
            raise ValueError("places of rows or columns that go back")
        matrix.check_format(full_check=True)
    if matrix.dtype.kind not in "biuf":
        raise TableError(
            f"{content.source} holds values of type {matrix.dtype}; a table needs numbers."
        )
    return sp.csr_array(matrix)


def _from_variables(content: Content, arrays: Mapping[str, Any]) -> Table:
    source = content.source
    tables = {
        name: array
        for name, array in arrays.items()
        if len(array.shape) == 2 and min(array.shape) > 1 and array.dtype.kind in "biuf"
    }
    if not tables:
        what = f"only {join_names(arrays)}" if arrays else "nothing"
        raise TableError(f"{source} holds no table of numbers, {what}.")
    chosen = next((name for name in TABLE_NAMES if name in tables), None)
    if chosen is None:
        chosen = max(tables, key=lambda name: tables[name].shape[0] * tables[name].shape[1])
    table = tables[chosen]
    if sp.issparse(table):
        table = sound_csr(table, content)
    names = _column_names(arrays, table.shape[1])
    beside = _beside(arrays, chosen, table.shape[0])
    notes = [f"The table of {source} is its array {chosen}."] if len(arrays) > 1 else []
    named = names is not None
    names = numbered(table.shape[1]) if names is None else names
    return _table(source, table, names, named=named, beside=beside, notes=notes)


def _column_names(arrays: Mapping[str, Any], n_columns: int) -> list[str] | None:
    for name in COLUMN_NAMES:
        if name in arrays and arrays[name].dtype.kind in "US" and arrays[name].size == n_columns:
            return [str(value).strip() for value in as_text(arrays[name]).ravel()]
    return None


def _beside(arrays: Mapping[str, Any], chosen: str, n_rows: int) -> Any:
    """Arrays with one value per row, such as labels."""
    columns = {
        name: as_text(array).ravel()
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
        return Table(array, names, source, **more)
    if array.dtype.kind not in "biufUS":
        raise TableError(f"{source} holds values of type {array.dtype}; a table needs numbers.")
    return Table(_pandas().DataFrame(as_text(array), columns=names), names, source, **more)


def as_text(array: Any) -> Any:
    """Bytes as text, other arrays as they are."""
    return np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
