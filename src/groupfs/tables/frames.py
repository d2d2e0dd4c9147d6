"""Files with named columns in binary form: parquet, feather, h5ad."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from groupfs.tables._table import Table, TableError
from groupfs.tables.content import Content
from groupfs.tables.text import _pandas


def read_parquet(content: Content) -> Table:
    return _read_frame(content, "read_parquet")


def read_feather(content: Content) -> Table:
    return _read_frame(content, "read_feather")


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
    try:
        with h5py.File(content.file(), "r") as file:
            if "X" not in file or "var" not in file:
                raise TableError(f"{content.source} is no h5ad file: it has no X and var in it.")
            matrix, observed = read_elem(file["X"]), read_elem(file["obs"])
            names = [str(name) for name in read_elem(file["var"]).index]
    except (OSError, KeyError, ValueError, TypeError) as reason:
        if isinstance(reason, TableError):
            raise
        raise TableError(
            f"{content.source} is broken or no h5ad file ({_first_line(reason)})."
        ) from reason
    if sp.issparse(matrix):
        values: Any = sp.csr_array(matrix)
    else:
        values = _pandas().DataFrame(np.asarray(matrix), columns=names)
    beside = observed.reset_index(drop=True)
    return Table(values, names, content.source, beside=beside if len(beside.columns) else None)


def _read_frame(content: Content, reader: str) -> Table:
    pd = _pandas()
    try:
        frame = getattr(pd, reader)(content.file())
    except ImportError as reason:
        raise TableError(
            f'Reading {content.source} needs pyarrow; install it with pip install "groupfs[cli]".'
        ) from reason
    except Exception as reason:  # pyarrow's errors have no base of their own
        raise TableError(
            f"{content.source} is broken or no {content.kind} file ({_first_line(reason)})."
        ) from reason
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    frame.columns = names
    return Table(frame, names, content.source)


def _first_line(reason: Exception) -> str:
    lines = str(reason).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(reason).__name__
