"""Files with named columns in binary form: parquet, feather, h5ad."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.tables.child_process import parse_in_child
from groupfs.tables.delimited_text import import_pandas
from groupfs.tables.file_content import Content, refuse_broken
from groupfs.tables.numpy_and_matlab import checked_csr, sparse_table
from groupfs.tables.table import Table, TableError


def read_frame(content: Content) -> Table:
    """Read the columns of a parquet or feather file, and its index if it has one of its own."""
    imports = ["pandas", "pyarrow.feather", "pyarrow.parquet"]
    parts = parse_in_child(parse_frame, content, imports)
    with refuse_broken(content):
        frame = parts["table"].to_pandas()
        if not isinstance(frame.index, import_pandas().RangeIndex):
            frame = frame.reset_index()
        frame.columns = names = [str(name) for name in frame.columns]
    return Table(frame, names, content.source)


def read_h5ad(content: Content) -> Table:
    """Read X of an AnnData file, its variables as columns and ``obs`` as row metadata."""
    parts = parse_in_child(parse_h5ad, content, ["h5py", "anndata.io", "pyarrow.feather"])
    with refuse_broken(content):
        values, names = parts["X"], parts["names"].tolist()
        row_metadata = parts["obs"].to_pandas() if "obs" in parts else None
        if sp.issparse(values):
            return sparse_table(values, names, content, row_metadata=row_metadata)
        frame = import_pandas().DataFrame(values, columns=names)
        return Table(frame, names, content.source, row_metadata=row_metadata)


def parse_frame(path: str, source: str) -> dict[str, Any]:
    """Read a parquet or feather file, whichever it is, as an Arrow table."""
    from pyarrow.feather import read_table
    from pyarrow.parquet import ParquetFile

    with open(path, "rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    table = ParquetFile(path).read() if is_parquet else read_table(path, memory_map=False)
    # offsets of texts and codes come from the file, and Arrow would follow them anywhere
    table.validate(full=True)
    table.to_pandas()  # a column of nulls takes no memory before
    return {"table": table}


def parse_h5ad(path: str, source: str) -> dict[str, Any]:
    """Read X, the names of its columns, and ``obs`` if it has columns; the rest is not read."""
    import h5py
    import pyarrow as pa
    from anndata.io import read_elem

    with h5py.File(path, "r") as file:
        if "X" not in file or "var" not in file:
            raise TableError(f"{source} is no h5ad file: it has no X and var in it.")
        matrix, obs = read_elem(file["X"]), read_elem(file["obs"])
        names = [str(name) for name in read_elem(file["var"]).index]
    values = checked_csr(matrix) if sp.issparse(matrix) else np.asarray(matrix)
    if values.shape != (len(obs), len(names)):
        raise ValueError(f"X of shape {values.shape} for {len(obs)} obs and {len(names)} var")
    parts = {"X": values, "names": np.array(names, dtype=str)}
    if len(obs.columns):
        parts["obs"] = pa.Table.from_pandas(obs.reset_index(drop=True), preserve_index=False)
    return parts
