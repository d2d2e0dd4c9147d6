"""Files with named columns in binary form: parquet, feather, h5ad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.tables import arrow, hdf5
from groupfs.tables.delimited_text import _pandas
from groupfs.tables.file_content import Content, refuse_larger, refusing
from groupfs.tables.numpy_and_matlab import sound_csr
from groupfs.tables.table import Table, TableError

#: What is read of an AnnData file.
CELL_PARTS = ("X", "obs", "var")


def read_parquet(content: Content) -> Table:
    return _read_frame(content, _parquet)


def read_feather(content: Content) -> Table:
    return _read_frame(content, _feather)


def read_h5ad(content: Content) -> Table:
    """X of an AnnData file, its variables as columns, ``obs`` beside it; the rest is not read."""
    try:
        import h5py
        from anndata.io import read_elem
    except ImportError as reason:
        raise TableError(
            f"Reading {content.source} needs anndata; install it with "
            'pip install "groupfs[anndata]".'
        ) from reason

    def opened() -> Any:
        return h5py.File(content.file(), "r")

    with refusing(content):
        hdf5.refuse_deadly(opened, CELL_PARTS)
        with opened() as file:
            if "X" not in file or "var" not in file:
                raise TableError(f"{content.source} is no h5ad file: it has no X and var in it.")
            announced = hdf5.announced_bytes(file, CELL_PARTS)
            # anndata sets aside a place for every row or column of a sparse matrix first
            shape = np.asarray(file["X"].attrs.get("shape", ()), dtype=float)
            announced += 8 * int(np.abs(shape).sum())
            refuse_larger(announced, content.size(), content.source)
            matrix, observed = read_elem(file["X"]), read_elem(file["obs"])
            names = [str(name) for name in read_elem(file["var"]).index]
        return _cells(content, matrix, names, observed)


def _cells(content: Content, matrix: Any, names: list[str], observed: Any) -> Table:
    """The table, once its parts are known to fit together."""
    if sp.issparse(matrix):
        values: Any = sound_csr(matrix, content)
    else:
        values = np.asarray(matrix)
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise ValueError(f"X is an array of shape {values.shape} and type {values.dtype}")
    if values.shape != (len(observed), len(names)):
        raise ValueError(f"X is of shape {values.shape}, not {(len(observed), len(names))}")
    if not sp.issparse(values):
        values = _pandas().DataFrame(values, columns=names)
    beside = observed.reset_index(drop=True)
    return Table(values, names, content.source, beside=beside if len(beside.columns) else None)


def _read_frame(content: Content, read: Callable[[Content], Any]) -> Table:
    pd = _pandas()
    try:
        import pyarrow  # noqa: F401
    except ImportError as reason:
        raise TableError(
            f'Reading {content.source} needs pyarrow; install it with pip install "groupfs[cli]".'
        ) from reason
    with refusing(content):
        table = read(content)
        # places of texts and codes come from the file, and Arrow would follow them anywhere
        table.validate(full=True)
        frame = table.to_pandas()
        if not isinstance(frame.index, pd.RangeIndex):
            frame = frame.reset_index()
        names = [str(name) for name in frame.columns]
        frame.columns = names
    return Table(frame, names, content.source)


def _parquet(content: Content) -> Any:
    from pyarrow.parquet import ParquetFile
    from pyarrow.types import is_nested

    with ParquetFile(content.file()) as file:
        about = file.metadata
        groups = [about.row_group(place) for place in range(about.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        n_values = about.num_rows * max(about.num_columns, 1)
        if any(is_nested(column.type) for column in file.schema_arrow):
            n_values = sum(g.column(j).num_values for g in groups for j in range(g.num_columns))
        # many equal values take no bytes in the file, but eight each in a table
        refuse_larger(max(unpacked, 8 * n_values), content.size(), content.source)
        return file.read()


def _feather(content: Content) -> Any:
    from pyarrow.feather import read_table

    with content.open() as file:
        refuse_larger(arrow.announced_bytes(file, content.size()), content.size(), content.source)
    return read_table(content.file(), memory_map=False)
